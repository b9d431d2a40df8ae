import { type RequestGuardEvent, Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'

// biome-ignore lint/suspicious/noExplicitAny: each framework passes its own request and response to middleware.
type Middleware = (request: any, response: any, next: (error?: any) => void) => unknown

export interface RateLimitOptions {
  /** Name of the rule on the dashboard. */
  rule: string
  /** `track` for a limiter whose handler does not block requests. */
  kind?: RequestGuardEvent['kind']
  /** Request property with the counts of the limiter: its option `requestPropertyName`. */
  property?: string
}

/**
 * Counts requests rejected by an express-rate-limit limiter. Its handler, response and headers are not affected.
 * Returns the limiter itself if `enable_request_guard_tracking` is off.
 * @example app.use('/login', withRequestGuard(rateLimit({ limit: 5 }), { rule: 'sign-in' }))
 */
export function withRequestGuard<Limiter extends Middleware>(
  limiter: Limiter,
  { rule, kind = 'throttle', property = 'rateLimit' }: RateLimitOptions,
  tracker: TrackerInstance = Tracker,
): Limiter {
  if (!tracker.start().config.enable_request_guard_tracking) return limiter
  const observedLimiter: Middleware = (request, response, next) => {
    const earlierCounts = limiterCounts(request, property)
    let isRecorded = false
    const recordOnce = () => {
      if (isRecorded) return
      isRecorded = true
      const counts = limiterCounts(request, property)
      // Ignores the counts of an earlier limiter.
      if (counts !== earlierCounts && isExceeded(counts)) tracker.requestGuard.record({ kind, rule, request })
    }
    const result = limiter(request, response, (error) => {
      recordOnce()
      next(error)
    })
    if (result instanceof Promise) return result.finally(recordOnce)
    // Before version 6, a limiter returns nothing and may wait for its store.
    if (!isRecorded) response.once?.('finish', recordOnce)
    return result
  }
  // Keeps the methods of the limiter: resetKey and getKey.
  return Object.assign(observedLimiter, limiter) as Limiter
}

function limiterCounts(request: object, property: string): unknown {
  return (request as Record<string, unknown>)[property]
}

function isExceeded(counts: unknown): boolean {
  if (typeof counts !== 'object' || counts === null) return false
  // Named `current` in version 6.
  const { current, used = current, limit } = counts as Record<string, unknown>
  return typeof used === 'number' && typeof limit === 'number' && used > limit
}
