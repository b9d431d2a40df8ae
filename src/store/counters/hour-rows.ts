import { startOfHour } from '../../model/time.js'
import { aggregate, type HourTable, truncateNames } from './define-hour-table.js'

export interface HourRow<Name extends string, Amount extends string> {
  hour: number
  names: Record<Name, string>
  amounts: Record<Amount, number>
}

export interface HourRowsOptions<Name extends string> {
  /** Limits the rows in memory. Beyond it, `overflowNames` replace those of new rows. */
  maxRows: number
  overflowNames: Readonly<Partial<Record<Name, string>>>
}

/** Hourly counts in memory. */
export class HourRows<Name extends string, Amount extends string> {
  readonly #table: HourTable<Name, Amount>
  readonly #options: HourRowsOptions<Name>
  readonly #rows = new Map<string, HourRow<Name, Amount>>()

  constructor(table: HourTable<Name, Amount>, options: HourRowsOptions<Name>) {
    this.#table = table
    this.#options = options
  }

  get size(): number {
    return this.#rows.size
  }

  add(time: number, untruncatedNames: Readonly<Record<Name, string>>, amounts: Readonly<Record<Amount, number>>): void {
    const hour = startOfHour(time)
    let names = truncateNames(this.#table, untruncatedNames)
    let key = this.#rowKey(hour, names)
    if (!this.#rows.has(key) && this.#rows.size >= this.#options.maxRows) {
      names = truncateNames(this.#table, { ...names, ...this.#options.overflowNames })
      key = this.#rowKey(hour, names)
    }
    const row = this.#rows.get(key)
    if (!row) {
      this.#rows.set(key, { hour, names, amounts: { ...amounts } })
      return
    }
    for (const name of this.#table.details) row.names[name] = names[name]
    for (const name in amounts)
      row.amounts[name] = aggregate(this.#table.amounts[name], row.amounts[name], amounts[name])
  }

  /** Removes and returns the oldest rows. */
  take(maxRows: number): HourRow<Name, Amount>[] {
    const taken: HourRow<Name, Amount>[] = []
    for (const [key, row] of this.#rows) {
      if (taken.length === maxRows) break
      taken.push(row)
      this.#rows.delete(key)
    }
    return taken
  }

  /** Separates names by NUL, which `truncateNames` removes from them. */
  #rowKey(hour: number, names: Readonly<Record<Name, string>>): string {
    let key = String(hour)
    for (const name of this.#table.key) key += `\0${names[name]}`
    return key
  }
}
