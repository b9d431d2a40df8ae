import { resolve } from 'node:path'
import { Breadcrumbs } from './capture/breadcrumbs/breadcrumbs.js'
import type { CaptureContext } from './capture/capture-context.js'
import { processFacts as readProcessFacts } from './capture/facts/process-facts.js'
import { TraceSightings } from './capture/facts/trace.js'
import { prepareForStackLimit, sendDeferredReports, whenStackAllows } from './capture/guards/deferred-reports.js'
import { LagGuard } from './capture/guards/lag.js'
import { MessageFloods } from './capture/guards/message-floods.js'
import { Sightings } from './capture/guards/sightings.js'
import { Storms } from './capture/guards/storms.js'
import { createCaptureHooks } from './capture/hooks.js'
import { FAILED_RESULT, logError } from './capture/log-error.js'
import { Scopes } from './capture/scope.js'
import { SourceLines } from './capture/source-maps/source-lines.js'
import { SourcePositions } from './capture/source-maps/source-positions.js'
import type { Reporter, Source } from './capture/sources/source.js'
import { startSources } from './capture/sources/sources.js'
import { OPTIONS, type Options, type Settings } from './config/options.js'
import { bundlingProblem } from './config/own-modules.js'
import { requireSignIn, resolveConfiguration } from './config/resolve.js'
import type { Context, Log } from './context.js'
import type { Dashboard } from './dashboard/handler.js'
import type { Diagnostic } from './diagnostics/define.js'
import { collectOptions, collectRetention, DIAGNOSTICS, startCollectors } from './diagnostics/diagnostics.js'
import { assertEngineConfigured } from './jobs/engine.js'
import { failureReason } from './jobs/reason.js'
import { LazyBackend } from './lazy-backend.js'
import { createLog } from './log.js'
import { Counters } from './model/counters.js'
import { ConfigurationError, TrackerError } from './model/errors.js'
import { type ChangeOrigin, HOST_CODE } from './model/people/audit.js'
import { createRedactor, NO_REDACTION } from './model/redaction/redaction.js'
import { createReject } from './store/counters/rejections.js'
import { Tallies } from './store/counters/tallies.js'
import { describeDatabase } from './store/database-target.js'
import { Recorder } from './store/recording/recorder.js'
import { atExit } from './store/spool/at-exit.js'
import { createEnqueueBatch, type EnqueueBatch } from './store/spool/enqueue-batch.js'
import { flushAtExit } from './store/spool/flush-at-exit.js'
import { listenForImportRequests, mustUseSpool, requestImport } from './store/spool/import-requests.js'
import { Spool, spoolFolder } from './store/spool/spool.js'

/** Clock, randomness, environment variables and standard error. Replaced in tests. */
export interface Environment {
  now?: () => number
  random?: () => number
  env?: NodeJS.ProcessEnv
  /** Receives the lines for standard error. */
  write?: (line: string) => void
  /** Replaces the list of diagnostics. */
  diagnostics?: readonly Diagnostic[]
  /** Prints the URL of the dashboard. False for commands that print the URL themselves. */
  announcesDashboard?: boolean
  /** Returns the facts about this process that each error contains. Null for none. */
  processFacts?: () => CaptureContext['processFacts']
  /** Banner above every dashboard page. */
  banner?: Context['banner']
  /** True while the demo records its history. */
  isRecordingHistory?: Context['isRecordingHistory']
  /** Origin of changes by commands called in code. */
  origin?: ChangeOrigin
}

interface StartEnvironment
  extends Required<Pick<Environment, 'now' | 'random' | 'env' | 'write'>>,
    Pick<Environment, 'diagnostics' | 'processFacts' | 'banner' | 'isRecordingHistory' | 'origin'> {
  /** Requires the credentials of the dashboard. */
  servesDashboard?: boolean
}

/** Running tracker: database, hooks and background jobs, as configured. */
export interface Runtime {
  context: CaptureContext
  sightings: Sightings
  /** Loads the dashboard on first use, because a process that only records errors does not need it. */
  dashboard(): Promise<Dashboard>
  /** Adds a source of errors until the runtime stops. Returns a function that removes it earlier. */
  attach(source: Source): () => void
  /** Writes all accepted errors, closes the database and removes every hook. */
  stop(): Promise<void>
  /** Removes every hook immediately and closes the rest in the background, for a runtime with new settings. */
  retire(): void
}

