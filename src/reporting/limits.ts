import { CLIENT_BYTES, CLIENT_REQUESTS } from '../config/options.js'
import { RateLimiter, type Verdict } from '../dashboard/rate-limit.js'
import type { BudgetName } from '../model/budgets.js'
import type { TrackerInstance } from '../tracker.js'

/** Limits for requests and bytes of clients, shared by all endpoints of a tracker. */
export interface Limits {
  /** Counts a request against its address before its key is checked. Returns a verdict if it must be rejected. */
  request(client: string): Verdict | null
  /** Counts a request with a valid key against the total. Requests without a valid key must not exhaust it. */
  admit(): Verdict | null
  /** Counts the errors of a request beyond the first, which is counted with the request. */
  errors(client: string, count: number): Verdict | null
  /** Counts bytes of a body after decompression, while it is read. */
  bytes(client: string, count: number): Verdict | null
  /** Counts bytes that are read to find the key, against the address alone. */
  bytesBeforeKey(client: string, count: number): Verdict | null
  /** Counts these bytes against the total once the key is valid. */
  admitBytes(count: number): Verdict | null
}

const limitsByTracker = new WeakMap<TrackerInstance, Limits>()

/** A client has exceeded a limit. */
export class OverLimit extends Error {
  /** Seconds until the limit resets. */
  readonly retry_after: number

  constructor({ reset }: Verdict) {
    super(`Too many requests or bytes from this client. Try again in ${reset} seconds.`)
    this.retry_after = reset
  }
}

/** Throws if a limit was exceeded. */
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
  // The configuration is available once the tracker starts, which can be after the endpoint is created.
  const started = () => (limiters ??= createLimiters(tracker))
  return {
    request(client) {
      const { requests, bytes, dashboard } = started()
      const refused = requests.ofAddress(client, 1) ?? bytes.ofAddress(client, 0)
      if (refused || !dashboard) return refused
      const verdict = dashboard.hit(client)
      return verdict.allowed ? null : verdict
    },
    admit: () => started().requests.ofAll(1) ?? started().bytes.ofAll(0),
    errors: (client, count) => (count > 1 ? both(started().requests, client, count - 1) : null),
    bytes: (client, count) => both(started().bytes, client, count),
    bytesBeforeKey: (client, count) => started().bytes.ofAddress(client, count),
    admitBytes: (count) => started().bytes.ofAll(count),
  }
}

interface Limiters {
  requests: Limiter
  bytes: Limiter
  /** `rate_limit_per_minute`, with `enable_rate_limiting`. */
  dashboard: RateLimiter | null
}

interface Limiter {
  ofAddress(client: string, count: number): Verdict | null
  ofAll(count: number): Verdict | null
}

/** The address is checked first: requests over its limit must not exhaust the total. */
function both(limiter: Limiter, client: string, count: number): Verdict | null {
  return limiter.ofAddress(client, count) ?? limiter.ofAll(count)
}

function createLimiters(tracker: TrackerInstance): Limiters {
  const { now } = tracker.inlet
  const { client_max_requests_per_minute, client_max_bytes_per_minute, ...config } = tracker.config
  const limiter = (budget: BudgetName, limits: { per_address: number; total: number }): Limiter => {
    const byClient = new RateLimiter(limits.per_address, now)
    const total = new RateLimiter(limits.total, now)
    const refusal = (verdict: Verdict) => {
      if (verdict.allowed) return null
      tracker.inlet.reject(budget)
      return verdict
    }
    return {
      ofAddress: (client, count) => refusal(byClient.hit(client, count)),
      ofAll: (count) => refusal(total.hit(ALL_CLIENTS, count)),
    }
  }
  return {
    requests: limiter('client_max_requests_per_minute', { ...CLIENT_REQUESTS, ...client_max_requests_per_minute }),
    bytes: limiter('client_max_bytes_per_minute', { ...CLIENT_BYTES, ...client_max_bytes_per_minute }),
    dashboard: config.enable_rate_limiting ? new RateLimiter(config.rate_limit_per_minute, now) : null,
  }
}

const ALL_CLIENTS = 'all'
