import * as v from 'valibot'

/** What the docs tell of a parameter. Our own builders say it of themselves; it cannot be read from a check. */
export interface Facts {
  type: 'id' | 'integer' | 'number' | 'word' | 'boolean' | 'text' | 'time' | 'day'
  /** The least number. */
  min?: number
  /** The greatest number, or the most characters. */
  max?: number
  /** Whether what lies outside is brought to the nearest limit instead of being refused. */
  clamped?: boolean
  allowed?: readonly (string | number)[]
  /** What it means, where its name does not say it. */
  note?: string
  /** How many there may be, where the parameter is a list. */
  list?: { max: number | null }
}

export interface Described extends Facts {
  name: string
  required: boolean
  /** What is taken when it is left out; undefined where nothing is. */
  default?: unknown
}

/** Adds to a schema what the docs tell of it. */
export function facts<Input>(known: Facts): v.MetadataAction<Input, { facts: Facts }> {
  return v.metadata({ facts: known })
}

/**
 * The parameters that a schema takes, in its order.
 *
 * @example
 * describeInput(v.object({ days: withDefault(clampedInteger({ min: 1, max: 365 }), 30) }))
 * // [{ name: 'days', type: 'integer', min: 1, max: 365, clamped: true, required: false, default: 30 }]
 */
export function describeInput(schema: v.GenericSchema): Described[] {
  return Object.entries(entriesOf(schema as Inside)).map(([name, field]) => {
    const value = defaultOf(field)
    return {
      name,
      required: !OPTIONAL.includes(field.type),
      ...(value !== undefined && { default: value }),
      ...readValue(field),
    }
  })
}

/** What is looked at inside a schema, of whatever kind it is. */
interface Inside {
  type: string
  entries?: Record<string, Inside>
  options?: readonly Inside[]
  wrapped?: Inside
  item?: Inside
  default?: unknown
  pipe?: readonly (Inside & { requirement?: unknown; metadata?: { facts?: Facts } })[]
}

const OPTIONAL: readonly string[] = ['optional', 'nullish', 'exact_optional']

function entriesOf({ entries, options = [] }: Inside): Record<string, Inside> {
  return entries ?? Object.assign({}, ...options.map(entriesOf))
}

function defaultOf(field: Inside): unknown {
  const own = typeof field.default === 'function' ? field.default() : field.default
  return own ?? (field.wrapped ? defaultOf(field.wrapped) : undefined)
}

function readValue(field: Inside): Facts {
  if (field.item) return { ...readValue(field.item), list: { max: longest(field) } }
  return factsOf(field) ?? { type: 'text' }
}

function longest({ pipe = [] }: Inside): number | null {
  const limit = pipe.find(({ type }) => type === 'max_length')?.requirement
  return typeof limit === 'number' ? limit : null
}

/** The outermost facts: whoever wraps a builder may say something else of the whole. */
function factsOf({ pipe = [], wrapped, options = [] }: Inside): Facts | null {
  const said = pipe.findLast(({ metadata }) => metadata?.facts)?.metadata?.facts
  if (said) return said
  // A pipe carries the members of its first part; that part itself is among those it is made of.
  for (const part of [...options, ...(wrapped ? [wrapped] : []), ...pipe.slice(0, 1)]) {
    const found = factsOf(part)
    if (found) return found
  }
  return null
}
