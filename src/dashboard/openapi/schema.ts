import type { JsonSchema } from '../../model/input/json-schema.js'

/** JSON Schema tied to a type, so that the compiler reports fields missing from the schema. */
export interface Schema<T> {
  readonly json: JsonSchema
  /** Never set. Makes the schema invariant in its type. */
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

/** Value that depends on the host. */
// biome-ignore lint/suspicious/noExplicitAny: accepts every type.
export const anything: Schema<any> = { json: {} }
// biome-ignore lint/suspicious/noExplicitAny: accepts every object.
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
 * Object with exactly the fields of a type. Optional fields are listed again.
 *
 * @example
 * object<{ count: number; is_lower_bound?: true }>({ count: whole, is_lower_bound: always }, ['is_lower_bound'])
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

const namedSchemas = new Map<string, JsonSchema>()

/** Schema that the document contains once, under a name. */
export function named<T>(name: string, { json }: Schema<T>): Schema<T> {
  namedSchemas.set(name, json)
  return { json: { $ref: `#/components/schemas/${name}` } }
}

export function components(): Record<string, JsonSchema> {
  return Object.fromEntries([...namedSchemas].sort(([a], [b]) => (a < b ? -1 : 1)))
}
