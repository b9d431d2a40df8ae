// Imported, because fake timers of a host's tests replace the global function and might never call back.
import { setImmediate } from 'node:timers'

const waiting: (() => void)[] = []
let isScheduled = false
/** True if a caller has resumed in this iteration. */
let hasResumed = false

/**
 * Yields to the event loop of the host. Resumes one caller in every second iteration, in order. With `setImmediate` alone,
 * all callers resume in the same iteration, and concurrent page views add up to one long stall.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resume) => {
    waiting.push(resume)
    if (isScheduled) return
    isScheduled = true
    setImmediate(resumeFirst)
  })
}

/**
 * Yields to the event loop for work that must not wait behind callers of `nextTurn`. Resumes in the next iteration. If
 * a caller of `nextTurn` resumes in that iteration, waits for one more, because both together would be a longer stall.
 */
export function nextFreeIteration(): Promise<void> {
  return new Promise((resume) => {
    setImmediate(() => (hasResumed ? setImmediate(resume) : resume()))
  })
}

function resumeFirst(): void {
  hasResumed = true
  waiting.shift()?.()
  setImmediate(skipIteration)
}

/** Leaves one iteration to the host: Node.js accepts a new connection in one iteration and reads its request in the next. */
function skipIteration(): void {
  hasResumed = false
  isScheduled = waiting.length > 0
  if (isScheduled) setImmediate(resumeFirst)
}
