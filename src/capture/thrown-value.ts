import { inspect, types } from 'node:util'
import { stackLines } from '../model/backtrace.js'
import type { Cause } from '../model/event.js'
import { cleanText } from '../model/text.js'

/** A thrown value, whatever it was, as plain bounded data. */
export interface ThrownValue {
  error_type: string
  message: string
  backtrace: readonly string[]
  causes: readonly Cause[]
  /** Code and other facts of a system error, and whether it was an Error at all. */
  details: Readonly<Record<string, string | number | boolean>>
}

export const MESSAGE_LIMIT = 10_000
const STACK_LIMIT = 200_000
const CAUSE_DEPTH = 5
const AGGREGATE_LIMIT = 10
const DETAIL_KEYS = ['code', 'errno', 'syscall', 'path', 'address', 'port', 'status', 'statusCode'] as const

/** Reads a thrown value without trusting it: a getter may throw, a Proxy may lie, a message may be a gigabyte. */
export function describeThrown(value: unknown, max_lines: number): ThrownValue {
  const seen = new Set<unknown>([value])
  return {
    error_type: typeName(value),
    message: messageOf(value),
    backtrace: backtraceOf(value, max_lines),
    causes: causesOf(value, max_lines, 0, seen),
    details: detailsOf(value),
  }
}

function causesOf(value: unknown, max_lines: number, depth: number, seen: Set<unknown>): Cause[] {
  if (!isReadable(value) || depth >= CAUSE_DEPTH) return []
  const causes: Cause[] = []
  const add = (behind: unknown, relation: Cause['relation']) => {
    if (behind === undefined || behind === null || seen.has(behind)) return
    seen.add(behind)
    const inner = causesOf(behind, max_lines, depth + 1, seen)
    const code = read(behind, 'code')
    causes.push({
      error_type: typeName(behind),
      message: messageOf(behind),
      backtrace: backtraceOf(behind, max_lines),
      relation,
      ...(typeof code === 'string' ? { code: cleanText(code, 200) } : {}),
      ...(inner.length > 0 ? { causes: inner } : {}),
    })
  }
  add(read(value, 'cause'), 'cause')
  const errors = read(value, 'errors')
  if (Array.isArray(errors) && !types.isProxy(errors) && isErrorLike(value)) {
    for (let i = 0; i < Math.min(errors.length, AGGREGATE_LIMIT); i++) add(read(errors, i), 'aggregated')
  }
  if (typeName(value) === 'SuppressedError') {
    add(read(value, 'error'), 'cause')
    add(read(value, 'suppressed'), 'suppressed')
  }
  return causes
}

export function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value !== 'object' && typeof value !== 'function') return typeof value
  if (types.isProxy(value)) return 'Proxy'
  const maker = read(value, 'constructor')
  const className = isReadable(maker) ? read(maker, 'name') : undefined
  const name = isErrorLike(value) ? read(value, 'name') : undefined
  // A class that extends Error without setting `name` still says Error there; its constructor knows better.
  const best = typeof name === 'string' && name !== '' && name !== 'Error' ? name : className
  return typeof best === 'string' && best !== '' ? cleanText(best, 255) : 'Object'
}

function messageOf(value: unknown): string {
  if (!isReadable(value)) return types.isProxy(value) ? '[a Proxy was thrown]' : printed(value)
  const message = read(value, 'message')
  if (typeof message === 'string') return cleanText(message, MESSAGE_LIMIT)
  if (message === undefined) return isErrorLike(value) ? '' : printed(value)
  return printed(message)
}

function backtraceOf(value: unknown, max_lines: number): readonly string[] {
  if (!isReadable(value)) return []
  const stack = read(value, 'stack')
  if (typeof stack !== 'string') return []
  const message = read(value, 'message')
  // A message of megabytes stands at the top of the stack; the frames are at its end.
  const body = stack.length > STACK_LIMIT ? stack.slice(-STACK_LIMIT) : stack
  return stackLinesOnce(body, typeof message === 'string' && stack.length <= STACK_LIMIT ? message : '', max_lines)
}

const known = new Map<string, readonly string[]>()
let knownSize = 0
const KNOWN_LIMIT = 2_000_000

/** Errors of a storm come from few places: one array per distinct stack serves them all. */
function stackLinesOnce(stack: string, message: string, max_lines: number): readonly string[] {
  const lines = known.get(stack)
  if (lines && lines.length <= max_lines) return lines
  const parsed = Object.freeze(stackLines(stack, message, max_lines).map((line) => cleanText(line, 1000)))
  knownSize += stack.length
  if (knownSize > KNOWN_LIMIT) {
    known.clear()
    knownSize = stack.length
  }
  known.set(stack, parsed)
  return parsed
}

function detailsOf(value: unknown): Record<string, string | number | boolean> {
  const details: Record<string, string | number | boolean> = {}
  if (!isErrorLike(value)) details.thrown_value_was_no_error = true
  if (!isReadable(value)) return details
  for (const key of DETAIL_KEYS) {
    const detail = read(value, key)
    if (typeof detail === 'number') details[key] = detail
    else if (typeof detail === 'string' && detail !== '') details[key] = cleanText(detail, 500)
  }
  return details
}

function isErrorLike(value: unknown): boolean {
  if (!isReadable(value)) return false
  return types.isNativeError(value) || value instanceof Error || value instanceof DOMException
}

/** A Proxy runs code of the host at every touch, so it is never read. */
function isReadable(value: unknown): value is object {
  return ((typeof value === 'object' && value !== null) || typeof value === 'function') && !types.isProxy(value)
}

function read(object: object, key: string | number): unknown {
  try {
    return (object as Record<string | number, unknown>)[key]
  } catch {
    // A getter of the host threw; there is nothing to read.
    return undefined
  }
}

function printed(value: unknown): string {
  if (typeof value === 'string') return cleanText(value, MESSAGE_LIMIT)
  // Inspection lists every key of a giant before it cuts: neither arrays nor buffers are opened.
  if (Array.isArray(value)) return `[Array of ${value.length}]`
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  try {
    const text = inspect(value, {
      depth: 1,
      breakLength: Number.POSITIVE_INFINITY,
      maxStringLength: 200,
      maxArrayLength: 10,
      getters: false,
      customInspect: false,
    })
    return cleanText(text, 1000)
  } catch {
    // Whatever cannot be printed is still worth a record.
    return '[unprintable]'
  }
}
