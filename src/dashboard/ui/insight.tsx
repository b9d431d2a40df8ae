import type { Rendered } from '../define.js'
import { Explanation } from './explanation.js'
import { formatCount } from './time.js'

/** Panel with a figure or ranking, a one-line description and an optional explanation. */
export function Insight({
  title,
  description,
  explanation,
  id,
  count,
  isOpen = false,
  children,
}: {
  title: string
  description: Rendered
  explanation?: Rendered
  id?: string
  /** Number of rows. If set, collapses the panel to its title and this number. */
  count?: number
  /** True if the panel is initially not collapsed. */
  isOpen?: boolean
  children?: Rendered
}): Rendered {
  if (count !== undefined) {
    return (
      <details class="card insight section-toggle" id={id} open={isOpen}>
        <summary class="insight-summary">
          <h2>{title}</h2>
          <span class="count">{formatCount(count)}</span>
          <span class="description">{description}</span>
        </summary>
        {children}
        {explanation && <Explanation>{explanation}</Explanation>}
      </details>
    )
  }
  return (
    <section class="card insight" id={id}>
      <h2>{title}</h2>
      <p class="description">{description}</p>
      {children}
      {explanation && <Explanation>{explanation}</Explanation>}
    </section>
  )
}

export interface Headline {
  label: string
  value: string
  description: string
  href?: string | undefined
}

/** Key numbers at the top of a page. */
export function Headlines({ rows }: { rows: readonly Headline[] }): Rendered {
  return (
    <dl class="figure-row">
      {rows.map(({ label, value, description, href }) => (
        <div>
          <dt>{label}</dt>
          <dd class="figure-value">{href ? <a href={href}>{value}</a> : value}</dd>
          <dd class="description">{description}</dd>
        </div>
      ))}
    </dl>
  )
}

export interface Column<Row> {
  name: string
  /** Shorter name on phones. */
  shortName?: string
  /** Right-aligns the column. */
  number?: boolean
  /**
   * Presentation on phones, where the values follow the row header with their names. `aside` is a value without its name
   * next to the row header, `plain` a value without its name, and `chip` a value with its name in a frame.
   */
  compact?: 'aside' | 'plain' | 'chip'
  /** True for a value such as 0, which is hidden on phones. */
  isBlank?(row: Row): boolean
  cell(row: Row): Rendered
}

interface TableProps<Row> {
  title: string
  rows: readonly Row[]
  columns: readonly [Column<Row>, ...Column<Row>[]]
  /** True if the table has too many columns for a tablet. */
  wide?: boolean
}

/** Number of rows that a ranking shows initially. */
const MAX_OPEN_ROWS = 3

/** Table that shows its first rows, and the remaining rows on demand. Works without JavaScript. */
export function RankingTable<Row>({ title, rows, columns }: TableProps<Row>): Rendered {
  const rest = rows.slice(MAX_OPEN_ROWS)
  return (
    <>
      <InsightTable title={title} rows={rows.slice(0, MAX_OPEN_ROWS)} columns={columns} />
      {rest.length > 0 && (
        <details>
          <summary>{`Show ${rest.length} more`}</summary>
          <InsightTable title={`${title}, continued`} rows={rest} columns={columns} />
        </details>
      )}
    </>
  )
}

/** Table that scrolls horizontally if it does not fit. The first column is the row header. */
export function InsightTable<Row>({ title, rows, columns: [first, ...columns], wide }: TableProps<Row>): Rendered {
  return (
    <section class="scroll" tabindex={0} aria-label={title}>
      <div class={wide ? 'table-space wide' : 'table-space'}>
        <table class="data-table">
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
                {columns.map((column) => (
                  <td class={cellClass(column, row)} data-name={column.shortName ?? column.name}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function cellClass<Row>({ number, compact, isBlank }: Column<Row>, row: Row): string | undefined {
  const classes = [number && 'number', compact && `cell-${compact}`, isBlank?.(row) && 'cell-blank']
  return classes.filter(Boolean).join(' ') || undefined
}

/** Age of cached figures; empty if they are fresh. */
export function UpdatedAt({ at, now }: { at: number; now: number }): Rendered {
  const seconds = Math.round((now - at) / 1000)
  if (seconds < 5) return null
  const ago = seconds < 90 ? `${seconds} seconds ago` : `${Math.round(seconds / 60)} minutes ago`
  return (
    <p class="description updated-at" title="Cached, because the query is expensive.">
      {`Updated ${ago}`}
    </p>
  )
}
