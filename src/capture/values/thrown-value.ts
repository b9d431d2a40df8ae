import { inspect, types } from 'node:util'
import { asInstalledLine } from '../../config/own-modules.js'
import { type Cause, MAX_CAUSES } from '../../model/event.js'
import { NO_REDACTION, type Redactor } from '../../model/redaction/redaction.js'
import { skipMessage, stackLines } from '../../model/stacks/backtrace.js'
import { cleanText } from '../../model/text.js'
import { filterStack } from '../hooks.js'
import type { SourcePositions } from '../source-maps/source-positions.js'
import { isObject } from './is-object.js'
import { type PlainLimits, plainData } from './plain-data.js'
import { readLimit } from './text-limits.js'

/** Thrown value as plain, bounded data. */
export interface ThrownValue {
  error_type: string
  message: string
  backtrace: readonly string[]
  causes: readonly Cause[]
  /** Code and other facts of a system error. Also shows whether the value was an Error. */
  details: Readonly<Record<string, string | number | boolean>>
}

const DETAIL_KEYS = ['code', 'errno', 'syscall', 'path', 'address', 'port', 'status', 'statusCode'] as const

/**
 * Reads an untrusted thrown value: a getter can throw, a Proxy can return anything, a message can be a gigabyte.
 * Redacts printed objects here, because text no longer shows which value belongs to which key.
 */
export function describeThrown(
  value: unknown,
  maxLines: number,
  positions?: SourcePositions,
  redactor: Redactor = NO_REDACTION,
): ThrownValue {
  const error_type = typeName(value)
  return {
    error_type,
    message: readMessage(value, redactor),
    backtrace: readBacktrace(value, maxLines, positions),
    causes: mayHaveCauses(value, error_type)
      ? collectCauses(value, createThrownReader(value, maxLines, positions, redactor), 0)
      : [],
    details: collectDetails(value),
  }
}

/** Describes a caught value for the log. */
export function thrownMessage(value: unknown, redactor: Redactor = NO_REDACTION): string {
  return readMessage(value, redactor) || typeName(value)
}

type ReadLines = (thrown: unknown) => readonly string[]

interface ThrownReader {
  readLines: ReadLines
  redactor: Redactor
  seen: Set<unknown>
}

function createThrownReader(
  value: unknown,
  maxLines: number,
  positions: SourcePositions | undefined,
  redactor: Redactor,
): ThrownReader {
  return { readLines: (thrown) => readBacktrace(thrown, maxLines, positions), redactor, seen: new Set([value]) }
}

/** Skips the cost of collecting causes, because nearly all errors have no causes. */
function mayHaveCauses(value: unknown, error_type: string): boolean {
  if (!isReadable(value)) return false
  return read(value, 'cause') !== undefined || read(value, 'errors') !== undefined || error_type === 'SuppressedError'
}

