import * as v from 'valibot'
import { TrackerError } from '../errors.js'
import { cleanText, didYouMean } from '../text.js'
import { epochMilliseconds } from '../time.js'
import { facts, inputNames } from './describe-input.js'
import { acceptedNames, toCanonicalNames } from './spelling.js'

/**
 * Schema builders for the input of commands, queries, forms and query strings. A schema accepts both the typed value
 * (`25`) and its text (`"25"`). HTTP, the command line and code share one rule and one message.
 */

/** Id of a record. */
export const id = () =>
  v.pipe(
    number('a record id'),
    v.check((n) => Number.isSafeInteger(n) && n > 0, 'must be a positive whole number'),
    facts({ type: 'id' }),
  )

/** A whole number. Out-of-range values are rejected. */
export const integer = ({ min, max }: Limits) =>
  v.pipe(
    number(`a whole number from ${min} to ${max}`),
    v.check((n) => Number.isInteger(n) && n >= min && n <= max, `must be a whole number from ${min} to ${max}`),
    facts({ type: 'integer', min, max }),
  )

/** A whole number, clamped to the range. For pages, spans and limits, never for a filter. */
export const clampedInteger = ({ min, max }: Limits) =>
  v.pipe(
    number(`a whole number from ${min} to ${max}`),
    v.check((n) => Number.isInteger(n), `must be a whole number from ${min} to ${max}`),
    v.transform((n) => Math.min(max, Math.max(min, n))),
    facts({ type: 'integer', min, max, clamped: true }),
  )

/** A number in the range, inclusive. */
export const fraction = ({ min, max }: Limits) =>
  v.pipe(
    number(`a number from ${min} to ${max}`, DECIMAL_TEXT),
    v.check((n) => n >= min && n <= max, `must be a number from ${min} to ${max}`),
    facts({ type: 'number', min, max }),
  )

/** One of the given words. */
export const choice = <const Words extends readonly string[]>(words: Words) =>
  v.pipe(
    v.string(`must be one of ${words.join(', ')}`) as v.GenericSchema<Words[number], string>,
    v.trim(),
    v.check((word) => words.includes(word), `must be one of ${words.join(', ')}`),
    v.transform((word) => word as Words[number]),
    facts({ type: 'word', allowed: words }),
  )

/** One of the given whole numbers. */
export const numberChoice = <const Numbers extends readonly number[]>(numbers: Numbers) =>
  v.pipe(
    number(`one of ${numbers.join(', ')}`) as v.GenericSchema<Numbers[number] | `${Numbers[number]}`, number>,
    v.check((n) => numbers.includes(n), `must be one of ${numbers.join(', ')}`),
    v.transform((n) => n as Numbers[number]),
    facts({ type: 'integer', allowed: numbers }),
  )

/** `true`, `1`, `on` and `false`, `0`, `off`, empty. */
export const flag = (note?: string) =>
  v.pipe(
    v.union([v.boolean(), v.string() as v.GenericSchema<FlagText, string>, v.number(FLAG_MESSAGE)]),
    v.check((value) => typeof value === 'boolean' || FLAG_VALUES.has(String(value).trim().toLowerCase()), FLAG_MESSAGE),
    v.transform((value) =>
      typeof value === 'boolean' ? value : (FLAG_VALUES.get(String(value).trim().toLowerCase()) ?? false),
    ),
    facts({ type: 'boolean', ...(note && { note }) }),
  )

type FlagText = 'true' | '1' | 'on' | 'false' | '0' | 'off' | ''

const FLAG_MESSAGE = 'must be true or false'
const FLAG_VALUES = new Map<string, boolean>([
  ['true', true],
  ['1', true],
  ['on', true],
  ['false', false],
  ['0', false],
  ['off', false],
  ['', false],
])

const TIME_MESSAGE = 'must be a time such as 2026-03-09T12:00:00Z'

/** A time in ISO 8601, or in seconds or milliseconds since 1970. */
export const instant = () =>
  v.pipe(
    v.union([v.number(TIME_MESSAGE), v.string(TIME_MESSAGE)], TIME_MESSAGE),
    v.transform((value) => parseTime(String(value).trim())),
    v.check((time) => Number.isFinite(time) && Math.abs(time) <= 8.64e15, TIME_MESSAGE),
    facts({ type: 'time' }),
  )

/** `Date.parse` alone reads `1.5` and `-5` as days of 2001. */
function parseTime(text: string): number {
  if (/^\d+$/.test(text)) return epochMilliseconds(Number(text))
  return /^\d{4}-\d\d/.test(text) ? Date.parse(text) : Number.NaN
}

/** Text that must not be empty. */
export const requiredText = ({ max }: { max: number }) =>
  v.pipe(
    v.string('must be a string'),
    v.trim(),
    v.nonEmpty('must not be empty'),
    v.maxLength(max, `must not be longer than ${max} characters`),
    v.transform((text) => cleanText(text, max)),
    facts({ type: 'text', max }),
  )

