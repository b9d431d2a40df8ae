import type { Recorder } from '../recording/recorder.js'
import { atExit } from './at-exit.js'

const recorders = new Set<Recorder>()
let stopAtExit = () => {}

/**
 * Flushes before a normal exit. On `process.exit()`, moves unwritten errors to disk for the next start. All trackers
 * share one pair of listeners. Returns the function that removes the recorder.
 */
export function flushAtExit(recorder: Recorder): () => void {
  if (recorders.size === 0) {
    process.on('beforeExit', flushAll)
    stopAtExit = atExit('spool', spoolAll)
  }
  recorders.add(recorder)
  return () => {
    recorders.delete(recorder)
    if (recorders.size > 0) return
    process.off('beforeExit', flushAll)
    stopAtExit()
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
