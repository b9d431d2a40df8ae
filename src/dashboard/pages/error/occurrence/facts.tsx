import { Clamped } from '../../../ui/values/clamped.js'
import { ValueTree } from '../../../ui/values/value-tree.js'

/** Maximum number of expanded rows. */
const MAX_OPEN_ROWS = 20

/** Number of characters of a label and its value that fit on one line of a phone. */
const MAX_PHONE_LINE_LENGTH = 40

type FactRows = readonly (readonly [label: string, value: unknown])[]

/** Rows that have a value. */
export function FactList({ rows }: { rows: FactRows }) {
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([label, value]) => {
          const text = String(value)
          const size = label.length + text.length > MAX_PHONE_LINE_LENGTH ? 'long' : undefined
          return (
            <>
              <dt class={size}>{label}</dt>
              <dd class={size} dir="auto">
                <Clamped text={text} />
              </dd>
            </>
          )
        })}
    </dl>
  )
}

/** Shows the first rows, and the remaining rows on demand. */
function ClampedFacts({ rows }: { rows: FactRows }) {
  const more = rows.slice(MAX_OPEN_ROWS)
  return (
    <>
      <FactList rows={rows.slice(0, MAX_OPEN_ROWS)} />
      {more.length > 0 && (
        <details>
          <summary>{`Show ${more.length} more`}</summary>
          <FactList rows={more} />
        </details>
      )}
    </>
  )
}

/** Flat values as rows, nested values as a tree. */
export function Values({ values }: { values: unknown }) {
  if (!isObject(values) || Array.isArray(values)) return <ValueTree value={values} />
  const entries = Object.entries(values).flatMap(flattenOneLevel)
  const flat = entries.filter(([, value]) => !isObject(value))
  const nested = entries.filter(([, value]) => isObject(value))
  return (
    <>
      {flat.length > 0 && (
        <ClampedFacts rows={flat.map(([key, value]) => [key, value === null ? 'null' : value] as const)} />
      )}
      {nested.length > 0 && <ValueTree value={fromEntries(nested)} />}
    </>
  )
}

/** Flattens an object of plain values one level (`process.pid`). */
function flattenOneLevel([key, value]: [string, unknown]): [string, unknown][] {
  if (!isObject(value) || Array.isArray(value)) return [[key, value]]
  const inner = Object.entries(value)
  const isShort = inner.length > 0 && inner.every(([, item]) => !isObject(item))
  return isShort ? inner.map(([name, item]) => [`${key}.${name}`, item]) : [[key, value]]
}

/** Creates an object without a prototype, because a parameter may be named `__proto__`. */
export function fromEntries(entries: readonly [string, unknown][]): Record<string, unknown> {
  const result: Record<string, unknown> = Object.create(null)
  for (const [key, value] of entries) result[key] = value
  return result
}

export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return isObject(value) && Object.keys(value).length === 0
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
