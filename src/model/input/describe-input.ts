import * as v from 'valibot'

/**
 * Facts about a parameter for the documentation. The schema builders declare them because a check cannot be inspected.
 */
export interface Facts {
  type: 'id' | 'integer' | 'number' | 'word' | 'boolean' | 'text' | 'time' | 'day'
  /** Minimum of a number. */
  min?: number
  /** Maximum of a number, or maximum length of text. */
  max?: number
  /** Whether out-of-range values are clamped instead of rejected. */
  clamped?: boolean
  allowed?: readonly (string | number)[]
  /** Meaning, if the name does not make it clear. */
  note?: string
  /** Maximum number of items, if the parameter is a list. */
  list?: { max: number | null }
}

export interface Described extends Facts {
  name: string
  required: boolean
  /** Default value; undefined if there is none. */
  default?: unknown
}

/** Attaches documentation facts to a schema. */
export function facts<Input>(known: Facts): v.MetadataAction<Input, { facts: Facts }> {
  return v.metadata({ facts: known })
}

/**
 * Lists the parameters of a schema in order.
 * @example describeInput(v.object({ days: withDefault(clampedInteger({ min: 1, max: 365 }), 30) }))
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

/** The members of any kind of schema that are inspected here. */
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
  return findFacts(field) ?? { type: 'text' }
}

function longest({ pipe = [] }: Inside): number | null {
  const limit = pipe.find(({ type }) => type === 'max_length')?.requirement
  return typeof limit === 'number' ? limit : null
}

/** Returns the outermost facts, so that a wrapper can override those of the wrapped builder. */
function findFacts({ pipe = [], wrapped, options = [] }: Inside): Facts | null {
  const ownFacts = pipe.findLast(({ metadata }) => metadata?.facts)?.metadata?.facts
  if (ownFacts) return ownFacts
  // A pipe exposes the members of its first item, and also lists that item.
  for (const part of [...options, ...(wrapped ? [wrapped] : []), ...pipe.slice(0, 1)]) {
    const found = findFacts(part)
    if (found) return found
  }
  return null
}
