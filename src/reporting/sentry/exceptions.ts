import type { Cause } from '../../model/event.js'
import { backtraceOf } from './frames.js'
import { type Json, recordOf, textIn, valuesOf, wordIn } from './values.js'

/** Exceptions of an event. */
export interface Thrown {
  error_type: string
  message: string
  backtrace: readonly string[]
  causes: readonly Cause[]
  unhandled: boolean
  /** Nothing was thrown: the SDK created the exception to show where a message was sent. */
  is_message: boolean
}

const MOST_EXCEPTIONS = 20

/** The outermost exception of an event with its causes; undefined if there is none. */
export function thrownIn(event: Json): Thrown | undefined {
  const values = valuesOf(event.exception, MOST_EXCEPTIONS, 'end').filter(
    ({ type, value }) => wordIn(type) ?? wordIn(value),
  )
  const outermost = values.at(-1)
  if (!outermost) return undefined
  const own = backtraceOf(outermost.stacktrace)
  return {
    error_type: isMessage(outermost) ? 'Message' : typeOf(outermost),
    message: wordIn(outermost.value) ?? '',
    backtrace: own.length > 0 ? own : stackBeside(event),
    causes: hasTree(values) ? treeBelow(outermost, values, new Set([outermost])) : chain(values.slice(0, -1)),
    is_message: isMessage(outermost),
    unhandled: values.some(({ mechanism }) => recordOf(mechanism)?.handled === false),
  }
}

/** Stack of the event itself, or of the crashed thread, where native SDKs store it. */
export function stackBeside(event: Json): readonly string[] {
  const own = backtraceOf(event.stacktrace)
  return own.length > 0 ? own : backtraceOf(threadOf(event)?.stacktrace)
}

/** All stack traces of an event, that of the outermost exception first. */
export function stacktracesIn(event: Json): unknown[] {
  const thrown = valuesOf(event.exception, MOST_EXCEPTIONS, 'end').map(({ stacktrace }) => stacktrace)
  return [...thrown.reverse(), event.stacktrace, threadOf(event)?.stacktrace]
}

function threadOf(event: Json): Json | undefined {
  const threads = valuesOf(event.threads, 200)
  return threads.find(({ crashed }) => crashed === true) ?? threads.find(({ current }) => current === true)
}

function isMessage({ type, mechanism }: Json): boolean {
  return wordIn(type) === undefined && recordOf(mechanism)?.synthetic === true
}

function typeOf({ type, value }: Json): string {
  // Some SDKs only send the type as a prefix of the message.
  return wordIn(type) ?? /^([\w$.]{1,100}):/.exec(textIn(value) ?? '')?.[1] ?? 'Error'
}

function causeOf(exception: Json, relation: Cause['relation'], inner: readonly Cause[]): Cause {
  return {
    error_type: typeOf(exception),
    message: wordIn(exception.value) ?? '',
    backtrace: backtraceOf(exception.stacktrace),
    relation,
    ...(inner.length > 0 ? { causes: inner } : {}),
  }
}

/** Each exception was caused by the one before it in the list. */
function chain(behind: readonly Json[]): Cause[] {
  return behind.reduce<Cause[]>((inner, exception) => [causeOf(exception, 'cause', inner)], [])
}

function idsOf({ mechanism }: Json): { id: unknown; parent: unknown; source: unknown } {
  const { exception_id, parent_id, source } = recordOf(mechanism) ?? {}
  return { id: exception_id, parent: parent_id, source }
}

/** Newer SDKs number the exceptions and link each to its parent, which is required for exception groups. */
function hasTree(values: readonly Json[]): boolean {
  return values.every((value) => typeof idsOf(value).id === 'number')
}

/** The sender controls the numbers: an exception that is its own parent must not cause an infinite loop. */
function treeBelow(parent: Json, values: readonly Json[], seen: Set<Json>): Cause[] {
  const { id } = idsOf(parent)
  return values
    .filter((value) => idsOf(value).parent === id && !seen.has(value))
    .reverse()
    .flatMap((value) => {
      if (seen.has(value)) return []
      seen.add(value)
      return [causeOf(value, relationOf(value, parent), treeBelow(value, values, seen))]
    })
}

function relationOf(value: Json, parent: Json): Cause['relation'] {
  const { source } = idsOf(value)
  if (source === 'suppressed') return 'suppressed'
  const is_group = recordOf(parent.mechanism)?.is_exception_group === true
  return is_group && !/^(?:__)?(?:cause|context)(?:__)?$/.test(String(source)) ? 'aggregated' : 'cause'
}
