import { types } from 'node:util'
import type { Log } from '../context.js'
import { type AnyCase, acceptedNames } from '../model/input/spelling.js'
import type { Severity } from '../model/severity/severity.js'
import { cleanText, didYouMean } from '../model/text.js'
import { epochMilliseconds, MINUTE } from '../model/time.js'

/** Either `exception`, or `error_type` and `message`. All other fields are optional. */
export interface LogErrorInput {
  exception?: unknown
  error_type?: string | undefined
  message?: string | undefined
  backtrace?: readonly string[] | string | undefined
  occurred_at?: Date | number | string | undefined
  platform?: string | undefined
  app_version?: string | undefined
  /** Default: the option `environment`. */
  environment?: string | undefined
  git_sha?: string | undefined
  user_id?: string | number | undefined
  request_url?: string | undefined
  request_params?: unknown
  ip_address?: string | undefined
  user_agent?: string | undefined
  severity?: Severity | undefined
  /** Method, route, headers, content type and duration of the request. */
  request?: AnyCase<RequestFacts> | undefined
  /** Short strings that distinguish occurrences. */
  tags?: Record<string, unknown> | undefined
  /** Additional data, shown with the occurrence. */
  context?: Record<string, unknown> | undefined
  /** True if no handler in the host caught the error. */
  unhandled?: boolean | undefined
  /** True if the error causes a 5xx response, which raises its severity to at least medium. */
  request_failed?: boolean | undefined
  /** Trace and span of the error. Default: the active OpenTelemetry span. */
  trace_id?: string | undefined
  span_id?: string | undefined
  /** Hook that captured the error: `express`, `uncaught_exception`, `pino`, ... */
  source?: string | undefined
}

/** Typed to require every field, because a missing field would be silently dropped from every error. */
const FIELDS: Record<keyof LogErrorInput, true> = {
  exception: true,
  error_type: true,
  message: true,
  backtrace: true,
  occurred_at: true,
  platform: true,
  app_version: true,
  environment: true,
  git_sha: true,
  user_id: true,
  request_url: true,
  request_params: true,
  ip_address: true,
  user_agent: true,
  severity: true,
  request: true,
  tags: true,
  context: true,
  unhandled: true,
  request_failed: true,
  source: true,
  trace_id: true,
  span_id: true,
}
const FIELD_NAMES = acceptedNames(Object.keys(FIELDS))

/** Calls that accept fields, with the additional names that each call accepts. */
const CALLS = {
  LogError: [],
  'Tracker.report': ['handled'],
  'faultboard:report': ['error', 'handled'],
} satisfies Record<string, string[]>

/**
 * Reads the fields of a LogError call in both spellings. A bare error becomes its exception. Of two spellings, snake_case
 * wins, because LogError never throws. With a log, warns about names that are not fields of the call.
 */
export function readFields(input: unknown, call: keyof typeof CALLS = 'LogError', log?: Log): LogErrorInput {
  if (types.isNativeError(input)) return { exception: input }
  if (typeof input !== 'object' || input === null) return {}
  const fields: Record<string, unknown> = {}
  for (const key of isPlainObject(input) ? Object.keys(input) : FIELD_NAMES.keys()) {
    const name = FIELD_NAMES.get(key)
    if (name === undefined) {
      if (log) warnAboutName(key, call, log)
      continue
    }
    const value = readField(input, key)
    if (value === MISSING) continue
    if (fields[name] === undefined || (name === key && value !== undefined)) fields[name] = value
  }
  return fields
}

/** A host that passes arbitrary objects must not fill the log. */
const MAX_WARNINGS = 100
const MAX_NAME_LENGTH = 64
const warnedNames = new WeakMap<Log, Set<string>>()