/** Builds and starts a tracker. Throws a ConfigurationError that lists every problem. */
export function startRuntime(settings: Settings, environment: StartEnvironment, owner: object = {}): Runtime {
  prepareForStackLimit()
  const { diagnostics = DIAGNOSTICS } = environment
  const { context, backend, isSpoolOnly } = buildContext(settings, { ...environment, diagnostics }, owner)
  const { enabled } = context.config
  const sightings = new Sightings()
  const reporter = createReporter(context, sightings)
  const stopCollectors = enabled ? startCollectors(diagnostics, { ...reporter, canWrite: !isSpoolOnly }) : noHooks
  const stopListening = enabled ? startSources(reporter) : noHooks
  const attached = new Set<() => void>()
  const stopExitHooks = enabled ? startExitHooks(context) : noHooks
  const loading = isSpoolOnly || !enabled ? null : backend.load()
  // The recorder reports a backend that cannot be loaded.
  const jobs = loading?.then(({ startJobs }) => startJobs(context)).catch(() => null)
  let dashboard: Promise<Dashboard> | null = null
  // The caller has already received the error of a dashboard that failed to load.
  const closeDashboard = () => void dashboard?.then(({ close }) => close()).catch(() => {})
  const removeHooks = () => {
    closeDashboard()
    stopListening()
    stopCollectors()
    context.scopes.stop()
    stopExitHooks()
  }
  const { recorder, tallies, database } = context
  return {
    context,
    sightings,
    dashboard() {
      dashboard ??= backend.load().then(() => openDashboard(context, diagnostics))
      return dashboard
    },
    attach(source) {
      if (!enabled) return noHooks
      context.scopes.enableForRequests()
      const end = source(reporter)
      const detach = () => {
        if (attached.delete(detach)) end()
      }
      attached.add(detach)
      return detach
    },
    async stop() {
      for (const detach of [...attached].reverse()) detach()
      closeDashboard()
      try {
        await (await jobs)?.stop()
        await recorder.close()
        await tallies.close()
        await database.close()
      } finally {
        // Removes the hooks last, because they save unwritten errors if the process exits during the steps above.
        removeHooks()
      }
    },
    retire() {
      recorder.spoolNow()
      removeHooks()
      void Promise.all([jobs?.then((running) => running?.stop()), recorder.close(), tallies.close()])
        .then(() => database.close())
        .catch((error: unknown) => context.log.warn(`Could not close the previous database: ${failureReason(error)}`))
    },
  }
}

/** Removes nothing, because a disabled tracker has no hooks. */
function noHooks(): void {}

async function openDashboard(context: Context, diagnostics: readonly Diagnostic[]): Promise<Dashboard> {
  const { createDashboard } = await import('./dashboard/handler.js')
  const { loadRoutes } = await import('./diagnostics/routes.js')
  return createDashboard(context, await loadRoutes(diagnostics))
}

/** Reports each error object once per request, even if several hooks receive it. */
function createReporter(context: CaptureContext, sightings: Sightings): Reporter {
  return {
    context,
    report(thrown, details, execution) {
      whenStackAllows(() => {
        const request = execution ?? context.scopes.current()?.request ?? null
        if (!sightings.isNew(thrown, request)) return
        if (logError(context, { ...details, exception: thrown }) !== FAILED_RESULT)
          sightings.markRecorded(thrown, request)
      })
    },
  }
}

/** Flushes at process exit. Imports the batches that worker threads leave in the spool. */
function startExitHooks(context: Context): () => void {
  const stopSending = atExit('late_reports', sendDeferredReports)
  const stopFlushing = flushAtExit(context.recorder)
  const stopListening = listenForImportRequests(context.spool.folder, () => void context.recorder.import())
  return () => {
    stopListening()
    stopFlushing()
    stopSending()
  }
}

