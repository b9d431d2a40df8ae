import type { Context } from '../../context.js'
import { firstBy, type RankedError, withErrors } from '../ranked-errors.js'
import type { ErrorPlatform } from './error-platforms.js'

export interface PlatformError extends RankedError {
  /** Occurrences on this platform. */
  count: number
}

/** The errors that occurred most on a platform. */
export async function platformErrors(
  context: Context,
  sums: readonly ErrorPlatform[],
  platform: string,
  limit: number,
): Promise<PlatformError[]> {
  const own = sums.filter((sum) => sum.platform === platform).map(({ error_id, count }) => ({ id: error_id, count }))
  return withErrors(
    context,
    firstBy(own, ({ count }) => count, limit),
  )
}
