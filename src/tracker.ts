import { types } from 'node:util'
import type * as v from 'valibot'
import { calculateAllBaselines } from './analytics/baselines/baseline-calculator.js'
import { boundQuery } from './analytics/bound-query.js'
import { detectCascades } from './analytics/cascades/cascade-detector.js'
import { errorCascades } from './analytics/cascades/error-cascades.js'
import { coOccurringErrors } from './analytics/co-occurring-errors.js'
import { ErrorCorrelation } from './analytics/correlation/error-correlation.js'
import { dashboardStats } from './analytics/overview/dashboard-stats.js'
import { overviewData } from './analytics/overview/overview.js'
import { analyzeCyclicalPattern, detectBursts } from './analytics/patterns/pattern-detector.js'
import { PlatformComparison } from './analytics/platforms/platform-comparison.js'
import { releaseList } from './analytics/releases/release-list.js'
import { similarErrors } from './analytics/similar-errors.js'
import { errorAnalytics } from './analytics/trends/error-trends.js'
import type { Breadcrumb } from './capture/breadcrumbs/breadcrumbs.js'
import type { CaptureContext } from './capture/capture-context.js'
import { type ForeignError, logForeignError } from './capture/clients/foreign-error.js'
import { isUnhandled, type LogErrorInput, readFields } from './capture/fields.js'
import {
  deferReport,
  isSendingDeferred,
  NO_RESULT,
  REHEARSAL,
  sendDeferredReports,
} from './capture/guards/deferred-reports.js'
import { hasRoomToNote, hasRoomToRecord, isStackOverflow } from './capture/guards/stack-room.js'
import { complain, FAILED, type LoggedError, logError, type Outcome } from './capture/log-error.js'
import type { RequestGuardEvent } from './capture/request-guard/request-guard.js'
import { merged, type Scope, type Scopes } from './capture/scope.js'
import type { Source } from './capture/sources/source.js'
import { reasonOf } from './capture/values/thrown-value.js'
import type { Surroundings } from './compose.js'
import type { Settings } from './config/options.js'
import type { Context } from './context.js'
import type { Handler } from './dashboard/handler.js'
import { captureDiagnosticDump, deleteDiagnosticDump } from './diagnostics/capture-dump.js'
import { deprecations } from './diagnostics/deprecations.js'
import { diagnosticDumps, findDiagnosticDump } from './diagnostics/diagnostic-dump.js'
import { type KnownPools, rememberPool } from './diagnostics/dump/pools.js'
import { processHealth } from './diagnostics/health/process-health.js'
import { nPlusOneQueries } from './diagnostics/n-plus-one.js'
import { requestGuardSummary } from './diagnostics/request-guard.js'
import { deleteSourceMaps } from './diagnostics/source-maps/delete-source-maps.js'
import { listSourceMaps } from './diagnostics/source-maps/list-source-maps.js'
import { storeSourceMap } from './diagnostics/source-maps/store-source-map.js'
import { swallowedExceptions } from './diagnostics/swallowed-exceptions.js'
import { createLog } from './log.js'
import type { BudgetName } from './model/budgets.js'
import { ConfigurationError, TrackerError } from './model/errors.js'
import { deliveries } from './notifications/delivery/deliveries.js'
import { retryDelivery } from './notifications/delivery/retry-delivery.js'
import { sendTestNotification } from './notifications/delivery/test-message.js'
import { type Operation, perform } from './operation.js'
import { type Started, start } from './started.js'
import type { Imported, ImportInput } from './transfer/import-records.js'
import type { ExportedLine } from './transfer/record.js'
import { addComment } from './triage/commands/add-comment.js'
import { assignError, unassignError } from './triage/commands/assign-error.js'
import {
  batchAssignErrors,
  batchDeleteErrors,
  batchMuteErrors,
  batchResolveErrors,
  batchSnoozeErrors,
  batchUnmuteErrors,
  batchUpdatePriority,
  batchUpdateStatus,
} from './triage/commands/batch-errors.js'
import { cleanupErrors } from './triage/commands/cleanup-errors.js'
import { muteError, unmuteError } from './triage/commands/mute-error.js'
import { resolveError } from './triage/commands/resolve-error.js'
import { snoozeError, unsnoozeError } from './triage/commands/snooze-error.js'
import { updatePriority } from './triage/commands/update-priority.js'
import { updateStatus } from './triage/commands/update-status.js'
import { type ErrorsListInput, type ErrorsPage, errorsPage, type ListedError } from './triage/list/errors-list.js'
import { exportErrors } from './triage/list/export-errors.js'
import { listApplications } from './triage/list/list-applications.js'
import { errorChanges } from './triage/queries/error-changes.js'
import { errorHistory } from './triage/queries/error-history.js'
import { errorUsers } from './triage/queries/error-users.js'
import { findError } from './triage/queries/find-error.js'
import { deleteView, listSavedViews, saveView } from './triage/saved-views.js'

