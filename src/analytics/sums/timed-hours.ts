import type { Context } from '../../context.js'
import { HOUR } from '../../model/time.js'
import type { Span } from './period.js'
import { giveTurn } from './turns.js'

const WANTED_MS = 6
const MOST_GROWTH = 2

/**
 * A span in parts of whole hours, each as long as can be dealt with in a few milliseconds: an embedded database blocks
 * the host's thread, and between two parts the host has its turn. A server gets parts of the given length.
 */
export async function* timedHours(
  { database }: Context,
  { from, to }: Span,
  serverStep = Number.POSITIVE_INFINITY,
): AsyncGenerator<Span> {
  const isServer = database.dialect.rows_at_once === null
  let step = isServer ? serverStep : HOUR
  for (let start = from; start < to; ) {
    const end = Math.min(start + step, to)
    const started = performance.now()
    yield { from: start, to: end }
    start = end
    if (isServer) continue
    const growth = Math.min(MOST_GROWTH, WANTED_MS / Math.max(0.1, performance.now() - started))
    step = Math.max(1, Math.floor((step / HOUR) * growth)) * HOUR
    await giveTurn()
  }
}
