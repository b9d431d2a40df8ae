import { types } from 'node:util'
import { removeMarkers, restoreMarkers } from '../crash/running-marker.js'
import { sendDeferredReports, whenStackAllows } from '../guards/deferred-reports.js'
import { endedThreads } from './ended-threads.js'
import type { Reporter, Source } from './source.js'

/** Time of the last unhandled error, by `performance.now()`. */
let uncaughtAt = -Infinity

/** Checks whether an unhandled error was recorded within this many milliseconds. */
export function hasRecentUncaught(windowMs: number): boolean {
  return performance.now() - uncaughtAt < windowMs
}

/** Announces that the error just recorded will also arrive as an uncaught exception, wrapped or not. */
export function announceThrow(error: unknown): void {
  announcedThrow = { error }
  setImmediate(() => {
    announcedThrow = null
  }).unref()
}

let announcedThrow: { error: unknown } | null = null

function wasAnnounced(error: unknown): boolean {
  if (!announcedThrow) return false
  if (announcedThrow.error === error) return true
  // Node.js wraps a non-error `error` event without a listener in this error.
  if (!types.isNativeError(error) || !('code' in error) || error.code !== 'ERR_UNHANDLED_ERROR') return false
  return 'context' in error && error.context === announcedThrow.error
}

const reporters = new Set<Reporter>()

/**
 * Records uncaught exceptions. The monitor changes nothing: the process still ends, or the host's listener is still
 * called. One listener serves all trackers of the process.
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
function withoutThrowing(record: () => void): void {
  try {
    record()
  } catch {
    for (const { context } of reporters) context.counters.add('failed: recording an uncaught exception')
  }
}

function onUncaught(error: unknown, origin: NodeJS.UncaughtExceptionOrigin): void {
  // Node.js calls this listener with an empty stack, but a host can emit the event itself near the stack limit.
  whenStackAllows(() => withoutThrowing(() => recordUncaught(error, origin)))
}

function recordUncaught(error: unknown, origin: NodeJS.UncaughtExceptionOrigin): void {
  uncaughtAt = performance.now()
  if (origin === 'unhandledRejection') rememberMonitored(error)
  const isProcessEnding =
    process.listenerCount('uncaughtException') === 0 && !process.hasUncaughtExceptionCaptureCallback()
  const source = origin === 'unhandledRejection' ? 'unhandled_rejection' : 'uncaught_exception'
  const isRecorded = wasAnnounced(error)
  sendDeferredReports()
  for (const { context, report } of reporters) {
    if (!isRecorded) context.recorder.recordToDisk(() => report(error, { source, unhandled: true }))
    // A host exit listener that throws would prevent the tracker's listener from running.
    if (isProcessEnding) context.recorder.spoolNow()
  }
  if (isProcessEnding) endedThreads.markEnded()
  // Node.js emits no exit event if a host listener throws.
  removeMarkers()
  setImmediate(restoreMarkers).unref()
}

/** Error last seen by the monitor. With --unhandled-rejections=strict, an error arrives twice. */
let lastMonitored: { error: unknown } | null = null

function rememberMonitored(error: unknown): void {
  lastMonitored = { error }
  setImmediate(forgetMonitored).unref()
}

function forgetMonitored(): void {
  lastMonitored = null
}

/** Checks whether the monitor has already seen this value. Node.js wraps a non-error value in an error first. */
function isAlreadyMonitored(reason: unknown): boolean {
  const error = lastMonitored?.error
  if (!lastMonitored) return false
  return error === reason || (types.isNativeError(error) && 'code' in error && error.code === WRAPPED_REJECTION_CODE)
}

const WRAPPED_REJECTION_CODE = 'ERR_UNHANDLED_REJECTION'

const rejectionReporters = new Set<Reporter>()

/**
 * Records rejections handled by a host listener, which the monitor never sees. Adds the tracker's listener only next to
 * a host listener, because a lone listener would prevent the process from ending.
 */
export const handledRejections: Source = (reporter) => {
  if (rejectionReporters.size === 0) {
    if (process.listenerCount(REJECTION_EVENT) > 0) process.prependListener(REJECTION_EVENT, onRejection)
    process.on('newListener', onNewListener)
    process.on('removeListener', onRemovedListener)
  }
  rejectionReporters.add(reporter)
  return () => {
    rejectionReporters.delete(reporter)
    if (rejectionReporters.size > 0) return
    process.off('newListener', onNewListener)
    process.off('removeListener', onRemovedListener)
    process.off(REJECTION_EVENT, onRejection)
  }
}

const REJECTION_EVENT = 'unhandledRejection'

function onRejection(reason: unknown): void {
  whenStackAllows(() => withoutThrowing(() => recordRejection(reason)))
}

function recordRejection(reason: unknown): void {
  uncaughtAt = performance.now()
  const isRepeat = isAlreadyMonitored(reason)
  forgetMonitored()
  if (isRepeat) return
  for (const { context, report } of rejectionReporters) {
    context.recorder.recordToDisk(() => report(reason, { source: 'unhandled_rejection', unhandled: true }))
  }
}

/** Called before the host's listener is added, so that the tracker's listener runs first. */
function onNewListener(event: string | symbol, listener: unknown): void {
  if (event !== REJECTION_EVENT || listener === onRejection) return
  if (!process.listeners(REJECTION_EVENT).includes(onRejection)) process.prependListener(REJECTION_EVENT, onRejection)
}

function onRemovedListener(event: string | symbol, listener: unknown): void {
  if (event !== REJECTION_EVENT || listener === onRejection) return
  if (process.listenerCount(REJECTION_EVENT) === process.listenerCount(REJECTION_EVENT, onRejection)) {
    process.off(REJECTION_EVENT, onRejection)
  }
}
