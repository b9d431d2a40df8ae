import * as v from 'valibot'
import { MAX_ENVIRONMENT_LENGTH } from '../model/environment.js'
import { CLIENT_SOURCES } from '../model/event.js'
import { SEVERITIES } from '../model/severity/severity.js'
import { STATUSES } from '../model/workflow.js'
import { cause, occurrenceContext } from './occurrence-context.js'
import { hexadecimal, hour, list, MAX_TEXT_LENGTH, oneOf, text, time, wholeNumber } from './values.js'

/**
 * Lines of an export, one JSON object each. An application precedes its errors. An error with many users or
 * occurrences continues in lines of kind `more`, so that lines stay bounded. Times are ISO 8601 in UTC.
 */
export const FORMAT_VERSION = 1

const nullable = <Schema extends v.GenericSchema>(schema: Schema) => v.nullable(schema)

const user = v.object({ user_id: text(255), count: wholeNumber(1), first_seen_at: time, last_seen_at: time })
const payload = v.object({
  backtrace: list(text(MAX_TEXT_LENGTH)),
  causes: list(cause),
  signature_place: v.optional(list(text(MAX_TEXT_LENGTH))),
})
const occurrence = v.object({
  /** Index into the payloads of the line. */
  payload: wholeNumber(0),
  occurred_at: time,
  message: nullable(text(MAX_TEXT_LENGTH)),
  platform: text(64),
  app_version: nullable(text(128)),
  git_sha: nullable(text(64)),
  user_id: nullable(text(255)),
  request_url: nullable(text(MAX_TEXT_LENGTH)),
  ip_address: nullable(text(64)),
  user_agent: nullable(text(512)),
  context: nullable(occurrenceContext),
})

const rowFields = { users: list(user), payloads: list(payload), occurrences: list(occurrence) }
const originFields = {
  application_name: v.pipe(text(255), v.nonEmpty('must not be empty')),
  /** Ids of the exported group and of the groups that were imported into it. */
  origins: v.pipe(list(hexadecimal(32)), v.minLength(1, 'must not be empty')),
  /** Digest of the group's content. */
  revision: hexadecimal(32),
}

/** Absent from exports of 0.4.0. */
const environment = v.optional(v.pipe(text(MAX_ENVIRONMENT_LENGTH), v.nonEmpty('must not be empty')))

const release = v.object({ platform: text(64), version: text(128), environment, first_seen_at: time })

export const applicationLine = v.object({
  kind: v.literal('application'),
  application_name: originFields.application_name,
  created_at: time,
  releases: list(release),
  /** Absent from exports of 0.4.0. */
  client_releases: v.optional(list(release), []),
})

export const errorLine = v.object({
  kind: v.literal('error'),
  ...originFields,
  error: v.object({
    hash_signature: hexadecimal(64),
    environment,
    error_type: text(255),
    message: text(MAX_TEXT_LENGTH),
    /** Absent from exports of 0.4.0. */
    source: v.optional(nullable(oneOf(CLIENT_SOURCES)), null),
    place: nullable(text(500)),
    severity: oneOf(SEVERITIES),
    status: oneOf(STATUSES),
    priority_level: v.pipe(
      wholeNumber(0),
      v.check((n) => n <= 4, 'must be at most 4'),
    ),
    assigned_to: nullable(text(255)),
    platform: text(64),
    app_version: nullable(text(128)),
    first_app_version: nullable(text(128)),
    git_sha: nullable(text(64)),
    user_id: nullable(text(255)),
    occurrence_count: wholeNumber(1),
    first_seen_at: time,
    occurred_at: time,
    /** Absent from exports of 0.4.0. */
    shown_at: v.optional(nullable(time), null),
    snoozed_until: nullable(time),
    snooze_reason: nullable(text(MAX_TEXT_LENGTH)),
    resolved_at: nullable(time),
    resolved_by_name: nullable(text(255)),
    resolution_comment: nullable(text(MAX_TEXT_LENGTH)),
    resolution_reference: nullable(text(MAX_TEXT_LENGTH)),
    reopened_at: nullable(time),
    resolved_in_version: nullable(text(128)),
    regressed_in_version: nullable(text(128)),
    muted_at: nullable(time),
    muted_until: nullable(time),
    muted_by_name: nullable(text(255)),
    mute_reason: nullable(text(MAX_TEXT_LENGTH)),
  }),
  search_text: text(MAX_TEXT_LENGTH),
  features: list(wholeNumber(0)),
  hours: list(
    v.object({
      hour,
      severity: oneOf(SEVERITIES),
      platform: text(64),
      app_version: text(128),
      count: wholeNumber(1),
    }),
  ),
  /** Commits in which the error occurred. Absent from exports of 0.4.0. */
  commits: v.optional(list(text(64)), []),
  comments: list(v.object({ author_name: text(255), body: text(MAX_TEXT_LENGTH), created_at: time })),
  activities: list(
    v.object({
      actor: text(255),
      action: text(32),
      from_value: nullable(text(MAX_TEXT_LENGTH)),
      to_value: nullable(text(MAX_TEXT_LENGTH)),
      comment: nullable(text(MAX_TEXT_LENGTH)),
      created_at: time,
    }),
  ),
  ...rowFields,
})

export const errorPartLine = v.object({
  kind: v.literal('more'),
  ...originFields,
  hash_signature: hexadecimal(64),
  environment,
  /** Message of the error. An occurrence has a message only if it differs from this message. */
  message: text(MAX_TEXT_LENGTH),
  part: wholeNumber(2),
  ...rowFields,
})

export type ApplicationLine = v.InferOutput<typeof applicationLine>
/** Error line as written by any version. */
export type WrittenErrorLine = v.InferOutput<typeof errorLine>
export type ErrorLine = WrittenErrorLine & { error: { environment: string } }
export type ErrorPartLine = v.InferOutput<typeof errorPartLine>
export type RecordRows = Pick<ErrorPartLine, 'users' | 'payloads' | 'occurrences'>

/** A line as written to a file. */
export type ExportedLine = { version: number } & (
  | v.InferInput<typeof applicationLine>
  | v.InferInput<typeof errorLine>
  | v.InferInput<typeof errorPartLine>
)

/** Result for one error. */
export type Outcome = 'created' | 'added' | 'known' | 'outdated'
