import { types } from 'node:util'
import type * as v from 'valibot'
import { dashboardStats } from './analytics/dashboard-stats.js'
import type { LogErrorInput } from './capture/fields.js'
import { type LoggedError, logError } from './capture/log-error.js'
import { Sightings } from './capture/sightings.js'
import { reasonOf } from './capture/thrown-value.js'
import type { Settings } from './config/options.js'
import { resolveConfiguration } from './config/resolve.js'
import type { Context } from './context.js'
import type { Handler } from './dashboard/handler.js'
import { createLog } from './log.js'
import { Counters } from './model/counters.js'
import { ConfigurationError, TrackerError } from './model/errors.js'
import { createRedactor, NO_REDACTION } from './model/redaction.js'
import { HOUR, MINUTE } from './model/time.js'
import { type Operation, perform } from './operation.js'
import { createDatabase } from './store/database.js'
import { flushAtExit } from './store/flush-at-exit.js'
import { openSchema, spoolFolder } from './store/open.js'
import { Recorder } from './store/recorder.js'
import { Spool } from './store/spool.js'
import { addComment } from './triage/add-comment.js'
import { assignError, unassignError } from './triage/assign-error.js'
import { batchDeleteErrors, batchResolveErrors } from './triage/batch-errors.js'
import { cleanupErrors } from './triage/cleanup-errors.js'
import { cleanupOnceADay } from './triage/daily-cleanup.js'
import type { ErrorSummary } from './triage/error-record.js'
import { type ErrorsListInput, type ErrorsPage, errorsPage } from './triage/errors-list.js'
import { findError } from './triage/find-error.js'
import { listApplications } from './triage/list-applications.js'
import { resolveError } from './triage/resolve-error.js'
import { snoozeError, unsnoozeError } from './triage/snooze-error.js'
import { updatePriority } from './triage/update-priority.js'
import { updateStatus } from './triage/update-status.js'

/** Time and chance, for tests. */
export interface Surroundings {
  now?: () => number
  random?: () => number
  env?: NodeJS.ProcessEnv
  /** Receives the lines that would go to standard error. */
  write?: (line: string) => void
}

interface Started {
  context: Context
  /** Loaded with the first request: a process that only records never needs it. */
  handler(): Promise<Handler>
  sightings: Sightings
  stop(): void
}

/** An independent tracker: its own configuration, database and dashboard. */
export class TrackerInstance {
  #settings: Settings = {}
  readonly #surroundings: Required<Surroundings>
  #started: Started | null = null
  #stopped = false
  #stopping: Promise<void> | null = null

