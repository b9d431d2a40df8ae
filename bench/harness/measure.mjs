/** Returns the median. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

export function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)]
}

/**
 * Runs every subject once per round, so that a slow phase of the machine affects all of them. Returns the results of
 * each subject in the order of the rounds.
 */
export async function interleaved(rounds, subjects, measure) {
  const results = new Map(subjects.map((subject) => [subject, []]))
  for (let round = 0; round < rounds; round++) {
    // Reverses every other round, so that no subject always follows the same subject.
    const order = round % 2 === 0 ? subjects : [...subjects].reverse()
    for (const subject of order) results.get(subject).push(await measure(subject, round))
  }
  return results
}

/** Returns reproducible pseudo-random numbers in [0, 1) (mulberry32). */
export function seeded(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/** Returns ranks from 0 to size - 1 with a Zipf distribution (exponent 1). */
export function zipf(size, random) {
  const cumulative = new Float64Array(size)
  let sum = 0
  for (let rank = 0; rank < size; rank++) {
    sum += 1 / (rank + 1)
    cumulative[rank] = sum
  }
  return () => {
    const target = random() * sum
    let low = 0
    let high = size - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (cumulative[middle] < target) low = middle + 1
      else high = middle
    }
    return low
  }
}
