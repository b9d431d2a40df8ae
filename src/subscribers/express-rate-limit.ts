import { type RequestGuardEvent, Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'

// biome-ignore lint/suspicious/noExplicitAny: whatever the host's framework hands to its middlewares.
type Middleware = (request: any, response: any, next: (error?: any) => void) => unknown

export interface RateLimitOptions {
  /** What the rule is called on the page. */
  rule: string
  /** `track` for a limiter whose handler lets requests pass. */
  kind?: RequestGuardEvent['kind']
  /** Where the limiter leaves its figures: its own option `requestPropertyName`. */
  property?: string
}

/**
 * Counts the requests that a limiter of express-rate-limit refuses. It is the same limiter: its handler, its answer and
 * its headers stay as they are. Where `enable_request_guard_tracking` is off, it gives back the very limiter.
 *
 * @example
 * app.use('/login', withRequestGuard(rateLimit({ limit: 5 }), { rule: 'sign-in' }))
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
      // Those that an earlier limiter has left say nothing about this one.
      if (figures !== before && isExceeded(figures)) tracker.requestGuard.record({ kind, rule, request })
    }
    const result = limiter(request, response, (error) => {
      note()
      next(error)
    })
    if (result instanceof Promise) return result.finally(note)
    return result
  }
  // It has methods of its own: resetKey and getKey.
  return Object.assign(watched, limiter) as Limiter
}

function figuresOf(request: object, property: string): unknown {
  return (request as Record<string, unknown>)[property]
}

function isExceeded(figures: unknown): boolean {
  if (typeof figures !== 'object' || figures === null) return false
  // Version 6 called them `current`.
  const { current, used = current, limit } = figures as Record<string, unknown>
  return typeof used === 'number' && typeof limit === 'number' && used > limit
}
