import type { CaptureContext } from '../capture-context.js'

/** Counts what is caught and never reported, if asked to; what does it is loaded only then. Gives the function that ends it. */
export function countSwallowed(context: CaptureContext): () => void {
  if (!context.config.detect_swallowed_exceptions) return () => {}
  let is_ended = false
  let end = () => {}
  import('./keeper.js').then(
    ({ keepSwallowed }) => {
      if (!is_ended) end = keepSwallowed(context)
    },
    () => context.counters.add('failed: counting swallowed exceptions'),
  )
  return () => {
    is_ended = true
    end()
  }
}
