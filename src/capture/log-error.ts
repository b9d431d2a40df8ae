import type { ErrorEvent } from '../model/event.js'
import { detectPlatform, normalizePlatform } from '../model/requests/platform.js'
import { isSeverity, SEVERITIES, type Severity } from '../model/severity/severity.js'
import type { Receipt } from '../store/recording/recorder.js'
import type { CaptureContext } from './capture-context.js'
import type { Draft, StepContext } from './draft.js'
import { type HostRequest, hasRequestFacts, requestFacts } from './facts/request-facts.js'
import { resolveTrace, type Trace } from './facts/trace.js'
import { type LogErrorInput, readBacktrace, readFields, readText, readTime } from './fields.js'
import { deferReport, isSendingDeferred, NO_RESULT } from './guards/deferred-reports.js'
import { isStackOverflow } from './guards/stack-room.js'
import { notifyReported } from './hooks.js'
import { runPipeline } from './pipeline.js'
import { readLimit, TEXT_LIMITS } from './values/text-limits.js'
import { describeThrown, thrownMessage } from './values/thrown-value.js'

/** Result for a recorded error. */
export interface LoggedError {
  /**
   * `recorded`: committed. `accepted`: safe on disk, committed soon. `spooled`: on disk until the database is
   * reachable.
   */
  state: 'recorded' | 'accepted' | 'spooled'
  /** Null until the error is committed. */
  id: number | null
  occurrence_count: number | null
  is_new: boolean | null
  reopened: boolean | null
  hash_signature: string
  error_type: string
  message: string
  severity: Severity
}

/** Result for an error that could not be described. A later hook can report the same error again. */
export const FAILED_RESULT: Promise<null> = Promise.resolve(null)

const NO_VALUE = Symbol('nothing')

/**
 * Number of nested calls. A host callback may report an error while another error is being recorded. Deeper nesting is
 * not recorded, because a callback that always reports would never end.
 */
let activeCalls = 0
const MAX_NESTING = 2
/** The thrown value that the innermost call in progress is recording. */
let recordingValue: unknown = NO_VALUE

/**
 * Records an error. Returns null when the error was dropped (ignored, sampled out, rejected by the callback). Never
 * rejects and never throws: failures are counted and logged.
 */
export function logError(context: CaptureContext, input: LogErrorInput): Promise<LoggedError | null> {
  if (!context.config.enabled) return NO_RESULT
  if (activeCalls >= MAX_NESTING) {
    context.counters.add('reported_while_recording')
    return NO_RESULT
  }
  let event: ErrorEvent | null
  const outerValue = recordingValue
  activeCalls++
  try {
    event = toEvent(context, withHookData(context, createDraft(context, input)))
  } catch (error) {
    const deferred = isStackOverflow(error) && !isSendingDeferred() && deferReport(() => logError(context, input))
    if (deferred) return deferred
    reportFailure(context, 'recording an error', error)
    return FAILED_RESULT
  } finally {
    activeCalls--
    recordingValue = outerValue
  }
  return event ? recordEvent(context, event).then(nullIfLost) : NO_RESULT
}

function nullIfLost(outcome: Outcome): LoggedError | null {
  return outcome === 'lost' ? null : outcome
}

/** Null: dropped on purpose. `lost`: could be written neither to the database nor to disk. */
export type Outcome = LoggedError | 'lost' | null

/**
 * Runs the pipeline and passes the event to the recorder, unless a step drops it. `admit` can change the event first.
 */
export function recordDraft(
  context: CaptureContext,
  draft: Draft | null,
  admit?: (event: ErrorEvent) => Promise<ErrorEvent>,
): Promise<Outcome> {
  const event = context.config.enabled ? toEvent(context, draft) : null
  if (!event) return Promise.resolve(null)
  return admit ? admit(event).then((admitted) => recordEvent(context, admitted)) : recordEvent(context, event)
}

