import { resolve } from 'node:path'
import { Breadcrumbs } from './capture/breadcrumbs.js'
import type { CaptureContext } from './capture/capture-context.js'
import { countIfAsked } from './capture/count-if-asked.js'
import { LagGuard } from './capture/guards/lag.js'
import { MessageFloods } from './capture/guards/message-floods.js'
import { Storms } from './capture/guards/storms.js'
import { logError } from './capture/log-error.js'
import { processFacts } from './capture/process-facts.js'
import { Scopes } from './capture/scope.js'
import { Sightings } from './capture/sightings.js'
import type { Reporter, Source } from './capture/source.js'
import { SourcePositions } from './capture/source-positions.js'
import { listen } from './capture/sources.js'
import { countSwallowed } from './capture/swallowed/count-swallowed.js'
import { TraceSightings } from './capture/trace.js'
import { LocalVariables } from './capture/variables/local-variables.js'
import type { Options, Settings } from './config/options.js'
import { resolveConfiguration } from './config/resolve.js'
import type { Context, Log } from './context.js'
import type { Dashboard } from './dashboard/handler.js'
import type { JobEngine } from './jobs/engine.js'
import { createEngine } from './jobs/engines.js'
import { reasonOf } from './jobs/reason.js'
import { createLog } from './log.js'
import { Counters } from './model/counters.js'
import { TrackerError } from './model/errors.js'
import { createRedactor, NO_REDACTION } from './model/redaction.js'
import { createOutbox } from './notifications/outbox.js'
import { createDatabase } from './store/database.js'
import { flushAtExit } from './store/flush-at-exit.js'
import { createHandOver, type HandOver } from './store/hand-over.js'
import { openSchema, spoolFolder } from './store/open.js'
import { Recorder } from './store/recorder.js'
import { Spool } from './store/spool.js'
import { Tallies } from './store/tallies.js'
import { answerWorkers, mustLeaveToMainThread, ringForImport } from './store/threads.js'
import { startWork, type Work } from './work.js'

/** Time and chance, for tests. */
export interface Surroundings {
  now?: () => number
  random?: () => number
  env?: NodeJS.ProcessEnv
  /** Receives the lines that would go to standard error. */
  write?: (line: string) => void
}

/** A tracker at work: everything that its configuration asks for is open, hooked and running. */
export interface Started {
  context: CaptureContext
  /** Loaded with the first request: a process that only records never needs it. */
  dashboard(): Promise<Dashboard>
  sightings: Sightings
  /** Null where the database must not be touched. */
  work: Work | null
  attach(source: Source): () => void
  /** Ends what was attached; what it still had to report is handed over. */
  detachAll(): void
  stop(): void
}

/** Opens, hooks and runs everything that the settings ask for. Throws a ConfigurationError that names every problem. */
export function start(
  settings: Settings,
  { now, random, env, write }: Required<Surroundings>,
  pools: CaptureContext['pools'] = new Map(),
): Started {
  const { options: config, warnings } = resolveConfiguration(settings, env)
  const log = createLog(now, write)
  for (const warning of warnings) log.warn(warning)
  const database = createDatabase(config.database, config.project_root)
  const counters = new Counters()
  const spool = new Spool(spoolFolder(config, database), config.spool_max_bytes)
  const by_spool = mustLeaveToMainThread(database)
  const ready = by_spool ? leftToMainThread : onceUntilFailed(() => openSchema(database))
  const outbox = createOutbox({ config, database, now })
  const jobs = createEngine({ config, database, ready, log, now, random })
  const { application_name } = config
  const recorder = new Recorder(
    {
      database,
      spool,
      crashes: crashFiles(config),
      counters,
      outbox,
      handOver: byJobs(config, jobs, log, counters),
      application_name,
      max_occurrences_per_error: config.max_occurrences_per_error,
      now,
      open: ready,
      warn: log.warn,
      onLeft: () => ringForImport(spool.folder),
    },
    { journal: config.async_logging, by_spool },
  )
  const redactor = config.filter_sensitive_data ? createRedactor(config.sensitive_data_patterns) : NO_REDACTION
  const tallies = new Tallies({
    database,
    open: ready,
    application_name,
    counters,
    spool,
    by_spool,
    now,
    warn: log.warn,
  })
  const everybodys: Context = {
    ...{ config, database, ready, recorder, spool, tallies, outbox, jobs },
    ...{ redactor, counters, log, now, random },
  }
  const context: CaptureContext = { ...everybodys, ...captureParts(everybodys), pools }
  countIfAsked(context)
  const sightings = new Sightings()
  const reporter: Reporter = {
    context,
    report(thrown, more, occasion) {
      if (sightings.isNew(thrown, occasion ?? context.scopes.current()?.request ?? null)) {
        void logError(context, { ...more, exception: thrown })
      }
    },
  }
  const stopListening = listen(reporter)
  const stopCounting = countSwallowed(context)
  const stopWatching = watchIfAsked(context, { writes: !by_spool })
  context.variables?.start()
  const attached = new Set<() => void>()
  const stopKeepingHouse = keepHouse(context)
  const work = by_spool ? null : startWork(context)
  let dashboard: Promise<Dashboard> | null = null
  // One that could not be loaded has told whoever asked for it.
  const closeDashboard = () => void dashboard?.then(({ close }) => close()).catch(() => {})
  return {
    context,
    dashboard() {
      dashboard ??= import('./dashboard/handler.js').then(({ createDashboard }) => createDashboard(context))
      return dashboard
    },
    sightings,
    work,
    attach(source) {
      context.scopes.wanted()
      const end = source(reporter)
      const detach = () => {
        if (attached.delete(detach)) end()
      }
      attached.add(detach)
      return detach
    },
    detachAll() {
      for (const detach of [...attached].reverse()) detach()
      closeDashboard()
    },
    stop() {
      closeDashboard()
      stopListening()
      stopCounting()
      context.variables?.stop()
      stopWatching()
      context.scopes.stop()
      stopKeepingHouse()
    },
  }
}

