import * as v from 'valibot'
import type { Context } from '../../context.js'
import { facts } from '../../model/input/describe-input.js'
import { id, instant } from '../../model/input/input.js'
import * as r from '../../model/result.js'
import { DAY } from '../../model/time.js'
import { defineOperation } from '../../operation.js'
import { sql } from '../../store/kysely.js'
import { type ErrorsFilter, type ErrorsQuery, errorsListInput, MAX_PER_PAGE } from '../list/errors-filter.js'
import { matchingErrors, withSearchText } from '../list/matching-errors.js'
import { paddedIdList } from '../list/padded-id-list.js'
import { dailyCounts } from './daily-counts.js'
import { loadSummaries } from './error-summaries.js'

export const ErrorUpdate = r.object({
  id: r.integer,
  occurrence_count: r.integer,
  user_count: r.integer,
  occurred_at: r.time,
  status: r.status,
  severity: r.severity,
  daily_counts: r.list(r.integer),
})
export type ErrorUpdate = v.InferOutput<typeof ErrorUpdate>

export const ErrorChanges = r.object({
  /** Matching errors that are not on the page and were first seen or reopened after `since`. */
  new_count: r.integer,
  /** True when `new_count` is a lower bound. */
  new_count_is_lower_bound: r.optional(r.alwaysTrue),
  /** Visible errors that occurred again or were changed. */
  updated: r.list(ErrorUpdate),
})
export type ErrorChanges = v.InferOutput<typeof ErrorChanges>

const MAX_NEW_COUNT = 99
/** Maximum age of `since`. Limits the query for pages that stay open longer. */
const MAX_AGE_MS = DAY
/** Allowance for the delay between an occurrence and its commit. */
const MAX_COMMIT_DELAY_MS = 5000

const { page, per_page, sort_by, sort_direction, ...filters } = errorsListInput.entries

/** Returns changes to the list since it was loaded. Open pages poll with the load time. */
export const errorChanges = defineOperation({
  input: v.object({ ...filters, since: instant(), ids: v.optional(idListInput()) }),
  async run(context, { since, ids = [], ...filter }): Promise<ErrorChanges> {
    const from = Math.max(since, context.now() - MAX_AGE_MS) - MAX_COMMIT_DELAY_MS
    const count = await countNew(context, filter, from, ids)
    return {
      new_count: Math.min(count, MAX_NEW_COUNT),
      ...(count > MAX_NEW_COUNT ? { new_count_is_lower_bound: true } : {}),
      updated: await loadUpdates(context, await findChangedIds(context, filter, from, ids)),
    }
  },
})

/** Returns at most one more than `MAX_NEW_COUNT`. */
async function countNew(
  context: Context,
  filter: ErrorsFilter,
  since: number,
  visible: readonly number[],
): Promise<number> {
  // Tests the texts of each new error. New errors are few, and finding all errors with the texts is slower.
  const matching = await matchingErrors(context, filter, { ids: null })
  // Uses the index on the time of new errors. Other indexes would scan an application or a month.
  const newErrors = matching
    .query({ useApplicationIndex: false, useTimeIndex: false })
    .where(sql<boolean>`(faultboard_errors.first_seen_at > ${since} or faultboard_errors.reopened_at > ${since})`)
  const hiddenErrors =
    visible.length === 0 ? newErrors : newErrors.where(sql<boolean>`id not in (${paddedIdList(visible)})`)
  const count = async (query: ErrorsQuery<object>) =>
    (
      await query
        .select('faultboard_errors.id')
        .limit(MAX_NEW_COUNT + 1)
        .execute()
    ).length
  const all = await count(hiddenErrors)
  return matching.commonText === null || all === 0 ? all : count(withSearchText(hiddenErrors, matching.commonText))
}

async function findChangedIds(
  { database }: Context,
  { application_id }: ErrorsFilter,
  since: number,
  ids: readonly number[],
): Promise<number[]> {
  if (ids.length === 0) return []
  const visible = database.read
    .selectFrom('faultboard_errors')
    .select('id')
    .where(sql<boolean>`id in (${paddedIdList(ids)})`)
  const rows = await (application_id === undefined ? visible : visible.where('application_id', '=', application_id))
    .where(
      sql<boolean>`(occurred_at > ${since} or exists (
        select 1 from faultboard_activities
        where faultboard_activities.error_id = faultboard_errors.id and created_at > ${since}))`,
    )
    .execute()
  return rows.map((row) => row.id)
}

async function loadUpdates(context: Context, ids: readonly number[]): Promise<ErrorUpdate[]> {
  const counts = await dailyCounts(context, ids)
  return (await loadSummaries(context, ids)).map(
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

/** Accepts `7,8,9` or a list. */
function idListInput() {
  const message = 'must be a list of error ids'
  return v.pipe(
    v.union([v.array(v.union([v.number(message), v.string(message)])), v.string(message)], message),
    v.transform((value) => (typeof value === 'string' ? value.split(',').filter((part) => part.trim()) : value)),
    v.array(id(), message),
    v.maxLength(MAX_PER_PAGE, `must not contain more than ${MAX_PER_PAGE} error ids`),
    facts({ type: 'id', list: { max: MAX_PER_PAGE } }),
  )
}
