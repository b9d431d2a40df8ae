import { isDeepStrictEqual, types } from 'node:util'
import type { Breadcrumb } from './capture/breadcrumbs/breadcrumb.js'
import type { CaptureContext } from './capture/capture-context.js'
import type { ForeignError } from './capture/clients/foreign-error.js'
import { processFacts } from './capture/facts/process-facts.js'
import { isUnhandled, type LogErrorInput, readFields } from './capture/fields.js'
import {
  COMPILE_ONLY,
  deferReport,
  isSendingDeferred,
  NO_RESULT,
  sendDeferredReports,
} from './capture/guards/deferred-reports.js'
import { hasRoomForBreadcrumb, hasRoomToRecord, isStackOverflow } from './capture/guards/stack-room.js'
import { FAILED_RESULT, type LoggedError, logError, type Outcome, reportFailure } from './capture/log-error.js'
import { mergeValues, type Scope, type Scopes } from './capture/scope.js'
import type { Source } from './capture/sources/source.js'
import { thrownMessage } from './capture/values/thrown-value.js'
import { requireSignIn } from './config/resolve.js'
import { type Announcement, announceDashboard, type LocateDashboard } from './dashboard/announce.js'
import type { Handler } from './dashboard/handler.js'
import type { Diagnostic, TrackerAccess } from './diagnostics/define.js'
import { apiOf, collectOperations, DIAGNOSTICS, type DiagnosticApi } from './diagnostics/diagnostics.js'
import { createLog } from './log.js'
import type { BudgetName } from './model/budgets.js'
import { ConfigurationError, TrackerError } from './model/errors.js'
import { type AnyCase, replaceFields } from './model/input/spelling.js'
import { HOST_CODE } from './model/people/audit.js'
import { bindOperations, type OperationTable } from './operation.js'
import { COMMANDS, QUERIES, SERVICES } from './operations.js'
import type { Options, Settings, SettingsFunction } from './options.js'
import { type Environment, type Runtime, startRuntime } from './runtime.js'

export type { Environment } from './runtime.js'

/** Optional data about a reported error. */
export type ReportOptions = AnyCase<ReportFields>

interface ReportFields extends Omit<LogErrorInput, 'exception' | 'unhandled'> {
  /** False for an error that no handler in the host caught. */
  handled?: boolean
}

/** Members that diagnostics add. The constructor assigns them. */
export interface TrackerInstance extends DiagnosticApi {}

