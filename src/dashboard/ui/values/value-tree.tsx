import { MORE_KEY, TYPE_KEY } from '../../../model/stacks/frame-variables.js'
import type { Rendered } from '../../define.js'
import { Clamped } from './clamped.js'

/** Limits the size of the page. The tree shows the number of omitted values. */
const MAX_VALUES = 400
const MAX_OPEN_LEVELS = 2
/** Branches up to this size start expanded, because the values need little more space than a summary. */
const MAX_SMALL_BRANCH_SIZE = 4
/** Longer branches start closed. */
const MAX_OPEN_BRANCH_SIZE = 20

/** JSON value as a collapsible tree that works without JavaScript. */
export function ValueTree({ value, closed = false }: { value: unknown; closed?: boolean }): Rendered {
  return <Branch entries={childEntries(value)} level={0} closed={closed} budget={{ values: MAX_VALUES }} />
}

interface Budget {
  values: number
}

function Branch({
  entries,
  level,
  closed,
  budget,
}: {
  entries: readonly (readonly [string, unknown])[]
  level: number
  closed: boolean
  budget: Budget
}): Rendered {
  // Reserves the budget before the children, which share it, are rendered.
  const shown = entries.slice(0, Math.max(0, budget.values))
  budget.values -= shown.length
  return (
    <ul class="tree">
      {shown.map(([name, value]) => (
        <li>
          {name === MORE_KEY ? (
            <span class="muted">{`… ${value}`}</span>
          ) : isBranch(value) ? (
            <details open={level + 1 < MAX_OPEN_LEVELS && (closed ? isSmall(value) : !isLong(value))}>
              <summary>
                <Name name={name} /> <span class="muted">{sizeText(value)}</span>
              </summary>
              {Branch({ entries: childEntries(value), level: level + 1, closed, budget })}
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
  if (isPlaceholder(value)) return <code class="mark muted">{value}</code>
  if (typeof value === 'string') {
    return (
      <code class="text" dir="auto">
        <Clamped text={JSON.stringify(value)} />
      </code>
    )
  }
  // An object that is not a branch is empty.
  const text = typeof value === 'object' && value !== null ? emptyText(value) : String(value)
  return <code class="value">{text}</code>
}

/** Placeholders for values that are not JSON or were omitted. */
const PLACEHOLDER =
  /^\[(?:undefined|FILTERED|empty|unreadable|…|\d+ more|process(?:\.env)?|globalThis|[A-Z]\w*|\w+, \d+ bytes|(?:Function|class)(?: [\w$.# ]+)?)\]$/

/** Functions and omitted values add nothing to the summary of a branch. */
function isSmall(value: object): boolean {
  const values = Object.values(value)
  return values.length <= MAX_SMALL_BRANCH_SIZE && !values.some(isBranch) && !values.every(isPlaceholder)
}

function isLong(value: object): boolean {
  return childEntries(value).length > MAX_OPEN_BRANCH_SIZE
}

function isPlaceholder(value: unknown): value is string {
  return typeof value === 'string' && PLACEHOLDER.test(value)
}

function isBranch(value: unknown): value is object {
  return typeof value === 'object' && value !== null && childEntries(value).length > 0
}

function childEntries(value: unknown): (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null) return [['value', value]]
  // The summary shows the type next to the name.
  return Object.entries(value).filter(([name]) => name !== TYPE_KEY)
}

function emptyText(value: object): string {
  if (Array.isArray(value)) return '[]'
  const type = recordedType(value)
  return type === null ? '{}' : `${type} {}`
}

function recordedType(value: object): string | null {
  const type: unknown = Object.getOwnPropertyDescriptor(value, TYPE_KEY)?.value
  return typeof type === 'string' ? type : null
}

function sizeText(value: object): string {
  const keys = Object.keys(value)
  if (Array.isArray(value)) return `[${keys.length}]`
  const type = recordedType(value)
  const size = keys.filter((key) => key !== TYPE_KEY && key !== MORE_KEY).length
  if (type === null) return `{${size}}`
  return type.endsWith(')') ? type : `${type} {${size}}`
}