/** Optional text. Empty text counts as absent. */
export const optionalText = ({ max }: { max: number }) =>
  v.optional(
    v.pipe(
      v.nullable(v.string('must be a string')),
      v.transform((text) => text?.trim() ?? ''),
      v.maxLength(max, `must not be longer than ${max} characters`),
      v.transform((text) => (text === '' ? undefined : cleanText(text, max))),
      facts({ type: 'text', max }),
    ),
  )

/** Optional text for a filter. Text beyond the limit is truncated because it cannot match anything. */
export const filterText = ({ max, note }: { max: number; note?: string }) =>
  v.optional(
    v.pipe(
      v.nullable(v.string('must be a string')),
      v.transform((text) => (!text || text.trim() === '' ? undefined : cleanText(text.trim(), max))),
      facts({ type: 'text', max, clamped: true, ...(note && { note }) }),
    ),
  )

/** Parameter that can be absent or empty. */
export const optional = <Schema extends v.GenericSchema>(schema: Schema) =>
  v.optional(
    v.union([
      v.pipe(
        v.literal(''),
        v.transform(() => undefined),
      ),
      v.pipe(
        v.null(),
        v.transform(() => undefined),
      ),
      schema,
    ]),
  )

/**
 * Parameter with a default for absent or empty input. The docs read the default from here.
 * @example v.object({ days: withDefault(clampedInteger({ min: 1, max: 365 }), 30) })
 */
export const withDefault = <Schema extends v.GenericSchema>(
  schema: Schema,
  value: v.InferInput<Schema> & v.InferOutput<Schema>,
): v.OptionalSchema<
  v.GenericSchema<v.InferInput<Schema> | '' | null, v.InferOutput<Schema>>,
  () => v.InferInput<Schema>
> =>
  v.optional(
    v.union([
      v.pipe(
        v.literal(''),
        v.transform((): v.InferOutput<Schema> => value),
      ),
      v.pipe(
        v.null(),
        v.transform((): v.InferOutput<Schema> => value),
      ),
      schema,
    ]),
    // Defaults are parsed like input, so a default outside the limits is impossible.
    () => value as v.InferInput<Schema>,
  )

interface Limits {
  min: number
  max: number
}

/** `Number` also accepts `1e1`, `0x10`, empty text and `Infinity`. */
const INTEGER_TEXT = /^\s*-?\d+\s*$/
const DECIMAL_TEXT = /^\s*-?\d+(?:\.\d+)?\s*$/

const number = (label: string, textPattern = INTEGER_TEXT) =>
  v.pipe(
    v.union([v.number(`must be ${label}`), v.string(`must be ${label}`)], `must be ${label}`),
    v.transform((value) => (typeof value === 'number' || textPattern.test(value) ? Number(value) : Number.NaN)),
    v.check((value) => Number.isFinite(value), `must be ${label}`),
  )

/** Parses the input, or throws one `invalid_input` error that lists every invalid field. */
export function parseInput<Schema extends v.GenericSchema>(
  schema: Schema,
  input: unknown,
  { abortEarly = false }: { abortEarly?: boolean } = {},
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, input, { abortPipeEarly: true, abortEarly })
  if (result.success) return result.output
  throw new TrackerError('invalid_input', [...new Set(result.issues.map(issueMessage))].join('; '))
}

/**
 * Parses the arguments of a call in code, which can have names in camelCase. A misspelled name throws, because a query
 * without its filter returns too much. HTTP, JSON and flags use `parseInput`.
 */
export function parseArguments<Schema extends v.GenericSchema>(schema: Schema, input: unknown): v.InferOutput<Schema> {
  if (typeof input !== 'object' || input === null) return parseInput(schema, input)
  const names = acceptedNames(inputNames(schema))
  const { fields, conflicts } = toCanonicalNames(input, names)
  const unknown = schema.type === 'object' ? Object.keys(fields).filter((name) => !names.has(name)) : []
  const problems = [
    ...conflicts,
    ...unknown.map((name) => `${name} is not an argument${didYouMean(name, names.keys())}`),
  ]
  if (problems.length > 0) throw new TrackerError('invalid_input', problems.join('; '))
  return parseInput(schema, fields)
}

function issueMessage(issue: v.BaseIssue<unknown>): string {
  const field = v.getDotPath(issue)
  if (field === null) return 'the input must be an object with named fields'
  const deepest = deepestIssue(issue)
  if (deepest.received === 'undefined') return `${field} is missing`
  return `${field} ${deepest.message}`
}

/** A union only reports that nothing matched. The message of its last branch is actionable. */
function deepestIssue(issue: v.BaseIssue<unknown>): v.BaseIssue<unknown> {
  const inner = issue.issues?.at(-1)
  return inner ? deepestIssue(inner) : issue
}
