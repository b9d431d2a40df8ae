import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { raw } from 'hono/html'
import type { Rendered } from '../../define.js'

/** Short enough to keep the host's requests responsive. */
const MAX_BLOCKING_MS = 8

/** Renders parts in sequence and yields to the event loop in between. */
export async function YieldingList({ parts }: { parts: readonly Rendered[] }): Promise<Rendered> {
  let text = ''
  let startedAt = performance.now()
  for (const part of parts) {
    text += await part.toString()
    if (performance.now() - startedAt < MAX_BLOCKING_MS) continue
    await yieldToEventLoop()
    startedAt = performance.now()
  }
  return raw(text)
}
