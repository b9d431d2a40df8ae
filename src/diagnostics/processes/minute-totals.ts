import type { BulkTarget } from '../../store/dialect.js'
import type { ProcessMinutesTable } from '../../store/schema.js'

/** Metrics of a process in one minute. The current minute can be incomplete. */
export type Minute = Omit<ProcessMinutesTable, 'process_id'>

const INTEGER_COLUMNS = ['minute', 'rss_bytes', 'heap_used_bytes', 'heap_limit_bytes', 'handles', 'errors'] as const
const FRACTION_COLUMNS = ['delay_p50_ms', 'delay_p99_ms', 'delay_max_ms', 'utilization', 'cpu', 'gc_ms'] as const

/** How to merge two samples of the same minute. All other columns keep the first value. */
const MAXIMUM_COLUMNS = ['rss_bytes', 'heap_used_bytes', 'handles', 'delay_p99_ms', 'delay_max_ms'] as const
const SUM_COLUMNS = ['errors', 'gc_ms'] as const

export const MINUTES: BulkTarget = {
  table: 'faultboard_process_minutes',
  columns: [
    ...['process_id', ...INTEGER_COLUMNS].map((name) => ({ name, type: 'integer' as const })),
    ...FRACTION_COLUMNS.map((name) => ({ name, type: 'fraction' as const })),
  ],
  // Idempotent: sums are computed in memory and only grow, so a repeated write changes nothing.
  onConflict: {
    key: ['process_id', 'minute'],
    update: [...MAXIMUM_COLUMNS, ...SUM_COLUMNS].map((column) => ({ column, by: 'greatest' as const })),
  },
}

export function minuteRow(process_id: number, minute: Minute): (number | null)[] {
  return [process_id, ...INTEGER_COLUMNS.map((name) => minute[name]), ...FRACTION_COLUMNS.map((name) => minute[name])]
}

/** Unwritten minutes and the current minute, one entry per minute. */
export class MinuteTotals {
  readonly #totals = new Map<number, Minute>()
  readonly #unwritten = new Set<number>()

  get unwritten(): Minute[] {
    return [...this.#totals.values()].filter(({ minute }) => this.#unwritten.has(minute))
  }

  add(sample: Minute): void {
    const existing = this.#totals.get(sample.minute)
    this.#totals.set(sample.minute, existing ? merge(existing, sample) : sample)
    this.#unwritten.add(sample.minute)
  }

  /** Marks rows as written unless a newer sample has changed them since. */
  markWritten(rows: readonly Minute[], currentMinute: number): void {
    for (const row of rows) if (this.#totals.get(row.minute) === row) this.#unwritten.delete(row.minute)
    for (const minute of this.#totals.keys()) {
      if (minute < currentMinute && !this.#unwritten.has(minute)) this.#totals.delete(minute)
    }
  }

  discard(rows: readonly Minute[]): void {
    for (const { minute } of rows) {
      this.#unwritten.delete(minute)
      this.#totals.delete(minute)
    }
  }
}

function merge(first: Minute, second: Minute): Minute {
  const merged = { ...first }
  for (const name of SUM_COLUMNS) merged[name] += second[name]
  for (const name of MAXIMUM_COLUMNS) {
    const [a, b] = [first[name], second[name]]
    if (a !== null && b !== null) merged[name] = Math.max(a, b)
    else if (b !== null) merged[name] = b
  }
  return merged
}
