import { hasRoomForBreadcrumb, hasRoomToRecord, prepareStackProbes } from './stack-room.js'

/** Bounds the memory when a recursion reports an error at every level near the stack limit. */
const MAX_DEFERRED_REPORTS = 10_000

interface DeferredReport {
  send(): unknown
  isSent: boolean
}

const pendingReports = new Set<DeferredReport>()
const RESOLVED = Promise.resolve()
let isSending = false

/**
 * Result of a report for which not even a microtask could be queued. Created in advance because creating it takes
 * stack space too.
 */
export const NO_RESULT: Promise<null> = Promise.resolve(null)

/** Makes an entry point return immediately, so that V8 compiles it while the stack is shallow. */
export const COMPILE_ONLY: unique symbol = Symbol('compile only')

/** Compiles everything that runs near the stack limit, where V8 lacks the 50 KB of stack to compile a function. */
export function prepareForStackLimit(): void {
  prepareStackProbes()
  whenStackAllows(() => {})
  deferReport(() => {})
}

/** Records now, or in a microtask if the stack is nearly exhausted. The stack has unwound by then. */
export function whenStackAllows(report: () => void): void {
  try {
    if (hasRoomToRecord()) report()
    else deferReport(report)
  } catch {
    // Stack overflow: host code further up the stack can still report the error.
  }
}

/**
 * Queues a report in the async context of the caller. Returns null if too many reports are waiting. Uses a microtask,
 * because an overflow inside `setImmediate` would corrupt the queue of Node.js.
 */
export function deferReport<T>(send: () => T | PromiseLike<T>): Promise<T> | null {
  if (pendingReports.size >= MAX_DEFERRED_REPORTS) return null
  const report: DeferredReport = { send, isSent: false }
  const result = RESOLVED.then(() => sendOnce(report) as T | PromiseLike<T>)
  try {
    pendingReports.add(report)
  } catch {
    // Stack overflow: the microtask is queued, and only the end of the process can precede it.
  }
  return result
}

/** Checks whether a deferred report is being sent, which must not be deferred again. */
export function isSendingDeferred(): boolean {
  return isSending
}

/**
 * Sends all waiting reports, for a process that ends before its microtasks run. Checks the stack space again, because
 * `process.exit` can be called near the stack limit.
 */
export function sendDeferredReports(): void {
  for (const report of pendingReports) if (hasRoomForBreadcrumb()) sendOnce(report)
}

function sendOnce(report: DeferredReport): unknown {
  pendingReports.delete(report)
  if (report.isSent) return null
  report.isSent = true
  isSending = true
  try {
    return report.send()
  } finally {
    isSending = false
  }
}
