import { TrackerError } from '../model/errors.js'

/** Error as reported by a client. The shape is validated, but no value is trusted. */
export interface ReportedError {
  error_type: string
  message: string
  platform: string
  app_version: string
  environment?: string
  stack?: string
  url?: string
  component?: string
  /** Seconds or milliseconds since 1970. */
  timestamp?: number
  device_info?: object
  /** Identical for every attempt to report the error, so that it counts once. */
  event_id?: string
  user_id?: string | number
  breadcrumbs?: readonly unknown[]
  context?: object
  tags?: object
  /** Occurrences on the client before the report. Shown, but not added to the count. */
  count?: number
}

const MAX_BATCH_SIZE = 10

type Problem = string | null
type Rule = (value: unknown) => Problem

const text: Rule = (value) => (typeof value === 'string' ? null : 'must be a string')
const object: Rule = (value) => (isObject(value) ? null : 'must be an object')
const list: Rule = (value) => (Array.isArray(value) ? null : 'must be a list')
const number: Rule = (value) => (Number.isFinite(value) ? null : 'must be a number')
const nonEmptyText: Rule = (value) => text(value) ?? ((value as string).trim() === '' ? 'must not be empty' : null)

/** Fields of the contract. Unknown fields are ignored, and long texts are truncated. */
const FIELDS: Readonly<Record<keyof ReportedError, { required?: true; rule: Rule }>> = {
  error_type: { required: true, rule: nonEmptyText },
  // An error without a message is still an error.
  message: { required: true, rule: text },
  platform: { required: true, rule: nonEmptyText },
  app_version: { required: true, rule: nonEmptyText },
  environment: { rule: text },
  stack: { rule: text },
  url: { rule: text },
  component: { rule: text },
  timestamp: { rule: number },
  device_info: { rule: object },
  event_id: {
    rule: (value) =>
      text(value) ??
      (/^[\w.:-]{1,64}$/.test(value as string) ? null : 'must be 1 to 64 characters of A-Z a-z 0-9 _ . : -'),
  },
  user_id: { rule: (value) => (typeof value === 'number' ? number(value) : text(value)) },
  breadcrumbs: { rule: list },
  context: { rule: object },
  tags: { rule: object },
  count: {
    rule: (value) => (Number.isInteger(value) && (value as number) > 0 ? null : 'must be a positive whole number'),
  },
}

/**
 * Parses the errors of a body, `{ error }` or `{ errors }`. Throws `invalid_input` with the name of the field. Accepts
 * a batch as a whole or not at all.
 */
export function parseErrors(body: unknown): ReportedError[] {
  if (!isObject(body)) throw invalidInput('the body must be an object with error or errors')
  const [error, errors] = [ownProperty(body, 'error'), ownProperty(body, 'errors')]
  if (error !== undefined && errors !== undefined) throw invalidInput('the body must contain error or errors, not both')
  if (errors === undefined) return [parseError(error, 'error')]
  if (!Array.isArray(errors)) throw invalidInput('errors must be a list')
  if (errors.length === 0) throw invalidInput('errors must not be empty')
  if (errors.length > MAX_BATCH_SIZE) throw invalidInput(`errors must not contain more than ${MAX_BATCH_SIZE} items`)
  return errors.map((item, i) => parseError(item, `errors[${i}]`))
}

function parseError(value: unknown, name: string): ReportedError {
  if (value === undefined) throw invalidInput(`${name} is required`)
  if (!isObject(value)) throw invalidInput(`${name} must be an object`)
  const reported: Record<string, unknown> = {}
  for (const [field, { required, rule }] of Object.entries(FIELDS)) {
    const fieldValue = ownProperty(value, field)
    const isMissing = fieldValue === undefined || fieldValue === null
    if (isMissing && required) throw invalidInput(`${name}.${field} is required`)
    if (isMissing) continue
    const problem = rule(fieldValue)
    if (problem) throw invalidInput(`${name}.${field} ${problem}`)
    reported[field] = fieldValue
  }
  return reported as unknown as ReportedError
}

/** Reads own properties only, because every object inherits names such as `constructor`. */
function ownProperty(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? (object as Record<string, unknown>)[name] : undefined
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function invalidInput(message: string): TrackerError {
  return new TrackerError('invalid_input', message)
}
