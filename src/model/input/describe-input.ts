import * as v from 'valibot'

/**
 * Documented properties of a parameter. The schema builders declare them because a check cannot be inspected.
 */
export interface ParameterFacts {
  type: 'id' | 'integer' | 'number' | 'word' | 'boolean' | 'text' | 'time' | 'day'
  /** Minimum of a number. */
  min?: number
  /** Maximum of a number, or maximum length of text. */
  max?: number
  /** True if out-of-range values are clamped instead of rejected. */
  clamped?: boolean
  allowed?: readonly (string | number)[]
  /** Meaning, if the name does not make it clear. */
  note?: string
  /** Maximum number of items, if the parameter is a list. */
  list?: { max: number | null }
}

export interface ParameterDescription extends ParameterFacts {
  name: string
  required: boolean
  /** Default value; undefined if there is none. */
  default?: unknown
}

/** Attaches the documented properties to a schema. */
export function facts<Input>(values: ParameterFacts): v.MetadataAction<Input, { facts: ParameterFacts }> {
  return v.metadata({ facts: values })
}

/**
 * Lists the parameters of a schema in order.
 * @example describeInput(v.object({ days: withDefault(clampedInteger({ min: 1, max: 365 }), 30) }))
 * // [{ name: 'days', type: 'integer', min: 1, max: 365, clamped: true, required: false, default: 30 }]
 */
export function describeInput(schema: v.GenericSchema): ParameterDescription[] {
  return Object.entries(schemaEntries(schema as SchemaNode)).map(([name, field]) => {
    const fallback = defaultValue(field)
    return {
      name,
      required: !OPTIONAL_TYPES.includes(field.type),
      ...(fallback !== undefined && { default: fallback }),
      ...valueFacts(field),
    }
  })
}

/** Names of the fields of a schema. Empty for a schema that is not an object. */
export function inputNames(schema: v.GenericSchema): string[] {
  return Object.keys(schemaEntries(schema as SchemaNode))
}

/** Members that this module reads from a schema of any kind. */
interface SchemaNode {
  type: string
  entries?: Record<string, SchemaNode>
  options?: readonly SchemaNode[]
  wrapped?: SchemaNode
  item?: SchemaNode
  default?: unknown
  pipe?: readonly (SchemaNode & { requirement?: unknown; metadata?: { facts?: ParameterFacts } })[]
}

const OPTIONAL_TYPES: readonly string[] = ['optional', 'nullish', 'exact_optional']

function schemaEntries({ entries, options = [] }: SchemaNode): Record<string, SchemaNode> {
  return entries ?? Object.assign({}, ...options.map(schemaEntries))
}

function defaultValue(field: SchemaNode): unknown {
  const ownDefault = typeof field.default === 'function' ? field.default() : field.default
  return ownDefault ?? (field.wrapped ? defaultValue(field.wrapped) : undefined)
}

function valueFacts(field: SchemaNode): ParameterFacts {
  if (field.item) return { ...valueFacts(field.item), list: { max: maxItems(field) } }
  return findFacts(field) ?? { type: 'text' }
}

function maxItems({ pipe = [] }: SchemaNode): number | null {
  const limit = pipe.find(({ type }) => type === 'max_length')?.requirement
  return typeof limit === 'number' ? limit : null
}

/** Returns the outermost facts, so that a wrapper can override those of the wrapped builder. */
function findFacts({ pipe = [], wrapped, options = [] }: SchemaNode): ParameterFacts | null {
  const ownFacts = pipe.findLast(({ metadata }) => metadata?.facts)?.metadata?.facts
  if (ownFacts) return ownFacts
  // A pipe exposes the members of its first item, and also lists that item.
  for (const part of [...options, ...(wrapped ? [wrapped] : []), ...pipe.slice(0, 1)]) {
    const found = findFacts(part)
    if (found) return found
  }
  return null
}
