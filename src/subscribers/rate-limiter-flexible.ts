import { isIP } from 'node:net'
import { wrapMethod } from '../capture/breadcrumbs/wrap-method.js'
import type { Source } from '../capture/sources/source.js'
import { requestGuardOf } from '../diagnostics/request-guard/collector.js'
import { type RequestGuardEvent, Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'

type GuardKind = RequestGuardEvent['kind']

/** What is used of a limiter, whichever it is: in memory, on Redis, on a database, a union of several. */
export interface FlexibleLimiter {
  consume(key: never, ...rest: never[]): Promise<unknown>
  block?(key: never, ...rest: never[]): Promise<unknown>
}

export interface LimiterOptions {
  /** What the rule is called on the page. */
  rule: string
  /** `track` for a limiter whose refusals the host does not enforce. */
  kind?: GuardKind
}

/**
 * Counts what a limiter of rate-limiter-flexible refuses (`consume` that rejects with the limiter's answer) as throttle,
 * and what is blocked by hand (`block`) as blocklist. Errors of its store are none of these, and everything goes on to
 * the host unchanged. Address and path are those of the request that is going on; a key that is an address serves where
 * there is none. Gives the function that ends it; `Tracker.shutdown()` does it, too.
 *
 * @example
 * instrumentLimiter(new RateLimiterRedis({ storeClient, points: 5, duration: 1 }), { rule: 'sign-in' })
 */
export function instrumentLimiter(
  limiter: FlexibleLimiter,
  options: LimiterOptions,
  tracker: TrackerInstance = Tracker,
): () => void {
  return tracker.start().attach(refusals(limiter, options))
}

function refusals(limiter: FlexibleLimiter, { rule, kind = 'throttle' }: LimiterOptions): Source {
  return ({ context }) => {
    const { scopes } = context
    const guard = requestGuardOf(context)
    if (!guard) return () => {}
    const record = (kind: GuardKind, key: unknown, request: object | undefined) => {
      const ip_address = !request && typeof key === 'string' && isIP(key) ? key : undefined
      guard.record({ kind, rule, request, ip_address })
    }
    const ends = [
      wrapMethod(limiter, 'consume', (consume) => {
        return function (this: unknown, ...values: unknown[]) {
          // A store may answer in another async context.
          const request = scopes.current()?.request ?? undefined
          const result: unknown = Reflect.apply(consume, this, values)
          if (!(result instanceof Promise)) return result
          return result.catch((refusal: unknown) => {
            if (isAnswer(refusal)) record(kind, values[0], request)
            throw refusal
          })
        }
      }),
    ]
    if (typeof limiter.block === 'function') {
      ends.push(
        wrapMethod(limiter, 'block', (block) => {
          return function (this: unknown, ...values: unknown[]) {
            const request = scopes.current()?.request ?? undefined
            const result: unknown = Reflect.apply(block, this, values)
            if (!(result instanceof Promise)) return result
            return result.then((answer: unknown) => {
              record('blocklist', values[0], request)
              return answer
            })
          }
        }),
      )
    }
    return () => {
      for (const end of ends) end()
    }
  }
}

/** The limiter's own answer or, from a union, one for each of those that refused. Errors of the store are no answer. */
function isAnswer(refusal: unknown): boolean {
  if (typeof refusal !== 'object' || refusal === null || refusal instanceof Error) return false
  if (hasWait(refusal)) return true
  const parts = Object.values(refusal)
  return parts.length > 0 && parts.every((part) => typeof part === 'object' && part !== null && hasWait(part))
}

function hasWait(answer: object): boolean {
  return 'msBeforeNext' in answer && typeof answer.msBeforeNext === 'number'
}
