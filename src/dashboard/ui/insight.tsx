import type { Rendered } from '../define.js'
import { How } from './explanation.js'

/** A figure or a ranking, with the line that says what it counts, and by which rule where that takes more words. */
export function Insight({
  title,
  how,
  method,
  id,
  children,
}: {
  title: string
  how: Rendered
  method?: Rendered
  id?: string
  children?: Rendered
}): Rendered {
  return (
    <section class="card insight" id={id}>
      <h2>{title}</h2>
      <p class="how">{how}</p>
      {children}
      {method && <How>{method}</How>}
    </section>
  )
}

export interface Headline {
  label: string
  value: string
  how: string
  href?: string | undefined
}

/** The few numbers that stand above all others. */
export function Headlines({ rows }: { rows: readonly Headline[] }): Rendered {
  return (
    <dl class="headlines">
      {rows.map(({ label, value, how, href }) => (
        <div>
          <dt>{label}</dt>
          <dd class="headline-value">{href ? <a href={href}>{value}</a> : value}</dd>
          <dd class="how">{how}</dd>
        </div>
      ))}
    </dl>
  )
}

export interface Column<Row> {
  name: string
  /** Numbers stand at the right. */
  number?: boolean
  cell(row: Row): Rendered
}

/** A table that is scrolled by itself where it does not fit. The first column names the row. */
export function InsightTable<Row>({
  title,
  rows,
  columns: [first, ...columns],
}: {
  title: string
  rows: readonly Row[]
  columns: readonly [Column<Row>, ...Column<Row>[]]
}): Rendered {
  return (
    <section class="scroll" tabindex={0} aria-label={title}>
      <table class="insight-table">
        <thead>
          <tr>
            <th scope="col">{first.name}</th>
            {columns.map(({ name, number }) => (
              <th scope="col" class={number ? 'number' : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              <th scope="row">{first.cell(row)}</th>
              {columns.map(({ name, number, cell }) => (
                <td class={number ? 'number' : undefined} data-name={name}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** Says that what stands there was counted some time ago, where it was. */
export function CountedAt({ at, now }: { at: number; now: number }): Rendered {
  const seconds = Math.round((now - at) / 1000)
  if (seconds < 5) return null
  const ago = seconds < 90 ? `${seconds} seconds ago` : `${Math.round(seconds / 60)} minutes ago`
  return (
    <p class="how counted-at" title="Counting takes a while, so it is not done for every visit.">
      {`Counted ${ago}.`}
    </p>
  )
}
