import { basename } from 'node:path'
import { plausibleBytes } from './system-files.js'

/** Parts of the Node.js diagnostic report that are stored. */
interface Report {
  header?: { osName?: string; osRelease?: string; osVersion?: string; osMachine?: string; cpus?: unknown[] }
  resourceUsage?: Usage
  uvthreadResourceUsage?: Usage
  libuv?: { type?: string; is_active?: boolean; is_referenced?: boolean }[]
  workers?: unknown[]
  userLimits?: Record<string, { soft?: number | string; hard?: number | string }>
  sharedObjects?: string[]
}

/** Some Node.js versions write numbers as strings. */
interface Usage {
  rss?: number | string
  maxRss?: number | string
  free_memory?: number | string
  total_memory?: number | string
  available_memory?: number | string
  constrained_memory?: number | string
  userCpuSeconds?: number
  kernelCpuSeconds?: number
  cpuConsumptionPercent?: number
  pageFaults?: { IORequired?: number | string; IONotRequired?: number | string }
  fsActivity?: { reads?: number | string; writes?: number | string }
}

type ReportSettings = typeof process.report & { excludeNetwork?: boolean; excludeEnv?: boolean }

/**
 * Returns the diagnostic report of Node.js without environment, command line, folders and addresses. Null if the network
 * section cannot be excluded, because its DNS lookups can block the process for half a minute.
 */
export function reportSection() {
  const settings = process.report as ReportSettings
  if (!('excludeNetwork' in settings)) return null
  const report = withExclusions(settings, () => settings.getReport() as Report)
  const { header = {}, libuv = [], workers = [], sharedObjects = [] } = report
  return {
    system: [header.osName, header.osRelease, header.osMachine].filter(Boolean).join(' '),
    system_version: header.osVersion ?? null,
    processors: header.cpus?.length ?? null,
    worker_threads: workers.length,
    resource_usage: describeUsage(report.resourceUsage),
    thread_resource_usage: describeUsage(report.uvthreadResourceUsage),
    user_limits: describeLimits(report.userLimits),
    handles: countHandles(libuv),
    shared_objects: [...new Set(sharedObjects.map((path) => basename(path)))].slice(0, 100),
  }
}

/** Restores the settings, because the host can use them for its own reports. */
function withExclusions<T>(settings: ReportSettings, run: () => T): T {
  const { excludeNetwork, excludeEnv } = settings
  const canExcludeEnv = 'excludeEnv' in settings
  settings.excludeNetwork = true
  if (canExcludeEnv) settings.excludeEnv = true
  try {
    return run()
  } finally {
    if (excludeNetwork !== undefined) settings.excludeNetwork = excludeNetwork
    if (canExcludeEnv && excludeEnv !== undefined) settings.excludeEnv = excludeEnv
  }
}

/** Adds units to the names. Omits values that this system or version does not provide. */
function describeUsage(usage: Usage = {}): Record<string, number> {
  const { pageFaults = {}, fsActivity = {} } = usage
  const values = {
    rss_bytes: parseBytes(usage.rss),
    max_rss_bytes: parseBytes(usage.maxRss),
    free_memory_bytes: parseBytes(usage.free_memory),
    available_memory_bytes: parseBytes(usage.available_memory),
    memory_limit_bytes: parseBytes(usage.constrained_memory),
    total_memory_bytes: parseBytes(usage.total_memory),
    cpu_user_ms: toMilliseconds(usage.userCpuSeconds),
    cpu_system_ms: toMilliseconds(usage.kernelCpuSeconds),
    cpu_percent: usage.cpuConsumptionPercent,
    page_faults_from_disk: parseNumber(pageFaults.IORequired),
    page_faults_in_memory: parseNumber(pageFaults.IONotRequired),
    file_reads: parseNumber(fsActivity.reads),
    file_writes: parseNumber(fsActivity.writes),
  }
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  )
}

/** Null means no limit. All sizes are in bytes, although Node.js names some of them kilobytes or blocks. */
function describeLimits(limits: Report['userLimits'] = {}) {
  const parseLimit = (value: number | string | undefined) => (value === 'unlimited' ? null : parseNumber(value))
  const renameUnit = (name: string) => name.replace(/_(?:kbytes|blocks)$/, '_bytes').replace(/_seconds$/, '_s')
  return Object.fromEntries(
    Object.entries(limits).map(([name, { soft, hard }]) => [
      renameUnit(name),
      { soft: parseLimit(soft), hard: parseLimit(hard) },
    ]),
  )
}

function parseBytes(value: number | string | undefined): number | null {
  return plausibleBytes(parseNumber(value) ?? undefined)
}

function parseNumber(value: number | string | undefined): number | null {
  const number = Number(value ?? Number.NaN)
  return Number.isFinite(number) ? number : null
}

function toMilliseconds(seconds: number | undefined): number | null {
  return seconds === undefined ? null : Math.round(seconds * 1000)
}

/** Counts total, active and referenced handles by type. */
function countHandles(handles: NonNullable<Report['libuv']>) {
  const counts: Record<string, { total: number; active: number; referenced: number }> = {}
  for (const { type = 'unknown', is_active, is_referenced } of handles) {
    const count = counts[type] ?? { total: 0, active: 0, referenced: 0 }
    count.total++
    if (is_active) count.active++
    if (is_active && is_referenced) count.referenced++
    counts[type] = count
  }
  return counts
}
