import type { Rendered } from '../define.js'

/** Of a bigger value the rest is left out, with a word that says so. */
const MOST_VALUES = 400
const OPEN_LEVELS = 2

/** Any JSON as a tree that opens and closes without script. */
export function ValueTree({ value }: { value: unknown }): Rendered {
  return <Branch entries={entriesOf(value)} level={0} left={{ values: MOST_VALUES }} />
}

interface Left {
  values: number
}

function Branch({
  entries,
  level,
  left,
}: {
  entries: readonly (readonly [string, unknown])[]
  level: number
  left: Left
}): Rendered {
  // Counted before its children are made, which happens on the way down.
  const shown = entries.slice(0, Math.max(0, left.values))
  left.values -= shown.length
  return (
    <ul class="tree">
      {shown.map(([name, value]) => (
        <li>
          {isBranch(value) ? (
            <details open={level + 1 < OPEN_LEVELS}>
              <summary>
                <Name name={name} /> <span class="muted">{sizeText(value)}</span>
              </summary>
              {Branch({ entries: entriesOf(value), level: level + 1, left })}
            </details>
          ) : (
            <>
              <Name name={name} /> <Leaf value={value} />
            </>
          )}
        </li>
      ))}
      {shown.length < entries.length && <li class="muted">{`… ${entries.length - shown.length} more`}</li>}
    </ul>
  )
}

function Name({ name }: { name: string }): Rendered {
  return <span class="name">{name}</span>
}

function Leaf({ value }: { value: unknown }): Rendered {
  if (typeof value === 'string') {
    return (
      <code class="text" dir="auto">
        {JSON.stringify(value)}
      </code>
    )
  }
  // What is no branch and an object all the same is empty.
  const text = typeof value === 'object' && value !== null ? (Array.isArray(value) ? '[]' : '{}') : String(value)
  return <code class="value">{text}</code>
}

function isBranch(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}

function entriesOf(value: unknown): (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null) return [['value', value]]
  return Object.entries(value)
}

function sizeText(value: object): string {
  const size = Object.keys(value).length
  return Array.isArray(value) ? `[${size}]` : `{${size}}`
}
