import type { BulkTarget } from '../../store/dialect.js'
import type { ProcessMinutesTable } from '../../store/schema.js'

/** How a process was doing in a minute, as far as it is over. */
export type Minute = Omit<ProcessMinutesTable, 'process_id'>

const INTEGERS = ['minute', 'rss_bytes', 'heap_used_bytes', 'heap_limit_bytes', 'handles', 'errors'] as const
const FRACTIONS = ['delay_p50_ms', 'delay_p99_ms', 'delay_max_ms', 'utilisation', 'cpu', 'gc_ms'] as const

/** What a second look at the same minute does to the first; what is not named here stays as it was first seen. */
const HIGHEST = ['rss_bytes', 'heap_used_bytes', 'handles', 'delay_p99_ms', 'delay_max_ms'] as const
const ADDED = ['errors', 'gc_ms'] as const

export const MINUTES: BulkTarget = {
  table: 'faultboard_process_minutes',
  columns: [
    ...['process_id', ...INTEGERS].map((name) => ({ name, type: 'integer' as const })),
    ...FRACTIONS.map((name) => ({ name, type: 'fraction' as const })),
  ],
  // Sums are added up in memory and only grow: to write a row once more, after an unclear end, changes nothing.
  onConflict: {
    key: ['process_id', 'minute'],
    update: [...HIGHEST, ...ADDED].map((column) => ({ column, by: 'greatest' as const })),
  },
}

export function minuteRow(process_id: number, minute: Minute): (number | null)[] {
  return [process_id, ...INTEGERS.map((name) => minute[name]), ...FRACTIONS.map((name) => minute[name])]
}

/** The minutes that are not known to be written, one row each however often they were looked at, and the current one. */
export class MinuteTotals {
  readonly #totals = new Map<number, Minute>()
  readonly #waiting = new Set<number>()

  get waiting(): Minute[] {
    return [...this.#totals.values()].filter(({ minute }) => this.#waiting.has(minute))
  }

  add(look: Minute): void {
    const known = this.#totals.get(look.minute)
    this.#totals.set(look.minute, known ? joined(known, look) : look)
    this.#waiting.add(look.minute)
  }

  /** Those that were looked at again meanwhile still wait. */
  written(rows: readonly Minute[], current: number): void {
    for (const row of rows) if (this.#totals.get(row.minute) === row) this.#waiting.delete(row.minute)
    for (const minute of this.#totals.keys()) {
      if (minute < current && !this.#waiting.has(minute)) this.#totals.delete(minute)
    }
  }

  forget(rows: readonly Minute[]): void {
    for (const { minute } of rows) {
      this.#waiting.delete(minute)
      this.#totals.delete(minute)
    }
  }
}

function joined(known: Minute, look: Minute): Minute {
  const both = { ...known }
  for (const name of ADDED) both[name] += look[name]
  for (const name of HIGHEST) {
    const [one, other] = [known[name], look[name]]
    if (one !== null && other !== null) both[name] = Math.max(one, other)
    else if (other !== null) both[name] = other
  }
  return both
}
