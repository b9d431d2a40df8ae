import * as v from 'valibot'
import { expect, test } from 'vitest'
import { describeInput, facts, type ParameterDescription } from '../../../src/model/input/describe-input.js'
import {
  choice,
  clampedInteger,
  filterText,
  flag,
  fraction,
  id,
  integer,
  numberChoice,
  optional,
  optionalText,
  requiredText,
  withDefault,
} from '../../../src/model/input/input.js'

const describe = (schema: v.GenericSchema): Omit<ParameterDescription, 'name'> | undefined => {
  const [field] = describeInput(v.object({ field: schema }))
  if (!field) return undefined
  const { name: _name, ...rest } = field
  return rest
}

test('describes the type and limits of every schema builder', () => {
  expect(describe(id())).toEqual({ type: 'id', required: true })
  expect(describe(integer({ min: 1, max: 8760 }))).toEqual({ type: 'integer', min: 1, max: 8760, required: true })
  expect(describe(clampedInteger({ min: 1, max: 9 }))).toMatchObject({
    type: 'integer',
    min: 1,
    max: 9,
    clamped: true,
  })
  expect(describe(fraction({ min: 0, max: 1 }))).toEqual({ type: 'number', min: 0, max: 1, required: true })
  expect(describe(choice(['asc', 'desc']))).toEqual({ type: 'word', allowed: ['asc', 'desc'], required: true })
  expect(describe(numberChoice([7, 30]))).toEqual({ type: 'integer', allowed: [7, 30], required: true })
  expect(describe(flag())).toEqual({ type: 'boolean', required: true })
  expect(describe(requiredText({ max: 255 }))).toEqual({ type: 'text', max: 255, required: true })
  expect(describe(optionalText({ max: 255 }))).toEqual({ type: 'text', max: 255, required: false })
  expect(describe(filterText({ max: 64 }))).toEqual({ type: 'text', max: 64, clamped: true, required: false })
})

test('describes the wrapped schema of an optional, defaulted or transformed parameter', () => {
  expect(describe(optional(id()))).toEqual({ type: 'id', required: false })
  expect(describe(v.optional(optional(flag())))).toEqual({ type: 'boolean', required: false })
  expect(describe(withDefault(numberChoice([7, 30, 90]), 30))).toEqual({
    type: 'integer',
    allowed: [7, 30, 90],
    required: false,
    default: 30,
  })
  expect(
    describe(
      v.pipe(
        filterText({ max: 64 }),
        v.transform((text) => text?.toLowerCase()),
      ),
    ),
  ).toEqual({ type: 'text', max: 64, clamped: true, required: false })
})

test('describes the items and the maximum length of a list', () => {
  expect(describe(v.pipe(v.array(id()), v.nonEmpty(), v.maxLength(1000)))).toEqual({
    type: 'id',
    list: { max: 1000 },
    required: true,
  })
  expect(describe(v.array(id()))).toMatchObject({ list: { max: null } })
})

test('describes an unknown schema as text unless it declares facts', () => {
  expect(describe(v.string())).toEqual({ type: 'text', required: true })
  expect(describe(v.pipe(v.string(), facts({ type: 'integer', min: 3 })))).toEqual({
    type: 'integer',
    min: 3,
    required: true,
  })
})

test('lists the fields of a transformed or combined input in order', () => {
  const transformed = v.pipe(
    v.object({ error_id: id(), hours: integer({ min: 1, max: 2 }) }),
    v.transform(({ hours }) => hours),
  )
  expect(describeInput(transformed).map(({ name }) => name)).toEqual(['error_id', 'hours'])
  expect(describeInput(v.intersect([transformed, v.object({ page: optional(id()) })])).map(({ name }) => name)).toEqual(
    ['error_id', 'hours', 'page'],
  )
})
