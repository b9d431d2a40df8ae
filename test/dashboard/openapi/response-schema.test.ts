import * as v from 'valibot'
import { expect, test } from 'vitest'
import { ResponseSchemas } from '../../../src/dashboard/openapi/response-schema.js'
import * as r from '../../../src/model/result.js'

function toJsonSchema(schema: v.GenericSchema): unknown {
  return new ResponseSchemas().convert(schema)
}

test('converts every kind of result schema to JSON Schema', () => {
  const schema = r.object({
    text: r.text,
    time: r.time,
    day: r.nullable(r.day),
    integers: r.list(r.integer),
    pair: r.pair(r.number),
    severity: r.nullable(r.oneOf(['low', 'high'])),
    by_name: r.map(r.boolean),
    any: r.anyValue,
    context: r.nullable(r.anyObject),
    is_lower_bound: r.optional(r.alwaysTrue),
    open: v.looseObject({ id: r.integer }),
  })
  expect(toJsonSchema(schema)).toEqual({
    type: 'object',
    properties: {
      text: { type: 'string' },
      time: { type: 'string', format: 'date-time' },
      day: { type: ['string', 'null'], format: 'date' },
      integers: { type: 'array', items: { type: 'integer' } },
      pair: { type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 2 },
      severity: { anyOf: [{ type: 'string', enum: ['low', 'high'] }, { type: 'null' }] },
      by_name: { type: 'object', additionalProperties: { type: 'boolean' } },
      any: {},
      context: { type: ['object', 'null'] },
      is_lower_bound: { const: true },
      open: {
        type: 'object',
        properties: { id: { type: 'integer' } },
        required: ['id'],
        additionalProperties: true,
      },
    },
    required: ['text', 'time', 'day', 'integers', 'pair', 'severity', 'by_name', 'any', 'context', 'open'],
  })
})

test('contains a named schema once and refers to it', () => {
  const user = r.named('User', r.object({ id: r.integer }))
  const schemas = new ResponseSchemas()
  const reference = { $ref: '#/components/schemas/User' }
  expect(schemas.convert(r.list(user))).toEqual({ type: 'array', items: reference })
  expect(schemas.convert(r.nullable(user))).toEqual({ anyOf: [reference, { type: 'null' }] })
  expect(schemas.components()).toEqual({
    User: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
  })
  expect(schemas.convert(r.object(user.entries))).not.toEqual(reference)
})

test('rejects a schema that has no JSON Schema', () => {
  expect(() => toJsonSchema(r.object({ at: v.date() }))).toThrow('No JSON Schema for date')
})
