import type { Context } from '../../context.js'
import type { Channel, Message, Outcome, Sending } from '../channels/channel.js'
import { dashboardPath } from '../content/dashboard-path.js'
import { linksOf } from '../content/links.js'
import { sentKeys } from './sent-key.js'

/** A transport of the host's may know no time-out at all. */
const LONGEST_MS = 30_000

/** Tries once; whatever the channel does, an outcome comes of it in time. */
export async function send(context: Context, channel: Channel, message: Message, stop: AbortSignal): Promise<Outcome> {
  const { config, now } = context
  const impatience = new AbortController()
  const timer = setTimeout(() => impatience.abort(), LONGEST_MS).unref()
  const signal = AbortSignal.any([stop, impatience.signal])
  try {
    return await Promise.race([
      prepared(context, message).then(({ links, ...sent }) => channel.send(sent, { config, links, now, signal })),
      whenAborted(signal, () => (stop.aborted ? 'The process stopped while it was sent.' : 'There was no answer.')),
    ])
  } catch (error) {
    return { state: 'failed', answer: error instanceof Error ? error.message : String(error) }
  } finally {
    clearTimeout(timer)
  }
}

async function prepared(context: Context, { key, notice }: Message): Promise<Message & Pick<Sending, 'links'>> {
  const sentKey = await sentKeys(context)
  return { key: sentKey(key), notice, links: linksOf(context.config, await dashboardPath(context)) }
}

function whenAborted(signal: AbortSignal, answer: () => string): Promise<Outcome> {
  return new Promise((settle) => {
    const end = () => settle({ state: 'failed', answer: answer() })
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}
