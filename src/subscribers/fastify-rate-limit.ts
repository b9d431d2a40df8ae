import { Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'

// biome-ignore lint/suspicious/noExplicitAny: the request type depends on the host's version of Fastify.
type Hook = (request: any, key: string) => void

/** Subset of the @fastify/rate-limit options that the wrapper uses, for all routes or for a single route. */
export interface FastifyRateLimitOptions {
  onExceeded?: Hook | undefined
  onBanReach?: Hook | undefined
}

export interface GuardOptions {
  /** Name of the rule on the dashboard. */
  rule: string
}

/**
 * Options of @fastify/rate-limit that count rejected requests: as throttle, or as blocklist once the client is banned.
 * Hooks and responses of the host are not affected. Returns the options themselves if `enable_request_guard_tracking`
 * is off.
 * @example
 * await app.register(rateLimit, withRequestGuard({ max: 100 }, { rule: 'api' }))
 * app.get('/login', { config: { rateLimit: withRequestGuard({ max: 5 }, { rule: 'sign-in' }) } }, handler)
 */
export function withRequestGuard<Options extends object>(
  options: Options & FastifyRateLimitOptions,
  { rule }: GuardOptions,
  tracker: TrackerInstance = Tracker,
): Options {
  if (!tracker.start().config.enable_request_guard_tracking) return options
  const { onExceeded, onBanReach } = options
  const bannedRequests = new WeakSet<object>()
  return {
    ...options,
    onExceeded(this: unknown, request: object, key: string) {
      // Waits for a ban, which is reported right afterward, so that the request counts once.
      queueMicrotask(() => {
        tracker.requestGuard.record({ kind: bannedRequests.has(request) ? 'blocklist' : 'throttle', rule, request })
      })
      return onExceeded?.call(this, request, key)
    },
    onBanReach(this: unknown, request: object, key: string) {
      bannedRequests.add(request)
      return onBanReach?.call(this, request, key)
    },
  }
}
