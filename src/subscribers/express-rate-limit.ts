import { type RequestGuardEvent, Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'

// biome-ignore lint/suspicious/noExplicitAny: whatever the host's framework hands to its middlewares.
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
  const watched: Middleware = (request, response, next) => {
    const before = figuresOf(request, property)
    let is_noted = false
    const note = () => {
      if (is_noted) return
      is_noted = true
      const figures = figuresOf(request, property)
      // Counts of an earlier limiter are unrelated to this one.
      if (figures !== before && isExceeded(figures)) tracker.requestGuard.record({ kind, rule, request })
    }
    const result = limiter(request, response, (error) => {
      note()
      next(error)
    })
    if (result instanceof Promise) return result.finally(note)
    return result
  }
  // Keeps the methods of the limiter: resetKey and getKey.
  return Object.assign(watched, limiter) as Limiter
}

function figuresOf(request: object, property: string): unknown {
  return (request as Record<string, unknown>)[property]
}

function isExceeded(figures: unknown): boolean {
  if (typeof figures !== 'object' || figures === null) return false
  // Named `current` in version 6.
  const { current, used = current, limit } = figures as Record<string, unknown>
  return typeof used === 'number' && typeof limit === 'number' && used > limit
}
