import { basename } from 'node:path'
import { plausible } from './system-files.js'

/** What Node.js tells in a report, as far as we keep it. */
interface Report {
  header?: { osName?: string; osRelease?: string; osVersion?: string; osMachine?: string; cpus?: unknown[] }
  resourceUsage?: Usage
  uvthreadResourceUsage?: Usage
  libuv?: { type?: string; is_active?: boolean; is_referenced?: boolean }[]
  workers?: unknown[]
  userLimits?: Record<string, { soft?: number | string; hard?: number | string }>
  sharedObjects?: string[]
}

/** Numbers, which some versions write as text. */
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
 * The diagnostic report of Node.js without what may be secret: environment, command line, folders and addresses are left
 * out. Null where network interfaces cannot be left out: looking up their names may block the process for half a minute.
 */
export function reportSection() {
  const settings = process.report as ReportSettings
  if (!('excludeNetwork' in settings)) return null
  const report = quietly(settings, () => settings.getReport() as Report)
  const { header = {}, libuv = [], workers = [], sharedObjects = [] } = report
  return {
    system: [header.osName, header.osRelease, header.osMachine].filter(Boolean).join(' '),
    system_version: header.osVersion ?? null,
    processors: header.cpus?.length ?? null,
    worker_threads: workers.length,
    resource_usage: usageOf(report.resourceUsage),
    thread_resource_usage: usageOf(report.uvthreadResourceUsage),
    user_limits: limitsOf(report.userLimits),
    handles: counted(libuv),
    shared_objects: [...new Set(sharedObjects.map((path) => basename(path)))].slice(0, 100),
  }
}

/** The host may have set them for reports of its own. */
function quietly<T>(settings: ReportSettings, work: () => T): T {
  const { excludeNetwork, excludeEnv } = settings
  const knowsEnv = 'excludeEnv' in settings
  settings.excludeNetwork = true
  if (knowsEnv) settings.excludeEnv = true
  try {
    return work()
  } finally {
    if (excludeNetwork !== undefined) settings.excludeNetwork = excludeNetwork
    if (knowsEnv && excludeEnv !== undefined) settings.excludeEnv = excludeEnv
  }
}

/** With the unit at the end of each name; what this system or version does not tell is left out. */
function usageOf(usage: Usage = {}): Record<string, number> {
  const { pageFaults = {}, fsActivity = {} } = usage
  const figures = {
    rss_bytes: bytesIn(usage.rss),
    max_rss_bytes: bytesIn(usage.maxRss),
    free_memory_bytes: bytesIn(usage.free_memory),
    available_memory_bytes: bytesIn(usage.available_memory),
    memory_limit_bytes: bytesIn(usage.constrained_memory),
    total_memory_bytes: bytesIn(usage.total_memory),
    cpu_user_ms: milliseconds(usage.userCpuSeconds),
    cpu_system_ms: milliseconds(usage.kernelCpuSeconds),
    cpu_percent: usage.cpuConsumptionPercent,
    page_faults_from_disk: numberIn(pageFaults.IORequired),
    page_faults_in_memory: numberIn(pageFaults.IONotRequired),
    file_reads: numberIn(fsActivity.reads),
    file_writes: numberIn(fsActivity.writes),
  }
  return Object.fromEntries(
    Object.entries(figures).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  )
}

/** Null is no limit. Sizes are in bytes, although Node.js calls some of them kilobytes or blocks. */
function limitsOf(limits: Report['userLimits'] = {}) {
  const limitOf = (value: number | string | undefined) => (value === 'unlimited' ? null : numberIn(value))
  const named = (name: string) => name.replace(/_(?:kbytes|blocks)$/, '_bytes').replace(/_seconds$/, '_s')
  return Object.fromEntries(
    Object.entries(limits).map(([name, { soft, hard }]) => [named(name), { soft: limitOf(soft), hard: limitOf(hard) }]),
  )
}

function bytesIn(value: number | string | undefined): number | null {
  return plausible(numberIn(value) ?? undefined)
}

function numberIn(value: number | string | undefined): number | null {
  const number = Number(value ?? Number.NaN)
  return Number.isFinite(number) ? number : null
}

function milliseconds(seconds: number | undefined): number | null {
  return seconds === undefined ? null : Math.round(seconds * 1000)
}

/** Handles by type: how many there are, are active, and keep the process alive. */
function counted(handles: NonNullable<Report['libuv']>) {
  const counts: Record<string, { total: number; active: number; referenced: number }> = {}
  for (const { type = 'unknown', is_active, is_referenced } of handles) {
    const known = counts[type] ?? { total: 0, active: 0, referenced: 0 }
    known.total++
    if (is_active) known.active++
    if (is_active && is_referenced) known.referenced++
    counts[type] = known
  }
  return counts
}
