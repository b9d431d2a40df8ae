import * as v from 'valibot'
import type { Context } from '../context.js'
import { id } from '../model/input.js'
import type { Severity } from '../model/severity.js'
import type { Status } from '../model/workflow.js'
import { defineOperation } from '../operation.js'
import { sql } from '../store/kysely.js'
import { errorTrends } from './error-trends.js'
import { errorsListInput, MAX_PER_PAGE } from './errors-filter.js'
import { summariesOf } from './errors-list.js'
import { matchingErrors, withText } from './matching-errors.js'
import { oneOf } from './one-of.js'

export interface ErrorChanges {
  /** The time to ask from the next time. */
  now: string
  /** Errors that fit the filter, are not among the visible ones, and were first seen or came back since. */
  new_count: number
  /** There are more of them. */
  new_count_is_bound?: true
  /** Those of the visible ones that occurred again, or that somebody changed. */
  updated: ErrorUpdate[]
}

export interface ErrorUpdate {
  id: number
  occurrence_count: number
  user_count: number
  occurred_at: string
  status: Status
  severity: Severity
  daily_counts: number[]
}

const MOST_NEW = 99
/** An error is written a moment after it happened, and its time is that of the happening. */
const WRITTEN_LATE_MS = 5000

const { page, per_page, sort_by, sort_direction, ...filters } = errorsListInput.entries

/** What changed in the list since it was loaded, for a page that keeps itself up to date. */
export const errorChanges = defineOperation({
  input: v.object({ ...filters, since: instant(), ids: v.optional(idList()) }),
  async run(context, { since, ids = [], ...filter }): Promise<ErrorChanges> {
    const now = new Date(context.now()).toISOString()
    const count = await countNew(context, filter, since - WRITTEN_LATE_MS, ids)
    return {
      now,
      new_count: Math.min(count, MOST_NEW),
      ...(count > MOST_NEW ? { new_count_is_bound: true } : {}),
      updated: await updates(context, await changed(context, since - WRITTEN_LATE_MS, ids)),
    }
  },
})

async function countNew(
  context: Context,
  filter: Parameters<typeof matchingErrors>[1],
  since: number,
  visible: readonly number[],
): Promise<number> {
  const { search, ...others } = filter
  const fresh = (await matchingErrors(context, others)).query().where(
    sql<boolean>`((faultboard_errors.occurred_at > ${since} and faultboard_errors.first_seen_at > ${since})
      or faultboard_errors.reopened_at > ${since})`,
  )
  // The new ones are few: testing them is less than looking for the text in all.
  const matching = search === undefined ? fresh : withText(fresh, search)
  const unseen = visible.length === 0 ? matching : matching.where(sql<boolean>`id not in (${oneOf(visible)})`)
  const rows = await unseen
    .select('faultboard_errors.id')
    .limit(MOST_NEW + 1)
    .execute()
  return rows.length
}

async function changed({ database }: Context, since: number, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return []
  const rows = await database.read
    .selectFrom('faultboard_errors')
    .select('id')
    .where(sql<boolean>`id in (${oneOf(ids)})`)
    .where(
      sql<boolean>`(occurred_at > ${since} or exists (
        select 1 from faultboard_activities
        where faultboard_activities.error_id = faultboard_errors.id and created_at > ${since}))`,
    )
    .execute()
  return rows.map((row) => row.id)
}

async function updates(context: Context, ids: readonly number[]): Promise<ErrorUpdate[]> {
  const trends = await errorTrends(context, ids)
  return (await summariesOf(context, ids)).map(
    ({ id, occurrence_count, user_count, occurred_at, status, severity }) => ({
      id,
      occurrence_count,
      user_count,
      occurred_at,
      status,
      severity,
      daily_counts: trends.get(id) ?? [],
    }),
  )
}

/** A time in ISO 8601 or in milliseconds since 1970. */
function instant() {
  const sentence = 'must be a time such as 2026-03-09T12:00:00Z'
  return v.pipe(
    v.union([v.number(sentence), v.string(sentence)], sentence),
    v.transform((value) => (/^\d+$/.test(String(value)) ? Number(value) : Date.parse(String(value)))),
    v.check((time) => Number.isFinite(time) && Math.abs(time) <= 8.64e15, sentence),
  )
}

/** `7,8,9`, or a list. */
function idList() {
  const sentence = 'must be a list of record ids'
  return v.pipe(
    v.union([v.array(v.union([v.number(sentence), v.string(sentence)])), v.string(sentence)], sentence),
    v.transform((value) => (typeof value === 'string' ? value.split(',').filter((part) => part.trim()) : value)),
    v.array(id(), sentence),
    v.maxLength(MAX_PER_PAGE, `must not name more than ${MAX_PER_PAGE} errors`),
  )
}
