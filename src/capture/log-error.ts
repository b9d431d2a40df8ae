import type { Context } from '../context.js'
import { platformOf } from '../model/platform.js'
import { isSeverity, type Severity } from '../model/severity.js'
import { cleanText } from '../model/text.js'
import { MINUTE } from '../model/time.js'
import type { Receipt } from '../store/recorder.js'
import type { Draft } from './draft.js'
import { runPipeline } from './pipeline.js'
import { describeThrown, MESSAGE_LIMIT } from './thrown-value.js'

/** Either `exception`, or `error_type` and `message`; every other field may go with both. */
export interface LogErrorInput {
  exception?: unknown
  error_type?: string | undefined
  message?: string | undefined
  backtrace?: readonly string[] | string | undefined
  occurred_at?: Date | number | string | undefined
  platform?: string | undefined
  app_version?: string | undefined
  git_sha?: string | undefined
  user_id?: string | number | undefined
  request_url?: string | undefined
  request_params?: unknown
  ip_address?: string | undefined
  user_agent?: string | undefined
  severity?: Severity | undefined
  /** Anything else worth knowing; shown with the occurrence. */
  context?: Record<string, unknown> | undefined
  /** Whether the error escaped every handler of the host. */
  unhandled?: boolean | undefined
}

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
export async function logError(context: Context, input: LogErrorInput): Promise<LoggedError | null> {
  try {
    const draft = draftOf(context, input)
    if (draft === null) return null
    const result = runPipeline(draft, {
      config: context.config,
      redactor: context.redactor,
      random: context.random,
      complain: (what, error) => complain(context, what, error),
    })
    if ('dropped' in result) {
      context.counters.add(result.dropped)
      return null
    }
    return answer(draft, await context.recorder.record(result.event))
  } catch (error) {
    complain(context, 'recording an error', error)
    return null
  }
}

function answer({ hash_signature, error_type, message, severity }: Draft, receipt: Receipt): LoggedError | null {
  if (receipt.state === 'lost') return null
  const recorded = receipt.state === 'recorded' ? receipt : null
  return {
    state: receipt.state,
    id: recorded?.outcome.id ?? null,
    occurrence_count: recorded?.occurrence_count ?? null,
    is_new: recorded ? recorded.outcome.is_new && recorded.occurrence_count === 1 : null,
    reopened: recorded ? recorded.outcome.reopened : null,
    hash_signature,
    error_type,
    message,
    severity,
  }
}

function complain({ counters, log }: Context, what: string, error: unknown): void {
  counters.add(`failed: ${what}`)
  log.warn(`${what} failed: ${error instanceof Error ? error.message : String(error)}`)
}

function draftOf(context: Context, input: LogErrorInput): Draft | null {
  const { config, counters, log, now } = context
  const fields: LogErrorInput = typeof input === 'object' && input !== null ? input : {}
  const given = 'exception' in fields
  if (!given && !textOf(fields.error_type, 255) && !textOf(fields.message, MESSAGE_LIMIT)) {
    counters.add('invalid')
    log.warn('LogError was called with neither an exception nor an error_type and message: nothing was recorded.')
    return null
  }
  const thrown = given ? describeThrown(fields.exception, config.max_backtrace_lines) : null
  const explicit = fields.severity
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
    explicit_severity: isSeverity(explicit) ? explicit : undefined,
    unhandled: fields.unhandled === true,
    severity: 'low',
    hash_signature: '',
    place: null,
  }
}

/**
 * A field as text of bounded length, or undefined when there is none. Blanks at the end go: MySQL takes two texts that
 * differ only in those for the same.
 */
function textOf(value: unknown, limit: number): string | undefined {
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'string') return undefined
  const text = cleanText(value, limit).trim()
  return text === '' ? undefined : text
}

function backtraceOf(given: unknown, max_lines: number): string[] {
  const lines: unknown[] =
    typeof given === 'string'
      ? given.slice(0, 1_000_000).split('\n')
      : Array.isArray(given)
        ? given.slice(0, max_lines * 2)
        : []
  const texts = lines
    .filter((line): line is string => typeof line === 'string' && line.trim() !== '')
    .map((line) => line.trim())
  // A whole `stack` begins with type and message, which are no frames.
  const first = texts.findIndex((line) => line.startsWith('at '))
  return texts.slice(Math.max(0, first), Math.max(0, first) + max_lines).map((line) => cleanText(line, 1000))
}

/** A time of the caller, believed unless it is no time at all or lies in the future. */
function timeOf(given: unknown, now: number): number {
  const time =
    given instanceof Date
      ? given.getTime()
      : typeof given === 'number'
        ? given
        : typeof given === 'string'
          ? Date.parse(given)
          : Number.NaN
  if (!Number.isFinite(time) || time < 0 || time > now + 5 * MINUTE) return now
  return Math.trunc(time)
}
