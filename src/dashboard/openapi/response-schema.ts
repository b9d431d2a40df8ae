import type * as v from 'valibot'
import type { JsonSchema } from '../../model/input/json-schema.js'

/** Schema members used in the conversion, across all kinds of schemas. */
interface SchemaMembers {
  type: string
  entries?: Record<string, SchemaMembers>
  items?: readonly SchemaMembers[]
  item?: SchemaMembers
  value?: SchemaMembers
  wrapped?: SchemaMembers
  literal?: unknown
  options?: readonly string[]
  pipe?: readonly (SchemaMembers & { metadata?: { component?: string } })[]
}

/** Converts schemas from model/result.ts to JSON Schema. Collects named schemas for the document. */
export class ResponseSchemas {
  readonly #components = new Map<string, JsonSchema>()

  convert(schema: v.GenericSchema): JsonSchema {
    return this.#reference(schema as unknown as SchemaMembers)
  }

  components(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.#components].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  #reference(schema: SchemaMembers): JsonSchema {
    const name = schema.pipe?.find(({ metadata }) => metadata?.component)?.metadata?.component
    if (name === undefined) return this.#value(schema)
    if (!this.#components.has(name)) this.#components.set(name, this.#value(schema))
    return { $ref: `#/components/schemas/${name}` }
  }

  #value({ type, entries = {}, items, item, value, wrapped, literal, options, pipe = [] }: SchemaMembers): JsonSchema {
    const hasCheck = (check: string) => pipe.some((action) => action.type === check)
    switch (type) {
      case 'string':
        if (hasCheck('iso_timestamp')) return { type, format: 'date-time' }
        return hasCheck('iso_date') ? { type, format: 'date' } : { type }
      case 'number':
        return { type: hasCheck('integer') ? 'integer' : type }
      case 'boolean':
        return { type }
      case 'literal':
        return { const: literal }
      case 'picklist':
        return { type: 'string', enum: options }
      case 'array':
        return { type, items: this.#reference(item as SchemaMembers) }
      case 'strict_tuple':
        return { type: 'array', items: this.#reference(items?.[0] as SchemaMembers), minItems: 2, maxItems: 2 }
      case 'record':
        return {
          type: 'object',
          ...(value?.type !== 'unknown' && { additionalProperties: this.#reference(value as SchemaMembers) }),
        }
      case 'nullable':
        return nullable(this.#reference(wrapped as SchemaMembers))
      case 'strict_object':
        return this.#object(entries)
      case 'loose_object':
        return { ...this.#object(entries), additionalProperties: true }
      case 'unknown':
        return {}
      default:
        throw new Error(`No JSON Schema for ${type}: use the schemas of model/result.ts`)
    }
  }

  #object(entries: Record<string, SchemaMembers>): JsonSchema {
    const fields = Object.entries(entries)
    const isOptional = ({ type }: SchemaMembers) => type === 'exact_optional'
    return {
      type: 'object',
      properties: Object.fromEntries(
        fields.map(([name, field]) => [
          name,
          this.#reference(isOptional(field) ? (field.wrapped as SchemaMembers) : field),
        ]),
      ),
      required: fields.filter(([, field]) => !isOptional(field)).map(([name]) => name),
    }
  }
}

function nullable(json: JsonSchema): JsonSchema {
  if (typeof json.type === 'string' && !('enum' in json)) return { ...json, type: [json.type, 'null'] }
  return { anyOf: [json, { type: 'null' }] }
}
