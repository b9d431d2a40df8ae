import { types } from 'node:util'
import { callbackContext } from '../callback-context.js'
import type { Step } from '../draft.js'

/** Asks the host. Only `false` skips the error: a callback that forgets to answer, or fails, must not lose it. */
export const beforeLog: Step = (draft, { config, complain }) => {
  if (!config.before_log_callback) return
  try {
    const answer: unknown = config.before_log_callback(draft.thrown, callbackContext(draft))
    if (types.isPromise(answer)) {
      complain('before_log_callback', 'it gave a Promise, but must answer at once; the error was logged')
      // Nobody else would catch what it rejects with, and the host's process could end by it.
      answer.catch((error: unknown) => complain('before_log_callback', error))
    }
    return answer === false ? 'skipped_by_callback' : undefined
  } catch (error) {
    complain('before_log_callback', error)
  }
}
