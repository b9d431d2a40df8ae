import type { Breadcrumbs } from '../../capture/breadcrumbs/breadcrumbs.js'
import { type PlainLimits, plainData } from '../../capture/values/plain-data.js'
import type { Context } from '../../context.js'
import { createRedactor, type Redactor } from '../../model/redaction/redaction.js'
import { isoTime } from '../../model/time.js'
import { withTimeout } from '../../model/with-timeout.js'
import { gcState } from '../processes/gc-monitor.js'
import { environmentSection } from './environment.js'
import { displayAddress } from './node-flags.js'
import { modulesSection } from './packages.js'
import { poolsSection, registeredPools } from './pools.js'
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

/** Sections of a dump. A section is null if it could not be read or exceeds the size limit. */
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
  'environment_variables',
  'breadcrumbs',
  'report',
] as const

export type SectionName = (typeof SECTIONS)[number]
export type Sections = Record<SectionName, unknown>

/** Breadcrumbs and registered pools exist only in a started tracker. */
export interface DumpContext extends Context {
  breadcrumbs?: Breadcrumbs
  owner?: object
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

/** Reads the state of this process as plain, bounded data without secrets. */
export async function dumpSections(context: DumpContext, { report = false } = {}): Promise<Sections> {
  const { config, database, jobs, owner } = context
  const redactor = processRedactor(context)
  // Package and pool names such as "cookie" or "tokens" do not make their versions and counts secret.
  const valueRedactor = { ...redactor, isSensitiveKey: () => false }
  const root = config.project_root
  return limitSize({
    process: await readSection(redactor, () => processSection(root)),
    memory: await readSection(redactor, memorySection),
    heap: await readSection(redactor, heapSection),
    gc: await readSection(redactor, gcState),
    event_loop: await readSection(redactor, eventLoopSection),
    cpu: await readSection(redactor, cpuSection),
    active_resources: await readSection(redactor, activeResourcesSection),
    descriptors: await readSection(redactor, descriptorsSection),
    container: await readSection(redactor, containerSection),
    pools: await readSection(valueRedactor, () =>
      poolsSection(registeredPools(owner), database.dialect.pool?.(), redactor),
    ),
    jobs: await readSection(redactor, () => jobsSection(jobs)),
    versions: await readSection(redactor, () => versionsSection(context)),
    modules: await readSection(valueRedactor, () => modulesSection(root)),
    tracker: await readSection(redactor, () => trackerSection(context, root)),
    environment_variables: await readSection(redactor, () => environmentSection(process.env, root)),
    breadcrumbs: await readSection(redactor, () => breadcrumbsSection(context)),
    report: report ? await readSection(redactor, reportSection) : null,
  })
}

/** Returns a redactor even if `filter_sensitive_data` is off, because a dump must never contain secrets. */
export function processRedactor({ config, redactor }: Context): Redactor {
  return config.filter_sensitive_data ? redactor : createRedactor(config.sensitive_data_patterns)
}

async function readSection(redactor: Redactor, read: () => unknown): Promise<unknown> {
  try {
    return plainData(await read(), redactor, LIMITS)
  } catch {
    // A section that is not available on this system must not fail the dump.
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
  const { unavailable_since, last_flush_at, ...state } = recorder.state
  return {
    application_name: config.application_name,
    database: displayAddress(database.dialect.address, root),
    ...state,
    unavailable_since: isoTime(unavailable_since),
    last_flush_at: isoTime(last_flush_at),
    spool: { files, failed, size_bytes: bytes },
    dropped: counters.toJSON(),
    switched_on: Object.keys(optionTable).filter((name) => config[name as keyof typeof config] === true),
  }
}

const JOB_ENGINE_TIMEOUT_MS = 2000

/** Limits the wait for an unreachable job engine, because the process may be about to crash. */
async function jobsSection(jobs: Context['jobs']) {
  const message = 'the job engine does not respond'
  const counts = await withTimeout(jobs.counts(), JOB_ENGINE_TIMEOUT_MS, { message, keepAlive: true })
  return { engine: jobs.name, ...counts }
}

function breadcrumbsSection({ breadcrumbs }: DumpContext) {
  return (breadcrumbs?.current() ?? breadcrumbs?.unscoped() ?? [])
    .slice(-MAX_BREADCRUMBS)
    .map(({ occurred_at, ...crumb }) => ({
      occurred_at: new Date(occurred_at).toISOString(),
      ...crumb,
    }))
}

/** Removes the largest sections until the dump fits. Needed for strings with many multi-byte characters. */
function limitSize(sections: Sections): Sections {
  const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
  const limited = { ...sections }
  while (bytes(limited) > MAX_DUMP_BYTES) {
    const [largest] = [...SECTIONS].sort((a, b) => bytes(limited[b]) - bytes(limited[a]))
    if (largest) limited[largest] = null
  }
  return limited
}
