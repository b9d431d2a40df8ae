import type { Rendered } from '../../../dashboard/define.js'
import { words } from '../../../dashboard/ui/badges.js'
import { ShareBars } from '../../../dashboard/ui/charts.js'
import { formatCount } from '../../../dashboard/ui/time.js'
import { formatBytes, formatMilliseconds, formatPercent, formatSeconds } from '../../../dashboard/ui/units.js'

export type Values = Readonly<Record<string, unknown>>

export function record(values: unknown): Values {
  return typeof values === 'object' && values !== null ? (values as Values) : {}
}

/** One part of a dump; what is missing says so. */
export function Part({
  title,
  values,
  missing = 'This part could not be had, or found no room.',
  children,
}: {
  title: string
  values: unknown
  missing?: string
  children?: Rendered
}): Rendered {
  return (
    <section class="card">
      <h2>{title}</h2>
      {values === null ? <p class="muted">{missing}</p> : children}
    </section>
  )
}

export function Facts({ title, values, missing }: { title: string; values: unknown; missing?: string }): Rendered {
  return (
    <Part title={title} values={values} {...(missing ? { missing } : {})}>
      <FactList values={record(values)} />
    </Part>
  )
}

export function FactList({
  values,
  labels = readable,
}: {
  values: Values
  labels?: (name: string) => string
}): Rendered {
  return (
    <dl class="facts">
      {Object.entries(values).map(([name, value]) => (
        <>
          <dt>{labels(name)}</dt>
          <dd>{shown(name, value)}</dd>
        </>
      ))}
    </dl>
  )
}

/** Without the unit, which stands with the number. */
export function readable(name: string): string {
  return words(name.replace(/_(?:bytes|ms|s|percent)$/, ''))
}

/** The end of a name says what its number measures. */
export function shown(name: string, value: unknown): Rendered {
  if (value === null || value === '') return '–'
  if (Array.isArray(value))
    return value.length === 0 ? '–' : value.map((item) => <span class="item">{breakable(String(item))} </span>)
  if (typeof value === 'object') {
    const parts = Object.entries(value as object).map(
      ([key, one]) => `${readable(key)} ${typeof one === 'object' ? JSON.stringify(one) : shown(key, one)}`,
    )
    return parts.length === 0 ? '–' : parts.join(', ')
  }
  return typeof value === 'number' ? shownNumber(name, value) : String(value)
}

/** The name of an option that does not fit is broken between its words. */
function breakable(text: string): Rendered {
  return text.split(/(?<=_)/).map((word) => (
    <>
      {word}
      <wbr />
    </>
  ))
}

function shownNumber(name: string, value: number): string {
  if (name.endsWith('bytes')) return formatBytes(value)
  if (name.endsWith('_ms')) return formatMilliseconds(value)
  if (name.endsWith('_s')) return formatSeconds(value)
  if (name.endsWith('_percent')) return formatPercent(value / 100)
  if (name.startsWith('utilisation') || name.endsWith('_share')) return formatPercent(value)
  return /pid$/.test(name) ? String(value) : formatCount(value)
}

export function Counts({ title, values }: { title: string; values: unknown }): Rendered {
  const rows = Object.entries(record(values)).map(([label, value]) => ({ label, value: Number(value) }))
  return (
    <Part title={title} values={values}>
      {rows.length === 0 ? <p class="muted">None.</p> : <ShareBars title={title} rows={rows} />}
    </Part>
  )
}

export interface Column {
  title: string
  of(row: Values): Rendered
}

/** A small table inside a part: the first column names its rows. */
export function PartTable({
  caption,
  name,
  rows,
  columns,
}: {
  caption: string
  name: string
  rows: readonly (readonly [string, Values])[]
  columns: readonly Column[]
}): Rendered {
  return (
    <section class="scroll" tabindex={0} aria-label={caption}>
      <table class="part-table">
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{name}</th>
            {columns.map(({ title }) => (
              <th scope="col" class="number">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([label, row]) => (
            <tr>
              <th scope="row">{label}</th>
              {columns.map(({ of }) => (
                <td class="number">{of(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
