import { MINUTE } from '../model/time.js'

export const CASCADE_WINDOW = MINUTE

export interface Sighting {
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

export interface Sweep {
  /** Occurrences of each error that began in the span. */
  parents: Map<number, number>
  pairs: Pair[]
}

/**
 * What followed what, in one pass over the occurrences in the order of time: for each occurrence within the span, which
 * other errors came in the minute after it. A child that comes ten times after one parent followed it once.
 */
export function sweep(sightings: readonly Sighting[], from: number, to: number): Sweep {
  const parents = new Map<number, number>()
  const pairs = new Map<number, Map<number, Pair>>()
  for (let i = 0; i < sightings.length; i++) {
    const parent = sightings[i]
    if (!parent || parent.occurred_at < from || parent.occurred_at >= to) continue
    parents.set(parent.error_id, (parents.get(parent.error_id) ?? 0) + 1)
    const followers = firstAfter(sightings, i, parent)
    for (const [child, delay] of followers) add(pairs, parent.error_id, child, delay)
  }
  return { parents, pairs: [...pairs.values()].flatMap((children) => [...children.values()]) }
}

/** A storm must not make the pass quadratic: so many that come after one occurrence are looked at. */
const MOST_AFTER = 200

function firstAfter(sightings: readonly Sighting[], index: number, parent: Sighting): Map<number, number> {
  const found = new Map<number, number>()
  const end = Math.min(sightings.length, index + 1 + MOST_AFTER)
  for (let i = index + 1; i < end; i++) {
    const other = sightings[i]
    if (!other || other.occurred_at - parent.occurred_at > CASCADE_WINDOW) break
    // What came in the same instant did not follow.
    if (other.error_id === parent.error_id || other.occurred_at === parent.occurred_at) continue
    if (!found.has(other.error_id)) found.set(other.error_id, other.occurred_at - parent.occurred_at)
  }
  return found
}

function add(pairs: Map<number, Map<number, Pair>>, parent: number, child: number, delay: number): void {
  const children = pairs.get(parent) ?? new Map<number, Pair>()
  pairs.set(parent, children)
  const pair = children.get(child)
  if (pair) {
    pair.followed_count++
    pair.delay_ms += delay
  } else children.set(child, { parent, child, followed_count: 1, delay_ms: delay })
}
