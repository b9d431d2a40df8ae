import { MORE_KEY, TYPE_KEY } from '../../model/stacks/frame-variables.js'
import type { Rendered } from '../define.js'

/** Of a bigger value the rest is left out, with a word that says so. */
const MOST_VALUES = 400
const OPEN_LEVELS = 2
/** Of a tree that begins closed, so small a branch is open all the same: it takes no more room than its own line. */
const SMALL_BRANCH = 4

/** Any JSON as a tree that opens and closes without script. */
export function ValueTree({ value, closed = false }: { value: unknown; closed?: boolean }): Rendered {
  return <Branch entries={entriesOf(value)} level={0} closed={closed} left={{ values: MOST_VALUES }} />
}

interface Left {
  values: number
}

function Branch({
  entries,
  level,
  closed,
  left,
}: {
  entries: readonly (readonly [string, unknown])[]
  level: number
  closed: boolean
  left: Left
}): Rendered {
  // Counted before its children are made, which happens on the way down.
  const shown = entries.slice(0, Math.max(0, left.values))
  left.values -= shown.length
  return (
    <ul class="tree">
      {shown.map(([name, value]) => (
        <li>
          {name === MORE_KEY ? (
            <span class="muted">{`… ${value}`}</span>
          ) : isBranch(value) ? (
            <details open={level + 1 < OPEN_LEVELS && (!closed || isSmall(value))}>
              <summary>
                <Name name={name} /> <span class="muted">{sizeText(value)}</span>
              </summary>
              {Branch({ entries: entriesOf(value), level: level + 1, closed, left })}
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
  if (typeof value === 'string' && MARK.test(value)) return <code class="mark muted">{value}</code>
  if (typeof value === 'string') {
    return (
      <code class="text" dir="auto">
        {JSON.stringify(value)}
      </code>
    )
  }
  // What is no branch and an object all the same is empty.
  const text = typeof value === 'object' && value !== null ? emptyText(value) : String(value)
  return <code class="value">{text}</code>
}

/** What stands for a value that is none of JSON's, or was left out: no text of the host's. */
const MARK =
  /^\[(?:undefined|FILTERED|empty|unreadable|…|\d+ more|process(?:\.env)?|globalThis|[A-Z]\w*|\w+, \d+ bytes|(?:Function|class)(?: [\w$.# ]+)?)\]$/

function isSmall(value: object): boolean {
  const values = Object.values(value)
  return values.length <= SMALL_BRANCH && !values.some(isBranch)
}

function isBranch(value: unknown): value is object {
  return typeof value === 'object' && value !== null && entriesOf(value).length > 0
}

function entriesOf(value: unknown): (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null) return [['value', value]]
  // What kind of object it is stands beside its name.
  return Object.entries(value).filter(([name]) => name !== TYPE_KEY)
}

function emptyText(value: object): string {
  if (Array.isArray(value)) return '[]'
  const type = typeOf(value)
  return type === null ? '{}' : `${type} {}`
}

function typeOf(value: object): string | null {
  const type: unknown = Object.getOwnPropertyDescriptor(value, TYPE_KEY)?.value
  return typeof type === 'string' ? type : null
}

function sizeText(value: object): string {
  const keys = Object.keys(value)
  if (Array.isArray(value)) return `[${keys.length}]`
  const type = typeOf(value)
  const size = keys.filter((key) => key !== TYPE_KEY && key !== MORE_KEY).length
  if (type === null) return `{${size}}`
  return type.endsWith(')') ? type : `${type} {${size}}`
}
