import { leaveRoomFor } from './listener-limit.js'

type Listener = (code: number) => void

const listeners = {
  late_reports: new Set<Listener>(),
  spool: new Set<Listener>(),
  failed_exit: new Set<Listener>(),
  marker: new Set<Listener>(),
}

/**
 * Calls back when the process ends, in the order of the names above. One listener of the process serves all that come
 * first, and one all that come last; the host is not warned of a leak because of them. Gives the function that ends it.
 */
export function atExit(what: keyof typeof listeners, listener: Listener): () => void {
  const own = listeners[what]
  const turn = FIRST.groups.includes(own) ? FIRST : LAST
  if (isEmpty(turn)) turn.stop = leaveRoomFor(turn.onExit, turn.add)
  own.add(listener)
  return () => {
    if (!own.delete(listener) || !isEmpty(turn)) return
    process.off('exit', turn.onExit)
    turn.stop()
  }
}

/** When ours are called, seen from the host's. */
interface Turn {
  groups: readonly Set<Listener>[]
  onExit: Listener
  add(): void
  stop(): void
}

/** Before the host's: should one of them throw, those behind it are not called. */
const FIRST: Turn = {
  groups: [listeners.late_reports, listeners.spool],
  onExit: (code) => callAll(FIRST, code),
  add: () => void process.prependListener('exit', FIRST.onExit),
  stop() {},
}

/** Behind those that were there before: they may still change the exit code, as Node.js itself does. */
const LAST: Turn = {
  groups: [listeners.failed_exit, listeners.marker],
  onExit: (code) => callAll(LAST, code),
  add: () => void process.on('exit', LAST.onExit),
  stop() {},
}

function callAll({ groups }: Turn, code: number): void {
  for (const listener of groups.flatMap((group) => [...group])) {
    try {
      listener(code)
    } catch {
      // Thrown from here, it would change the host's exit code and keep the host's own listeners from being called.
    }
  }
}

function isEmpty({ groups }: Turn): boolean {
  return groups.every((group) => group.size === 0)
}
