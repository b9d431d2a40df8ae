import { constants } from 'node:os'

const pending = new Set()
let interrupted = false

/** Registers a cleanup that also runs when the run is interrupted. Returns a function that runs it now. */
export function registerCleanup(undo) {
  const once = async () => {
    if (pending.delete(once)) await undo()
  }
  pending.add(once)
  return once
}

export async function cleanUp() {
  // Newest first, so that a server stops before its folder is removed. Loops because a server that is starting can
  // still register a cleanup.
  while (pending.size > 0) {
    const undo = [...pending].at(-1)
    await undo().catch((error) => console.error(`could not clean up: ${error.message}`))
  }
}

export function cleanUpOnSignals() {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, async () => {
      if (interrupted) return
      interrupted = true
      await cleanUp()
      process.exit(128 + constants.signals[signal])
    })
  }
}

/** Halts the caller after a signal: the promise never resolves, so that the run starts nothing new during the cleanup. */
export function haltIfInterrupted() {
  return interrupted ? new Promise(() => {}) : Promise.resolve()
}
