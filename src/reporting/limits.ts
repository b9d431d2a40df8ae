import { CLIENT_BYTES, CLIENT_REQUESTS } from '../config/options.js'
import { RateLimiter, type Verdict } from '../dashboard/rate-limit.js'
import type { BudgetName } from '../model/budgets.js'
import type { TrackerInstance } from '../tracker.js'

/** The limits for requests and bytes of clients. All endpoints of a tracker share them. */
export interface Limits {
  /** Counts a request before its body is read; returns a verdict if it is to be refused. */
  request(client: string): Verdict | null
  /** Counts the errors of a request beyond the first, which is counted with the request. */
  errors(client: string, count: number): Verdict | null
  /** Counts bytes of a body after decompression, while it is read. */
  bytes(client: string, count: number): Verdict | null
}

const limitsByTracker = new WeakMap<TrackerInstance, Limits>()

/** A client has used up one of its limits. */
export class OverLimit extends Error {
  /** Seconds until the limit starts anew. */
  readonly retry_after: number

  constructor({ reset }: Verdict) {
    super(`Too many requests or bytes from this client. Try again in ${reset} seconds.`)
    this.retry_after = reset
  }
}

/** Throws where a limit refuses. */
export function hold(verdict: Verdict | null): void {
  if (verdict) throw new OverLimit(verdict)
}

export function limitsOf(tracker: TrackerInstance): Limits {
  const known = limitsByTracker.get(tracker)
  if (known) return known
  const made = createLimits(tracker)
  limitsByTracker.set(tracker, made)
  return made
}

function createLimits(tracker: TrackerInstance): Limits {
  let limiters: Limiters | null = null
  // The configuration is known once the tracker starts, which an endpoint may precede.
  const started = () => (limiters ??= createLimiters(tracker))
  return {
    request(client) {
      const { requests, bytes, dashboard } = started()
      const refused = requests(client, 1) ?? bytes(client, 0)
      if (refused || !dashboard) return refused
      const verdict = dashboard.hit(client)
      return verdict.allowed ? null : verdict
    },
    errors: (client, count) => (count > 1 ? started().requests(client, count - 1) : null),
    bytes: (client, count) => started().bytes(client, count),
  }
}

interface Limiters {
  requests: Limiter
  bytes: Limiter
  /** `rate_limit_per_minute`, with `enable_rate_limiting`. */
  dashboard: RateLimiter | null
}

type Limiter = (client: string, count: number) => Verdict | null

function createLimiters(tracker: TrackerInstance): Limiters {
  const { now } = tracker.inlet
  const { client_max_requests_per_minute, client_max_bytes_per_minute, ...config } = tracker.config
  const limiter = (budget: BudgetName, limits: { per_address: number; total: number }): Limiter => {
    const byClient = new RateLimiter(limits.per_address, now)
    const total = new RateLimiter(limits.total, now)
    return (client, count) => {
      // In this order: what one client has too much of must not use up the total.
      const verdict = [byClient.hit(client, count)].find(isRefused) ?? [total.hit(ALL_CLIENTS, count)].find(isRefused)
      if (verdict) tracker.inlet.reject(budget)
      return verdict ?? null
    }
  }
  return {
    requests: limiter('client_max_requests_per_minute', { ...CLIENT_REQUESTS, ...client_max_requests_per_minute }),
    bytes: limiter('client_max_bytes_per_minute', { ...CLIENT_BYTES, ...client_max_bytes_per_minute }),
    dashboard: config.enable_rate_limiting ? new RateLimiter(config.rate_limit_per_minute, now) : null,
  }
}

const ALL_CLIENTS = 'all'

function isRefused({ allowed }: Verdict): boolean {
  return !allowed
}
