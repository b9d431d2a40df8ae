// Imported, because fake timers of a host's tests replace the global function and might never call back.
import { setImmediate } from 'node:timers'

const waiting: (() => void)[] = []

/**
 * Yields to the event loop of the host. Resumes one caller per iteration, in order. With `setImmediate` alone, all callers
 * resume in the same iteration, and concurrent page views add up to one long stall.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resume) => {
    waiting.push(resume)
    if (waiting.length === 1) setImmediate(resumeFirst)
  })
}

function resumeFirst(): void {
  waiting.shift()?.()
  // Runs in the next iteration, because this function runs in the current one.
  if (waiting.length > 0) setImmediate(resumeFirst)
}
