import type { LogContext } from '../config/options.js'
import type { Draft } from './draft.js'

/** Context that is passed to the host's callbacks together with the thrown value. */
export function callbackContext({
  error_type,
  message,
  platform,
  user_id,
  request_url,
  app_version,
  severity,
}: Draft): LogContext {
  return { error_type, message, platform, user_id, request_url, app_version, severity }
}
