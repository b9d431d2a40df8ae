import { MINUTE } from '../../model/time.js'
import type { SeededRandom } from './seeded-random.js'

/** Pauses between two requests or errors, in milliseconds. */
interface Pace {
  /** Pauses while the visitor explores the demo for the first time. */
  readonly first: PauseRange
  readonly later: PauseRange
}

interface PauseRange {
  readonly min: number
  readonly max: number
}

/**
 * Two to three times the rate of the history. At a higher rate, the last hours would dominate every chart. Only the error
 * of the newest release, which has no history, is more frequent, so that it stays at the top of the list.
 */
export const PACES = {
  customers: { first: { min: 4000, max: 12_000 }, later: { min: 100_000, max: 200_000 } },
  newError: { first: { min: 20_000, max: 60_000 }, later: { min: 60_000, max: 180_000 } },
  otherApplications: { first: { min: 6000, max: 18_000 }, later: { min: 110_000, max: 250_000 } },
} as const satisfies Record<string, Pace>

const FIRST_MINUTES_MS = 2 * MINUTE

/** The next pause, `elapsed` milliseconds after the start of the demo. */
export function nextPause({ first, later }: Pace, elapsed: number, random: SeededRandom): number {
  const { min, max } = elapsed < FIRST_MINUTES_MS ? first : later
  return random.integer(min, max)
}
