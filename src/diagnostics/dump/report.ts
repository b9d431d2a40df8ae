import { basename } from 'node:path'

/** What Node.js tells in a report, as far as we keep it. */
interface Report {
  header?: { osName?: string; osRelease?: string; osVersion?: string; osMachine?: string; cpus?: unknown[] }
  nativeStack?: { symbol?: string }[]
  resourceUsage?: object
  uvthreadResourceUsage?: object
  libuv?: { type?: string; is_active?: boolean; is_referenced?: boolean }[]
  workers?: unknown[]
  userLimits?: object
  sharedObjects?: string[]
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
  const { header = {}, libuv = [], workers = [], sharedObjects = [], nativeStack = [] } = report
  return {
    system: [header.osName, header.osRelease, header.osMachine].filter(Boolean).join(' '),
    system_version: header.osVersion ?? null,
    processors: header.cpus?.length ?? null,
    worker_threads: workers.length,
    resource_usage: report.resourceUsage ?? null,
    thread_resource_usage: report.uvthreadResourceUsage ?? null,
    user_limits: report.userLimits ?? null,
    handles: counted(libuv),
    native_stack: nativeStack.slice(0, 20).map(({ symbol }) => String(symbol ?? '').slice(0, 200)),
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
