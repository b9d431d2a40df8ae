import { types } from 'node:util'
import { noLongerRunning, stillRunning } from '../crash/running-marker.js'
import { sendDeferredReports, whenStackAllows } from '../guards/deferred-reports.js'
import { endOfThread } from './ended-threads.js'
import type { Reporter, Source } from './source.js'

/** Time of the last unhandled error, by `performance.now()`. */
let escapedAt = -Infinity

/** Whether an unhandled error was recorded within this many milliseconds. */
export function hasJustEscaped(milliseconds: number): boolean {
  return performance.now() - escapedAt < milliseconds
}

/** Announces that the error just recorded will also arrive as an uncaught exception, wrapped or not. */
export function willBeThrown(error: unknown): void {
  announced = { error }
  setImmediate(() => {
    announced = null
  }).unref()
}

let announced: { error: unknown } | null = null

function wasAnnounced(error: unknown): boolean {
  if (!announced) return false
  if (announced.error === error) return true
  // Node.js wraps a non-error `error` event without a listener in this error.
  if (!types.isNativeError(error) || !('code' in error) || error.code !== 'ERR_UNHANDLED_ERROR') return false
  return 'context' in error && error.context === announced.error
}

const reporters = new Set<Reporter>()

/**
 * Records uncaught exceptions. The monitor changes nothing: the process ends, or the host's listener is called, as
 * without it. One listener serves all trackers of the process.
 */
export const uncaughtExceptions: Source = (reporter) => {
  if (reporters.size === 0) process.on('uncaughtExceptionMonitor', onUncaught)
  reporters.add(reporter)
  return () => {
    reporters.delete(reporter)
    if (reporters.size === 0) process.off('uncaughtExceptionMonitor', onUncaught)
  }
}

/** Prevents a throwing getter of the error from replacing the error that ends the process. */
function quietly(work: () => void): void {
  try {
    work()
  } catch {
    for (const { context } of reporters) context.counters.add('failed: recording an uncaught exception')
  }
}

function onUncaught(error: unknown, origin: NodeJS.UncaughtExceptionOrigin): void {
  // Node.js calls this with an empty stack; a host that emits the event itself may not.
  whenStackAllows(() => quietly(() => recordUncaught(error, origin)))
}

function recordUncaught(error: unknown, origin: NodeJS.UncaughtExceptionOrigin): void {
  escapedAt = performance.now()
  if (origin === 'unhandledRejection') remember(error)
  const dies = process.listenerCount('uncaughtException') === 0 && !process.hasUncaughtExceptionCaptureCallback()
  const source = origin === 'unhandledRejection' ? 'unhandled_rejection' : 'uncaught_exception'
  const isRecorded = wasAnnounced(error)
  sendDeferredReports()
  for (const { context, report } of reporters) {
    if (!isRecorded) context.recorder.recordToDisk(() => report(error, { source, unhandled: true }))
    // An exit listener of the host that throws would prevent ours from running.
    if (dies) context.recorder.spoolNow()
  }
  if (dies) endOfThread.announce()
  // There is no exit event if a listener of the host throws.
  noLongerRunning()
  setImmediate(stillRunning).unref()
}

/** The error last seen by the monitor: with --unhandled-rejections=strict it arrives twice. */
let rethrown: { error: unknown } | null = null

function remember(error: unknown): void {
  rethrown = { error }
  setImmediate(forget).unref()
}

function forget(): void {
  rethrown = null
}

/** A non-error value reached the monitor wrapped in an error of Node.js. */
function isRepeated(reason: unknown): boolean {
  const error = rethrown?.error
  if (!rethrown) return false
  return error === reason || (types.isNativeError(error) && 'code' in error && error.code === WRAPPED)
}

const WRAPPED = 'ERR_UNHANDLED_REJECTION'

const rejectionReporters = new Set<Reporter>()

/**
 * Records rejections handled by a listener of the host, which the monitor never sees. Our listener exists only
 * together with the host's: alone, it would prevent the process from ending.
 */
export const handledRejections: Source = (reporter) => {
  if (rejectionReporters.size === 0) {
    if (process.listenerCount(REJECTION) > 0) process.prependListener(REJECTION, onRejection)
    process.on('newListener', onNewListener)
    process.on('removeListener', onRemovedListener)
  }
  rejectionReporters.add(reporter)
  return () => {
    rejectionReporters.delete(reporter)
    if (rejectionReporters.size > 0) return
    process.off('newListener', onNewListener)
    process.off('removeListener', onRemovedListener)
    process.off(REJECTION, onRejection)
  }
}

const REJECTION = 'unhandledRejection'

function onRejection(reason: unknown): void {
  whenStackAllows(() => quietly(() => recordRejection(reason)))
}

function recordRejection(reason: unknown): void {
  escapedAt = performance.now()
  const repeated = isRepeated(reason)
  forget()
  if (repeated) return
  for (const { context, report } of rejectionReporters) {
    context.recorder.recordToDisk(() => report(reason, { source: 'unhandled_rejection', unhandled: true }))
  }
}

/** Called before the host's listener is added, so that ours runs first. */
function onNewListener(event: string | symbol, listener: unknown): void {
  if (event !== REJECTION || listener === onRejection) return
  if (!process.listeners(REJECTION).includes(onRejection)) process.prependListener(REJECTION, onRejection)
}

function onRemovedListener(event: string | symbol, listener: unknown): void {
  if (event !== REJECTION || listener === onRejection) return
  if (process.listenerCount(REJECTION) === process.listenerCount(REJECTION, onRejection)) {
    process.off(REJECTION, onRejection)
  }
}