export type { Surroundings } from './compose.js'

/** What may be said about an error beside the error itself. */
export interface ReportOptions extends Omit<LogErrorInput, 'exception' | 'unhandled'> {
  /** False for what escaped every handler of the host. */
  handled?: boolean
}

/** An independent tracker: its own configuration, database and dashboard. */
export class TrackerInstance {
  #settings: Settings = {}
  readonly #surroundings: Required<Surroundings>
  #started: Started | null = null
  /** Whether `configure` may still come, though hooks are at work already. */
  #provisional = false
  #outdated = false
  #stopped = false
  #stopping: Promise<void> | null = null
  readonly #pools: KnownPools = new Map()
  /** Reports for which the stack had no room at all. Counted with the next report: a call would overflow again. */
  #missed = 0

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
    LogError: {
      call: (input: LogErrorInput): Promise<LoggedError | null> => {
        try {
          return this.#logError(input)
        } catch {
          // Overflow: the callers of the host further up still have the error.
          this.#missed++
          return NO_RESULT
        }
      },
    },
    ResolveError: this.#bind(resolveError),
    AssignError: this.#bind(assignError),
    UnassignError: this.#bind(unassignError),
    UpdatePriority: this.#bind(updatePriority),
    SnoozeError: this.#bind(snoozeError),
    UnsnoozeError: this.#bind(unsnoozeError),
    UpdateStatus: this.#bind(updateStatus),
    AddComment: this.#bind(addComment),
    BatchResolveErrors: this.#bind(batchResolveErrors),
    BatchAssignErrors: this.#bind(batchAssignErrors),
    BatchUpdateStatus: this.#bind(batchUpdateStatus),
    BatchUpdatePriority: this.#bind(batchUpdatePriority),
    BatchSnoozeErrors: this.#bind(batchSnoozeErrors),
    BatchDeleteErrors: this.#bind(batchDeleteErrors),
    CaptureDiagnosticDump: this.#bind(captureDiagnosticDump),
    DeleteDiagnosticDump: this.#bind(deleteDiagnosticDump),
    StoreSourceMap: this.#bind(storeSourceMap),
    DeleteSourceMaps: this.#bind(deleteSourceMaps),
    SaveView: this.#bind(saveView),
    DeleteView: this.#bind(deleteView),
    CleanupErrors: this.#bind(cleanupErrors),
    MuteError: this.#bind(muteError),
    UnmuteError: this.#bind(unmuteError),
    BatchMuteErrors: this.#bind(batchMuteErrors),
    BatchUnmuteErrors: this.#bind(batchUnmuteErrors),
    RetryDelivery: this.#bind(retryDelivery),
    SendTestNotification: this.#bind(sendTestNotification),
    /** Adds the lines of an export, each once; what a line does not say rightly goes to `reject`. */
    ImportErrors: {
      call: async ({ lines, reject = () => {} }: ImportInput): Promise<Imported> =>
        (await import('./transfer/import-records.js')).importRecords(this.#context(), lines, reject),
    },
  }

