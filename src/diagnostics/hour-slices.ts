import { setImmediate } from 'node:timers/promises'
import type { Context } from '../context.js'
import { HOUR } from '../model/time.js'

export interface HourSlice {
  from: number
  /** Not included. */
  to: number
}

const FEWEST_HOURS = 6
const WANTED_MS = 8
const MOST_GROWTH = 4

/**
 * The hours from one to now in slices, each as long as can be asked about in a few milliseconds: an embedded database
 * blocks the host's thread, and between two slices the host has its turn. However busy the host is, a slice never
 * becomes so short that there would be very many. A server is asked for all at once.
 */
export async function* hourSlices({ database, now }: Context, first: number): AsyncGenerator<HourSlice> {
  const end = now() + HOUR
  if (database.dialect.rows_at_once === null) {
    yield { from: first, to: end }
    return
  }
  let hours = FEWEST_HOURS
  for (let from = first; from < end; ) {
    const to = Math.min(end, from + hours * HOUR)
    const begun = performance.now()
    yield { from, to }
    const speed = WANTED_MS / Math.max(0.1, performance.now() - begun)
    hours = Math.max(FEWEST_HOURS, Math.floor(hours * Math.min(MOST_GROWTH, speed)))
    from = to
    await setImmediate()
  }
}
