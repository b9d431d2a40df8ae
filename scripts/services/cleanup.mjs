import { constants } from 'node:os'

const pending = new Set()
let interrupted = false

/** Registers what must be undone even when the run is interrupted. Returns the function that undoes it now. */
export function whenDone(undo) {
  const once = async () => {
    if (pending.delete(once)) await undo()
  }
  pending.add(once)
  return once
}

export async function cleanUp() {
  // Newest first: a server goes before the folder it lives in. A loop, because a starting server may still register.
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

/** Never resolves after a signal: otherwise the rest of the run would start new things while the old are cleaned up. */
export function unlessInterrupted() {
  return interrupted ? new Promise(() => {}) : Promise.resolve()
}
