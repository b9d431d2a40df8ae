import * as v from 'valibot'
import { SEVERITIES } from '../model/severity.js'
import { cleanText } from '../model/text.js'
import { HOUR } from '../model/time.js'
import { STATUSES } from '../model/workflow.js'

/**
 * The lines of an export, one JSON object each. An application comes before its errors; an error with many users or
 * occurrences goes on in lines of the kind `more`, so that no line grows with them. Times are ISO 8601 in UTC.
 */
export const VERSION = 1

const LONG = 1_000_000
const MANY = 100_000

const text = (max: number) =>
  v.pipe(
    v.string('must be text'),
    v.maxLength(max, `must not be longer than ${max} characters`),
    v.transform((value) => cleanText(value, max)),
  )
const orNull = <Schema extends v.GenericSchema>(schema: Schema) => v.nullable(schema)
const whole = (min: number) =>
  v.pipe(
    v.number('must be a number'),
    v.check((n) => Number.isSafeInteger(n) && n >= min, `must be a whole number of at least ${min}`),
  )
const time = v.pipe(
  v.string('must be a time in ISO 8601'),
  v.check((value) => ISO.test(value) && Date.parse(value) >= 0, 'must be a time in ISO 8601'),
  v.transform((value) => Date.parse(value)),
)
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/
const hour = v.pipe(
  time,
  v.check((value) => value % HOUR === 0, 'must be the beginning of an hour'),
)
const list = <Schema extends v.GenericSchema>(schema: Schema) =>
  v.pipe(v.array(schema, 'must be a list'), v.maxLength(MANY, `must not have more than ${MANY} entries`))
const plainObject = v.custom<Record<string, unknown>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be an object',
)
const signature = v.pipe(v.string('must be text'), v.regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits'))
const mark = v.pipe(v.string('must be text'), v.regex(/^[0-9a-f]{32}$/, 'must be 32 hexadecimal digits'))

const user = v.object({ user_id: text(255), count: whole(1), first_seen_at: time, last_seen_at: time })
const payload = v.object({ backtrace: list(text(LONG)), causes: list(plainObject) })
const occurrence = v.object({
  /** Which of the line's payloads. */
  payload: whole(0),
  occurred_at: time,
  message: orNull(text(LONG)),
  platform: text(64),
  app_version: orNull(text(128)),
  git_sha: orNull(text(64)),
  user_id: orNull(text(255)),
  request_url: orNull(text(LONG)),
  ip_address: orNull(text(64)),
  user_agent: orNull(text(512)),
  context: orNull(plainObject),
})

const rows = { users: list(user), payloads: list(payload), occurrences: list(occurrence) }
const origin = {
  application_name: v.pipe(text(255), v.nonEmpty('must not be empty')),
  /** Which group of which database it was, and those that were once imported into it. */
  origins: v.pipe(list(mark), v.minLength(1, 'must not be empty')),
  /** Another one for every state of the group. */
  revision: mark,
}

export const applicationLine = v.object({
  kind: v.literal('application'),
  application_name: origin.application_name,
  created_at: time,
  releases: list(v.object({ platform: text(64), version: text(128), first_seen_at: time })),
})

export const errorLine = v.object({
  kind: v.literal('error'),
  ...origin,
  error: v.object({
    hash_signature: signature,
    error_type: text(255),
    message: text(LONG),
    place: orNull(text(500)),
    severity: v.picklist(SEVERITIES, `must be one of ${SEVERITIES.join(', ')}`),
    status: v.picklist(STATUSES, `must be one of ${STATUSES.join(', ')}`),
    priority_level: v.pipe(
      whole(0),
      v.check((n) => n <= 4, 'must be at most 4'),
    ),
    assigned_to: orNull(text(255)),
    platform: text(64),
    app_version: orNull(text(128)),
    first_app_version: orNull(text(128)),
    git_sha: orNull(text(64)),
    user_id: orNull(text(255)),
    occurrence_count: whole(1),
    first_seen_at: time,
    occurred_at: time,
    snoozed_until: orNull(time),
    snooze_reason: orNull(text(LONG)),
    resolved_at: orNull(time),
    resolved_by_name: orNull(text(255)),
    resolution_comment: orNull(text(LONG)),
    resolution_reference: orNull(text(LONG)),
    reopened_at: orNull(time),
    resolved_in_version: orNull(text(128)),
    regressed_in_version: orNull(text(128)),
    muted_at: orNull(time),
    muted_until: orNull(time),
    muted_by_name: orNull(text(255)),
    mute_reason: orNull(text(LONG)),
  }),
  search_text: text(LONG),
  features: list(whole(0)),
  hours: list(
    v.object({
      hour,
      severity: v.picklist(SEVERITIES, `must be one of ${SEVERITIES.join(', ')}`),
      platform: text(64),
      app_version: text(128),
      count: whole(1),
    }),
  ),
  comments: list(v.object({ author_name: text(255), body: text(LONG), created_at: time })),
  activities: list(
    v.object({
      actor: text(255),
      action: text(32),
      from_value: orNull(text(LONG)),
      to_value: orNull(text(LONG)),
      comment: orNull(text(LONG)),
      created_at: time,
    }),
  ),
  ...rows,
})

export const moreLine = v.object({
  kind: v.literal('more'),
  ...origin,
  hash_signature: signature,
  /** Of the error; an occurrence says only where its own is another. */
  message: text(LONG),
  part: whole(2),
  ...rows,
})

export type ApplicationLine = v.InferOutput<typeof applicationLine>
export type ErrorLine = v.InferOutput<typeof errorLine>
export type MoreLine = v.InferOutput<typeof moreLine>
export type RecordRows = Pick<MoreLine, 'users' | 'payloads' | 'occurrences'>

/** A line as it stands in a file. */
export type ExportedLine = { version: number } & (
  | v.InferInput<typeof applicationLine>
  | v.InferInput<typeof errorLine>
  | v.InferInput<typeof moreLine>
)
