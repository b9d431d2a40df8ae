import * as v from 'valibot'
import { CLIENT_SOURCES } from '../model/event.js'
import { SEVERITIES } from '../model/severity.js'
import { STATUSES } from '../model/workflow.js'
import { cause, circumstances } from './circumstances.js'
import { hexadecimal, hour, LONG, list, oneOf, text, time, whole } from './values.js'

/**
 * Lines of an export, one JSON object each. An application precedes its errors. An error with many users or
 * occurrences continues in lines of kind `more`, so that lines stay bounded. Times are ISO 8601 in UTC.
 */
export const VERSION = 1

const orNull = <Schema extends v.GenericSchema>(schema: Schema) => v.nullable(schema)

const user = v.object({ user_id: text(255), count: whole(1), first_seen_at: time, last_seen_at: time })
const payload = v.object({
  backtrace: list(text(LONG)),
  causes: list(cause),
  signature_place: v.optional(list(text(LONG))),
})
const occurrence = v.object({
  /** Index into the payloads of the line. */
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
  context: orNull(circumstances),
})

const rows = { users: list(user), payloads: list(payload), occurrences: list(occurrence) }
const origin = {
  application_name: v.pipe(text(255), v.nonEmpty('must not be empty')),
  /** Id of the exported group, and of the groups imported into it. */
  origins: v.pipe(list(hexadecimal(32)), v.minLength(1, 'must not be empty')),
  /** Changes with every state of the group. */
  revision: hexadecimal(32),
}

const release = v.object({ platform: text(64), version: text(128), first_seen_at: time })

export const applicationLine = v.object({
  kind: v.literal('application'),
  application_name: origin.application_name,
  created_at: time,
  releases: list(release),
  /** Absent in exports of 0.4.0. */
  client_releases: v.optional(list(release), []),
})

export const errorLine = v.object({
  kind: v.literal('error'),
  ...origin,
  error: v.object({
    hash_signature: hexadecimal(64),
    error_type: text(255),
    message: text(LONG),
    /** Absent in exports of 0.4.0. */
    source: v.optional(orNull(oneOf(CLIENT_SOURCES)), null),
    place: orNull(text(500)),
    severity: oneOf(SEVERITIES),
    status: oneOf(STATUSES),
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
    /** Absent in exports of 0.4.0. */
    shown_at: v.optional(orNull(time), null),
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
      severity: oneOf(SEVERITIES),
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
  hash_signature: hexadecimal(64),
  /** Message of the error; an occurrence contains its own only if it differs. */
  message: text(LONG),
  part: whole(2),
  ...rows,
})

export type ApplicationLine = v.InferOutput<typeof applicationLine>
export type ErrorLine = v.InferOutput<typeof errorLine>
export type MoreLine = v.InferOutput<typeof moreLine>
export type RecordRows = Pick<MoreLine, 'users' | 'payloads' | 'occurrences'>

/** A line as written to a file. */
export type ExportedLine = { version: number } & (
  | v.InferInput<typeof applicationLine>
  | v.InferInput<typeof errorLine>
  | v.InferInput<typeof moreLine>
)

/** Result for one error. */
export type Outcome = 'created' | 'added' | 'known' | 'outdated'