function toEvent(context: CaptureContext, draft: Draft | null): ErrorEvent | null {
  if (draft === null) return null
  const result = runPipeline(draft, getStepContext(context))
  if ('event' in result) return result.event
  context.counters.add(result.dropped)
  return null
}

const stepContexts = new WeakMap<CaptureContext, StepContext>()

function getStepContext(context: CaptureContext): StepContext {
  const existing = stepContexts.get(context)
  if (existing) return existing
  const { config, redactor, storms, floods, lag, sourceLines, hooks, now, random, counters } = context
  const created: StepContext = {
    ...{ config, redactor, storms, floods, lag, sourceLines, hooks, now, random },
    count: (reason) => counters.add(reason),
    reportFailure: (task, error) => reportFailure(context, task, error),
  }
  stepContexts.set(context, created)
  return created
}

/** Not async, because an async function would keep the thrown value alive while the caller waits for the database. */
function recordEvent(context: CaptureContext, event: ErrorEvent): Promise<Outcome> {
  const { hash_signature, error_type, message, severity } = event
  return context.recorder.record(event).then(
    (receipt) => toOutcome({ hash_signature, error_type, message, severity }, receipt),
    (error) => {
      reportFailure(context, 'recording an error', error)
      return 'lost'
    },
  )
}

type EventSummary = Pick<LoggedError, 'hash_signature' | 'error_type' | 'message' | 'severity'>

function toOutcome(summary: EventSummary, receipt: Receipt): Outcome {
  if (receipt.state === 'repeated') return null
  // An event rejected by the database is on disk, and would be rejected again.
  if (receipt.state === 'lost') return receipt.reason === 'refused_by_database' ? null : 'lost'
  const recorded = receipt.state === 'recorded' ? receipt : null
  return {
    state: receipt.state,
    id: recorded?.outcome.id ?? null,
    occurrence_count: recorded?.occurrence_count ?? null,
    is_new: recorded ? recorded.outcome.is_new && recorded.occurrence_count === 1 : null,
    reopened: recorded ? recorded.outcome.reopened : null,
    ...summary,
  }
}

/** Counts and logs a failure. Redacts the message, because a failure can be as hostile as the recorded error. */
export function reportFailure({ counters, log, redactor }: CaptureContext, task: string, error: unknown): void {
  counters.add(`failed: ${task}`)
  log.warn(`${task} failed: ${thrownMessage(error, redactor)}`)
}

