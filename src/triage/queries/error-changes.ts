import * as v from 'valibot'
import type { Context } from '../../context.js'
import { facts } from '../../model/describe-input.js'
import { id, instant } from '../../model/input.js'
import type { Severity } from '../../model/severity.js'
import { DAY } from '../../model/time.js'
import type { Status } from '../../model/workflow.js'
import { defineOperation } from '../../operation.js'
import { sql } from '../../store/kysely.js'
import { type ErrorsFilter, type ErrorsQuery, errorsListInput, MAX_PER_PAGE } from '../list/errors-filter.js'
import { matchingErrors, withText } from '../list/matching-errors.js'
import { oneOf } from '../list/one-of.js'
import { dailyCounts } from './daily-counts.js'
import { summariesOf } from './error-summaries.js'

export interface ErrorChanges {
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
/** A page that was left open for longer is told of a day. */
const LONGEST = DAY
/** An error is written a moment after it happened, and its time is that of the happening. */
const WRITTEN_LATE_MS = 5000

const { page, per_page, sort_by, sort_direction, ...filters } = errorsListInput.entries

/** What changed in the list since it was loaded, for a page that keeps itself up to date and always asks from then on. */
export const errorChanges = defineOperation({
  input: v.object({ ...filters, since: instant(), ids: v.optional(idList()) }),
  async run(context, { since, ids = [], ...filter }): Promise<ErrorChanges> {
    const from = Math.max(since, context.now() - LONGEST) - WRITTEN_LATE_MS
    const count = await countNew(context, filter, from, ids)
    return {
      new_count: Math.min(count, MOST_NEW),
      ...(count > MOST_NEW ? { new_count_is_bound: true } : {}),
      updated: await updates(context, await changed(context, filter, from, ids)),
    }
  },
})

/** One more than are told, where there are more. */
async function countNew(
  context: Context,
  { search, ...others }: ErrorsFilter,
  since: number,
  visible: readonly number[],
): Promise<number> {
  // The new ones are few and found by when they came; other indexes lead through all of an application or a month.
  const fresh = (await matchingErrors(context, others))
    .query({ by_application: false, by_time: false })
    .where(sql<boolean>`(faultboard_errors.first_seen_at > ${since} or faultboard_errors.reopened_at > ${since})`)
  const unseen = visible.length === 0 ? fresh : fresh.where(sql<boolean>`id not in (${oneOf(visible)})`)
  const count = async (query: ErrorsQuery<object>) =>
    (
      await query
        .select('faultboard_errors.id')
        .limit(MOST_NEW + 1)
        .execute()
    ).length
  const all = await count(unseen)
  return search === undefined || all === 0 ? all : count(withText(unseen, search))
}

async function changed(
  { database }: Context,
  { application_id }: ErrorsFilter,
  since: number,
  ids: readonly number[],
): Promise<number[]> {
  if (ids.length === 0) return []
  const visible = database.read
    .selectFrom('faultboard_errors')
    .select('id')
    .where(sql<boolean>`id in (${oneOf(ids)})`)
  const rows = await (application_id === undefined ? visible : visible.where('application_id', '=', application_id))
    .where(
      sql<boolean>`(occurred_at > ${since} or exists (
        select 1 from faultboard_activities
        where faultboard_activities.error_id = faultboard_errors.id and created_at > ${since}))`,
    )
    .execute()
  return rows.map((row) => row.id)
}

async function updates(context: Context, ids: readonly number[]): Promise<ErrorUpdate[]> {
  const counts = await dailyCounts(context, ids)
  return (await summariesOf(context, ids)).map(
    ({ id, occurrence_count, user_count, occurred_at, status, severity }) => ({
      id,
      occurrence_count,
      user_count,
      occurred_at,
      status,
      severity,
      daily_counts: counts.get(id) ?? [],
    }),
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
    facts({ type: 'id', list: { max: MAX_PER_PAGE } }),
  )
}
