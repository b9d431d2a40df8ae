import type { Context } from '../../context.js'
import { failureMessage } from '../../model/errors.js'
import { type Identity, readPerson } from '../../model/people/identity.js'
import { withTimeout } from '../../model/with-timeout.js'

/** Long enough for a session in a remote store, short enough for a person to wait. */
const TIMEOUT_MS = 2000
const MAX_MESSAGE_LENGTH = 200

/** Calls `authenticate` of the host. Never throws. Logs a failure, which counts as not signed in. */
export async function identifyByHost(
  { config: { authenticate }, log }: Pick<Context, 'config' | 'log'>,
  hostRequest: unknown,
): Promise<Identity | null | 'failed'> {
  if (!authenticate) return null
  try {
    const data = await withTimeout(
      // Catches a callback that throws before it returns a promise, too.
      Promise.resolve().then(() => authenticate(hostRequest)),
      TIMEOUT_MS,
    )
    // Accepts false and undefined too, the results of `request.user && { … }`.
    if (data === null || data === undefined || (data as unknown) === false) return null
    const result = readPerson(data)
    if ('person' in result) return { ...result.person, kind: 'host', is_shared: false }
    log.warn(`authenticate returned an invalid identity: ${result.problem}. The request counts as not signed in.`)
  } catch (error) {
    log.warn(`authenticate failed: ${describe(error)}. The request counts as not signed in.`)
  }
  return 'failed'
}

/** Returns a one-line message for any thrown value. */
function describe(error: unknown): string {
  try {
    return failureMessage(error)
      .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
      .slice(0, MAX_MESSAGE_LENGTH)
  } catch {
    return 'unreadable error'
  }
}
