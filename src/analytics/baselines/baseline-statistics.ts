import { mean, standardDeviation } from '../statistics.js'

export interface BaselineFigures {
  mean: number
  std_dev: number
  /** Number of hours or days in the sample. */
  sample_count: number
}

/** Counts further from the mean than this many standard deviations are outliers. */
const OUTLIER_DEVIATIONS = 3

/**
 * Mean and standard deviation of counts without outliers. The deviation is at least the deviation of a Poisson process
 * with the mean of all counts. Otherwise, a rare but regular type would have a deviation of zero, because its few
 * counts are all outliers.
 */
export function calculateBaseline(counts: readonly number[]): BaselineFigures {
  const typicalCounts = withoutOutliers(counts)
  const poissonFloor = Math.sqrt(mean(counts) ?? 0)
  return {
    mean: mean(typicalCounts) ?? 0,
    std_dev: Math.max(standardDeviation(typicalCounts), poissonFloor),
    sample_count: typicalCounts.length,
  }
}

function withoutOutliers(counts: readonly number[]): readonly number[] {
  const average = mean(counts) ?? 0
  const maxDistance = OUTLIER_DEVIATIONS * standardDeviation(counts)
  return maxDistance === 0 ? counts : counts.filter((count) => Math.abs(count - average) <= maxDistance)
}

type Baseline = Pick<BaselineFigures, 'mean' | 'std_dev'>

/** Standard deviations between a count and the baseline; null for a baseline without any occurrence. */
export function deviationsAbove({ mean: average, std_dev }: Baseline, count: number): number | null {
  return std_dev === 0 ? null : (count - average) / std_dev
}

/** Smallest count that can exceed a baseline. A few occurrences of a rare type are not an incident. */
export const MIN_SPIKE_COUNT = 5

/** Checks whether a count exceeds the baseline by more than the threshold, in standard deviations. */
export function isAboveBaseline(baseline: Baseline, count: number, threshold: number): boolean {
  return count >= MIN_SPIKE_COUNT && (deviationsAbove(baseline, count) ?? Number.POSITIVE_INFINITY) > threshold
}

interface RankedDeviation {
  deviations: number | null
  count: number
}

/** Sorts by distance above the baseline, descending. */
export function byDeviation(a: RankedDeviation, b: RankedDeviation): number {
  return (b.deviations ?? Number.MAX_VALUE) - (a.deviations ?? Number.MAX_VALUE) || b.count - a.count
}
