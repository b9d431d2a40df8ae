import type { Step } from '../draft.js'

/** Adds what the variables were where it was thrown; one that gets no row of its own has no place for them. */
export const variables: Step = (draft, { variables, complain }) => {
  if (!variables || draft.counted_only) return
  try {
    draft.local_variables = variables.of(draft.thrown, draft.hash_signature)
  } catch (error) {
    // The error is worth recording without them.
    complain('reading local variables', error)
  }
}