/** Independent tracker with its own configuration, database and dashboard. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: TypeScript has no other way to add members to a class.
export class TrackerInstance {
  #settings: Settings = {}
  readonly #environment: Required<Environment>
  #runtime: Runtime | null = null
  /** True while `configure` can still be called although the hooks are active. */
  #isProvisional = false
  #isOutdated = false
  #isStopped = false
  #stopping: Promise<void> | null = null
  #announcement: Announcement | null = null
  /**
   * Reports dropped near a stack overflow. Counted with the next report, because counting at once would overflow again.
   */
  #droppedReports = 0

  constructor(settings: Settings = {}, environment: Environment = {}) {
    this.#settings = { ...checkedSettings(settings) }
    this.#environment = {
      now: environment.now ?? Date.now,
      random: environment.random ?? Math.random,
      env: environment.env ?? process.env,
      write: environment.write ?? ((line) => process.stderr.write(line)),
      diagnostics: environment.diagnostics ?? DIAGNOSTICS,
      announcesDashboard: environment.announcesDashboard ?? true,
      processFacts: environment.processFacts ?? processFacts,
      banner: environment.banner ?? null,
      isRecordingHistory: environment.isRecordingHistory ?? (() => false),
      origin: environment.origin ?? HOST_CODE,
    }
    Object.assign(this, apiOf(this.#environment.diagnostics, this.#diagnosticAccess()))
    if (environment.diagnostics) this.#bindDiagnostics(environment.diagnostics)
  }

  #diagnosticAccess(): TrackerAccess {
    return {
      owner: this,
      run: (callback) => {
        this.#ifStackAllows(() => {
          const runtime = this.#running()
          if (runtime) callback(runtime.context)
        })
      },
    }
  }

  /** Adds the operations of diagnostics that are not in the default list. */
  #bindDiagnostics(diagnostics: readonly Diagnostic[]): void {
    const context = () => this.#context()
    Object.assign(this.Commands, bindOperations(collectOperations(diagnostics, 'commands') as OperationTable, context))
    Object.assign(this.Queries, bindOperations(collectOperations(diagnostics, 'queries') as OperationTable, context))
  }

  /** Operations that change errors. */
  readonly Commands = {
    LogError: {
      call: (input: AnyCase<LogErrorInput>): Promise<LoggedError | null> => {
        try {
          return this.#logError(input)
        } catch {
          // Stack overflow: host code further up the stack can still report the error.
          this.#droppedReports++
          return NO_RESULT
        }
      },
    },
    ...bindOperations(COMMANDS, () => this.#context()),
  }

  /** Read-only operations. */
  readonly Queries = bindOperations(QUERIES, () => this.#context())

  /** Operations that analyze many errors. */
  readonly Services = bindOperations(SERVICES, () => this.#context())

  /**
   * Sets options with an object or a function that receives one. Options are frozen once the tracker has started.
   *
   * @example
   * Tracker.configure({ dashboard_username: 'admin', dashboard_password: process.env.DASHBOARD_PASSWORD })
   * Tracker.configure((config) => { config.retention_days = 30 })
   */
  configure(settings: Settings | SettingsFunction): this {
    if (this.#runtime && !this.#isProvisional) {
      // A host module that is reloaded, for example in development, sets the same options again.
      if (typeof settings === 'object' && this.#hasSettings(settings)) return this
      throw new ConfigurationError([
        'the configuration cannot change after the tracker has started; restart the process to apply changes',
      ])
    }
    if (typeof settings === 'function') this.#setByFunction(settings)
    else replaceFields(this.#settings, checkedSettings(settings))
    if (this.#runtime) this.#scheduleRestart()
    return this
  }

  #setByFunction(set: SettingsFunction): void {
    const returned: unknown = set(this.#settings)
    if (typeof returned !== 'object' || returned === null || returned === this.#settings) return
    const problem = types.isPromise(returned)
      ? 'is asynchronous, so the tracker may start before all options are set; wait for the values first, then pass them'
      : 'returns an object, which sets nothing; set options on the object that it receives, or pass the object itself'
    throw new ConfigurationError([`the function passed to Tracker.configure ${problem}`])
  }

  #hasSettings(settings: Settings): boolean {
    const current: Record<string, unknown> = { ...this.#settings }
    return Object.entries(settings).every(([name, value]) => isDeepStrictEqual(current[name], value))
  }

  /**
   * Validates the configuration and starts the tracker, as the first use does. Throws a ConfigurationError that lists
   * every problem.
   */
  start(): this {
    this.#isStopped = false
    this.#start()
    this.#isProvisional = false
    return this
  }

  /**
   * For adapters: starts a tracker that serves the dashboard, and prints the URL of the dashboard. Throws a
   * ConfigurationError if the credentials are missing.
   */
  startDashboard(locate?: LocateDashboard): this {
    this.#isStopped = false
    // A tracker that is already running may have no credentials either.
    const { context } = this.#start({ servesDashboard: true })
    if (context.config.enabled) requireSignIn(context.config)
    this.#isProvisional = false
    if (this.#environment.announcesDashboard) this.#announcement ??= announceDashboard(context, this.#environment.env)
    if (locate) this.#announcement?.add(locate)
    return this
  }

  /** For `faultboard/register`: starts with environment variables, and restarts if the host configures the tracker later. */
  startProvisionally(): this {
    if (this.#runtime || this.#isStopped) return this
    this.#start()
    this.#isProvisional = true
    return this
  }

  /** Resolves when the database is usable. Rejects with instructions otherwise. */
  async ready(): Promise<void> {
    return this.#context().ready()
  }

  /** Dashboard as a Fetch API handler, which adapters wrap. */
  handle: Handler = async (request, mount) => {
    if (!this.config.enabled) return new Response(null, { status: 404 })
    return (await this.#start().dashboard()).handle(request, mount)
  }

  get config(): Options {
    return this.#context().config as Options
  }

  /** State of the tracker: buffer, spool, and dropped errors by reason. */
  async stats() {
    const { counters, recorder, spool, database } = this.#context()
    return {
      ...recorder.state,
      dropped: counters.toJSON(),
      spool: await spool.state(),
      database: database.target.address,
    }
  }

  /** Writes all errors reported so far. */
  async flush(): Promise<void> {
    sendDeferredReports()
    await this.#runtime?.context.recorder.flush()
    await this.#runtime?.context.tallies.flush()
  }

  /** Flushes, closes all resources and removes every hook. A pool or handle that the host passed stays open. */
  async shutdown(): Promise<void> {
    sendDeferredReports()
    this.#isStopped = true
    this.#stopping ??= this.#stop().finally(() => {
      this.#stopping = null
    })
    return this.#stopping
  }

  /**
   * Records an error from the host unless a hook has already recorded the same object. Never rejects. Resolves to null if
   * nothing was recorded. Controlled by `enable_error_subscriber`.
   *
   * @example
   * Tracker.report(error, { handled: true, severity: 'medium', context: { order_id: 7 } })
   */
  report(error: unknown, options: ReportOptions = {}): Promise<LoggedError | null> {
    try {
      return this.#reportAtAnyDepth(error, options)
    } catch {
      // Stack overflow: host code further up the stack can still report the error.
      this.#droppedReports++
      return NO_RESULT
    }
  }

  #reportAtAnyDepth(error: unknown, options: ReportOptions): Promise<LoggedError | null> {
    try {
      if (error === COMPILE_ONLY) return NO_RESULT
      if (hasRoomToRecord()) return this.#report(error, options)
      return deferReport(() => this.#report(error, options)) ?? this.#dropNearStackLimit()
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
      context.scopes.enableForRequests()
      const request = context.scopes.current()?.request ?? null
      if (!sightings.isNew(error, request)) return null
      const fields = readFields(options, 'Tracker.report', context.log)
      const input = { source: 'report', ...fields, unhandled: isUnhandled(options), exception: error }
      const result = logError(context, input)
      if (result !== FAILED_RESULT) sightings.markRecorded(error, request)
      return result
    })
  }

  /**
   * Adds context to all later errors of this request or job.
   *
   * @example
   * Tracker.setContext({ order_id: order.id, step: 'payment' })
   */
  setContext(values: Record<string, unknown>): void {
    this.#inScope((scope) => {
      scope.context = mergeValues(scope.context, values)
    })
  }

  /** Adds tags to all later errors of this request or job. */
  setTags(tags: Record<string, string | number | boolean>): void {
    this.#inScope((scope) => {
      scope.tags = mergeValues(scope.tags, tags)
    })
  }

  /** Sets the user of this request or job, if `user_callback` and the usual request properties do not provide it. */
  setUser(user_id: string | number | null): void {
    this.#inScope((scope) => {
      scope.user_id = user_id
    })
  }

  /**
   * Runs a job or other work outside a request in its own scope, which isolates context, tags, user and breadcrumbs.
   *
   * @example
   * await Tracker.withScope(async () => {
   *   Tracker.setTags({ job: 'nightly-report' })
   *   await buildReport()
   * })
   */
  withScope<T>(work: () => T): T {
    // Runs the work in the scope of the caller near a stack overflow.
    const scopes = hasRoomForBreadcrumb() ? this.#scopes() : null
    return scopes ? scopes.run(work) : work()
  }

  /**
   * Adds a breadcrumb, shown with the next error of this request. Controlled by `enable_breadcrumbs`.
   *
   * @example
   * Tracker.addBreadcrumb({ category: 'cart', message: 'item added', metadata: { sku } })
   */
  addBreadcrumb(breadcrumb: AnyCase<Breadcrumb>): void {
    try {
      // Checks the stack only before a start. Adding a breadcrumb needs little stack and is too cheap for a check.
      if (this.#runtime || hasRoomForBreadcrumb()) this.#addBreadcrumb(breadcrumb)
    } catch {
      // Stack overflow.
    }
  }

  #addBreadcrumb(breadcrumb: AnyCase<Breadcrumb>): void {
    try {
      const { category, message, durationMs, duration_ms = durationMs, metadata } = breadcrumb
      const crumb = { category: String(category), message: String(message), duration_ms, metadata }
      this.#running()?.context.breadcrumbs.add(crumb)
    } catch (error) {
      if (hasRoomForBreadcrumb()) this.#logFailure(error)
    }
  }

  /**
   * For adapters: records an error thrown by a host handler unless this request has already recorded it.
   * `describe` reads the request and runs only for a new error. It may call `user_callback`, which may report the same
   * error.
   */
  capture(request: object, exception: unknown, describe: () => LogErrorInput): void {
    const runtime = this.#running()
    if (!runtime?.sightings.isNew(exception, request)) return
    const input = describe()
    if (!runtime.sightings.isNew(exception, request)) return
    if (logError(runtime.context, input) !== FAILED_RESULT) runtime.sightings.markRecorded(exception, request)
  }

  /** For adapters that do not receive the node:http request: returns the request of the current scope. */
  currentRequest(): object | null {
    return this.#runtime?.context.scopes.current()?.request ?? null
  }

  /** For endpoints that receive errors from other processes: clock and recording functions. Never rejects. */
  readonly intake = {
    now: (): number => this.#environment.now(),
    record: (error: ForeignError): Promise<Outcome> =>
      this.#safely(async ({ context }) => {
        // Loaded on first use, because only processes with such an endpoint need it.
        const { withOriginalStack } = await import('./capture/clients/foreign-stack.js')
        const { logForeignError } = await import('./capture/clients/foreign-error.js')
        return logForeignError(context, await withOriginalStack(context, error))
      }),
    failed: (error: unknown): void => this.#handleFailedReport(error),
    reject: (budget: BudgetName): void => this.#running()?.context.reject(budget),
  }

  /** For subscribers: adds a source of errors while the tracker runs. Returns a function that removes it earlier. */
  attach(source: Source): () => void {
    return this.#start().attach(source)
  }

  /** For adapters: counts an error that is not recorded on purpose. */
  drop(reason: string): void {
    this.#running()?.context.counters.add(reason)
  }

  /** Current runtime, or null after shutdown, when hooks in the host can still run. */
  #running(): Runtime | null {
    return this.#isStopped ? null : this.#start()
  }

  async #stop(): Promise<void> {
    const runtime = this.#runtime
    this.#runtime = null
    this.#announcement?.stop()
    this.#announcement = null
    await runtime?.stop()
  }

  #logError(input: LogErrorInput): Promise<LoggedError | null> {
    try {
      if ((input as unknown) === COMPILE_ONLY) return NO_RESULT
      if (hasRoomToRecord()) return this.#logErrorNow(input)
      return deferReport(() => this.#logErrorNow(input)) ?? this.#dropNearStackLimit()
    } catch {
      return deferReport(() => this.#logErrorNow(input)) ?? NO_RESULT
    }
  }

  #countDropped({ context }: Runtime): void {
    context.counters.add('stack_exhausted', this.#droppedReports)
    this.#droppedReports = 0
  }

  #dropNearStackLimit(): Promise<null> {
    this.#runtime?.context.counters.add('stack_exhausted')
    return NO_RESULT
  }

  #logErrorNow(input: LogErrorInput): Promise<LoggedError | null> {
    return this.#safely(({ context, sightings }) => {
      context.scopes.enableForRequests()
      const result = logError(context, input)
      if (result !== FAILED_RESULT) sightings.markRecorded(readException(input), null)
      return result
    })
  }

  /** Not async, so that no host object is retained while the row is being written. */
  #safely<T>(record: (runtime: Runtime) => Promise<T | null> | null): Promise<T | null> {
    try {
      const runtime = this.#start()
      if (this.#droppedReports > 0) this.#countDropped(runtime)
      return record(runtime) ?? Promise.resolve(null)
    } catch (error) {
      if (isStackOverflow(error) && !isSendingDeferred()) throw error
      this.#logFailure(error)
      return NO_RESULT
    }
  }

  /** Logs instead of throwing if the tracker cannot start or was shut down, because the host must not fail. */
  #logFailure(error: unknown): void {
    const { now, write } = this.#environment
    createLog(now, write).warn(`An error was not recorded: ${thrownMessage(error)}`)
  }

  /** Handles a failed host callback or a broken client connection. */
  #handleFailedReport(error: unknown): void {
    if (this.#runtime) reportFailure(this.#runtime.context, 'accepting a client report', error)
    else this.#logFailure(error)
  }

  #scopes(): Scopes | null {
    try {
      return this.#running()?.context.scopes ?? null
    } catch (error) {
      this.#logFailure(error)
      return null
    }
  }

  #inScope(change: (scope: Scope) => void): void {
    this.#ifStackAllows(() => {
      const scope = this.#scopes()?.open()
      if (scope) change(scope)
    })
  }

  /** Skips the work near the stack limit. Never throws; logs a failure only if the stack has room for it. */
  #ifStackAllows(work: () => void): void {
    try {
      if (hasRoomForBreadcrumb()) this.#runAndLogFailure(work)
    } catch {
      // Stack overflow.
    }
  }

  #runAndLogFailure(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#logFailure(error)
    }
  }

  #context(): CaptureContext {
    return this.#start().context
  }

  #start({ servesDashboard = false } = {}): Runtime {
    // A late host handler must not restart a tracker that was shut down.
    if (this.#isStopped) throw new TrackerError('shut_down', 'The tracker was shut down; call start() to use it again.')
    if (this.#isOutdated) this.#retire()
    if (this.#runtime) return this.#runtime
    this.#runtime = startRuntime(this.#settings, { ...this.#environment, servesDashboard }, this)
    void this.report(COMPILE_ONLY)
    void this.Commands.LogError.call(COMPILE_ONLY as never)
    return this.#runtime
  }

  /**
   * Defers the restart, because `configure` is often called in several steps. The current hooks stay active until then.
   */
  #scheduleRestart(): void {
    if (this.#isOutdated) return
    this.#isOutdated = true
    setImmediate(() => {
      try {
        this.#running()
      } catch (error) {
        this.#logFailure(error)
      }
    })
  }

  /** Ends the runtime of the previous settings. Unwritten errors are imported from its spool folder. */
  #retire(): void {
    this.#isOutdated = false
    const runtime = this.#runtime
    this.#runtime = null
    runtime?.retire()
  }
}

function readException(input: unknown): unknown {
  return typeof input === 'object' && input !== null && !types.isProxy(input) && 'exception' in input
    ? Object.getOwnPropertyDescriptor(input, 'exception')?.value
    : input
}

/** Returns the settings. Throws for other values, whose options would be ignored or misread, such as a URL or a promise. */
function checkedSettings(settings: unknown): Settings {
  if (typeof settings === 'object' && settings !== null && !Array.isArray(settings) && !types.isPromise(settings))
    return settings
  throw new ConfigurationError([
    'the options must be an object such as { database: … }, or a function passed to Tracker.configure that sets them',
  ])
}
