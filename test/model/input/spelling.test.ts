import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import type * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import * as operations from '../../../src/lazy-operations.js'
import { describeInput, type ParameterFacts } from '../../../src/model/input/describe-input.js'
import { parseArguments, parseInput } from '../../../src/model/input/input.js'
import { type AnyCase, acceptedNames, camelCase, toCanonicalNames } from '../../../src/model/input/spelling.js'
import type { Operation } from '../../../src/operation.js'

// biome-ignore lint/suspicious/noExplicitAny: operations of any input and result.
type AnyOperation = Operation<any, any>

const FILES = readdirSync('src/diagnostics', { recursive: true, encoding: 'utf8' }).filter((name) => /\.ts$/.test(name))
const diagnostics = await Promise.all(FILES.map((name) => import(/* @vite-ignore */ resolve('src/diagnostics', name))))

/** Every operation by name. Tables contain some of them as proxies, which load them on the first call. */
const OPERATIONS = [operations, ...diagnostics].flatMap((module) =>
  Object.entries(module as Record<string, AnyOperation>).filter(
    ([, value]) => typeof value?.run === 'function' && (value.input as v.GenericSchema)?.type === 'object',
  ),
)

const SAMPLES = { boolean: true, text: 'x', time: '2026-03-09T12:00:00Z', day: '2026-03-09' } as const

function sample({ type, min, allowed, list }: ParameterFacts): unknown {
  const value = allowed?.[0] ?? SAMPLES[type as keyof typeof SAMPLES] ?? min ?? 7
  return list ? [value] : value
}

/** A valid value of every field that has two spellings, and of other required fields. */
function sampleInput(schema: v.GenericSchema): [name: string, value: unknown][] {
  return describeInput(schema)
    .filter(({ name, required }) => required || name.includes('_'))
    .map((field) => [field.name, sample(field)])
}

function outcome(parse: () => unknown): unknown {
  try {
    return parse()
  } catch (error) {
    return String(error)
  }
}

describe('operations', () => {
  test('covers operations of all slices', () => {
    const names = OPERATIONS.map(([name]) => name)
    expect(names.length).toBeGreaterThan(50)
    expect(names).toEqual(expect.arrayContaining(['findError', 'captureDiagnosticDump', 'storeSourceMap']))
  })

  test.each(OPERATIONS)('%s accepts every argument in camelCase', (_, { input }) => {
    const fields = sampleInput(input)
    const camelCased = fields.map(([name, value]) => [camelCase(name), value])
    const expected = outcome(() => parseInput(input, Object.fromEntries(fields)))
    expect(outcome(() => parseArguments(input, Object.fromEntries(camelCased)))).toEqual(expected)
  })

  test.each(OPERATIONS)('%s rejects two spellings of one argument', (_, { input }) => {
    const fields = sampleInput(input)
    for (const [name, value] of fields.filter(([text]) => text.includes('_'))) {
      const both = { ...Object.fromEntries(fields), [camelCase(name)]: value }
      expect(() => parseArguments(input, both)).toThrow(
        `${name} and ${camelCase(name)} are two spellings of one name: use one of them`,
      )
    }
  })
})

test('input of HTTP requests stays in snake_case', () => {
  const { input } = operations.errorsList
  expect(parseInput(input, { errorType: 'TypeError', perPage: 5 })).toMatchObject({ per_page: 25 })
  expect(parseInput(input, { errorType: 'TypeError' }).error_type).toBeUndefined()
})

test('converts known names only', () => {
  const names = acceptedNames(['user_id', 'tags'])
  const input = { userId: 7, tags: { orderId: 1 }, otherName: 1, user_name: 'x' }
  expect(toCanonicalNames(input, names)).toEqual({
    fields: { user_id: 7, tags: { orderId: 1 }, otherName: 1, user_name: 'x' },
    conflicts: [],
  })
})

test('returns the same object if no name is in camelCase', () => {
  const input = { user_id: 7, otherName: 1 }
  expect(toCanonicalNames(input, acceptedNames(['user_id'])).fields).toBe(input)
})

test('requires a required field in one spelling', () => {
  type Input = AnyCase<{ error_id: number; body: string; per_page?: number }>
  expectTypeOf<{ error_id: number; body: string }>().toExtend<Input>()
  expectTypeOf<{ errorId: number; body: string; perPage: number }>().toExtend<Input>()
  expectTypeOf<{ body: string }>().not.toExtend<Input>()
  expectTypeOf<{ errorId: string; body: string }>().not.toExtend<Input>()
  expectTypeOf<{ errorId: number; error_id: number; body: string }>().not.toExtend<Input>()
})
