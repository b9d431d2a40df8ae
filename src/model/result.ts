import * as v from 'valibot'
import { SEVERITIES } from './severity/severity.js'
import { STATUSES } from './workflow.js'

// Schemas of results. The type of a result is inferred from its schema, and so is its entry in the OpenAPI document.

export const text = v.string()
export const time = v.pipe(v.string(), v.isoTimestamp())
export const day = v.pipe(v.string(), v.isoDate())
export const integer = v.pipe(v.number(), v.integer())
export const number = v.number()
export const boolean = v.boolean()
export const alwaysTrue = v.literal(true)
export const severity = v.picklist(SEVERITIES)
export const status = v.picklist(STATUSES)
/** Value that depends on the host. */
export const anyValue = v.unknown()
export const anyObject = v.record(v.string(), v.unknown())

/** Value or object with a type that the OpenAPI document does not describe. */
export const opaque = <Type>() => v.unknown() as v.GenericSchema<Type>
export const opaqueObject = <Type extends object>() => anyObject as unknown as v.GenericSchema<Type>

/** Object that has no other fields. */
export const object = v.strictObject
export const optional = v.exactOptional
export const nullable = v.nullable
export const list = v.array
export const oneOf = v.picklist

/** Object with values of one schema under names that depend on the data. */
export const map = <Schema extends v.GenericSchema>(values: Schema) => v.record(v.string(), values)

export const pair = <Schema extends v.GenericSchema>(item: Schema) => v.strictTuple([item, item])

/** Schema that the OpenAPI document contains once, under a name. */
export function named<Schema extends v.GenericSchema>(component: string, schema: Schema): Schema {
  return v.pipe(schema, v.metadata({ component })) as unknown as Schema
}

const PAGINATION = { page: integer, per_page: integer, total_count: integer, total_pages: integer }

export const PlainPagination = named('PlainPagination', object(PAGINATION))
export type PlainPagination = v.InferOutput<typeof PlainPagination>

export const Pagination = named(
  'Pagination',
  object({
    ...PAGINATION,
    /** True when `total_count` is a lower bound, because counting all rows would take too long. */
    total_is_lower_bound: optional(alwaysTrue),
  }),
)
export type Pagination = v.InferOutput<typeof Pagination>