  constructor(settings: Settings = {}, surroundings: Surroundings = {}) {
    this.#settings = { ...settings }
    this.#surroundings = {
      now: surroundings.now ?? Date.now,
      random: surroundings.random ?? Math.random,
      env: surroundings.env ?? process.env,
      write: surroundings.write ?? ((line) => process.stderr.write(line)),
    }
  }

  /** What changes errors. */
  readonly Commands = {
    LogError: { call: (input: LogErrorInput) => this.#logError(input) },
    ResolveError: this.#bind(resolveError),
    AssignError: this.#bind(assignError),
    UnassignError: this.#bind(unassignError),
    UpdatePriority: this.#bind(updatePriority),
    SnoozeError: this.#bind(snoozeError),
    UnsnoozeError: this.#bind(unsnoozeError),
    UpdateStatus: this.#bind(updateStatus),
    AddComment: this.#bind(addComment),
    BatchResolveErrors: this.#bind(batchResolveErrors),
    BatchDeleteErrors: this.#bind(batchDeleteErrors),
    CleanupErrors: this.#bind(cleanupErrors),
  }

  /** What reads them. */
  readonly Queries = {
    DashboardStats: this.#bind(dashboardStats),
    ErrorsList: {
      call: async (filter?: ErrorsListInput): Promise<ErrorSummary[]> =>
        (await errorsPage(this.#context(), filter)).errors,
      /** The same with its place among all that fit. */
      page: async (filter?: ErrorsListInput): Promise<ErrorsPage> => errorsPage(this.#context(), filter),
    },
    FindError: this.#bind(findError),
    Applications: this.#bind(listApplications),
  }

  /** What finds out more about many of them. */
  readonly Services = {}

  /**
   * Sets options, by a mapping or by a function that receives one. Once the tracker has started they are frozen.
   *
   * @example
   * Tracker.configure({ dashboard_username: 'admin', dashboard_password: process.env.DASHBOARD_PASSWORD })
   * Tracker.configure((config) => { config.retention_days = 30 })
   */
  configure(settings: Settings | ((config: Settings) => void)): this {
    if (this.#started) {
      throw new ConfigurationError([
        'the tracker has started, and its configuration is frozen: a change needs a restart',
      ])
    }
    if (typeof settings === 'function') settings(this.#settings)
    else Object.assign(this.#settings, settings)
    return this
  }

  /** Checks the configuration and starts; the first use does it too. Throws a ConfigurationError that names every problem. */
  start(): this {
    this.#stopped = false
    this.#start()
    return this
  }

  /** Settles when the database can be used; rejects with what to do when it cannot. */
  async ready(): Promise<void> {
    return this.#context().ready()
  }

  /** The dashboard as a standard function; adapters wrap it. */
  handle: Handler = async (request, mount) => (await this.#start().handler())(request, mount)

  get config(): Context['config'] {
    return this.#context().config
  }

  /** What the tracker itself is doing: buffer, spool, what was dropped and why. */
  async stats() {
    const { counters, recorder, spool, database } = this.#context()
    return {
      ...recorder.state,
      dropped: counters.toJSON(),
      spool: await spool.state(),
      database: database.dialect.address,
    }
  }

  /** Writes everything that was handed over before. */
  async flush(): Promise<void> {
    await this.#started?.context.recorder.flush()
  }

  /** Flushes, releases what was opened and removes every hook. A pool or handle of the host stays open. */
  async shutdown(): Promise<void> {
    this.#stopped = true
    this.#stopping ??= this.#stop().finally(() => {
      this.#stopping = null
    })
    return this.#stopping
  }

  /** For adapters: records what a handler of the host threw, unless this request has recorded it already. */
  capture(request: object, input: LogErrorInput): void {
    const started = this.#running()
    if (started?.sightings.isNew(input.exception, request)) void logError(started.context, input)
  }

  /** For adapters: counts what was left out on purpose. */
  drop(reason: string): void {
    this.#running()?.context.counters.add(reason)
  }

  /** What runs, or null once it was shut down: a hook of the host may come after that. */
  #running(): Started | null {
    return this.#stopped ? null : this.#start()
  }

  async #stop(): Promise<void> {
    const started = this.#started
    this.#started = null
    if (!started) return
    // The hooks go last: a process that exits meanwhile still finds what is not written yet.
    await started.context.recorder.close()
    await started.context.database.close()
    started.stop()
  }

  /** Not async, so that nothing of the host's is held while the row is being written. */
  #logError(input: LogErrorInput): Promise<LoggedError | null> {
    try {
      const { context, sightings } = this.#start()
      sightings.logged(exceptionOf(input))
      return logError(context, input)
    } catch (error) {
      // Only a tracker that cannot start comes here; the host must not pay for it.
      const { now, write } = this.#surroundings
      createLog(now, write).warn(`An error was not recorded: ${reasonOf(error)}`)
      return Promise.resolve(null)
    }
  }

  #bind<Schema extends v.GenericSchema, Result>(operation: Operation<Schema, Result>) {
    return { call: (input?: v.InferInput<Schema>): Promise<Result> => this.#perform(operation, input) }
  }

  async #perform<Schema extends v.GenericSchema, Result>(
    operation: Operation<Schema, Result>,
    input: unknown,
  ): Promise<Result> {
    return perform(operation, this.#context(), input)
  }

  #context(): Context {
    return this.#start().context
  }

  #start(): Started {
    // A handler of the host that finishes late must not bring back what was shut down.
    if (this.#stopped) throw new TrackerError('shut_down', 'The tracker was shut down; call start() to use it again.')
    this.#started ??= start(this.#settings, this.#surroundings)
    return this.#started
  }
}

function start(settings: Settings, { now, random, env, write }: Required<Surroundings>): Started {
  const { options: config, warnings } = resolveConfiguration(settings, env)
  const log = createLog(now, write)
  for (const warning of warnings) log.warn(warning)
  const database = createDatabase(config.database, config.project_root ?? process.cwd())
  const counters = new Counters()
  const spool = new Spool(spoolFolder(config, database), config.spool_max_bytes)
  const ready = onceUntilFailed(() => openSchema(database))
  const recorder = new Recorder(
    {
      database,
      spool,
      counters,
      application_name: config.application_name ?? 'application',
      max_occurrences_per_error: config.max_occurrences_per_error,
      now,
      open: ready,
      warn: log.warn,
    },
    { journal: config.async_logging },
  )
  const redactor = config.filter_sensitive_data ? createRedactor(config.sensitive_data_patterns) : NO_REDACTION
  const context: Context = { config, database, ready, recorder, spool, redactor, counters, log, now, random }
  let handler: Promise<Handler> | null = null
  return {
    context,
    handler() {
      handler ??= import('./dashboard/handler.js').then(({ createHandler }) => createHandler(context))
      return handler
    },
    sightings: new Sightings(),
    stop: keepHouse(context),
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

const CLEANUP_CHECK_MS = HOUR

/** What goes on beside the host's work until the tracker stops: the daily cleanup, and the last flush. */
function keepHouse(context: Context): () => void {
  const cleanUp = () => {
    cleanupOnceADay(context).catch((error: unknown) => {
      // A database that is away or outdated has been complained about already.
      if (!(error instanceof TrackerError)) context.log.warn(`The daily cleanup failed: ${reasonOf(error)}`)
    })
  }
  const timer = setInterval(cleanUp, CLEANUP_CHECK_MS).unref()
  const first = setTimeout(cleanUp, MINUTE).unref()
  const stopFlushing = flushAtExit(context.recorder)
  return () => {
    clearInterval(timer)
    clearTimeout(first)
    stopFlushing()
  }
}

function exceptionOf(input: unknown): unknown {
  return typeof input === 'object' && input !== null && !types.isProxy(input) && 'exception' in input
    ? Object.getOwnPropertyDescriptor(input, 'exception')?.value
    : input
}
