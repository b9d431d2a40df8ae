/** Exit listeners of the tracker. They must not count toward the listener limit of the host. */
const trackerListeners = new Set<unknown>()

/**
 * Adds an exit listener without a leak warning from Node.js, unless the host alone exceeds the limit. Works for tracker
 * and host listeners in any order. Returns the function to call after the listener was removed.
 */
export function addWithoutLeakWarning(listener: unknown, add: () => void): () => void {
  if (trackerListeners.size === 0) process.on('newListener', raiseLimit)
  trackerListeners.add(listener)
  add()
  restoreLimit()
  return () => {
    trackerListeners.delete(listener)
    if (trackerListeners.size === 0) process.off('newListener', raiseLimit)
  }
}

const LIMIT_PROPERTY = '_maxListeners'
let raisedLimit: { before: unknown; to: number } | null = null

/** Runs before Node.js adds a listener and checks the limit. */
function raiseLimit(event: string | symbol, listener: unknown): void {
  if (event !== 'exit') return
  restoreLimit()
  const limit = process.getMaxListeners()
  const count = process.listenerCount('exit') + 1
  const hostListeners = process.listeners('exit').filter((other) => !trackerListeners.has(other))
  const hostExceedsLimit = hostListeners.length + 1 > limit
  if (limit === 0 || count <= limit || (hostExceedsLimit && !trackerListeners.has(listener))) return
  raisedLimit = { before: Reflect.get(process, LIMIT_PROPERTY), to: count }
  process.setMaxListeners(count)
  queueMicrotask(restoreLimit)
}

function restoreLimit(): void {
  if (!raisedLimit) return
  const { before, to } = raisedLimit
  raisedLimit = null
  // `setMaxListeners` cannot restore undefined, which means `EventEmitter.defaultMaxListeners`.
  if (process.getMaxListeners() === to) Reflect.set(process, LIMIT_PROPERTY, before)
}