/** Builds the parts of a tracker without starting any of them. */
function buildContext(
  settings: Settings,
  {
    now,
    random,
    env,
    write,
    diagnostics,
    servesDashboard,
    processFacts = readProcessFacts,
    banner = null,
    isRecordingHistory = () => false,
    origin = HOST_CODE,
  }: StartEnvironment & Required<Pick<Environment, 'diagnostics'>>,
  owner: object,
): { context: CaptureContext; backend: LazyBackend; isSpoolOnly: boolean } {
  const optionTable = { ...OPTIONS, ...collectOptions(diagnostics) }
  const { options: config, warnings } = resolveConfiguration(settings, env, optionTable)
  const problem = bundlingProblem()
  if (problem !== null && config.enabled) throw new ConfigurationError([problem])
  if (servesDashboard && config.enabled) requireSignIn(config)
  const redactor = config.filter_sensitive_data ? createRedactor(config.sensitive_data_patterns) : NO_REDACTION
  const log = createLog(now, write, redactor)
  for (const warning of warnings) log.warn(warning)
  const target = describeDatabase(config.database, config.project_root)
  assertEngineConfigured(config, target)
  const counters = new Counters()
  const spool = new Spool(spoolFolder(config, target), config.spool_max_bytes)
  const isSpoolOnly = mustUseSpool(target)
  const reject = createReject(counters, () => tallies, now)
  const backend = new LazyBackend({ config, target, spool, counters, log, now, random, reject, redactor, origin })
  const { database } = backend
  const ready = isSpoolOnly ? rejectInWorkerThread : async () => (await backend.load()).ready()
  const { application_name, max_occurrences_per_error } = config
  const writing = { database, spool, counters, application_name, now, open: ready, warn: log.warn }
  const recorder = new Recorder(
    {
      ...{ ...writing, max_occurrences_per_error },
      loadWriter: async () => (await backend.load()).writer,
      crashes: crashFiles(config),
      enqueueBatch: enqueueWithJobs(config, backend, log, counters),
      onSpooled: () => requestImport(spool.folder),
    },
    { journal: config.async_logging, spoolOnly: isSpoolOnly },
  )
  const tallies = new Tallies({ ...writing, spoolOnly: isSpoolOnly })
  const shared: Context = {
    ...{ config, database, ready, recorder, spool, tallies },
    ...{ redactor, counters, reject, log, now, random, optionTable, banner, isRecordingHistory },
    retention: collectRetention(diagnostics),
    get outbox() {
      return backend.loaded.outbox
    },
    get jobs() {
      return backend.loaded.jobs
    },
    get audit() {
      return backend.loaded.audit
    },
  }
  const context: CaptureContext = Object.assign(shared, captureParts(shared), { owner, processFacts: processFacts() })
  return { context, backend, isSpoolOnly }
}

/** High enough to outlast any database outage. */
const MAX_RECORD_ATTEMPTS = 1000

/**
 * Lets the worker process of an external job engine write accepted errors to the database. The embedded engine stores
 * its jobs in the same database, so each error would be written twice.
 */
function enqueueWithJobs(
  { job_engine, application_name }: Options,
  backend: LazyBackend,
  log: Log,
  counters: Counters,
): EnqueueBatch | null {
  if (job_engine === 'embedded') return null
  return createEnqueueBatch({
    async add(batch, batch_id) {
      const { jobs } = await backend.load()
      const data = { batch, application_name }
      await jobs.add([{ name: 'record', data, key: `record:${batch_id}`, max_attempts: MAX_RECORD_ATTEMPTS }])
    },
    onFailed(error) {
      counters.add('job_engine_unavailable')
      log.warn(`Cannot enqueue errors (${failureReason(error)}). Using the spool folder instead.`)
    },
  })
}

const MAX_CRASH_FILES = 50
const MAX_CRASH_BYTES = 256 * 1024

function crashFiles({ crash_capture_path, project_root }: Options): Spool | null {
  if (!crash_capture_path) return null
  return new Spool(resolve(project_root, crash_capture_path), MAX_CRASH_FILES * MAX_CRASH_BYTES, {
    prefix: 'crash',
    maxFiles: MAX_CRASH_FILES,
    maxFileBytes: MAX_CRASH_BYTES,
  })
}

/** Rejects queries. Errors are still recorded, because the main thread imports them from the spool folder. */
function rejectInWorkerThread(): Promise<void> {
  const reason = 'Worker threads cannot query SQLite on Node.js before 22.16. Run this in the main thread.'
  return Promise.reject(new TrackerError('database_unavailable', reason))
}

function captureParts({
  config,
  counters,
  now,
}: Context): Omit<CaptureContext, keyof Context | 'owner' | 'processFacts'> {
  const { request_scope, enable_breadcrumbs, crash_capture_path } = config
  const isNeeded = enable_breadcrumbs || crash_capture_path !== null
  const scopes = new Scopes(request_scope === 'auto' && isNeeded ? 'always' : request_scope)
  const positions = config.enable_source_maps
    ? new SourcePositions({
        project_root: config.project_root,
        onSkipped: () => counters.add('source_map_skipped'),
      })
    : undefined
  return {
    scopes,
    breadcrumbs: new Breadcrumbs(config, scopes, now),
    positions,
    sourceLines: new SourceLines({ project_root: config.project_root, positions }),
    hooks: createCaptureHooks(),
    traces: new TraceSightings(now),
    storms: new Storms(config.max_full_occurrences_per_minute),
    floods: new MessageFloods(config.max_groups_per_place),
    lag: new LagGuard(config.max_event_loop_lag_ms),
  }
}
