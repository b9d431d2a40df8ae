import type { JsonSchema } from '../../model/json-schema.js'

/** A JSON Schema that knows the type it describes: the compiler finds what an answer has and its description has not. */
export interface Schema<T> {
  readonly json: JsonSchema
  /** Never there; it ties the description to exactly this type. */
  readonly describes?: (value: T) => T
}

type Plain<T> = T extends readonly (infer One)[] ? One[] : T
type Fields<T> = { readonly [Name in keyof T]-?: Schema<Plain<Exclude<T[Name], undefined>>> }
type OptionalNames<T> = { [Name in keyof T]-?: undefined extends T[Name] ? Name : never }[keyof T]

export const text: Schema<string> = { json: { type: 'string' } }
export const time: Schema<string> = { json: { type: 'string', format: 'date-time' } }
export const day: Schema<string> = { json: { type: 'string', format: 'date' } }
export const whole: Schema<number> = { json: { type: 'integer' } }
export const number: Schema<number> = { json: { type: 'number' } }
export const flag: Schema<boolean> = { json: { type: 'boolean' } }
export const always: Schema<true> = { json: { const: true } }

/** What hosts and circumstances make of it. */
// biome-ignore lint/suspicious/noExplicitAny: it stands for every type.
export const anything: Schema<any> = { json: {} }
// biome-ignore lint/suspicious/noExplicitAny: it stands for every object.
export const anyObject: Schema<any> = { json: { type: 'object' } }

export function word<const Words extends readonly string[]>(words: Words): Schema<Words[number]> {
  return { json: { type: 'string', enum: words } }
}

export function list<T>({ json }: Schema<T>): Schema<T[]> {
  return { json: { type: 'array', items: json } }
}

export function map<T>({ json }: Schema<T>): Schema<Record<string, T>> {
  return { json: { type: 'object', additionalProperties: json } }
}

export function nullable<T>({ json }: Schema<T>): Schema<T | null> {
  if (typeof json.type === 'string' && !('enum' in json)) return { json: { ...json, type: [json.type, 'null'] } }
  return { json: { anyOf: [json, { type: 'null' }] } }
}

/**
 * An object with exactly the fields of a type; those that may be missing are named a second time.
 *
 * @example
 * object<{ count: number; is_bound?: true }>({ count: whole, is_bound: always }, ['is_bound'])
 */
export function object<T>(fields: Fields<T>, optional: readonly OptionalNames<T>[] = []): Schema<T> {
  const entries = Object.entries(fields) as [string, Schema<unknown>][]
  return {
    json: {
      type: 'object',
      properties: Object.fromEntries(entries.map(([name, { json }]) => [name, json])),
      required: entries.map(([name]) => name).filter((name) => !optional.some((one) => one === name)),
    },
  }
}

const named_schemas = new Map<string, JsonSchema>()

/** A schema that stands once in the document, under a name. */
export function named<T>(name: string, { json }: Schema<T>): Schema<T> {
  named_schemas.set(name, json)
  return { json: { $ref: `#/components/schemas/${name}` } }
}

/** All that have a name. */
export function components(): Record<string, JsonSchema> {
  return Object.fromEntries([...named_schemas].sort(([a], [b]) => (a < b ? -1 : 1)))
}
