import { mean, standardDeviation } from '../statistics.js'

export interface BaselineFigures {
  mean: number
  std_dev: number
  /** How many hours or days it was taken from. */
  sample_count: number
}

/** Counts further from the mean than this many standard deviations are outliers. */
const OUTLIER_DEVIATIONS = 3

/**
 * Mean and standard deviation of counts without outliers. The deviation is at least that of a Poisson process with the
 * mean of all counts. Without this floor a rare but regular type, whose few counts are all outliers, would have none.
 */
export function baselineOf(counts: readonly number[]): BaselineFigures {
  const usual = withoutOutliers(counts)
  const poissonFloor = Math.sqrt(mean(counts) ?? 0)
  return {
    mean: mean(usual) ?? 0,
    std_dev: Math.max(standardDeviation(usual), poissonFloor),
    sample_count: usual.length,
  }
}

function withoutOutliers(counts: readonly number[]): readonly number[] {
  const middle = mean(counts) ?? 0
  const limit = OUTLIER_DEVIATIONS * standardDeviation(counts)
  return limit === 0 ? counts : counts.filter((count) => Math.abs(count - middle) <= limit)
}

type Usual = Pick<BaselineFigures, 'mean' | 'std_dev'>

/** Standard deviations between a count and the baseline; null for a baseline without any occurrence. */
export function deviationsAbove({ mean: usual, std_dev }: Usual, count: number): number | null {
  return std_dev === 0 ? null : (count - usual) / std_dev
}

/** Smallest count that can exceed a baseline. A few occurrences of a rare type are many deviations and no incident. */
export const MIN_SPIKE_COUNT = 5

/** Whether a count exceeds the baseline by more than the threshold, in standard deviations. */
export function isAbove(usual: Usual, count: number, threshold: number): boolean {
  return count >= MIN_SPIKE_COUNT && (deviationsAbove(usual, count) ?? Number.POSITIVE_INFINITY) > threshold
}

interface Compared {
  deviations: number | null
  count: number
}

/** For sorting: those furthest above what is usual first. */
export function furthestAbove(a: Compared, b: Compared): number {
  return (b.deviations ?? Number.MAX_VALUE) - (a.deviations ?? Number.MAX_VALUE) || b.count - a.count
}