  /** What reads them. */
  readonly Queries = {
    DashboardStats: this.#bind(dashboardStats),
    Overview: this.#bind(overviewData),
    ErrorsList: {
      call: async (filter?: ErrorsListInput): Promise<ListedError[]> =>
        (await errorsPage(this.#context(), filter)).errors,
      /** The same with its place among all that fit. */
      page: async (filter?: ErrorsListInput): Promise<ErrorsPage> => errorsPage(this.#context(), filter),
    },
    /** All errors that fit, whole for `ImportErrors` or as a table, read while they are taken. */
    ExportErrors: {
      records: (filter?: ErrorsListInput) => this.#records(filter),
      csv: (filter?: ErrorsListInput) => exportErrors(this.#context(), filter, { limit: Number.POSITIVE_INFINITY }),
    },
    FindError: this.#bind(findError),
    ErrorHistory: this.#bind(errorHistory),
    ErrorUsers: this.#bind(errorUsers),
    Applications: this.#bind(listApplications),
    SavedViews: this.#bind(listSavedViews),
    ErrorChanges: this.#bind(errorChanges),
    PlatformComparison: boundQuery(PlatformComparison, () => this.#context()),
    ErrorCorrelation: boundQuery(ErrorCorrelation, () => this.#context()),
    ErrorAnalytics: this.#bind(errorAnalytics),
    Releases: this.#bind(releaseList),
    SimilarErrors: this.#bind(similarErrors),
    CoOccurringErrors: this.#bind(coOccurringErrors),
    ErrorCascades: this.#bind(errorCascades),
    OccurrencePattern: this.#bind(analyzeCyclicalPattern),
    ErrorBursts: this.#bind(detectBursts),
    SwallowedExceptions: this.#bind(swallowedExceptions),
    DiagnosticDumps: this.#bind(diagnosticDumps),
    FindDiagnosticDump: this.#bind(findDiagnosticDump),
    ProcessHealth: this.#bind(processHealth),
    SourceMaps: this.#bind(listSourceMaps),
    RequestGuardSummary: this.#bind(requestGuardSummary),
    NPlusOneQueries: this.#bind(nPlusOneQueries),
    Deprecations: this.#bind(deprecations),
    Deliveries: this.#bind(deliveries),
  }

  /** What finds out more about many of them. */
  readonly Services = {
    PatternDetector: {
      analyzeCyclicalPattern: this.#bind(analyzeCyclicalPattern).call,
      detectBursts: this.#bind(detectBursts).call,
    },
    CascadeDetector: this.#bind(detectCascades),
    BaselineCalculator: { calculateAllBaselines: this.#bind(calculateAllBaselines).call },
  }

  /**
   * Sets options, by a mapping or by a function that receives one. Once the tracker has started they are frozen.
   *
   * @example
   * Tracker.configure({ dashboard_username: 'admin', dashboard_password: process.env.DASHBOARD_PASSWORD })
   * Tracker.configure((config) => { config.retention_days = 30 })
   */
  configure(settings: Settings | ((config: Settings) => void)): this {
    if (this.#started && !this.#provisional) {
      throw new ConfigurationError([
        'the tracker has started, and its configuration is frozen: a change needs a restart',
      ])
    }
    if (typeof settings === 'function') settings(this.#settings)
    else Object.assign(this.#settings, settings)
    if (this.#started) this.#renewSoon()
    return this
  }

  /** Checks the configuration and starts; the first use does it too. Throws a ConfigurationError that names every problem. */
  start(): this {
    this.#stopped = false
    this.#start()
    this.#provisional = false
    return this
  }

  /** For `faultboard/register`: starts with what the environment says, and again should the host configure it later. */
  startProvisionally(): this {
    if (this.#started || this.#stopped) return this
    this.#start()
    this.#provisional = true
    return this
  }

  /** Settles when the database can be used; rejects with what to do when it cannot. */
  async ready(): Promise<void> {
    return this.#context().ready()
  }

  /** The dashboard as a standard function; adapters wrap it. */
  handle: Handler = async (request, mount) => (await this.#start().dashboard()).handle(request, mount)

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
    sendDeferredReports()
    await this.#started?.context.recorder.flush()
    await this.#started?.context.tallies.flush()
  }

  /** Flushes, releases what was opened and removes every hook. A pool or handle of the host stays open. */
  async shutdown(): Promise<void> {
    sendDeferredReports()
    this.#stopped = true
    this.#stopping ??= this.#stop().finally(() => {
      this.#stopping = null
    })
    return this.#stopping
  }

  /**
   * Records an error from anywhere in the host, unless a hook has recorded this very object already. It never rejects;
   * it gives null when nothing was recorded. Governed by `enable_error_subscriber`.
   *
   * @example
   * Tracker.report(error, { handled: true, severity: 'medium', context: { order_id: 7 } })
   */
  report(error: unknown, options: ReportOptions = {}): Promise<LoggedError | null> {
    try {
      return this.#reportAtAnyDepth(error, options)
    } catch {
      // Overflow: the callers of the host further up still have the error.
      this.#missed++
      return NO_RESULT
    }
  }

  #reportAtAnyDepth(error: unknown, options: ReportOptions): Promise<LoggedError | null> {
    try {
      if (error === REHEARSAL) return NO_RESULT
      if (hasRoomToRecord()) return this.#report(error, options)
      return deferReport(() => this.#report(error, options)) ?? this.#dropAtStackEnd()
    } catch {
      // Not marked as recorded: a caller further up can report the error again.
      return deferReport(() => this.#report(error, options)) ?? NO_RESULT
    }
  }

  #report(error: unknown, options: ReportOptions): Promise<LoggedError | null> {
    return this.#safely(({ context, sightings }) => {
      if (!context.config.enable_error_subscriber) {
        context.counters.add('error_subscriber_is_off')
        return null
      }
      context.scopes.wanted()
      const request = context.scopes.current()?.request ?? null
      if (!sightings.isNew(error, request)) return null
      const said = readFields(options)
      const input = { source: 'report', ...said, unhandled: isUnhandled(options), exception: error }
      const result = logError(context, input)
      if (result !== FAILED) sightings.recorded(error, request)
      return result
    })
  }

  /**
   * Adds to what is recorded with every further error of this request or job.
   *
   * @example
   * Tracker.setContext({ order_id: order.id, step: 'payment' })
   */
  setContext(values: Record<string, unknown>): void {
    this.#inScope((scope) => {
      scope.context = merged(scope.context, values)
    })
  }

  /** Adds short texts by which occurrences can be told apart. */
  setTags(tags: Record<string, string | number | boolean>): void {
    this.#inScope((scope) => {
      scope.tags = merged(scope.tags, tags)
    })
  }

  /** Says whose request or job this is, where neither `user_callback` nor the usual places know it. */
  setUser(user_id: string | number | null): void {
    this.#inScope((scope) => {
      scope.user_id = user_id
    })
  }

  /**
   * Runs a job, or anything that is no request, in a scope of its own: what is set or left as a breadcrumb in it stays
   * in it.
   *
   * @example
   * await Tracker.withScope(async () => {
   *   Tracker.setTags({ job: 'nightly-report' })
   *   await buildReport()
   * })
   */
  withScope<T>(work: () => T): T {
    // Near the end of the stack the work runs in the scope of its caller.
    const scopes = hasRoomToNote() ? this.#scopes() : null
    return scopes ? scopes.run(work) : work()
  }

  /**
   * Leaves a step of what happened, shown with the next error of this request. Governed by `enable_breadcrumbs`.
   *
   * @example
   * Tracker.addBreadcrumb({ category: 'cart', message: 'item added', metadata: { sku } })
   */
  addBreadcrumb(breadcrumb: Breadcrumb): void {
    this.#whereStackAllows(() => {
      const { category, message, duration_ms, metadata } = breadcrumb
      const crumb = { category: String(category), message: String(message), duration_ms, metadata }
      this.#running()?.context.breadcrumbs.add(crumb)
    })
  }

  /**
   * Makes a pool of connections known, so that dumps tell how it is doing: of pg, mysql2, knex, Sequelize, generic-pool or
   * undici. It may come before `configure`, and nothing but numbers is ever read of it.
   *
   * @example
   * Tracker.registerPool('orders', new pg.Pool())
   */
  registerPool(name: string, pool: object): void {
    rememberPool(this.#pools, name, pool)
  }

  /** What the host's rate limiters and blocklists tell. Governed by `enable_request_guard_tracking`. */
  readonly requestGuard = {
    /**
     * Counts that a request was throttled, blocked or watched, and leaves it in the trail of the request. Address and
     * path are found in the request; without one, in the request that is going on. It never throws and never waits.
     *
     * @example
     * Tracker.requestGuard.record({ kind: 'blocklist', rule: 'known scrapers', request })
     */
    record: (event: RequestGuardEvent): void => {
      this.#whereStackAllows(() => this.#running()?.context.request_guard?.record(event))
    },
  }

  /**
   * For adapters: records what a handler of the host threw, unless this request has recorded it already. `describe` reads
   * the request, and only runs for a new error. It may call `user_callback`, which may report the same error itself.
   */
  capture(request: object, exception: unknown, describe: () => LogErrorInput): void {
    const started = this.#running()
    if (!started?.sightings.isNew(exception, request)) return
    const input = describe()
    if (!started.sightings.isNew(exception, request)) return
    if (logError(started.context, input) !== FAILED) started.sightings.recorded(exception, request)
  }

  /** For endpoints to which other processes report: the clock, and the way in for what happened there. Never rejects. */
  readonly inlet = {
    now: (): number => this.#surroundings.now(),
    record: (error: ForeignError): Promise<Outcome> =>
      this.#safely(async ({ context }) => {
        // Only a process to which others report has a use for it.
        const { withOriginalStack } = await import('./capture/clients/foreign-stack.js')
        return logForeignError(context, await withOriginalStack(context, error))
      }),
    failed: (error: unknown): void => this.#notTaken(error),
    reject: (budget: BudgetName): void => this.#running()?.context.reject(budget),
  }

  /** For subscribers: listens to one more source while the tracker runs; gives the function that ends it sooner. */
  attach(source: Source): () => void {
    return this.#start().attach(source)
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
    started.detachAll()
    // The hooks go last: a process that exits meanwhile still finds what is not written yet.
    try {
      await started.work?.stop()
      await started.context.recorder.close()
      await started.context.tallies.close()
      await started.context.database.close()
    } finally {
      started.stop()
    }
  }

  #logError(input: LogErrorInput): Promise<LoggedError | null> {
    try {
      if ((input as unknown) === REHEARSAL) return NO_RESULT
      if (hasRoomToRecord()) return this.#logErrorNow(input)
      return deferReport(() => this.#logErrorNow(input)) ?? this.#dropAtStackEnd()
    } catch {
      return deferReport(() => this.#logErrorNow(input)) ?? NO_RESULT
    }
  }

  #countMissed({ context }: Started): void {
    context.counters.add('stack_exhausted', this.#missed)
    this.#missed = 0
  }

  #dropAtStackEnd(): Promise<null> {
    this.#started?.context.counters.add('stack_exhausted')
    return NO_RESULT
  }

  #logErrorNow(input: LogErrorInput): Promise<LoggedError | null> {
    return this.#safely(({ context, sightings }) => {
      context.scopes.wanted()
      const result = logError(context, input)
      if (result !== FAILED) sightings.recorded(exceptionOf(input), null)
      return result
    })
  }

  /** Not async, so that nothing of the host's is held while the row is being written. */
  #safely<T>(record: (started: Started) => Promise<T | null> | null): Promise<T | null> {
    try {
      const started = this.#start()
      if (this.#missed > 0) this.#countMissed(started)
      return record(started) ?? Promise.resolve(null)
    } catch (error) {
      if (isStackOverflow(error) && !isSendingDeferred()) throw error
      this.#complain(error)
      return NO_RESULT
    }
  }

  /** Only a tracker that cannot start, or was shut down, comes here; the host must not pay for it. */
  #complain(error: unknown): void {
    const { now, write } = this.#surroundings
    createLog(now, write).warn(`An error was not recorded: ${reasonOf(error)}`)
  }

  /** A callback of the host's failed, or the connection broke while a client was reporting. */
  #notTaken(error: unknown): void {
    if (this.#started) complain(this.#started.context, 'taking the report of a client', error)
    else this.#complain(error)
  }

  #scopes(): Scopes | null {
    try {
      return this.#running()?.context.scopes ?? null
    } catch (error) {
      this.#complain(error)
      return null
    }
  }

  #inScope(change: (scope: Scope) => void): void {
    this.#whereStackAllows(() => {
      const scope = this.#scopes()?.open()
      if (scope) change(scope)
    })
  }

  /** Skips the work near the end of the stack. Never throws: a log line is safe only where the stack has room for it. */
  #whereStackAllows(work: () => void): void {
    try {
      if (hasRoomToNote()) this.#withComplaint(work)
    } catch {
      // Overflow.
    }
  }

  #withComplaint(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#complain(error)
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

  async *#records(filter?: ErrorsListInput): AsyncGenerator<ExportedLine> {
    yield* (await import('./transfer/export-records.js')).exportRecords(this.#context(), filter)
  }

  #context(): CaptureContext {
    return this.#start().context
  }

  #start(): Started {
    // A handler of the host that finishes late must not bring back what was shut down.
    if (this.#stopped) throw new TrackerError('shut_down', 'The tracker was shut down; call start() to use it again.')
    if (this.#outdated) this.#retire()
    if (this.#started) return this.#started
    this.#started = start(this.#settings, this.#surroundings, this.#pools)
    void this.report(REHEARSAL)
    void this.Commands.LogError.call(REHEARSAL as never)
    return this.#started
  }

  /** Not at once: `configure` is often called in several steps, and until then the hooks stay where they are. */
  #renewSoon(): void {
    if (this.#outdated) return
    this.#outdated = true
    setImmediate(() => {
      try {
        this.#running()
      } catch (error) {
        this.#complain(error)
      }
    })
  }

  /** Ends what was started with other settings; what it holds is written from its own spool folder. */
  #retire(): void {
    this.#outdated = false
    const started = this.#started
    this.#started = null
    if (!started) return
    const { recorder, tallies, database } = started.context
    recorder.spoolNow()
    started.stop()
    void Promise.all([started.work?.stop(), recorder.close(), tallies.close()]).then(() => database.close())
  }
}

function exceptionOf(input: unknown): unknown {
  return typeof input === 'object' && input !== null && !types.isProxy(input) && 'exception' in input
    ? Object.getOwnPropertyDescriptor(input, 'exception')?.value
    : input
}
