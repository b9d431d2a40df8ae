/** State of the process when an error occurred. */
export interface SystemHealth {
  readonly rss_bytes: number
  readonly heap_used_bytes: number
  readonly heap_limit_bytes: number
  readonly external_bytes: number
  readonly system_free_bytes: number
  /** Event loop delay in the preceding seconds; null if not measured yet. */
  readonly delay_p50_ms: number | null
  readonly delay_p99_ms: number | null
  readonly delay_max_ms: number | null
  readonly utilization: number
  readonly cpu: number
  /** Share of time spent in garbage collection. */
  readonly gc_share: number
  readonly active_resources: number
  readonly load_average: number
  readonly uptime_s: number
}

type UnusualRule = { isUnusual(health: Partial<SystemHealth>): boolean; text: string }

/** Unusual values, by metric. */
const UNUSUAL_RULES: Readonly<Partial<Record<keyof SystemHealth, UnusualRule>>> = {
  heap_used_bytes: {
    isUnusual: ({ heap_used_bytes = 0, heap_limit_bytes = 0 }) => heap_used_bytes > heap_limit_bytes * 0.85,
    text: 'The heap was nearly full: over 85% of its limit.',
  },
  delay_p99_ms: {
    isUnusual: ({ delay_p99_ms }) => (delay_p99_ms ?? 0) > 100,
    text: 'The event loop was lagging: p99 delay over 100 ms.',
  },
  delay_max_ms: {
    isUnusual: ({ delay_max_ms }) => (delay_max_ms ?? 0) > 1000,
    text: 'The event loop was blocked for more than one second.',
  },
  utilization: {
    isUnusual: ({ utilization = 0 }) => utilization > 0.95,
    text: 'The event loop was saturated: busy for more than 95% of the time.',
  },
  gc_share: {
    isUnusual: ({ gc_share = 0 }) => gc_share > 0.1,
    text: 'Garbage collection took more than 10% of the time.',
  },
  active_resources: {
    isUnusual: ({ active_resources = 0 }) => active_resources > 5000,
    text: 'More than 5,000 sockets, timers and other resources were open.',
  },
  uptime_s: {
    isUnusual: ({ uptime_s = 60 }) => uptime_s < 60,
    text: 'The process had been running for less than one minute.',
  },
}

/**
 * Returns a description of each unusual value, by metric.
 * @example unusualValues({ delay_p99_ms: 340 }) // { delay_p99_ms: 'The event loop was lagging: …' }
 */
export function unusualValues(health: Partial<SystemHealth>): Record<string, string> {
  const unusual = Object.entries(UNUSUAL_RULES).filter(([name, { isUnusual }]) => name in health && isUnusual(health))
  return Object.fromEntries(unusual.map(([name, { text }]) => [name, text]))
}
