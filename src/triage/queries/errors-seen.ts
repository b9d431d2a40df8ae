import { daySpan } from '../../model/time.js'
import type { Dialect } from '../../store/dialect.js'
import { type ExpressionBuilder, type RawBuilder, sql } from '../../store/kysely.js'
import type { Schema } from '../../store/schema.js'
import { letterOrder, withoutIndex } from '../../store/sort-order.js'

/** When, where and by whom an error was seen: conditions that the row of the error alone does not answer. */

type ErrorsExpression = ExpressionBuilder<Schema, 'faultboard_errors'>

/** Every error that occurred in the hours that begin on this day, also those seen again later. */
export function occurredOn(eb: ErrorsExpression, day: string, time_zone: string) {
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

/** Every error that met this user, not only those whose newest occurrence did. */
export function affects(eb: ErrorsExpression, user_id: string) {
  return eb(
    'faultboard_errors.id',
    'in',
    eb
      .selectFrom('faultboard_error_users')
      .select('faultboard_error_users.error_id')
      .where('faultboard_error_users.user_id', '=', user_id),
  )
}

/** Every error that occurred in this version, not only those whose newest occurrence did. */
export function seenIn(
  eb: ErrorsExpression,
  dialect: Dialect,
  { app_version, application_id }: { app_version: string; application_id: number | undefined },
) {
  const versions = eb
    .selectFrom('faultboard_error_versions')
    .select('faultboard_error_versions.error_id')
    .where('faultboard_error_versions.app_version', '=', app_version)
  const application = 'faultboard_error_versions.application_id'
  return eb(
    // A version may hold most errors: fetching each by its id takes SQLite longer than a walk past all of them.
    withoutIndex(dialect, 'faultboard_errors.id'),
    'in',
    application_id === undefined
      ? // The key begins with the application, so it is named also where all are wanted.
        versions.where(application, 'in', eb.selectFrom('faultboard_applications').select('faultboard_applications.id'))
      : versions.where(application, '=', application_id),
  )
}

/** What people copy of a commit is often only its beginning; shorter than this it could mean several. */
const BEGINNING = /^[0-9a-f]{7,}$/i

/** As a span of letters rather than `like`, which heeds the letter case on some databases and not on others. */
export function fromCommit(dialect: Dialect, git_sha: string): RawBuilder<boolean> {
  const column = letterOrder(dialect, 'faultboard_errors.git_sha')
  if (!BEGINNING.test(git_sha)) return sql<boolean>`${column} = ${git_sha}`
  // `g` comes after every hex digit.
  return sql<boolean>`${column} >= ${git_sha} and ${column} < ${`${git_sha}g`}`
}
