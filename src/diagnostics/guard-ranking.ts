import type { GuardEvents } from './request-guard.js'

type Column = 'rule' | 'kind' | 'ip_address' | 'path'
type Row = Partial<Record<Column, string>> & { count: number; last_hour: number }
type Ranked<Name extends Column> = Record<Name, string> & { count: number; last_seen_at: string }

const KEPT = 2000

/**
 * What came most often, by one or two columns. Anybody can come from very many addresses or ask for very many paths, so
 * only the most frequent are kept, of each slice and between two of them. A server is asked for all in one slice, and
 * is exact however many there are.
 */
export class Ranking<Name extends Column> {
  readonly #names: readonly Name[]
  #rows: Row[] = []

  constructor(names: readonly Name[]) {
    this.#names = names
  }

  async add(events: GuardEvents): Promise<void> {
    const names: readonly Column[] = this.#names
    const rows: Row[] = await events
      .select(({ fn }) => [...names, fn.sum<number>('count').as('count'), fn.max<number>('hour').as('last_hour')])
      .groupBy([...names])
      .orderBy('count', 'desc')
      .orderBy('last_hour', 'desc')
      .limit(KEPT)
      .execute()
    const keyOf = (row: Row) => JSON.stringify(names.map((name) => row[name]))
    const known = new Map(this.#rows.map((row) => [keyOf(row), row]))
    for (const row of rows) {
      const { count = 0, last_hour = 0 } = known.get(keyOf(row)) ?? {}
      known.set(keyOf(row), { ...row, count: count + row.count, last_hour: Math.max(last_hour, row.last_hour) })
    }
    this.#rows = [...known.values()].sort((a, b) => b.count - a.count || b.last_hour - a.last_hour).slice(0, KEPT)
  }

  first(most: number): Ranked<Name>[] {
    return this.#rows.slice(0, most).map(({ last_hour, count, ...named }) => ({
      ...(named as Record<Name, string>),
      count,
      last_seen_at: new Date(last_hour).toISOString(),
    }))
  }
}