/** However long the database is away, and the engine is not. */
const RECORD_ATTEMPTS = 1000

/**
 * With an engine of its own, whatever process works on jobs writes what was accepted. The embedded one is in the very
 * database that the errors go to: by it, each would be written twice.
 */
function byJobs(
  { job_engine, application_name }: Options,
  jobs: JobEngine,
  log: Log,
  counters: Counters,
): HandOver | null {
  if (job_engine === 'embedded') return null
  return createHandOver({
    add: (batch, batch_id) =>
      jobs.add([
        { name: 'record', data: { batch, application_name }, key: `record:${batch_id}`, max_attempts: RECORD_ATTEMPTS },
      ]),
    onFailed(error) {
      counters.add('job_engine_away')
      log.warn(`Errors cannot be handed to the job engine (${reasonOf(error)}); they go by the spool folder meanwhile.`)
    },
  })
}

const MAX_CRASH_FILES = 50
const MAX_CRASH_BYTES = 256 * 1024

function crashFiles({ crash_capture_path, project_root }: Options): Spool | null {
  if (!crash_capture_path) return null
  return new Spool(resolve(project_root, crash_capture_path), MAX_CRASH_FILES * MAX_CRASH_BYTES, {
    prefix: 'crash',
    max_files: MAX_CRASH_FILES,
    max_file_bytes: MAX_CRASH_BYTES,
  })
}

/** Errors are recorded all the same: they go by the spool folder. */
function leftToMainThread(): Promise<void> {
  const why = 'In a worker thread, below Node.js 24, the embedded SQLite cannot be asked: do so in the main thread.'
  return Promise.reject(new TrackerError('database_unavailable', why))
}

function captureParts({ config, counters, log, now }: Context): Omit<CaptureContext, keyof Context | 'pools'> {
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
    variables: config.enable_local_variables
      ? new LocalVariables({ config, positions, counters, log, now })
      : undefined,
    traces: new TraceSightings(now),
    storms: new Storms(config.max_full_occurrences_per_minute),
    floods: new MessageFloods(config.max_groups_per_place),
    lag: new LagGuard(config.max_event_loop_lag_ms),
    process_facts: processFacts(),
    systemHealth: null,
    ...{ request_guard: null, n_plus_one: null, deprecations: null },
  }
}

/** Nothing is loaded, and nothing listens, where no switch asks for it. */
function watchIfAsked(context: CaptureContext, parts: { writes: boolean }): () => void {
  const { enable_diagnostic_dump, enable_system_health, enable_process_health } = context.config
  if (!enable_diagnostic_dump && !enable_system_health && !enable_process_health) return () => {}
  let end: (() => void) | null = () => {}
  void import('./diagnostics/health/watch-process.js')
    .then(({ watchProcess }) => {
      if (end) end = watchProcess(context, parts)
    })
    .catch((error: unknown) => context.log.warn(`The process cannot be measured: ${reasonOf(error)}`))
  return () => {
    end?.()
    end = null
  }
}

/** One attempt serves everybody who asks; one that failed is made again for the next. */
function onceUntilFailed(attempt: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null
  return () => {
    running ??= attempt().catch((error: unknown) => {
      running = null
      throw error
    })
    return running
  }
}

/** What goes on beside the host's work until the tracker stops: the last flush, and what workers leave. */
function keepHouse(context: Context): () => void {
  const stopFlushing = flushAtExit(context.recorder)
  const stopAnswering = answerWorkers(context.spool.folder, () => void context.recorder.import())
  return () => {
    stopAnswering()
    stopFlushing()
  }
}
