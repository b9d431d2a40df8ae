import type { Context } from '../context.js'
import type { ErrorEvent } from '../model/event.js'
import { platformOf } from '../model/platform.js'
import { isSeverity, SEVERITIES, type Severity } from '../model/severity.js'
import type { Receipt } from '../store/recorder.js'
import type { Draft } from './draft.js'
import { backtraceOf, type LogErrorInput, readFields, textOf, timeOf } from './fields.js'
import { runPipeline } from './pipeline.js'
import { describeThrown, MESSAGE_LIMIT, reasonOf } from './thrown-value.js'

/** What became of an error that was recorded. */
export interface LoggedError {
  /** `recorded`: committed. `accepted`: safe on disk, committed soon. `spooled`: kept until the database is back. */
  state: 'recorded' | 'accepted' | 'spooled'
  /** Known once it is committed. */
  id: number | null
  occurrence_count: number | null
  is_new: boolean | null
  reopened: boolean | null
  hash_signature: string
  error_type: string
  message: string
  severity: Severity
}

/**
 * Records an error, or gives null when it was dropped (ignored, sampled out, refused by the callback). It never rejects
 * and never throws: what goes wrong here is counted and said in the log, not in the host's request.
 */
export function logError(context: Context, input: LogErrorInput): Promise<LoggedError | null> {
  try {
    const event = capture(context, input)
    return event ? record(context, event) : Promise.resolve(null)
  } catch (error) {
    complain(context, 'recording an error', error)
    return Promise.resolve(null)
  }
}

function capture(context: Context, input: LogErrorInput): ErrorEvent | null {
  const draft = draftOf(context, input)
  if (draft === null) return null
  const result = runPipeline(draft, {
    config: context.config,
    redactor: context.redactor,
    random: context.random,
    complain: (what, error) => complain(context, what, error),
  })
  if ('event' in result) return result.event
  context.counters.add(result.dropped)
  return null
}

/**
 * Not an async function, which would hold on to all it was given, the thrown value too, for as long as the caller waits
 * for the database.
 */
function record(context: Context, event: ErrorEvent): Promise<LoggedError | null> {
  const { hash_signature, error_type, message, severity } = event
  return context.recorder.record(event).then(
    (receipt) => answer({ hash_signature, error_type, message, severity }, receipt),
    (error) => {
      complain(context, 'recording an error', error)
      return null
    },
  )
}

type Known = Pick<LoggedError, 'hash_signature' | 'error_type' | 'message' | 'severity'>

function answer(known: Known, receipt: Receipt): LoggedError | null {
  if (receipt.state === 'lost') return null
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

/** What was thrown may be as hostile as what is recorded, and its message may hold a secret. */
function complain({ counters, log, redactor }: Context, what: string, error: unknown): void {
  counters.add(`failed: ${what}`)
  log.warn(`${what} failed: ${redactor.text(reasonOf(error))}`)
}

function draftOf(context: Context, input: LogErrorInput): Draft | null {
  const { config, counters, log, now } = context
  const fields = readFields(input)
  const given = 'exception' in fields
  if (!given && !textOf(fields.error_type, 255) && !textOf(fields.message, MESSAGE_LIMIT)) {
    counters.add('invalid')
    log.warn('LogError was called with neither an exception nor an error_type and message: nothing was recorded.')
    return null
  }
  const thrown = given ? describeThrown(fields.exception, config.max_backtrace_lines) : null
  const explicit = severityGiven(fields.severity, context)
  return {
    thrown: given ? fields.exception : undefined,
    error_type: textOf(fields.error_type, 255) ?? thrown?.error_type ?? 'Error',
    message: textOf(fields.message, MESSAGE_LIMIT) ?? thrown?.message ?? '',
    backtrace:
      fields.backtrace === undefined
        ? (thrown?.backtrace ?? [])
        : backtraceOf(fields.backtrace, config.max_backtrace_lines),
    causes: thrown?.causes ?? [],
    platform: platformOf(textOf(fields.platform, 64)),
    app_version: textOf(fields.app_version, 128) ?? textOf(config.app_version, 128) ?? null,
    git_sha: textOf(fields.git_sha, 64) ?? textOf(config.git_sha, 64) ?? null,
    user_id: textOf(fields.user_id, 255) ?? null,
    request_url: textOf(fields.request_url, 2048) ?? null,
    request_params: fields.request_params,
    ip_address: textOf(fields.ip_address, 64) ?? null,
    user_agent: textOf(fields.user_agent, 512) ?? null,
    details: { ...thrown?.details, ...(config.environment ? { environment: config.environment } : {}) },
    context: fields.context,
    occurred_at: timeOf(fields.occurred_at, now()),
    explicit_severity: explicit,
    unhandled: fields.unhandled === true,
    severity: 'low',
    hash_signature: '',
    place: null,
  }
}

/** A word that is no severity does not keep the error from being recorded, but whoever wrote it should know. */
function severityGiven(given: unknown, { counters, log }: Context): Severity | undefined {
  if (given === undefined || given === null || isSeverity(given)) return given ?? undefined
  counters.add('unknown_severity')
  log.warn(`LogError was given a severity that is none of ${SEVERITIES.join(', ')}: the rules decided instead.`)
  return undefined
}
