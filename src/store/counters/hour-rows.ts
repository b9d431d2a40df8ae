import { hourOf } from '../../model/time.js'
import { fitting, type HourTable, joined } from './hour-table.js'

export interface HourRow<Name extends string, Amount extends string> {
  hour: number
  names: Record<Name, string>
  amounts: Record<Amount, number>
}

export interface HourRowsOptions<Name extends string> {
  /** Most rows in memory; what is not among them yet is then counted under the names that `others` gives. */
  max_rows: number
  others(names: Readonly<Record<Name, string>>): Record<Name, string>
}

/** The sums that are still in memory. */
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

  add(time: number, given: Readonly<Record<Name, string>>, amounts: Readonly<Record<Amount, number>>): void {
    const hour = hourOf(time)
    let names = fitting(this.#table, given)
    let key = this.#keyOf(hour, names)
    if (!this.#rows.has(key) && this.#rows.size >= this.#options.max_rows) {
      names = fitting(this.#table, this.#options.others(names))
      key = this.#keyOf(hour, names)
    }
    const row = this.#rows.get(key)
    if (!row) {
      this.#rows.set(key, { hour, names, amounts: { ...amounts } })
      return
    }
    for (const name of this.#table.beside) row.names[name] = names[name]
    for (const name in amounts) row.amounts[name] = joined(this.#table.amounts[name], row.amounts[name], amounts[name])
  }

  /** The oldest of them, which are gone from here then. */
  take(most: number): HourRow<Name, Amount>[] {
    const taken: HourRow<Name, Amount>[] = []
    for (const [key, row] of this.#rows) {
      if (taken.length === most) break
      taken.push(row)
      this.#rows.delete(key)
    }
    return taken
  }

  /** The texts hold no NUL any more. */
  #keyOf(hour: number, names: Readonly<Record<Name, string>>): string {
    let key = String(hour)
    for (const name of this.#table.key) key += `\0${names[name]}`
    return key
  }
}
