import { isIP } from 'node:net'
import { wrapMethod } from '../capture/breadcrumbs/wrap-method.js'
import type { Source } from '../capture/sources/source.js'
import { getRequestGuard } from '../diagnostics/request-guard/collector.js'
import { type RequestGuardEvent, Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'

type GuardKind = RequestGuardEvent['kind']

/**
 * Subset of a limiter that the wrapper uses, independent of its store: memory, Redis, a database, a union of several.
 */
export interface FlexibleLimiter {
  consume(key: never, ...rest: never[]): Promise<unknown>
  block?(key: never, ...rest: never[]): Promise<unknown>
}

export interface LimiterOptions {
  /** Name of the rule on the dashboard. */
  rule: string
  /** `track` for a limiter whose rejections the host does not enforce. */
  kind?: GuardKind
}

/**
 * Counts rejections of rate-limiter-flexible (`consume` that rejects with a limiter result) as throttle, and manual
 * blocks (`block`) as blocklist. Store errors do not count, and results are passed on unchanged. Uses the address
 * and path of the current request, or a key that is an address. Returns a function that stops counting;
 * `Tracker.shutdown()` stops counting too.
 * @example instrumentLimiter(new RateLimiterRedis({ storeClient, points: 5, duration: 1 }), { rule: 'sign-in' })
 */
export function instrumentLimiter(
  limiter: FlexibleLimiter,
  options: LimiterOptions,
  tracker: TrackerInstance = Tracker,
): () => void {
  return tracker.start().attach(rejectionSource(limiter, options))
}

function rejectionSource(limiter: FlexibleLimiter, { rule, kind = 'throttle' }: LimiterOptions): Source {
  return ({ context }) => {
    const { scopes } = context
    const guard = getRequestGuard(context)
    if (!guard) return () => {}
    const record = (kind: GuardKind, key: unknown, request: object | undefined) => {
      const ip_address = !request && typeof key === 'string' && isIP(key) ? key : undefined
      guard.record({ kind, rule, request, ip_address })
    }
    const stops = [
      wrapMethod(limiter, 'consume', (consume) => {
        return function (this: unknown, ...values: unknown[]) {
          // A store can respond in another async context.
          const request = scopes.current()?.request ?? undefined
          const result: unknown = Reflect.apply(consume, this, values)
          if (!(result instanceof Promise)) return result
          return result.catch((rejection: unknown) => {
            if (isLimiterResult(rejection)) record(kind, values[0], request)
            throw rejection
          })
        }
      }),
    ]
    if (typeof limiter.block === 'function') {
      stops.push(
        wrapMethod(limiter, 'block', (block) => {
          return function (this: unknown, ...values: unknown[]) {
            const request = scopes.current()?.request ?? undefined
            const result: unknown = Reflect.apply(block, this, values)
            if (!(result instanceof Promise)) return result
            return result.then((blocked: unknown) => {
              record('blocklist', values[0], request)
              return blocked
            })
          }
        }),
      )
    }
    return () => {
      for (const end of stops) end()
    }
  }
}

/** Returns true if the rejection is a limiter result, or the results of a union by limiter. Excludes store errors. */
function isLimiterResult(rejection: unknown): boolean {
  if (typeof rejection !== 'object' || rejection === null || rejection instanceof Error) return false
  if (hasRetryTime(rejection)) return true
  const parts = Object.values(rejection)
  return parts.length > 0 && parts.every((part) => typeof part === 'object' && part !== null && hasRetryTime(part))
}

function hasRetryTime(result: object): boolean {
  return 'msBeforeNext' in result && typeof result.msBeforeNext === 'number'
}
