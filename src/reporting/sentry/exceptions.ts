import type { Cause } from '../../model/event.js'
import { readBacktrace } from './frames.js'
import { asList, asRecord, asScalarText, asText, type Json } from './values.js'

/** Outermost exception of an event, with its causes. */
export interface EventException {
  error_type: string
  message: string
  backtrace: readonly string[]
  causes: readonly Cause[]
  unhandled: boolean
  /** True if the SDK created the exception to show where a message was sent. Nothing was thrown. */
  isMessage: boolean
}

const MAX_EXCEPTIONS = 20

/** Reads the outermost exception of an event with its causes. Returns undefined without an exception. */
export function readException(event: Json): EventException | undefined {
  const values = asList(event.exception, MAX_EXCEPTIONS, 'end').filter(
    ({ type, value }) => asScalarText(type) ?? asScalarText(value),
  )
  const outermost = values.at(-1)
  if (!outermost) return undefined
  const ownStack = readBacktrace(outermost.stacktrace)
  return {
    error_type: isMessage(outermost) ? 'Message' : exceptionType(outermost),
    message: asScalarText(outermost.value) ?? '',
    backtrace: ownStack.length > 0 ? ownStack : fallbackStack(event),
    causes: hasTree(values) ? causeTree(outermost, values, new Set([outermost])) : causeChain(values.slice(0, -1)),
    isMessage: isMessage(outermost),
    unhandled: values.some(({ mechanism }) => asRecord(mechanism)?.handled === false),
  }
}

/** Reads the stack of the event itself, or of the crashed thread, where native SDKs store the stack. */
export function fallbackStack(event: Json): readonly string[] {
  const ownStack = readBacktrace(event.stacktrace)
  return ownStack.length > 0 ? ownStack : readBacktrace(crashedThread(event)?.stacktrace)
}

/** All stack traces of an event, starting with the outermost exception. */
export function allStacktraces(event: Json): unknown[] {
  const thrown = asList(event.exception, MAX_EXCEPTIONS, 'end').map(({ stacktrace }) => stacktrace)
  return [...thrown.reverse(), event.stacktrace, crashedThread(event)?.stacktrace]
}

function crashedThread(event: Json): Json | undefined {
  const threads = asList(event.threads, 200)
  return threads.find(({ crashed }) => crashed === true) ?? threads.find(({ current }) => current === true)
}

function isMessage({ type, mechanism }: Json): boolean {
  return asScalarText(type) === undefined && asRecord(mechanism)?.synthetic === true
}

function exceptionType({ type, value }: Json): string {
  // Some SDKs send the type only as a prefix of the message.
  return asScalarText(type) ?? /^([\w$.]{1,100}):/.exec(asText(value) ?? '')?.[1] ?? 'Error'
}

function toCause(exception: Json, relation: Cause['relation'], inner: readonly Cause[]): Cause {
  return {
    error_type: exceptionType(exception),
    message: asScalarText(exception.value) ?? '',
    backtrace: readBacktrace(exception.stacktrace),
    relation,
    ...(inner.length > 0 ? { causes: inner } : {}),
  }
}

/** Nests the exceptions of a list in which each exception was caused by the previous exception. */
function causeChain(exceptions: readonly Json[]): Cause[] {
  return exceptions.reduce<Cause[]>((inner, exception) => [toCause(exception, 'cause', inner)], [])
}

function mechanismIds({ mechanism }: Json): { id: unknown; parent: unknown; source: unknown } {
  const { exception_id, parent_id, source } = asRecord(mechanism) ?? {}
  return { id: exception_id, parent: parent_id, source }
}

/**
 * Detects exceptions that are numbered and linked to their parents. Newer SDKs do so, as required for exception groups.
 */
function hasTree(values: readonly Json[]): boolean {
  return values.every((value) => typeof mechanismIds(value).id === 'number')
}

/** Builds the causes of an exception. An exception that is its own parent must not cause an infinite loop. */
function causeTree(parent: Json, values: readonly Json[], seen: Set<Json>): Cause[] {
  const { id } = mechanismIds(parent)
  return values
    .filter((value) => mechanismIds(value).parent === id && !seen.has(value))
    .reverse()
    .flatMap((value) => {
      if (seen.has(value)) return []
      seen.add(value)
      return [toCause(value, causeRelation(value, parent), causeTree(value, values, seen))]
    })
}

function causeRelation(value: Json, parent: Json): Cause['relation'] {
  const { source } = mechanismIds(value)
  if (source === 'suppressed') return 'suppressed'
  const isGroup = asRecord(parent.mechanism)?.is_exception_group === true
  return isGroup && !/^(?:__)?(?:cause|context)(?:__)?$/.test(String(source)) ? 'aggregated' : 'cause'
}
