import { mean, standardDeviation } from './statistics.js'

export interface BaselineFigures {
  mean: number
  std_dev: number
  /** How many hours or days it was taken from. */
  sample_count: number
}

/** What is further from the mean than so many standard deviations is no part of what is usual. */
const OUTLIER_DEVIATIONS = 3

/** Mean and standard deviation of counts, empty ones included, without those that are far out. */
export function baselineOf(counts: readonly number[]): BaselineFigures {
  const usual = withoutOutliers(counts)
  return { mean: mean(usual) ?? 0, std_dev: standardDeviation(usual), sample_count: usual.length }
}

function withoutOutliers(counts: readonly number[]): readonly number[] {
  const middle = mean(counts) ?? 0
  const limit = OUTLIER_DEVIATIONS * standardDeviation(counts)
  return limit === 0 ? counts : counts.filter((count) => Math.abs(count - middle) <= limit)
}

type Usual = Pick<BaselineFigures, 'mean' | 'std_dev'>

/** How many standard deviations a count lies above what is usual; null where everything was always the same. */
export function deviationsAbove({ mean: usual, std_dev }: Usual, count: number): number | null {
  return std_dev === 0 ? null : (count - usual) / std_dev
}

/** Whether a count lies further above what is usual than so many deviations; where all was the same, any more does. */
export function isAbove(usual: Usual, count: number, threshold: number): boolean {
  const deviations = deviationsAbove(usual, count)
  return deviations === null ? count > usual.mean : deviations > threshold
}

/** One or two of a type that hardly ever comes are many deviations, and yet nothing to look at. */
export const LEAST_TO_LOOK_AT = 5

interface Compared {
  deviations: number | null
  count: number
}

/** For sorting: those furthest above what is usual first. */
export function furthestAbove(a: Compared, b: Compared): number {
  return (b.deviations ?? Number.MAX_VALUE) - (a.deviations ?? Number.MAX_VALUE) || b.count - a.count
}
