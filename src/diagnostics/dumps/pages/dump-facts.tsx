import type { Rendered } from '../../../dashboard/define.js'
import { capitalize, formatIdentifier } from '../../../dashboard/ui/badges.js'
import { ShareBars } from '../../../dashboard/ui/charts/charts.js'
import { formatCount } from '../../../dashboard/ui/time.js'
import { formatBytes, formatMilliseconds, formatPercent, formatSeconds } from '../../../dashboard/ui/units.js'

export type Values = Readonly<Record<string, unknown>>

export function toRecord(values: unknown): Values {
  return typeof values === 'object' && values !== null ? (values as Values) : {}
}

/** Section of a dump, or a message if it is missing. */
export function Section({
  title,
  values,
  missing = 'Not available, or too large to store.',
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
    <Section title={title} values={values} {...(missing ? { missing } : {})}>
      <FactList values={toRecord(values)} />
    </Section>
  )
}

export function FactList({
  values,
  labels = toHeading,
}: {
  values: Values
  labels?: (name: string) => string
}): Rendered {
  return (
    <dl class="facts">
      {Object.entries(values).map(([name, value]) => (
        <>
          <dt>{labels(name)}</dt>
          <dd>{formatValue(name, value)}</dd>
        </>
      ))}
    </dl>
  )
}

/** Converts a field name to words, without the unit that the value shows. */
function toLabel(name: string): string {
  return formatIdentifier(name.replace(/_(?:bytes|ms|s|percent)$/, ''))
}

/** Labels of fields whose names are abbreviations or names of products. */
const HEADINGS: Readonly<Record<string, string>> = {
  ...{ pid: 'Process ID', ppid: 'Parent process ID', argv0: 'argv0', exec_argv: 'Node.js options' },
  ...{ app_version: 'Version', git_sha: 'Commit', node: 'Node.js', openssl: 'OpenSSL', uv: 'libuv' },
  ...{ commonjs_modules: 'CommonJS modules', commonjs_packages: 'CommonJS packages', io: 'I/O' },
}

const ABBREVIATIONS = /\b(?:cpu|id|oom|rss)\b/g

/** Converts a field name to the label of a line or column, without the unit that the value shows. */
export function toHeading(name: string): string {
  if (Object.hasOwn(HEADINGS, name)) return HEADINGS[name] ?? name
  return capitalize(toLabel(name).replace(ABBREVIATIONS, (word) => word.toUpperCase()))
}

/** Formats a value by the unit at the end of its name. */
export function formatValue(name: string, value: unknown): Rendered {
  if (value === null || value === '') return '–'
  if (Array.isArray(value))
    return value.length === 0 ? '–' : value.map((item) => <span class="item">{breakable(String(item))} </span>)
  if (typeof value === 'object') {
    const parts = Object.entries(value as object).map(
      ([key, item]) => `${toLabel(key)} ${typeof item === 'object' ? JSON.stringify(item) : formatValue(key, item)}`,
    )
    return parts.length === 0 ? '–' : parts.join(', ')
  }
  return typeof value === 'number' ? formatNumber(name, value) : String(value)
}

/** Allows line breaks between the words of an option name. */
function breakable(text: string): Rendered {
  return text.split(/(?<=_)/).map((word) => (
    <>
      {word}
      <wbr />
    </>
  ))
}

function formatNumber(name: string, value: number): string {
  if (name.endsWith('bytes')) return formatBytes(value)
  if (name.endsWith('_ms')) return formatMilliseconds(value)
  if (name.endsWith('_s')) return formatSeconds(value)
  if (name.endsWith('_percent')) return formatPercent(value / 100)
  if (name.startsWith('utilization') || name.endsWith('_share')) return formatPercent(value)
  return /pid$/.test(name) ? String(value) : formatCount(value)
}

export function Counts({ title, values }: { title: string; values: unknown }): Rendered {
  const rows = Object.entries(toRecord(values)).map(([label, value]) => ({ label, value: Number(value) }))
  return (
    <Section title={title} values={values}>
      {rows.length === 0 ? <p class="muted">None.</p> : <ShareBars title={title} rows={rows} />}
    </Section>
  )
}

export interface Column {
  title: string
  cell(row: Values): Rendered
}

/** Table in a section. The first column contains the row names. */
export function SectionTable({
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
              {columns.map(({ cell }) => (
                <td class="number">{cell(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