/** Warns once about each name. */
function warnAboutName(name: string, call: keyof typeof CALLS, log: Log): void {
  const otherNames: readonly string[] = CALLS[call]
  const warned = warnedNames.get(log) ?? new Set()
  if (otherNames.includes(name) || warned.has(name) || warned.size >= MAX_WARNINGS) return
  warnedNames.set(log, warned.add(name))
  const shown = /^\w+$/.test(name) ? name.slice(0, MAX_NAME_LENGTH) : JSON.stringify(name.slice(0, MAX_NAME_LENGTH))
  const hint = didYouMean(shown, [...FIELD_NAMES.keys(), ...otherNames]) || '; use context for your own data'
  log.warn(`${shown} is not a field of ${call} and was ignored${hint}`)
}

/** Checks whether all fields are own keys. True for most calls, which pass an object literal with few fields. */
function isPlainObject(input: object): boolean {
  return !types.isProxy(input) && Object.getPrototypeOf(input) === Object.prototype
}

/** Checks whether the caller marked the error as unhandled. */
export function isUnhandled(input: unknown): boolean {
  return typeof input === 'object' && input !== null && readField(input, 'handled') === false
}

/** Result for a field that is absent or cannot be read. Needed because the host can pass undefined as a value. */
export const MISSING = Symbol('missing')

/** Reads one field of a host object. */
export function readField(input: object, name: string): unknown {
  try {
    return name in input ? (input as Record<string, unknown>)[name] : MISSING
  } catch {
    // A host getter or Proxy threw: record the error without this field.
    return MISSING
  }
}

/**
 * Reads a field as bounded text, or undefined. Trims trailing spaces because MySQL ignores them in comparisons.
 */
export function readText(value: unknown, limit: number): string | undefined {
  const isText = typeof value === 'string' || typeof value === 'bigint' || typeof value === 'boolean'
  if (!isText && !Number.isFinite(value)) return undefined
  return cleanText(String(value), limit).trim() || undefined
}

/** Reads frames from a list of lines, or from a `stack` that begins with type and message. */
export function readBacktrace(value: unknown, maxLines: number): string[] {
  const lines = textLines(value, maxLines)
  const firstFrame = Math.max(
    0,
    lines.findIndex((line) => line.startsWith('at ')),
  )
  return lines.slice(firstFrame, firstFrame + maxLines).map((line) => cleanText(line, MAX_LINE_LENGTH))
}

const MAX_LINE_LENGTH = 1000
const MAX_STACK_LENGTH = 1_000_000

function textLines(value: unknown, maxLines: number): string[] {
  // Reading a Proxy of a list would run host code.
  const list: readonly unknown[] =
    typeof value === 'string'
      ? value.slice(0, MAX_STACK_LENGTH).split('\n')
      : !types.isProxy(value) && Array.isArray(value)
        ? Array.from({ length: Math.min(value.length, maxLines * 2) }, (_, i) => ownItem(value, i))
        : []
  return list
    .filter((line) => typeof line === 'string')
    .map((line) => line.slice(0, 2 * MAX_LINE_LENGTH).trim())
    .filter((line) => line !== '')
}

function ownItem(list: readonly unknown[], index: number): unknown {
  return Object.getOwnPropertyDescriptor(list, index)?.value
}

/** Reads a time in seconds or milliseconds. Falls back to now if it is invalid or in the future. */
export function readTime(value: unknown, now: number): number {
  const time = types.isDate(value)
    ? Date.prototype.getTime.call(value)
    : typeof value === 'number'
      ? epochMilliseconds(value)
      : typeof value === 'string'
        ? parseTimeText(value.trim())
        : Number.NaN
  if (!Number.isFinite(time) || time < 0 || time > now + MAX_CLOCK_SKEW_MS) return now
  return Math.trunc(time)
}

/** Tolerated clock skew of another machine. */
const MAX_CLOCK_SKEW_MS = 5 * MINUTE

function parseTimeText(text: string): number {
  return /^\d{9,}$/.test(text) ? epochMilliseconds(Number(text)) : Date.parse(text)
}

/** Facts about a request, independent of the framework. */
export interface RequestFacts {
  method?: string | undefined
  /** Route pattern, such as `/orders/:id`. */
  route?: string | undefined
  headers?: Record<string, string> | undefined
  content_type?: string | undefined
  /** Time since the request started. */
  duration_ms?: number | undefined
}
