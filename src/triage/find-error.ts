import * as v from 'valibot'
import type { Context } from '../context.js'
import { TrackerError } from '../model/errors.js'
import type { Cause } from '../model/event.js'
import { id } from '../model/input.js'
import { defineOperation } from '../operation.js'
import { type Activity, type Comment, type ErrorRecord, summaryOf } from './error-record.js'
import { applicationNames, userCounts } from './errors-list.js'
import { circumstancesOf, occurrenceOf } from './occurrence.js'

const NEWEST_OCCURRENCES = 10
const TRAIL_LIMIT = 200

/** One error with its backtrace, newest occurrences, comments and activity trail. */
export const findError = defineOperation({
  input: v.object({ error_id: id() }),
  async run(context, { error_id }): Promise<ErrorRecord> {
    const { read } = context.database
    const row = await read.selectFrom('faultboard_errors').selectAll().where('id', '=', error_id).executeTakeFirst()
    if (!row) throw noSuchError(error_id)
    const occurrences = await read
      .selectFrom('faultboard_occurrences')
      .selectAll()
      .where('error_id', '=', error_id)
      .orderBy('occurred_at', 'desc')
      .orderBy('id', 'desc')
      .limit(NEWEST_OCCURRENCES)
      .execute()
    const newest = occurrences[0]
    const summary = summaryOf(row, {
      application_name: (await applicationNames(context)).get(row.application_id) ?? '',
      user_count: (await userCounts(context, [row.id])).get(row.id) ?? 0,
      now: context.now(),
    })
    const latest = newest ? occurrenceOf(newest, row.message) : null
    return {
      ...summary,
      ...(await payload(context, newest?.payload_id)),
      ...circumstancesOf(latest),
      comments: await comments(context, error_id),
      activities: await activities(context, error_id),
      occurrences: occurrences.map((occurrence) => occurrenceOf(occurrence, row.message)),
    }
  },
})

export function noSuchError(error_id: number): TrackerError {
  return new TrackerError('not_found', `There is no error with the id ${error_id}; it may have been deleted.`)
}

async function payload(
  { database }: Context,
  payload_id: number | undefined,
): Promise<{ backtrace: string[]; causes: Cause[] }> {
  if (payload_id === undefined) return { backtrace: [], causes: [] }
  const row = await database.read
    .selectFrom('faultboard_payloads')
    .select('content')
    .where('id', '=', payload_id)
    .executeTakeFirst()
  return row ? JSON.parse(row.content) : { backtrace: [], causes: [] }
}

async function comments({ database }: Context, error_id: number): Promise<Comment[]> {
  const rows = await database.read
    .selectFrom('faultboard_comments')
    .select(['id', 'author_name', 'body', 'created_at'])
    .where('error_id', '=', error_id)
    .orderBy('id', 'desc')
    .limit(TRAIL_LIMIT)
    .execute()
  return rows.reverse().map((row) => ({ ...row, created_at: new Date(row.created_at).toISOString() }))
}

async function activities({ database }: Context, error_id: number): Promise<Activity[]> {
  const rows = await database.read
    .selectFrom('faultboard_activities')
    .select(['id', 'actor', 'action', 'from_value', 'to_value', 'comment', 'created_at'])
    .where('error_id', '=', error_id)
    .orderBy('id', 'desc')
    .limit(TRAIL_LIMIT)
    .execute()
  return rows.reverse().map((row) => ({ ...row, created_at: new Date(row.created_at).toISOString() }))
}
