import type { Rendered } from '../../define.js'

export interface ChartRow {
  name: string
  href?: string | undefined
  /** One cell per column. */
  cells: readonly string[]
}

/** Data of a chart as an accessible table that can be copied. */
export function ChartTable({
  title,
  columns,
  rows,
}: {
  title: string
  columns: readonly string[]
  rows: readonly ChartRow[]
}): Rendered {
  return (
    <details class="chart-data">
      <summary>Show as table</summary>
      <section class="scroll" tabindex={0} aria-label={`${title}, table`}>
        <table>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {columns.map((label) => (
                <th scope="col" class="number">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, href, cells }) => (
              <tr>
                <th scope="row">{href ? <a href={href}>{name}</a> : name}</th>
                {cells.map((cell) => (
                  <td class="number">{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  )
}
