const FEWEST = 50
const WANTED_MS = 8
const MOST_GROWTH = 3

/**
 * A list in slices, each as large as can be dealt with in a few milliseconds: an embedded database blocks the host's
 * thread, and between two slices the host has its turn.
 */
export function* timedSlices<T>(list: readonly T[]): Generator<T[]> {
  for (let size = FEWEST, from = 0; from < list.length; ) {
    const started = performance.now()
    yield list.slice(from, from + size)
    from += size
    size = Math.max(
      FEWEST,
      Math.round(size * Math.min(MOST_GROWTH, WANTED_MS / Math.max(0.1, performance.now() - started))),
    )
  }
}
