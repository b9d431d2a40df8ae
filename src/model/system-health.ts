/** How the process was doing when an error occurred. */
export interface SystemHealth {
  readonly rss_bytes: number
  readonly heap_used_bytes: number
  readonly heap_limit_bytes: number
  readonly external_bytes: number
  readonly system_free_bytes: number
  /** How late the event loop was in the seconds before; null when it was not measured yet. */
  readonly delay_p50_ms: number | null
  readonly delay_p99_ms: number | null
  readonly delay_max_ms: number | null
  readonly utilisation: number
  readonly cpu: number
  /** Share of the time that went into collecting garbage. */
  readonly gc_share: number
  readonly active_resources: number
  readonly load_average: number
  readonly uptime_s: number
}

type Sign = { is(health: Partial<SystemHealth>): boolean; text: string }

/** What is out of the ordinary, by the figure that shows it. */
const SIGNS: Readonly<Partial<Record<keyof SystemHealth, Sign>>> = {
  heap_used_bytes: {
    is: ({ heap_used_bytes = 0, heap_limit_bytes = 0 }) => heap_used_bytes > heap_limit_bytes * 0.85,
    text: 'The heap was nearly full: more than 85 % of its limit.',
  },
  delay_p99_ms: {
    is: ({ delay_p99_ms }) => (delay_p99_ms ?? 0) > 100,
    text: 'The event loop was late: one turn in a hundred by more than 100 ms.',
  },
  delay_max_ms: {
    is: ({ delay_max_ms }) => (delay_max_ms ?? 0) > 1000,
    text: 'The event loop stood still for more than a second.',
  },
  utilisation: {
    is: ({ utilisation = 0 }) => utilisation > 0.95,
    text: 'The event loop had no rest: it was at work for more than 95 % of the time.',
  },
  gc_share: {
    is: ({ gc_share = 0 }) => gc_share > 0.1,
    text: 'Collecting garbage took more than a tenth of the time.',
  },
  active_resources: {
    is: ({ active_resources = 0 }) => active_resources > 5000,
    text: 'More than 5,000 sockets, timers and other resources were open.',
  },
  uptime_s: { is: ({ uptime_s = 60 }) => uptime_s < 60, text: 'The process had started less than a minute before.' },
}

/**
 * What was unusual, by the name of the figure.
 *
 * @example
 * unusual({ delay_p99_ms: 340 }) // { delay_p99_ms: 'The event loop was late: …' }
 */
export function unusual(health: Partial<SystemHealth>): Record<string, string> {
  const found = Object.entries(SIGNS).filter(([name, { is }]) => name in health && is(health))
  return Object.fromEntries(found.map(([name, { text }]) => [name, text]))
}
