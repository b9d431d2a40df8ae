import { addWithoutLeakWarning } from './listener-limit.js'

type Listener = (code: number) => void

const listeners = {
  late_reports: new Set<Listener>(),
  spool: new Set<Listener>(),
  failed_exit: new Set<Listener>(),
  marker: new Set<Listener>(),
}

/**
 * Calls the listener when the process exits, in the order of the groups above. Two process listeners serve all groups,
 * without a leak warning for the host. Returns the function that removes the listener.
 */
export function atExit(group: keyof typeof listeners, listener: Listener): () => void {
  const members = listeners[group]
  const phase = BEFORE_HOST.groups.includes(members) ? BEFORE_HOST : AFTER_HOST
  if (isEmpty(phase)) phase.stop = addWithoutLeakWarning(phase.onExit, phase.add)
  members.add(listener)
  return () => {
    if (!members.delete(listener) || !isEmpty(phase)) return
    process.off('exit', phase.onExit)
    phase.stop()
  }
}

/** Listeners that run before or after the exit listeners of the host. */
interface ExitPhase {
  groups: readonly Set<Listener>[]
  onExit: Listener
  add(): void
  stop(): void
}

/** Runs before the listeners of the host, because a listener that throws stops all later listeners. */
const BEFORE_HOST: ExitPhase = {
  groups: [listeners.late_reports, listeners.spool],
  onExit: (code) => callAll(BEFORE_HOST, code),
  add: () => void process.prependListener('exit', BEFORE_HOST.onExit),
  stop() {},
}

/** Runs after earlier listeners of the host and of Node.js, which may still change the exit code. */
const AFTER_HOST: ExitPhase = {
  groups: [listeners.failed_exit, listeners.marker],
  onExit: (code) => callAll(AFTER_HOST, code),
  add: () => void process.on('exit', AFTER_HOST.onExit),
  stop() {},
}

function callAll({ groups }: ExitPhase, code: number): void {
  for (const listener of groups.flatMap((group) => [...group])) {
    try {
      listener(code)
    } catch {
      // Throwing would change the exit code of the host and skip its listeners.
    }
  }
}

function isEmpty({ groups }: ExitPhase): boolean {
  return groups.every((group) => group.size === 0)
}
