/** Median; the mean of the two middle values for an even number, null without values. */
export function median(values: readonly number[]): number | null {
  if (values.length === 0) return null
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2
}

export function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Population standard deviation. */
export function standardDeviation(values: readonly number[]): number {
  const average = mean(values) ?? 0
  return Math.sqrt(mean(values.map((value) => (value - average) ** 2)) ?? 0)
}

/** Share of the whole, from 0 to 1; 0 if the whole is empty. */
export function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}

/** Relative growth: 0.5 means 50% more, -1 means gone. Null without a previous value. */
export function growth(now: number, before: number): number | null {
  return before === 0 ? null : (now - before) / before
}
