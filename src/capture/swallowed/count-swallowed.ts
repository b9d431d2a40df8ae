import type { CaptureContext } from '../capture-context.js'
import { keepSwallowed } from './keeper.js'

/**
 * Counts what is caught and never reported, if asked to. Gives the function that ends it. Nothing of it is loaded later:
 * a process may end in its first turn, and has counted by then.
 */
export function countSwallowed(context: CaptureContext): () => void {
  return context.config.detect_swallowed_exceptions ? keepSwallowed(context) : () => {}
}
