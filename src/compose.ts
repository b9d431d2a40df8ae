import { resolve } from 'node:path'
import { Breadcrumbs } from './capture/breadcrumbs/breadcrumbs.js'
import type { CaptureContext } from './capture/capture-context.js'
import { countIfAsked } from './capture/count-if-asked.js'
import { processFacts } from './capture/facts/process-facts.js'
import { TraceSightings } from './capture/facts/trace.js'
import { LagGuard } from './capture/guards/lag.js'
import { MessageFloods } from './capture/guards/message-floods.js'
import { Storms } from './capture/guards/storms.js'
import { Scopes } from './capture/scope.js'
import { SourceLines } from './capture/source-maps/source-lines.js'
import { SourcePositions } from './capture/source-maps/source-positions.js'
import { LocalVariables } from './capture/variables/local-variables.js'
import type { Options, Settings } from './config/options.js'
import { resolveConfiguration } from './config/resolve.js'
import type { Context, Log } from './context.js'
import type { JobEngine } from './jobs/engine.js'
import { createEngine } from './jobs/engines.js'
import { reasonOf } from './jobs/reason.js'
import { createLog } from './log.js'
import { Counters } from './model/counters.js'
import { TrackerError } from './model/errors.js'
import { createRedactor, NO_REDACTION } from './model/redaction/redaction.js'
import { createOutbox } from './notifications/delivery/outbox.js'
import { Tallies } from './store/counters/tallies.js'
import { createDatabase } from './store/database.js'
import { openSchema, spoolFolder } from './store/open.js'
import { Recorder } from './store/recording/recorder.js'
import { createReject } from './store/recording/rejections.js'
import { createHandOver, type HandOver } from './store/spool/hand-over.js'
import { Spool } from './store/spool/spool.js'
import { mustLeaveToMainThread, ringForImport } from './store/spool/threads.js'

/** Time and chance, for tests. */
export interface Surroundings {
  now?: () => number
  random?: () => number
  env?: NodeJS.ProcessEnv
  /** Receives the lines that would go to standard error. */
  write?: (line: string) => void
}

export interface Composed {
  context: CaptureContext
  /** The database must not be touched from this thread: everything is left in the spool folder. */
  by_spool: boolean
}

/** Makes the parts of a tracker, as its settings ask for them. No source of errors is listened to yet, and no job done. */
export function compose(
  settings: Settings,
  { now, random, env, write }: Required<Surroundings>,
  pools: CaptureContext['pools'],
): Composed {
  const { options: config, warnings } = resolveConfiguration(settings, env)
  const redactor = config.filter_sensitive_data ? createRedactor(config.sensitive_data_patterns) : NO_REDACTION
  const log = createLog(now, write, redactor)
  for (const warning of warnings) log.warn(warning)
  const database = createDatabase(config.database, config.project_root)
  database.dialect.file?.onIncident(log.warn)
  const counters = new Counters()
  const spool = new Spool(spoolFolder(config, database), config.spool_max_bytes)
  const by_spool = mustLeaveToMainThread(database)
  const ready = by_spool
    ? leftToMainThread
    : onceUntilFailed(
        () => openSchema(database),
        () => database.dialect.file?.generation,
      )
  const reject = createReject(counters, () => tallies, now)
  const outbox = createOutbox({ config, database, now, reject })
  const jobs = createEngine({ config, database, ready, log, now, random })
  const { application_name, max_occurrences_per_error } = config
  const writing = { database, spool, counters, application_name, now, open: ready, warn: log.warn }
  const recorder = new Recorder(
    {
      ...{ ...writing, outbox, max_occurrences_per_error },
      crashes: crashFiles(config),
      handOver: byJobs(config, jobs, log, counters),
      onLeft: () => ringForImport(spool.folder),
    },
    { journal: config.async_logging, by_spool },
  )
  const tallies = new Tallies({ ...writing, by_spool })
  const everybodys: Context = {
    ...{ config, database, ready, recorder, spool, tallies, outbox, jobs },
    ...{ redactor, counters, reject, log, now, random },
  }
  const context: CaptureContext = { ...everybodys, ...captureParts(everybodys), pools }
  countIfAsked(context)
  return { context, by_spool }
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
    source_lines: new SourceLines({ project_root: config.project_root, positions }),
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

/** Shares one attempt among all callers, until it fails or the generation of the database file changes. */
function onceUntilFailed(attempt: () => Promise<void>, generation: () => number | undefined): () => Promise<void> {
  let running: { attempt: Promise<void>; generation: number | undefined } | null = null
  return () => {
    const current = generation()
    if (running?.generation !== current) running = null
    if (running) return running.attempt
    const started = { attempt: attempt(), generation: current }
    running = started
    started.attempt.catch(() => {
      if (running === started) running = null
    })
    return started.attempt
  }
}
