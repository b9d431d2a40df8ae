import * as v from 'valibot'
import { cleanText } from '../model/text.js'
import { HOUR } from '../model/time.js'

/** Longer than any recorded text. */
export const MAX_TEXT_LENGTH = 1_000_000
/** The line length bounds lists. This limit only bounds sums and loops. */
const MAX_LIST_LENGTH = 1_000_000

export const text = (max: number) =>
  v.pipe(
    v.string('must be a string'),
    v.maxLength(max, `must not be longer than ${max} characters`),
    v.transform((value) => cleanText(value, max)),
  )

export const wholeNumber = (min: number) =>
  v.pipe(
    v.number('must be a number'),
    v.check((n) => Number.isSafeInteger(n) && n >= min, `must be a whole number of at least ${min}`),
  )

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/

export const time = v.pipe(
  v.string('must be an ISO 8601 timestamp in UTC'),
  v.check((value) => ISO_TIME.test(value) && Date.parse(value) >= 0, 'must be an ISO 8601 timestamp in UTC'),
  v.transform((value) => Date.parse(value)),
)

export const hour = v.pipe(
  time,
  v.check((value) => value % HOUR === 0, 'must be the start of an hour'),
)

export const list = <Schema extends v.GenericSchema>(schema: Schema) =>
  v.pipe(
    v.array(schema, 'must be a list'),
    v.maxLength(MAX_LIST_LENGTH, `must not have more than ${MAX_LIST_LENGTH} entries`),
  )

export const plainObject = v.custom<Record<string, unknown>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object',
)

export const oneOf = <const Words extends readonly string[]>(choices: Words) =>
  v.picklist(choices, `must be one of ${choices.join(', ')}`)

export const hexadecimal = (digits: number) =>
  v.pipe(
    v.string('must be a string'),
    v.regex(new RegExp(`^[0-9a-f]{${digits}}$`), `must be ${digits} hexadecimal digits`),
  )
