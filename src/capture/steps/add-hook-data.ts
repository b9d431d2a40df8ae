import type { Step } from '../draft.js'

/** Lets diagnostics add data to an error that gets its own row. A failing hook does not prevent the recording. */
export const addHookData: Step = (draft, { hooks, reportFailure }) => {
  if (draft.counted_only) return
  for (const { name, run } of hooks.onSigned) {
    try {
      run(draft)
    } catch (error) {
      reportFailure(name, error)
    }
  }
}
