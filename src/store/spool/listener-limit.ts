/** Listeners of ours to the exit of the process, which a host that counts its own does not know of. */
const ours = new Set<unknown>()

/**
 * Adds a listener of ours to the exit of the process so that Node.js never prints a warning of a leak that the host
 * would not have had without us, whoever comes first. Gives the function to call when the listener is gone.
 */
export function leaveRoomFor(listener: unknown, add: () => void): () => void {
  if (ours.size === 0) process.on('newListener', makeRoom)
  ours.add(listener)
  add()
  lower()
  return () => {
    ours.delete(listener)
    if (ours.size === 0) process.off('newListener', makeRoom)
  }
}

const OWN_LIMIT = '_maxListeners'
let raised: { before: unknown; to: number } | null = null

/** It is told before the listener is added; the limit is looked at right after. */
function makeRoom(event: string | symbol, listener: unknown): void {
  if (event !== 'exit') return
  lower()
  const limit = process.getMaxListeners()
  const count = process.listenerCount('exit') + 1
  const host_would_be_warned = process.listeners('exit').filter((one) => !ours.has(one)).length + 1 > limit
  if (limit === 0 || count <= limit || (host_would_be_warned && !ours.has(listener))) return
  raised = { before: Reflect.get(process, OWN_LIMIT), to: count }
  process.setMaxListeners(count)
  queueMicrotask(lower)
}

function lower(): void {
  if (!raised) return
  const { before, to } = raised
  raised = null
  // Not by setMaxListeners: a process without a limit of its own follows `EventEmitter.defaultMaxListeners`.
  if (process.getMaxListeners() === to) Reflect.set(process, OWN_LIMIT, before)
}
