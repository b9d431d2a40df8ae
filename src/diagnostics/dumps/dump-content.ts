import type { Breadcrumbs } from '../../capture/breadcrumbs/breadcrumbs.js'
import { type PlainLimits, plainData } from '../../capture/values/plain-data.js'
import type { Context } from '../../context.js'
import { createRedactor, type Redactor } from '../../model/redaction/redaction.js'
import { isoTime } from '../../model/time.js'
import { withTimeout } from '../../model/with-timeout.js'
import { gcState } from '../processes/gc-monitor.js'
import { environmentNames } from './environment.js'
import { placedAddress } from './node-flags.js'
import { modulesSection } from './packages.js'
import { poolsSection } from './pools.js'
import {
  activeResourcesSection,
  cpuSection,
  eventLoopSection,
  heapSection,
  memorySection,
  processSection,
} from './process-state.js'
import { reportSection } from './report.js'
import { containerSection, descriptorsSection } from './system-files.js'

/** What a dump tells, part by part; one that could not be had, or found no room, is null. */
export const SECTIONS = [
  'process',
  'memory',
  'heap',
  'gc',
  'event_loop',
  'cpu',
  'active_resources',
  'descriptors',
  'container',
  'pools',
  'jobs',
  'versions',
  'modules',
  'tracker',
  'environment',
  'breadcrumbs',
  'report',
] as const

export type SectionName = (typeof SECTIONS)[number]
export type Sections = Record<SectionName, unknown>

/** Breadcrumbs and the host's pools are there in a tracker at work. */
export interface DumpContext extends Context {
  breadcrumbs?: Breadcrumbs
  pools?: ReadonlyMap<string, WeakRef<object>>
}

export const MAX_DUMP_BYTES = 256 * 1024
const MAX_BREADCRUMBS = 100

const LIMITS: PlainLimits = {
  depth: 5,
  keys: 500,
  items: MAX_BREADCRUMBS,
  string: 1000,
  values: 3000,
  characters: 40_000,
}

/** The state of this process as plain, bounded data without secrets. */
export async function dumpSections(context: DumpContext, { report = false } = {}): Promise<Sections> {
  const { config, database, jobs, pools = new Map() } = context
  const redactor = processRedactor(context)
  // A package may be called cookie, and a pool tokens: their versions and numbers are no secrets.
  const byValue = { ...redactor, isSensitiveKey: () => false }
  const root = config.project_root
  return fitted({
    process: await section(redactor, () => processSection(root)),
    memory: await section(redactor, memorySection),
    heap: await section(redactor, heapSection),
    gc: await section(redactor, gcState),
    event_loop: await section(redactor, eventLoopSection),
    cpu: await section(redactor, cpuSection),
    active_resources: await section(redactor, activeResourcesSection),
    descriptors: await section(redactor, descriptorsSection),
    container: await section(redactor, containerSection),
    pools: await section(byValue, () => poolsSection(pools, database.dialect.pool?.(), redactor)),
    jobs: await section(redactor, () => jobsSection(jobs)),
    versions: await section(redactor, () => versionsSection(context)),
    modules: await section(byValue, () => modulesSection(root)),
    tracker: await section(redactor, () => trackerSection(context, root)),
    environment: await section(redactor, () => environmentNames(process.env, root)),
    breadcrumbs: await section(redactor, () => breadcrumbsSection(context)),
    report: report ? await section(redactor, reportSection) : null,
  })
}

/** Filters the secrets of the process, which a dump never shows, whatever `filter_sensitive_data` is. */
export function processRedactor({ config, redactor }: Context): Redactor {
  return config.filter_sensitive_data ? redactor : createRedactor(config.sensitive_data_patterns)
}

async function section(redactor: Redactor, read: () => unknown): Promise<unknown> {
  try {
    return plainData(await read(), redactor, LIMITS)
  } catch {
    // What one system or runtime does not tell must not cost the rest of the dump.
    return null
  }
}

function versionsSection({ config: { app_version, git_sha, environment } }: Context) {
  return {
    app_version,
    git_sha,
    environment,
    platform: process.platform,
    architecture: process.arch,
    ...process.versions,
  }
}

async function trackerSection({ config, optionTable, recorder, counters, spool, database }: Context, root: string) {
  const { files, failed, bytes } = await spool.state()
  const { unavailable_since, last_flush_at, ...waiting } = recorder.state
  return {
    application_name: config.application_name,
    database: placedAddress(database.dialect.address, root),
    ...waiting,
    unavailable_since: isoTime(unavailable_since),
    last_flush_at: isoTime(last_flush_at),
    spool: { files, failed, size_bytes: bytes },
    dropped: counters.toJSON(),
    switched_on: Object.keys(optionTable).filter((name) => config[name as keyof typeof config] === true),
  }
}

const ENGINE_PATIENCE_MS = 2000

/** An engine that is away must not hold up the dump of a process that may be about to die. */
async function jobsSection(jobs: Context['jobs']) {
  const message = 'the job engine does not answer'
  const counts = await withTimeout(jobs.counts(), ENGINE_PATIENCE_MS, { message, keepAlive: true })
  return { engine: jobs.name, ...counts }
}

function breadcrumbsSection({ breadcrumbs }: DumpContext) {
  return (breadcrumbs?.current() ?? breadcrumbs?.outside() ?? [])
    .slice(-MAX_BREADCRUMBS)
    .map(({ occurred_at, ...crumb }) => ({
      occurred_at: new Date(occurred_at).toISOString(),
      ...crumb,
    }))
}

/** Texts full of what takes many bytes are the only way past the limits; the largest part goes until the rest fits. */
function fitted(sections: Sections): Sections {
  const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
  const fitting = { ...sections }
  while (bytes(fitting) > MAX_DUMP_BYTES) {
    const [largest] = [...SECTIONS].sort((a, b) => bytes(fitting[b]) - bytes(fitting[a]))
    if (largest) fitting[largest] = null
  }
  return fitting
}