function collectCauses(value: unknown, reader: ThrownReader, depth: number): Cause[] {
  if (!isReadable(value) || depth >= MAX_CAUSES.depth) return []
  const { readLines, redactor, seen } = reader
  const causes: Cause[] = []
  const add = (cause: unknown, relation: Cause['relation']) => {
    if (cause === undefined || cause === null || seen.has(cause) || seen.size > MAX_CAUSES.total) return
    seen.add(cause)
    const inner = collectCauses(cause, reader, depth + 1)
    const code = isReadable(cause) ? read(cause, 'code') : undefined
    causes.push({
      error_type: typeName(cause),
      message: cleanText(readMessage(cause, redactor), readLimit('cause_message')),
      backtrace: readLines(cause),
      relation,
      ...(typeof code === 'string' ? { code: cleanText(code, 200) } : {}),
      ...(inner.length > 0 ? { causes: inner } : {}),
    })
  }
  add(read(value, 'cause'), 'cause')
  const errors = read(value, 'errors')
  if (!types.isProxy(errors) && Array.isArray(errors) && isErrorLike(value)) {
    for (let i = 0; i < Math.min(errors.length, MAX_CAUSES.aggregated); i++) add(read(errors, i), 'aggregated')
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
  const constructorValue = read(value, 'constructor')
  const className = isReadable(constructorValue) ? read(constructorValue, 'name') : undefined
  const name = isErrorLike(value) || isSerializedError(value) ? read(value, 'name') : undefined
  const bestName = typeof name === 'string' && isMeaningfulName(name, className) ? name : className
  return (typeof bestName === 'string' && cleanText(bestName.trim(), 255)) || 'Object'
}

/** A class that extends Error without setting `name` inherits `Error`, and errors of pg have the name `error`. */
function isMeaningfulName(name: string, className: unknown): boolean {
  if (name.trim() === '') return false
  return (name !== 'Error' && name !== 'error') || className === 'Object'
}

/** `{ name, message, stack }`, the form received from a worker or a queue. */
function isSerializedError(value: object): boolean {
  return typeof read(value, 'stack') === 'string' && typeof read(value, 'message') === 'string'
}

function readMessage(value: unknown, redactor: Redactor): string {
  if (!isReadable(value)) return types.isProxy(value) ? '[a Proxy was thrown]' : formatValue(value, redactor)
  const message = read(value, 'message')
  if (typeof message === 'string') return cleanText(message, readLimit('message'))
  if (message === undefined) return isErrorLike(value) ? '' : formatValue(value, redactor)
  return formatValue(message, redactor)
}

function readBacktrace(value: unknown, maxLines: number, positions?: SourcePositions): readonly string[] {
  if (!isReadable(value)) return []
  const stack = read(value, 'stack')
  if (typeof stack !== 'string') return []
  const message = read(value, 'message')
  const body = skipMessage(stack, typeof message === 'string' ? message : '')
  const lines =
    stack.length > MAX_CACHED_STACK_LENGTH ? parseLines(body, maxLines) : cachedLines(body, maxLines, stack.length)
  const filtered = filterStack(lines)
  return positions ? positions.original(filtered) : filtered
}

function parseLines(body: string, maxLines: number): readonly string[] {
  return Object.freeze(stackLines(body, '', maxLines).map((line) => cleanText(asInstalledLine(line), 1000)))
}

const stackCache = new Map<number, Map<string, readonly string[]>>()
let stackCacheSize = 0
const MAX_STACK_CACHE_SIZE = 2_000_000
const MAX_CACHED_STACK_LENGTH = 20_000

/** Stack of the previous error. Comparing two stacks is several times cheaper than hashing a stack for a lookup. */
let lastStack = { body: '', maxLines: 0, lines: [] as readonly string[] }

/** Returns one shared array per distinct stack, because the errors of a storm come from few locations. */
function cachedLines(body: string, maxLines: number, size: number): readonly string[] {
  if (lastStack.maxLines !== maxLines || lastStack.body !== body)
    lastStack = { body, maxLines, lines: lookUpLines(body, maxLines, size) }
  return lastStack.lines
}

function lookUpLines(body: string, maxLines: number, size: number): readonly string[] {
  const cached = stackCache.get(maxLines)?.get(body)
  if (cached) return cached
  const lines = parseLines(body, maxLines)
  stackCacheSize += size
  if (stackCacheSize > MAX_STACK_CACHE_SIZE) {
    stackCache.clear()
    stackCacheSize = size
  }
  const linesByBody = stackCache.get(maxLines) ?? new Map<string, readonly string[]>()
  stackCache.set(maxLines, linesByBody.set(body, lines))
  return lines
}

function collectDetails(value: unknown): Record<string, string | number | boolean> {
  const details: Record<string, string | number | boolean> = {}
  if (!isErrorLike(value)) details.thrown_value_was_no_error = true
  if (!isReadable(value)) return details
  for (const key of DETAIL_KEYS) {
    const detail = read(value, key)
    if (typeof detail === 'number') details[key] = detail
    else if (typeof detail === 'string' && detail !== '') details[key] = cleanText(detail, 500)
  }
  // mysql2 marks errors that closed the connection.
  if (read(value, 'fatal') === true) details.fatal = true
  return details
}

function isErrorLike(value: unknown): boolean {
  if (!isReadable(value)) return false
  if (types.isNativeError(value)) return true
  try {
    return value instanceof Error || value instanceof DOMException
  } catch {
    // A revoked Proxy in the prototype chain.
    return false
  }
}

/** A Proxy runs host code on every access, so it is never read. */
function isReadable(value: unknown): value is object {
  return isObject(value) && !types.isProxy(value)
}

function read(object: object, key: string | number): unknown {
  try {
    return (object as Record<string | number, unknown>)[key]
  } catch {
    // A host getter threw.
    return undefined
  }
}

const PRINT_LIMITS: PlainLimits = { depth: 2, keys: 20, items: 10, string: 200, values: 60, characters: 1000 }

function formatValue(value: unknown, redactor: Redactor): string {
  if (typeof value === 'string') return cleanText(value, readLimit('message'))
  const plain = typeof value === 'object' ? plainData(value, redactor, PRINT_LIMITS) : value
  if (typeof plain === 'string') return plain
  try {
    return cleanText(inspect(plain, { depth: 2, breakLength: Number.POSITIVE_INFINITY, customInspect: false }), 1000)
  } catch {
    // A host function can throw when its name is read; record the value anyway.
    return '[unprintable]'
  }
}
