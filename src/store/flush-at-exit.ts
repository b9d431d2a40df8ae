import type { Recorder } from './recorder.js'

const recorders = new Set<Recorder>()

/**
 * A process that ends by itself writes what it still holds; one that ends at once leaves it on disk for the next start.
 * One pair of listeners serves every tracker of the process. Gives the function that ends it.
 */
export function flushAtExit(recorder: Recorder): () => void {
  if (recorders.size === 0) {
    process.on('beforeExit', flushAll)
    // Before the host's: should one of its own throw there, those behind it are not called.
    process.prependListener('exit', spoolAll)
  }
  recorders.add(recorder)
  return () => {
    recorders.delete(recorder)
    if (recorders.size > 0) return
    process.off('beforeExit', flushAll)
    process.off('exit', spoolAll)
  }
}

function flushAll(): void {
  for (const recorder of recorders) {
    if (recorder.state.buffered > 0 || recorder.state.queued > 0) void recorder.flush()
  }
}

function spoolAll(): void {
  for (const recorder of recorders) recorder.end()
}
