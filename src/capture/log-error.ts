import type { ErrorEvent } from '../model/event.js'
import { detectPlatform, normalizePlatform } from '../model/requests/platform.js'
import { isSeverity, SEVERITIES, type Severity } from '../model/severity.js'
import type { Receipt } from '../store/recording/recorder.js'
import type { CaptureContext } from './capture-context.js'
import type { Draft, StepContext } from './draft.js'
import { type HostRequest, hasRequestFacts, requestFacts } from './facts/request-facts.js'
import { type Trace, traceOf } from './facts/trace.js'
import { backtraceOf, type LogErrorInput, readFields, textOf, timeOf } from './fields.js'
import { deferReport, isSendingDeferred, NO_RESULT } from './guards/deferred-reports.js'
import { isStackOverflow } from './guards/stack-room.js'
import { noteReported } from './hooks.js'
import { runPipeline } from './pipeline.js'
import { readLimit, TEXT_LIMITS } from './values/text-limits.js'
import { describeThrown, reasonOf } from './values/thrown-value.js'

/** Result for a recorded error. */
export interface LoggedError {
  /**
   * `recorded`: committed. `accepted`: safe on disk, committed soon. `spooled`: on disk until the database is
   * reachable.
   */
  state: 'recorded' | 'accepted' | 'spooled'
  /** Null until it is committed. */
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
export const FAILED: Promise<null> = Promise.resolve(null)

const NOTHING = Symbol('nothing')

/**
 * Calls in progress. Above 1, a callback of the host reports an error while another error is recorded. That error is
 * recorded, but errors caused by its recording are not. Otherwise a callback that always reports would never end.
 */
let nesting = 0
const MAX_NESTING = 2
/** The thrown value of the innermost call in progress. */
let recording: unknown = NOTHING

/**
 * Records an error. Returns null when the error was dropped (ignored, sampled out, rejected by the callback). Never
 * rejects and never throws: failures are counted and logged.
 */
export function logError(context: CaptureContext, input: LogErrorInput): Promise<LoggedError | null> {
  if (nesting >= MAX_NESTING) {
    context.counters.add('reported_while_recording')
    return NO_RESULT
  }
  let event: ErrorEvent | null
  const outer = recording
  nesting++
  try {
    event = describe(context, withHookData(context, draftOf(context, input)))
  } catch (error) {
    const retried = isStackOverflow(error) && !isSendingDeferred() && deferReport(() => logError(context, input))
    if (retried) return retried
    complain(context, 'recording an error', error)
    return FAILED
  } finally {
    nesting--
    recording = outer
  }
  return event ? record(context, event).then(withoutLost) : NO_RESULT
}

function withoutLost(outcome: Outcome): LoggedError | null {
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
  const event = describe(context, draft)
  if (!event) return Promise.resolve(null)
  return admit ? admit(event).then((admitted) => record(context, admitted)) : record(context, event)
}

function describe(context: CaptureContext, draft: Draft | null): ErrorEvent | null {
  if (draft === null) return null
  const result = runPipeline(draft, stepContextOf(context))
  if ('event' in result) return result.event
  context.counters.add(result.dropped)
  return null
}

const stepContexts = new WeakMap<CaptureContext, StepContext>()

function stepContextOf(context: CaptureContext): StepContext {
  const known = stepContexts.get(context)
  if (known) return known
  const { config, redactor, storms, floods, lag, source_lines, hooks, now, random, counters } = context
  const made: StepContext = {
    ...{ config, redactor, storms, floods, lag, source_lines, hooks, now, random },
    count: (reason) => counters.add(reason),
    complain: (what, error) => complain(context, what, error),
  }
  stepContexts.set(context, made)
  return made
}

/**
 * Not async: an async function would keep its arguments, including the thrown value, alive while the caller waits for
 * the database.
 */
function record(context: CaptureContext, event: ErrorEvent): Promise<Outcome> {
  const { hash_signature, error_type, message, severity } = event
  return context.recorder.record(event).then(
    (receipt) => answer({ hash_signature, error_type, message, severity }, receipt),
    (error) => {
      complain(context, 'recording an error', error)
      return 'lost'
    },
  )
}

type Known = Pick<LoggedError, 'hash_signature' | 'error_type' | 'message' | 'severity'>

function answer(known: Known, receipt: Receipt): Outcome {
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
    ...known,
  }
}

/** The failure can be as hostile as the recorded error. */
export function complain({ counters, log, redactor }: CaptureContext, what: string, error: unknown): void {
  counters.add(`failed: ${what}`)
  log.warn(`${what} failed: ${reasonOf(error, redactor)}`)
}

