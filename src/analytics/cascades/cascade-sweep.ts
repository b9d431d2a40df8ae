import { MINUTE } from '../../model/time.js'
import type { Span } from '../sums/period.js'

export const CASCADE_WINDOW_MS = MINUTE

export interface SweptOccurrence {
  /** Application and environment. Errors of different scopes never follow each other. */
  scope: string
  error_id: number
  occurred_at: number
}

export interface CascadePair {
  parent: number
  child: number
  /** Occurrences of the parent that the child followed. */
  followed_count: number
  /** Sum of the delays from a parent to its first child. */
  delay_ms: number
}

/**
 * Finds errors that follow another error within a minute. For each occurrence in the span, collects the other errors of
 * its scope in the following minute. A child that follows one parent ten times counts once. Expects occurrences newest
 * first, starting one minute after the span. The next occurrence of each error is then always known.
 */
export class CascadeSweep {
  /** Occurrences of each error within the span. */
  readonly parents = new Map<number, number>()
  /**
   * Milliseconds covered by the windows before the occurrences of each error. Overlapping windows count once, so a
   * burst covers little more than one window.
   */
  readonly covered = new Map<number, number>()
  readonly #pairs = new Map<number, Map<number, CascadePair>>()
  readonly #nextOccurrence = new Map<number, number>()
  readonly #upcoming = new Map<string, UpcomingErrors>()
  readonly #span: Span

  constructor(span: Span) {
    this.#span = span
  }

  addOccurrence({ scope, error_id, occurred_at }: SweptOccurrence): void {
    let upcoming = this.#upcoming.get(scope)
    if (!upcoming) {
      upcoming = new UpcomingErrors()
      this.#upcoming.set(scope, upcoming)
    }
    const next = upcoming.after(occurred_at)
    if (occurred_at >= this.#span.from && occurred_at < this.#span.to) {
      this.#follow(error_id, occurred_at, next)
      const gap = (this.#nextOccurrence.get(error_id) ?? Number.POSITIVE_INFINITY) - occurred_at
      this.covered.set(error_id, (this.covered.get(error_id) ?? 0) + Math.min(CASCADE_WINDOW_MS, gap))
    }
    this.#nextOccurrence.set(error_id, occurred_at)
    upcoming.addPending(error_id)
  }

  *pairs(): Generator<CascadePair> {
    for (const children of this.#pairs.values()) yield* children.values()
  }

  #follow(parent: number, at: number, next: UpcomingError | null): void {
    this.parents.set(parent, (this.parents.get(parent) ?? 0) + 1)
    let checkedCount = 0
    for (
      let follower = next;
      follower && follower.at - at <= CASCADE_WINDOW_MS && checkedCount < MAX_FOLLOWERS;
      follower = follower.later, checkedCount++
    ) {
      if (follower.error_id !== parent) this.#add(parent, follower.error_id, follower.at - at)
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

/** Limits the distinct errors checked after one occurrence, nearest first. */
const MAX_FOLLOWERS = 200

/** Next occurrence of an error, in a list sorted by time. */
interface UpcomingError {
  error_id: number
  at: number
  sooner: UpcomingError | null
  later: UpcomingError | null
}

/** Next occurrence of each error, soonest first. */
class UpcomingErrors {
  #first: UpcomingError | null = null
  readonly #byError = new Map<number, UpcomingError>()
  #instant = Number.POSITIVE_INFINITY
  #pending: number[] = []

  /** Returns the errors after an instant. Simultaneous errors do not follow each other. */
  after(instant: number): UpcomingError | null {
    if (instant !== this.#instant) {
      for (const error_id of this.#pending) this.#moveToFront(error_id, this.#instant)
      this.#pending = []
      this.#instant = instant
    }
    return this.#first
  }

  addPending(error_id: number): void {
    this.#pending.push(error_id)
  }

  #moveToFront(error_id: number, at: number): void {
    const entry = this.#byError.get(error_id) ?? { error_id, at, sooner: null, later: null }
    this.#byError.set(error_id, entry)
    entry.at = at
    if (entry === this.#first) return
    if (entry.sooner) entry.sooner.later = entry.later
    if (entry.later) entry.later.sooner = entry.sooner
    entry.sooner = null
    entry.later = this.#first
    if (this.#first) this.#first.sooner = entry
    this.#first = entry
  }
}

interface FollowedCount {
  followed_count: number
}

/** Returns the most frequent pairs without sorting all of them. */
export function mostFrequentPairs<P extends FollowedCount>(pairs: readonly P[], limit: number): P[] {
  if (pairs.length <= limit) return [...pairs]
  const pairsByCount = new Map<number, number>()
  for (const { followed_count } of pairs) pairsByCount.set(followed_count, (pairsByCount.get(followed_count) ?? 0) + 1)
  let [minCount, remaining] = [Number.POSITIVE_INFINITY, limit]
  for (const [count, pairCount] of [...pairsByCount].sort(([a], [b]) => b - a)) {
    minCount = count
    if (pairCount >= remaining) break
    remaining -= pairCount
  }
  return pairs.filter(
    ({ followed_count }) => followed_count > minCount || (followed_count === minCount && remaining-- > 0),
  )
}
