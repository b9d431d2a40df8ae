import { MINUTE } from '../../model/time.js'
import type { Span } from '../sums/period.js'

export const CASCADE_WINDOW = MINUTE

export interface Sighting {
  application_id: number
  error_id: number
  occurred_at: number
}

export interface Pair {
  parent: number
  child: number
  /** Occurrences of the parent that the child followed. */
  followed_count: number
  /** All the waits from a parent to the first child after it, added up. */
  delay_ms: number
}

/**
 * What followed what within a span: for each occurrence in it, which other errors of its application came in the minute
 * after it. A child that comes ten times after one parent followed it once. The occurrences are shown to it newest first,
 * from a minute after the span on, so that it always knows when each error comes next.
 */
export class CascadeSweep {
  /** Occurrences of each error that began in the span. */
  readonly parents = new Map<number, number>()
  /** Milliseconds that each error follows within the window: a burst of children covers little more than one window. */
  readonly covered = new Map<number, number>()
  readonly #pairs = new Map<number, Map<number, Pair>>()
  readonly #later = new Map<number, number>()
  readonly #ahead = new Map<number, Ahead>()
  readonly #span: Span

  constructor(span: Span) {
    this.#span = span
  }

  see({ application_id, error_id, occurred_at }: Sighting): void {
    let ahead = this.#ahead.get(application_id)
    if (!ahead) {
      ahead = new Ahead()
      this.#ahead.set(application_id, ahead)
    }
    const next = ahead.from(occurred_at)
    if (occurred_at >= this.#span.from && occurred_at < this.#span.to) {
      this.#follow(error_id, occurred_at, next)
      const gap = (this.#later.get(error_id) ?? Number.POSITIVE_INFINITY) - occurred_at
      this.covered.set(error_id, (this.covered.get(error_id) ?? 0) + Math.min(CASCADE_WINDOW, gap))
    }
    this.#later.set(error_id, occurred_at)
    ahead.note(error_id)
  }

  *pairs(): Generator<Pair> {
    for (const children of this.#pairs.values()) yield* children.values()
  }

  #follow(parent: number, at: number, next: Next | null): void {
    this.parents.set(parent, (this.parents.get(parent) ?? 0) + 1)
    let looked = 0
    for (let one = next; one && one.at - at <= CASCADE_WINDOW && looked < MOST_AFTER; one = one.later, looked++) {
      if (one.error_id !== parent) this.#add(parent, one.error_id, one.at - at)
    }
  }

  #add(parent: number, child: number, delay: number): void {
    let children = this.#pairs.get(parent)
    if (!children) {
      children = new Map()
      this.#pairs.set(parent, children)
    }
    const pair = children.get(child)
    if (pair) {
      pair.followed_count++
      pair.delay_ms += delay
    } else children.set(child, { parent, child, followed_count: 1, delay_ms: delay })
  }
}

/** So many different errors that come after one occurrence are looked at, the next ones first. */
const MOST_AFTER = 200

/** When an error comes next, and what comes after that. */
interface Next {
  error_id: number
  at: number
  sooner: Next | null
  later: Next | null
}

/** When each error comes next, the soonest first. */
class Ahead {
  #first: Next | null = null
  readonly #known = new Map<number, Next>()
  #instant = Number.POSITIVE_INFINITY
  #waiting: number[] = []

  /** What comes after an instant: what came in the same instant did not follow. */
  from(instant: number): Next | null {
    if (instant !== this.#instant) {
      for (const error_id of this.#waiting) this.#put(error_id, this.#instant)
      this.#waiting = []
      this.#instant = instant
    }
    return this.#first
  }

  note(error_id: number): void {
    this.#waiting.push(error_id)
  }

  #put(error_id: number, at: number): void {
    const one = this.#known.get(error_id) ?? { error_id, at, sooner: null, later: null }
    this.#known.set(error_id, one)
    one.at = at
    if (one === this.#first) return
    if (one.sooner) one.sooner.later = one.later
    if (one.later) one.later.sooner = one.sooner
    one.sooner = null
    one.later = this.#first
    if (this.#first) this.#first.sooner = one
    this.#first = one
  }
}

interface Followed {
  followed_count: number
}

/** So many of the pairs, those that followed most often; without sorting them all, of which there may be very many. */
export function mostOften<P extends Followed>(pairs: readonly P[], most: number): P[] {
  if (pairs.length <= most) return [...pairs]
  const numbers = new Map<number, number>()
  for (const { followed_count } of pairs) numbers.set(followed_count, (numbers.get(followed_count) ?? 0) + 1)
  let [least, room] = [Number.POSITIVE_INFINITY, most]
  for (const [count, number] of [...numbers].sort(([a], [b]) => b - a)) {
    least = count
    if (number >= room) break
    room -= number
  }
  return pairs.filter(({ followed_count }) => followed_count > least || (followed_count === least && room-- > 0))
}
