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

const described = (schema: v.GenericSchema): Omit<ParameterDescription, 'name'> | undefined => {
  const [field] = describeInput(v.object({ field: schema }))
  if (!field) return undefined
  const { name: _name, ...rest } = field
  return rest
}

test('every builder tells its type and limits', () => {
  expect(described(id())).toEqual({ type: 'id', required: true })
  expect(described(integer({ min: 1, max: 8760 }))).toEqual({ type: 'integer', min: 1, max: 8760, required: true })
  expect(described(clampedInteger({ min: 1, max: 9 }))).toMatchObject({
    type: 'integer',
    min: 1,
    max: 9,
    clamped: true,
  })
  expect(described(fraction({ min: 0, max: 1 }))).toEqual({ type: 'number', min: 0, max: 1, required: true })
  expect(described(choice(['asc', 'desc']))).toEqual({ type: 'word', allowed: ['asc', 'desc'], required: true })
  expect(described(numberChoice([7, 30]))).toEqual({ type: 'integer', allowed: [7, 30], required: true })
  expect(described(flag())).toEqual({ type: 'boolean', required: true })
  expect(described(requiredText({ max: 255 }))).toEqual({ type: 'text', max: 255, required: true })
  expect(described(optionalText({ max: 255 }))).toEqual({ type: 'text', max: 255, required: false })
  expect(described(filterText({ max: 64 }))).toEqual({ type: 'text', max: 64, clamped: true, required: false })
})

test('what is optional, has a default or is made into something else is described as what it is made from', () => {
  expect(described(optional(id()))).toEqual({ type: 'id', required: false })
  expect(described(v.optional(optional(flag())))).toEqual({ type: 'boolean', required: false })
  expect(described(withDefault(numberChoice([7, 30, 90]), 30))).toEqual({
    type: 'integer',
    allowed: [7, 30, 90],
    required: false,
    default: 30,
  })
  expect(
    described(
      v.pipe(
        filterText({ max: 64 }),
        v.transform((text) => text?.toLowerCase()),
      ),
    ),
  ).toEqual({ type: 'text', max: 64, clamped: true, required: false })
})

test('a list tells what stands in it and how much', () => {
  expect(described(v.pipe(v.array(id()), v.nonEmpty(), v.maxLength(1000)))).toEqual({
    type: 'id',
    list: { max: 1000 },
    required: true,
  })
  expect(described(v.array(id()))).toMatchObject({ list: { max: null } })
})

test('a schema of any other make is text, unless it says more', () => {
  expect(described(v.string())).toEqual({ type: 'text', required: true })
  expect(described(v.pipe(v.string(), facts({ type: 'integer', min: 3 })))).toEqual({
    type: 'integer',
    min: 3,
    required: true,
  })
})

test('the fields of a whole input come in its order, also when it is made into another shape', () => {
  const shaped = v.pipe(
    v.object({ error_id: id(), hours: integer({ min: 1, max: 2 }) }),
    v.transform(({ hours }) => hours),
  )
  expect(describeInput(shaped).map(({ name }) => name)).toEqual(['error_id', 'hours'])
  expect(describeInput(v.intersect([shaped, v.object({ page: optional(id()) })])).map(({ name }) => name)).toEqual([
    'error_id',
    'hours',
    'page',
  ])
})
