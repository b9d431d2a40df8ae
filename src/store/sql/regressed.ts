import type { ExpressionBuilder } from '../kysely.js'
import type { Schema } from '../schema.js'

/** Errors that were last reopened by an occurrence, not by a user. */
export function hasRegressed({ and, eb, exists, selectFrom }: ExpressionBuilder<Schema, 'faultboard_errors'>) {
  return and([
    eb('faultboard_errors.reopened_at', 'is not', null),
    exists(
      selectFrom('faultboard_activities')
        .select('faultboard_activities.id')
        .whereRef('faultboard_activities.error_id', '=', 'faultboard_errors.id')
        .where('faultboard_activities.action', 'in', ['reopened', 'regressed'])
        .whereRef('faultboard_activities.created_at', '>=', 'faultboard_errors.reopened_at'),
    ),
  ])
}
