import { types } from 'node:util'
import { callbackContext } from '../callback-context.js'
import type { Step } from '../draft.js'

/** Calls the host's callback. Only `false` skips the error. A callback that returns nothing or throws does not. */
export const beforeLog: Step = (draft, { config, reportFailure }) => {
  if (!config.before_log_callback) return
  try {
    const result: unknown = config.before_log_callback(draft.thrown, callbackContext(draft))
    if (types.isPromise(result)) {
      reportFailure('before_log_callback', 'it returned a Promise, but must be synchronous; the error was recorded')
      // An unhandled rejection could end the host process.
      result.catch((error: unknown) => reportFailure('before_log_callback', error))
    }
    return result === false ? 'skipped_by_callback' : undefined
  } catch (error) {
    reportFailure('before_log_callback', error)
  }
}
