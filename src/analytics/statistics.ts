/** The middle value; half-way between the two middle ones when their number is even, null without values. */
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

/** How far values lie from their mean, all of them being known: the square root of the mean squared distance. */
export function standardDeviation(values: readonly number[]): number {
  const middle = mean(values) ?? 0
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)) ?? 0)
}

/** A part of the whole from 0 to 1; of nothing it is 0. */
export function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}

/** By which part something grew: 0.5 is half as much again, -1 is gone. Null where there was nothing to grow from. */
export function growth(now: number, before: number): number | null {
  return before === 0 ? null : (now - before) / before
}
