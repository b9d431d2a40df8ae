import type { Context } from '../../context.js'
import { installationId } from '../../jobs/installation.js'
import { withTimeout } from '../../model/with-timeout.js'
import type { Channel, Message, Outcome, SendContext } from '../channels/channel.js'
import { dashboardLinks } from '../content/dashboard-links.js'
import { detectedDashboardPath } from '../content/dashboard-path.js'

/** Limits attempts through the host's mail transport, which may have no timeout. */
const MAX_ATTEMPT_MS = 30_000

/** Makes one attempt. Always returns a result, within the time limit. */
export async function sendOnce(
  context: Context,
  channel: Channel,
  message: Message,
  stop: AbortSignal,
): Promise<Outcome> {
  const { config, now } = context
  const timeout = new AbortController()
  const signal = AbortSignal.any([stop, timeout.signal])
  const sending = prepareMessage(context, message).then(({ links, ...prepared }) =>
    channel.send(prepared, { config, links, now, signal }),
  )
  try {
    return await withTimeout(sending, MAX_ATTEMPT_MS, { message: 'No response.', signal: stop })
  } catch (error) {
    timeout.abort()
    return { state: 'failed', response: error instanceof Error ? error.message : String(error) }
  }
}

async function prepareMessage(
  context: Context,
  { key, notice }: Message,
): Promise<Message & Pick<SendContext, 'links'>> {
  const addKeyPrefix = await createKeyPrefixer(context)
  return { key: addKeyPrefix(key), notice, links: dashboardLinks(context.config, await detectedDashboardPath(context)) }
}

const PREFIX_LENGTH = 8

/**
 * Prefixes idempotency keys with the installation id. Ids start at 1 in every database, so staging and production would
 * otherwise send the same key for error 1.
 */
export async function createKeyPrefixer(context: Context): Promise<(key: string) => string> {
  const prefix = (await installationId(context)).slice(0, PREFIX_LENGTH)
  return (key) => `${prefix}:${key}`
}
