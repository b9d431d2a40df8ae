import { daySpan } from '../../model/time.js'
import type { Dialect } from '../../store/dialect.js'
import { type ExpressionBuilder, sql } from '../../store/kysely.js'
import type { Schema } from '../../store/schema.js'
import { byteOrder, withoutIndex } from '../../store/sql/sort-order.js'

/** Filter conditions that need tables other than `faultboard_errors`. */

export type ErrorsExpression = ExpressionBuilder<Schema, 'faultboard_errors'>

/** Errors that occurred on this day, even if they were also seen later. */
export function occurredOnDay(eb: ErrorsExpression, day: string, time_zone: string) {
  const { from, to } = daySpan(day, time_zone)
  return eb(
    'faultboard_errors.id',
    'in',
    eb
      .selectFrom('faultboard_error_hours')
      .select('faultboard_error_hours.error_id')
      .where('faultboard_error_hours.hour', '>=', from)
      .where('faultboard_error_hours.hour', '<', to),
  )
}

/** Errors with at least one occurrence of this user. */
export function affectsUser(eb: ErrorsExpression, user_id: string) {
  return eb(
    'faultboard_errors.id',
    'in',
    eb
      .selectFrom('faultboard_error_users')
      .select('faultboard_error_users.error_id')
      .where('faultboard_error_users.user_id', '=', user_id),
  )
}

export interface VersionFilter {
  app_version: string
  application_id: number | undefined
  /**
   * `exact` unless set. `segments` also matches versions with more segments: `5.12` matches `5.12.1`, not `5.120`. `prefix`
   * matches all versions that start with `app_version`.
   */
  match?: 'exact' | 'segments' | 'prefix'
}

/** Errors with at least one occurrence in this version. */
export function seenInVersion(
  eb: ErrorsExpression,
  dialect: Dialect,
  { app_version, application_id, match = 'exact' }: VersionFilter,
) {
  const all = eb.selectFrom('faultboard_error_versions').select('faultboard_error_versions.error_id')
  const version = byteOrder(dialect, 'faultboard_error_versions.app_version')
  const isExact = eb(sql.ref('faultboard_error_versions.app_version'), '=', app_version)
  const inRange = (end: string) => all.where(version, '>=', app_version).where(version, '<', `${app_version}${end}`)
  const versions = {
    exact: () => all.where(isExact),
    // Uses one index range, because `/` sorts directly after `.`. Excludes versions with a hyphen or plus, which the
    // range contains too.
    segments: () => inRange('/').where(eb.or([isExact, eb(version, '>=', `${app_version}.`)])),
    prefix: () => inRange(LAST_CHARACTER),
  }[match]()
  const application = 'faultboard_error_versions.application_id'
  return eb(
    // A version may contain most errors. On SQLite, a scan is then faster than lookups by id.
    withoutIndex(dialect, 'faultboard_errors.id'),
    'in',
    application_id === undefined
      ? // Listing all applications lets the database use the primary key, which starts with the application.
        versions.where(application, 'in', eb.selectFrom('faultboard_applications').select('faultboard_applications.id'))
      : versions.where(application, '=', application_id),
  )
}

/** Sorts after every other character. */
const LAST_CHARACTER = '\u{10FFFF}'

/** Errors with at least one occurrence on this platform. */
export function seenOnPlatform(eb: ErrorsExpression, dialect: Dialect, platform: string) {
  return eb(
    // A platform may contain most errors. On SQLite, a scan is then faster than lookups by id.
    withoutIndex(dialect, 'faultboard_errors.id'),
    'in',
    selectOrigins(eb, 'platform').where('faultboard_error_origins.value', '=', platform),
  )
}

/** Abbreviated commit. Shorter prefixes could match several commits. */
const COMMIT_PREFIX = /^[0-9a-f]{7,}$/i

/**
 * Errors with at least one occurrence in this commit. Uses a range instead of `like`, whose case sensitivity differs
 * between databases.
 */
export function seenInCommit(eb: ErrorsExpression, dialect: Dialect, git_sha: string) {
  const commits = selectOrigins(eb, 'commit')
  const value = byteOrder(dialect, 'faultboard_error_origins.value')
  return eb(
    withoutIndex(dialect, 'faultboard_errors.id'),
    'in',
    COMMIT_PREFIX.test(git_sha)
      ? // `g` sorts after every hex digit.
        commits.where(value, '>=', git_sha).where(value, '<', `${git_sha}g`)
      : commits.where(value, '=', git_sha),
  )
}

function selectOrigins(eb: ErrorsExpression, kind: 'platform' | 'commit') {
  return eb
    .selectFrom('faultboard_error_origins')
    .select('faultboard_error_origins.error_id')
    .where('faultboard_error_origins.kind', '=', kind)
}