function createDraft(context: CaptureContext, input: LogErrorInput): Draft | null {
  const { config, counters, log, now } = context
  const givenFields = readFields(input, 'LogError', log)
  const scope = context.scopes.current()
  for (const hook of context.hooks.onReport) hook(scope)
  const unreadRequest = scope?.request && !hasRequestFacts(givenFields) ? scope.request : null
  const fields = unreadRequest ? { ...readRequestFacts(unreadRequest, context), ...givenFields } : givenFields
  const hasException = 'exception' in fields
  if (hasException && fields.exception === recordingValue) {
    counters.add('reported_while_recording')
    return null
  }
  recordingValue = hasException ? fields.exception : NO_VALUE
  if (hasException) notifyReported(fields.exception)
  if (!hasException && !readText(fields.error_type, TEXT_LIMITS.error_type) && !readTextField(fields, 'message')) {
    counters.add('invalid')
    log.warn('LogError was called without an exception and without error_type and message. Nothing was recorded.')
    return null
  }
  const thrown = hasException
    ? describeThrown(fields.exception, config.max_backtrace_lines, context.positions, context.redactor)
    : null
  const explicitSeverity = readSeverity(fields.severity, context)
  const trace = resolveTrace(fields)
  const user_agent = readTextField(fields, 'user_agent')
  const platform = readTextField(fields, 'platform')
  const message = readTextField(fields, 'message') ?? thrown?.message ?? ''
  // An error in one span does not hide errors in other spans of the trace.
  if (trace && fields.source !== 'opentelemetry') context.traces.markLogged(trace.trace_id, message)
  return {
    thrown: hasException ? fields.exception : undefined,
    error_type: readText(fields.error_type, TEXT_LIMITS.error_type) ?? thrown?.error_type ?? 'Error',
    message,
    backtrace:
      fields.backtrace === undefined
        ? (thrown?.backtrace ?? [])
        : readBacktrace(fields.backtrace, config.max_backtrace_lines),
    causes: thrown?.causes ?? [],
    platform: platform ? normalizePlatform(platform) : detectPlatform(user_agent),
    environment: readTextField(fields, 'environment') ?? config.environment,
    app_version: readTextField(fields, 'app_version') ?? readTextField(config, 'app_version') ?? null,
    git_sha: readTextField(fields, 'git_sha') ?? readTextField(config, 'git_sha') ?? null,
    user_id: readText(givenFields.user_id ?? scope?.user_id ?? fields.user_id, readLimit('user_id')) ?? null,
    request_url: readTextField(fields, 'request_url') ?? null,
    request_params: fields.request_params,
    ip_address: readTextField(fields, 'ip_address') ?? null,
    user_agent: user_agent ?? null,
    request: fields.request,
    tags: presentValues(scope?.tags, fields.tags),
    details: collectDetails(fields, thrown?.details, trace),
    process_facts: context.processFacts,
    system_health: null,
    context: presentValues(scope?.context, fields.context),
    breadcrumbs: config.enable_breadcrumbs ? context.breadcrumbs.current() : null,
    local_variables: null,
    occurred_at: readTime(fields.occurred_at, now()),
    explicit_severity: explicitSeverity,
    unhandled: fields.unhandled === true,
    request_failed: fields.request_failed === true,
    severity: 'low',
    hash_signature: '',
    place: null,
    counted_only: false,
  }
}

function withHookData(context: CaptureContext, draft: Draft | null): Draft | null {
  if (draft === null) return null
  for (const { name, run } of context.hooks.onDraft) {
    try {
      run(draft)
    } catch (error) {
      reportFailure(context, name, error)
    }
  }
  return draft
}

function readTextField<Name extends keyof typeof TEXT_LIMITS>(fields: { [name in Name]?: unknown }, name: Name) {
  return readText(fields[name], readLimit(name))
}

/**
 * Returns no facts if reading the request runs failing host code (a getter, a lazy parser). The error itself is still
 * recorded.
 */
function readRequestFacts(request: HostRequest, { config }: CaptureContext): LogErrorInput {
  try {
    return requestFacts(request, config)
  } catch {
    return {}
  }
}

const EMPTY_LIST: readonly unknown[] = []

/** Returns the values that are present, in this order. */
function presentValues(scopeValue: unknown, givenValue: unknown): readonly unknown[] {
  const hasScope = scopeValue !== undefined && scopeValue !== null
  if (givenValue === undefined || givenValue === null) return hasScope ? [scopeValue] : EMPTY_LIST
  return hasScope ? [scopeValue, givenValue] : [givenValue]
}

function collectDetails(
  { source, unhandled }: LogErrorInput,
  details: Readonly<Record<string, unknown>> | undefined,
  trace: Trace | null,
): Record<string, unknown> {
  const collected: Record<string, unknown> = { ...details, ...trace }
  if (typeof source === 'string') collected.source = source
  if (unhandled === true) collected.unhandled = true
  return collected
}

/** Ignores an unknown severity with a warning, so that the error is still recorded. */
function readSeverity(value: unknown, { counters, log }: CaptureContext): Severity | undefined {
  if (value === undefined || value === null || isSeverity(value)) return value ?? undefined
  counters.add('unknown_severity')
  log.warn(
    `LogError was called with an unknown severity. Use one of ${SEVERITIES.join(', ')}. The severity rules were applied.`,
  )
  return undefined
}
