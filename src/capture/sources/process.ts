import { types } from 'node:util'
import { noLongerRunning, stillRunning } from '../crash/running-marker.js'
import { sendDeferredReports, whenStackAllows } from '../guards/deferred-reports.js'
import { endOfThread } from './ended-threads.js'
import type { Reporter, Source } from './source.js'

/** By `performance.now()`: when something last escaped every handler of the host. */
let escapedAt = -Infinity

/** Whether something that ends a process was recorded within so many milliseconds. */
export function hasJustEscaped(milliseconds: number): boolean {
  return performance.now() - escapedAt < milliseconds
}

/** Says that what was recorded just now is about to come as an uncaught exception too, as it is or wrapped. */
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
  // How an emitter throws an `error` event that is no error and that nobody listens to.
  if (!types.isNativeError(error) || !('code' in error) || error.code !== 'ERR_UNHANDLED_ERROR') return false
  return 'context' in error && error.context === announced.error
}

const reporters = new Set<Reporter>()

/**
 * Records what nobody caught. The monitor changes nothing: the process dies, or the host's own listener is called, as
 * without it. One listener serves every tracker of the process.
 */
export const uncaughtExceptions: Source = (reporter) => {
  if (reporters.size === 0) process.on('uncaughtExceptionMonitor', onUncaught)
  reporters.add(reporter)
  return () => {
    reporters.delete(reporter)
    if (reporters.size === 0) process.off('uncaughtExceptionMonitor', onUncaught)
  }
}

/** Thrown from here, a getter of the host's on its error would be what the process dies of. */
function quietly(work: () => void): void {
  try {
    work()
  } catch {
    for (const { context } of reporters) context.counters.add('failed: recording what nobody caught')
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
    if (!isRecorded) context.recorder.onDisk(() => report(error, { source, unhandled: true }))
    // An exit listener of the host that throws would keep ours from being called.
    if (dies) context.recorder.spoolNow()
  }
  if (dies) endOfThread.announce()
  // There is no exit event when a listener of the host throws in its turn.
  noLongerRunning()
  setImmediate(stillRunning).unref()
}

/** What went through the monitor a moment ago: with --unhandled-rejections=strict it comes by both ways. */
let rethrown: { error: unknown } | null = null

function remember(error: unknown): void {
  rethrown = { error }
  setImmediate(forget).unref()
}

function forget(): void {
  rethrown = null
}

/** What is no error reached the monitor inside one that Node.js had made for it. */
function isRepeated(reason: unknown): boolean {
  const error = rethrown?.error
  if (!rethrown) return false
  return error === reason || (types.isNativeError(error) && 'code' in error && error.code === WRAPPED)
}

const WRAPPED = 'ERR_UNHANDLED_REJECTION'

const rejectionReporters = new Set<Reporter>()

/**
 * Records the rejections that a listener of the host takes care of, and which the monitor therefore never sees. Ours
 * comes and goes with the host's: alone, it would keep the process from dying of them.
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
    context.recorder.onDisk(() => report(reason, { source: 'unhandled_rejection', unhandled: true }))
  }
}

/** It is told before the host's listener is added, so that ours stands before it. */
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
