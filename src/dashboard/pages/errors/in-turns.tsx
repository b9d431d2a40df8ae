import { setImmediate as turn } from 'node:timers/promises'
import { raw } from 'hono/html'
import type { Rendered } from '../../define.js'

const STAND_STILL_MS = 8

/** Writes many parts one after the other, and lets the host do what waits in between. */
export async function InTurns({ parts }: { parts: readonly Rendered[] }): Promise<Rendered> {
  let text = ''
  let since = performance.now()
  for (const part of parts) {
    text += await part.toString()
    if (performance.now() - since < STAND_STILL_MS) continue
    await turn()
    since = performance.now()
  }
  return raw(text)
}
