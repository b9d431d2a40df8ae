import { DEFAULT_MAX_CLIENT_BYTES, DEFAULT_MAX_CLIENT_REQUESTS } from '../config/options.js'
import { RateLimiter, type Verdict } from '../dashboard/http/rate-limit.js'
import type { BudgetName } from '../model/budgets.js'
import type { TrackerInstance } from '../tracker.js'

/** Limits on the requests, errors and bytes of clients, shared by all endpoints of a tracker. */
export interface Limits {
  /**
   * Counts a request against its address before its key is checked. Returns a verdict if the request must be rejected.
   */
  countRequest(client: string): Verdict | null
  /** Counts a request with a valid key against the total. Requests without a valid key must not exhaust it. */
  admit(): Verdict | null
  /** Counts the errors of a request beyond the first, which is counted with the request. */
  countErrors(client: string, count: number): Verdict | null
  /** Counts bytes of a body after decompression, while it is read. */
  countBytes(client: string, count: number): Verdict | null
  /** Counts bytes that are read to find the key, against the address alone. */
  countBytesBeforeKey(client: string, count: number): Verdict | null
  /** Counts the bytes read before the key check against the total, once the key is valid. */
  admitBytes(count: number): Verdict | null
}

const limitsByTracker = new WeakMap<TrackerInstance, Limits>()

/** Thrown when a client exceeds a limit. */
export class RateLimitExceeded extends Error {
  /** Seconds until the limit resets. */
  readonly retry_after: number

  constructor({ reset }: Verdict) {
    super(`Too many requests or bytes from this client. Try again in ${reset} seconds.`)
    this.retry_after = reset
  }
}

/** Throws if a limit was exceeded. */
export function enforceLimit(verdict: Verdict | null): void {
  if (verdict) throw new RateLimitExceeded(verdict)
}

export function trackerLimits(tracker: TrackerInstance): Limits {
  const existing = limitsByTracker.get(tracker)
  if (existing) return existing
  const created = createLimits(tracker)
  limitsByTracker.set(tracker, created)
  return created
}

function createLimits(tracker: TrackerInstance): Limits {
  let limiters: Limiters | null = null
  // The configuration is available once the tracker starts, which can be after the endpoint is created.
  const activeLimiters = () => (limiters ??= createLimiters(tracker))
  return {
    countRequest(client) {
      const { requests, bytes, dashboard } = activeLimiters()
      const exceeded = requests.hitAddress(client, 1) ?? bytes.hitAddress(client, 0)
      if (exceeded || !dashboard) return exceeded
      const verdict = dashboard.hit(client)
      return verdict.allowed ? null : verdict
    },
    admit: () => activeLimiters().requests.hitTotal(1) ?? activeLimiters().bytes.hitTotal(0),
    countErrors: (client, count) => (count > 1 ? hitBoth(activeLimiters().requests, client, count - 1) : null),
    countBytes: (client, count) => hitBoth(activeLimiters().bytes, client, count),
    countBytesBeforeKey: (client, count) => activeLimiters().bytes.hitAddress(client, count),
    admitBytes: (count) => activeLimiters().bytes.hitTotal(count),
  }
}

interface Limiters {
  requests: Limiter
  bytes: Limiter
  /** Limiter for `rate_limit_per_minute`, if `enable_rate_limiting` is on. */
  dashboard: RateLimiter | null
}

interface Limiter {
  hitAddress(client: string, count: number): Verdict | null
  hitTotal(count: number): Verdict | null
}

/** Checks the address first, because requests over the limit of an address must not exhaust the total. */
function hitBoth(limiter: Limiter, client: string, count: number): Verdict | null {
  return limiter.hitAddress(client, count) ?? limiter.hitTotal(count)
}

function createLimiters(tracker: TrackerInstance): Limiters {
  const { now } = tracker.intake
  const { client_max_requests_per_minute, client_max_bytes_per_minute, ...config } = tracker.config
  const limiter = (budget: BudgetName, limits: { per_address: number; total: number }): Limiter => {
    const byClient = new RateLimiter(limits.per_address, now)
    const total = new RateLimiter(limits.total, now)
    const exceededVerdict = (verdict: Verdict) => {
      if (verdict.allowed) return null
      tracker.intake.reject(budget)
      return verdict
    }
    return {
      hitAddress: (client, count) => exceededVerdict(byClient.hit(client, count)),
      hitTotal: (count) => exceededVerdict(total.hit(ALL_CLIENTS, count)),
    }
  }
  return {
    requests: limiter('client_max_requests_per_minute', {
      ...DEFAULT_MAX_CLIENT_REQUESTS,
      ...client_max_requests_per_minute,
    }),
    bytes: limiter('client_max_bytes_per_minute', { ...DEFAULT_MAX_CLIENT_BYTES, ...client_max_bytes_per_minute }),
    dashboard: config.enable_rate_limiting ? new RateLimiter(config.rate_limit_per_minute, now) : null,
  }
}

const ALL_CLIENTS = 'all'
