import { callbackContext } from '../callback-context.js'
import type { Step } from '../draft.js'

/** Asks the host. Only `false` skips the error: a callback that forgets to answer, or fails, must not lose it. */
export const beforeLog: Step = (draft, { config, complain }) => {
  if (!config.before_log_callback) return
  try {
    return config.before_log_callback(draft.thrown, callbackContext(draft)) === false
      ? 'skipped_by_callback'
      : undefined
  } catch (error) {
    complain('before_log_callback', error)
  }
}
