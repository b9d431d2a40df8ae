import { types } from 'node:util'
import type { Severity } from '../model/severity.js'
import { cleanText } from '../model/text.js'
import { epochMilliseconds, MINUTE } from '../model/time.js'

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
  /** Method, route, headers, content type and duration of the request. */
  request?: RequestFacts | undefined
  /** Short texts to tell occurrences apart by. */
  tags?: Record<string, unknown> | undefined
  /** Anything else worth knowing; shown with the occurrence. */
  context?: Record<string, unknown> | undefined
  /** Whether the error escaped every handler of the host. */
  unhandled?: boolean | undefined
  /** Whether the error makes its request fail with a 5xx response; its severity is then at least medium. */
  request_failed?: boolean | undefined
  /** The trace and span it happened in; without them, those of the span that OpenTelemetry has active. */
  trace_id?: string | undefined
  span_id?: string | undefined
  /** Which hook met it: `express`, `uncaught_exception`, `pino`, ... */
  source?: string | undefined
}

/** All of them, or it does not compile: one that was forgotten would be left out of every error in silence. */
const FIELDS: Record<keyof LogErrorInput, true> = {
  exception: true,
  error_type: true,
  message: true,
  backtrace: true,
  occurred_at: true,
  platform: true,
  app_version: true,
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
const FIELD_NAMES = Object.keys(FIELDS)

/** The fields of whatever LogError was called with; an error handed over bare is its exception. */
export function readFields(input: unknown): LogErrorInput {
  if (types.isNativeError(input)) return { exception: input }
  if (typeof input !== 'object' || input === null) return {}
  const fields: Record<string, unknown> = {}
  for (const name of isPlainObject(input) ? Object.keys(input) : FIELD_NAMES) {
    const value = Object.hasOwn(FIELDS, name) ? readField(input, name) : MISSING
    if (value !== MISSING) fields[name] = value
  }
  return fields
}

/** Whether the own keys are all there is to read. Most calls pass an object literal with few of the fields. */
function isPlainObject(input: object): boolean {
  return !types.isProxy(input) && Object.getPrototypeOf(input) === Object.prototype
}

/** Whether somebody says that the error was not handled. */
export function isUnhandled(input: unknown): boolean {
  return typeof input === 'object' && input !== null && readField(input, 'handled') === false
}

/** Stands for a field that is not there, or does not let itself be read; undefined may be a value of the host's. */
export const MISSING = Symbol('missing')

/** One field of something of the host's. */
export function readField(input: object, name: string): unknown {
  try {
    return name in input ? (input as Record<string, unknown>)[name] : MISSING
  } catch {
    // A getter or Proxy of the host threw: the error is worth recording without this field.
    return MISSING
  }
}

/**
 * A field as text of bounded length, or undefined when there is none. Blanks at the end go: MySQL takes two texts that
 * differ only in those for the same.
 */
export function textOf(value: unknown, limit: number): string | undefined {
  const isText = typeof value === 'string' || typeof value === 'bigint' || typeof value === 'boolean'
  if (!isText && !Number.isFinite(value)) return undefined
  return cleanText(String(value), limit).trim() || undefined
}

/** The frames of a list of lines, or of a whole `stack`, which begins with type and message. */
export function backtraceOf(given: unknown, max_lines: number): string[] {
  const lines = textLines(given, max_lines)
  const first = Math.max(
    0,
    lines.findIndex((line) => line.startsWith('at ')),
  )
  return lines.slice(first, first + max_lines).map((line) => cleanText(line, LINE_LIMIT))
}

const LINE_LIMIT = 1000
const STACK_LIMIT = 1_000_000

function textLines(given: unknown, max_lines: number): string[] {
  // A Proxy of a list would run code of the host.
  const list: readonly unknown[] =
    typeof given === 'string'
      ? given.slice(0, STACK_LIMIT).split('\n')
      : !types.isProxy(given) && Array.isArray(given)
        ? Array.from({ length: Math.min(given.length, max_lines * 2) }, (_, i) => itemOf(given, i))
        : []
  return list
    .filter((line) => typeof line === 'string')
    .map((line) => line.slice(0, 2 * LINE_LIMIT).trim())
    .filter((line) => line !== '')
}

function itemOf(list: readonly unknown[], index: number): unknown {
  return Object.getOwnPropertyDescriptor(list, index)?.value
}

/** A time of the caller, in seconds or milliseconds where it is a number. Replaced by now when invalid or in the future. */
export function timeOf(given: unknown, now: number): number {
  const time = types.isDate(given)
    ? Date.prototype.getTime.call(given)
    : typeof given === 'number'
      ? epochMilliseconds(given)
      : typeof given === 'string'
        ? millisecondsOf(given.trim())
        : Number.NaN
  if (!Number.isFinite(time) || time < 0 || time > now + CLOCK_DIFFERENCE) return now
  return Math.trunc(time)
}

/** How far the clock of another machine may go ahead of ours. */
const CLOCK_DIFFERENCE = 5 * MINUTE

function millisecondsOf(text: string): number {
  return /^\d{9,}$/.test(text) ? epochMilliseconds(Number(text)) : Date.parse(text)
}

/** What is known of a request, whichever framework it came by. */
export interface RequestFacts {
  method?: string | undefined
  /** The pattern of the route, such as `/orders/:id`. */
  route?: string | undefined
  headers?: Record<string, string> | undefined
  content_type?: string | undefined
  /** How long the request had been going on. */
  duration_ms?: number | undefined
}