function draftOf(context: CaptureContext, input: LogErrorInput): Draft | null {
  const { config, counters, log, now } = context
  const given_fields = readFields(input)
  const scope = context.scopes.current()
  for (const hook of context.hooks.onReport) hook(scope)
  const unread = scope?.request && !hasRequestFacts(given_fields) ? scope.request : null
  const fields = unread ? { ...factsOf(unread, context), ...given_fields } : given_fields
  const given = 'exception' in fields
  if (given && fields.exception === recording) {
    counters.add('reported_while_recording')
    return null
  }
  recording = given ? fields.exception : NOTHING
  if (given) noteReported(fields.exception)
  if (!given && !textOf(fields.error_type, TEXT_LIMITS.error_type) && !fieldOf(fields, 'message')) {
    counters.add('invalid')
    log.warn('LogError was called without an exception and without error_type and message. Nothing was recorded.')
    return null
  }
  const thrown = given
    ? describeThrown(fields.exception, config.max_backtrace_lines, context.positions, context.redactor)
    : null
  const explicit = severityGiven(fields.severity, context)
  const trace = traceOf(fields)
  const user_agent = fieldOf(fields, 'user_agent')
  const platform = fieldOf(fields, 'platform')
  const message = fieldOf(fields, 'message') ?? thrown?.message ?? ''
  // An error of a span does not hide errors of other spans in the trace.
  if (trace && fields.source !== 'opentelemetry') context.traces.logged(trace.trace_id, message)
  return {
    thrown: given ? fields.exception : undefined,
    error_type: textOf(fields.error_type, TEXT_LIMITS.error_type) ?? thrown?.error_type ?? 'Error',
    message,
    backtrace:
      fields.backtrace === undefined
        ? (thrown?.backtrace ?? [])
        : backtraceOf(fields.backtrace, config.max_backtrace_lines),
    causes: thrown?.causes ?? [],
    platform: platform ? normalizePlatform(platform) : detectPlatform(user_agent),
    app_version: fieldOf(fields, 'app_version') ?? fieldOf(config, 'app_version') ?? null,
    git_sha: fieldOf(fields, 'git_sha') ?? fieldOf(config, 'git_sha') ?? null,
    user_id: textOf(given_fields.user_id ?? scope?.user_id ?? fields.user_id, readLimit('user_id')) ?? null,
    request_url: fieldOf(fields, 'request_url') ?? null,
    request_params: fields.request_params,
    ip_address: fieldOf(fields, 'ip_address') ?? null,
    user_agent: user_agent ?? null,
    request: fields.request,
    tags: known(scope?.tags, fields.tags),
    details: detailsOf(config, fields, thrown?.details, trace),
    process_facts: context.process_facts,
    system_health: null,
    context: known(scope?.context, fields.context),
    breadcrumbs: config.enable_breadcrumbs ? context.breadcrumbs.current() : null,
    local_variables: null,
    occurred_at: timeOf(fields.occurred_at, now()),
    explicit_severity: explicit,
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
      complain(context, name, error)
    }
  }
  return draft
}

function fieldOf<Name extends keyof typeof TEXT_LIMITS>(fields: { [name in Name]?: unknown }, name: Name) {
  return textOf(fields[name], readLimit(name))
}

/** Reading the request can run failing host code (a getter, a lazy parser). The error itself is still recorded. */
function factsOf(request: HostRequest, { config }: CaptureContext): LogErrorInput {
  try {
    return requestFacts(request, config)
  } catch {
    return {}
  }
}

const NONE: readonly unknown[] = []

/** The values that are present, in this order. */
function known(ofScope: unknown, given: unknown): readonly unknown[] {
  const hasScope = ofScope !== undefined && ofScope !== null
  if (given === undefined || given === null) return hasScope ? [ofScope] : NONE
  return hasScope ? [ofScope, given] : [given]
}

function detailsOf(
  { environment }: CaptureContext['config'],
  { source, unhandled }: LogErrorInput,
  details: Readonly<Record<string, unknown>> | undefined,
  trace: Trace | null,
): Record<string, unknown> {
  const all: Record<string, unknown> = { ...details, ...trace }
  if (environment) all.environment = environment
  if (typeof source === 'string') all.source = source
  if (unhandled === true) all.unhandled = true
  return all
}

/** An unknown severity does not prevent recording, but is reported to the caller. */
function severityGiven(given: unknown, { counters, log }: CaptureContext): Severity | undefined {
  if (given === undefined || given === null || isSeverity(given)) return given ?? undefined
  counters.add('unknown_severity')
  log.warn(
    `LogError was called with an unknown severity. Use one of ${SEVERITIES.join(', ')}. The severity rules were applied.`,
  )
  return undefined
}
