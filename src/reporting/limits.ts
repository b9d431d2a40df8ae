import { RateLimiter, type Verdict } from '../dashboard/rate-limit.js'
import type { TrackerInstance } from '../tracker.js'

export interface LimitOptions {
  /** Errors that one client address may report in a minute; always on. */
  max_errors_per_minute: number
  /** Errors that all addresses together may report in a minute to this process; always on. */
  max_errors_per_minute_overall: number
}

/** What keeps a public endpoint from filling the database. */
export interface Limits {
  /** One request, before its body is read: a verdict where no error would be taken, or `enable_rate_limiting` says no. */
  request(client: string): Verdict | null
  /** So many errors of one request; a verdict that says no. */
  errors(client: string, count: number): Verdict | null
}

export function createLimits(tracker: TrackerInstance, options: LimitOptions): Limits {
  const { now } = tracker.inlet
  const by_client = new RateLimiter(options.max_errors_per_minute, now)
  const overall = new RateLimiter(options.max_errors_per_minute_overall, now)
  let requests: RateLimiter | null = null
  return {
    request(client) {
      const spent = refusal(by_client.peek(client)) ?? refusal(overall.peek(EVERYBODY))
      const { enable_rate_limiting, rate_limit_per_minute } = tracker.config
      if (spent || !enable_rate_limiting) return spent
      requests ??= new RateLimiter(rate_limit_per_minute, now)
      return refusal(requests.hit(client))
    },
    // What one client has too much of must not use up what is left for the others.
    errors: (client, count) => refusal(by_client.hit(client, count)) ?? refusal(overall.hit(EVERYBODY, count)),
  }
}

const EVERYBODY = 'everybody'

function refusal(verdict: Verdict): Verdict | null {
  return verdict.allowed ? null : verdict
}
