import type { Context } from '../../context.js'
import { STATUSES, type Status } from '../../model/workflow.js'
import { sql } from '../../store/kysely.js'
import { withoutIndex } from '../../store/sql/sort-order.js'
import { errorIdRanges } from '../../store/sql/timed-ranges.js'
import {
  applyFilter,
  type ErrorsFilter,
  type ErrorsQuery,
  hasFilters,
  hasOnlyTags,
  type IndexUse,
  isBroadFilter,
} from './errors-filter.js'
import { paddedIdList } from './padded-id-list.js'
import { hasQueryKeys } from './query-keys.js'
import { findErrorsWithTexts, matchesTexts, type TextTerm, textTerms } from './search-text.js'
import { countTagRows, hasCommonTagPattern, type TagRows } from './tag-conditions.js'

/** Query for the errors that match a filter. Callers complete the query. */
export interface MatchingErrors {
  /** Query without the search text if the text is common. */
  query(indexUse?: IndexUse): ErrorsQuery<object>
  /**
   * Texts of the filter that too many errors contain to collect ids. Null without texts, or if `query` already contains
   * the ids.
   */
  commonText: readonly TextTerm[] | null
  /** True if the filter contains more than an application and an environment. */
  isNarrowed: boolean
  /** True if the filter probably matches a large share of all errors. */
  isBroad: boolean
  /** True if the filter tests only tags and columns of the index on status, so that a count reads no rows. */
  isCountIndexed: boolean
  /** True if errors are counted up to MAX_COUNTED_ERRORS: for a common text, and for a pattern that matches many tags. */
  isCountLimited: boolean
  /** Upper bound for the number of matching errors. */
  maxMatches: number
}

/** Counting all errors with a common text takes too long. */
export const MAX_COUNTED_ERRORS = 1000

/** Numbers of matching and snoozed errors per status. Rows with the same status must be added up. */
export interface StatusTotals {
  rows: { status: Status; total: number; snoozed: number }[]
  /** True when the counts are lower bounds. */
  isLowerBound: boolean
}

/**
 * `found` is the result of `findText` for the same filter. Pages with several queries search for the text only once.
 */
export async function matchingErrors(
  context: Context,
  filter: ErrorsFilter,
  found?: FoundText,
): Promise<MatchingErrors> {
  const tagRows = found?.tagRows ?? (await countTagRows(context, filter))
  const filteredErrors: MatchingErrors['query'] = (indexUse) =>
    applyFilter(context.database.read.selectFrom('faultboard_errors'), filter, { context, tagRows }, indexUse)
  const terms = textTerms(filter)
  const isNarrowed = hasFilters(filter)
  const isCountIndexed = hasOnlyTags(filter)
  const isBroad = isBroadFilter(filter, tagRows)
  const unlimited = { isNarrowed, isBroad, isCountIndexed, maxMatches: Number.POSITIVE_INFINITY }
  if (terms.length === 0) {
    const isCountLimited = hasCommonTagPattern(filter, tagRows)
    return { query: filteredErrors, commonText: null, isCountLimited, ...unlimited }
  }
  const { ids } = found ?? (await findText(context, filter))
  if (ids === null) return { query: filteredErrors, commonText: terms, isCountLimited: true, ...unlimited }
  const hasFoundId = sql<boolean>`faultboard_errors.id in (${paddedIdList(ids)})`
  return {
    query: (indexUse) => filteredErrors(indexUse).where(hasFoundId),
    commonText: null,
    isNarrowed,
    isBroad: false,
    isCountIndexed: false,
    isCountLimited: false,
    maxMatches: ids.length,
  }
}

export interface FoundText {
  /** Ids of errors that contain the texts of a filter. Null if there are too many, or the filter contains no text. */
  ids: number[] | null
  /** Number of rows of the filter's tags. Counted by `matchingErrors` if absent. */
  tagRows?: TagRows
  /** Counts that the list and the tabs of a page share. */
  statusTotals?: { filter: string; totals: Promise<StatusTotals> }
}

export async function findText(context: Context, filter: ErrorsFilter): Promise<FoundText> {
  await context.ready()
  const terms = textTerms(filter)
  return {
    ids: terms.length === 0 ? null : await findErrorsWithTexts(context, terms),
    tagRows: await countTagRows(context, filter),
  }
}

/** Adds a condition that tests every row for the texts. */
export function withSearchText<O>(query: ErrorsQuery<O>, terms: readonly TextTerm[]): ErrorsQuery<O> {
  return query.where(matchesTexts(terms))
}

/** Counts matching errors, exactly or up to a limit. With `found`, a limited count is shared with the tabs. */
export async function countErrors(
  context: Context,
  matching: MatchingErrors,
  filter: ErrorsFilter,
  found?: FoundText,
): Promise<{ count: number; isLowerBound: boolean }> {
  if (!matching.isCountLimited) {
    const count = matching.query().select(({ fn }) => fn.countAll<number>().as('total'))
    return { count: (await count.executeTakeFirstOrThrow()).total, isLowerBound: false }
  }
  const { search, query, ...others } = filter
  // The number of errors with a single text is already known to exceed the limit.
  if (
    matching.commonText?.length === 1 &&
    others.application_id === undefined &&
    others.environment === undefined &&
    !hasFilters(others) &&
    !hasQueryKeys(query)
  )
    return { count: MAX_COUNTED_ERRORS, isLowerBound: true }
  const totals = found ? sharedStatusTotals(context, filter, found) : countByStatus(context, matching)
  const { rows, isLowerBound } = await totals
  return { count: isLowerBound ? MAX_COUNTED_ERRORS : sumTotals(rows), isLowerBound }
}

/** Counts per status. Counts the same filter only once per `found`. */
export function sharedStatusTotals(context: Context, filter: ErrorsFilter, found?: FoundText): Promise<StatusTotals> {
  const key = JSON.stringify(
    Object.entries(filter)
      .filter(([, value]) => value !== undefined)
      .sort(),
  )
  if (found?.statusTotals?.filter === key) return found.statusTotals.totals
  const totals = matchingErrors(context, filter, found).then((matching) => countByStatus(context, matching))
  if (found) found.statusTotals = { filter: key, totals }
  return totals
}

/** Counts per status, exactly or up to a limit. */
async function countByStatus(
  context: Context,
  { query, commonText, isNarrowed, isBroad, isCountIndexed, isCountLimited }: MatchingErrors,
): Promise<StatusTotals> {
  const filteredErrors = query({ useApplicationIndex: false, ...(isCountLimited ? {} : { tagAccess: 'collect' }) })
  const errors = commonText === null ? filteredErrors : withSearchText(filteredErrors, commonText)
  const limit = isCountLimited ? MAX_COUNTED_ERRORS : Number.POSITIVE_INFINITY
  if (!isNarrowed) return { rows: await countIndexedStatuses(context, errors), isLowerBound: false }
  const rows =
    context.database.dialect.blocksHost && isBroad
      ? await countStatusesInRanges(context, errors, limit)
      : await countStatuses(context, isCountLimited ? errors.limit(limit + 1) : errors, isCountIndexed)
  return { rows, isLowerBound: sumTotals(rows) > limit }
}

/**
 * Counts each status in its own range of the index on status, snooze, application and environment. Grouping by status takes twice as
 * long.
 */
async function countIndexedStatuses(
  { database, now }: Context,
  errors: ErrorsQuery<object>,
): Promise<StatusTotals['rows']> {
  const columns = STATUSES.flatMap((status) => {
    const count = errors
      .where('faultboard_errors.status', '=', status)
      .select(({ fn }) => fn.countAll<number>().as('count'))
    const snoozed = count.where('faultboard_errors.snoozed_until', '>', now())
    return [count.as(`${status}_total`), snoozed.as(`${status}_snoozed`)]
  })
  const counts = await database.read.selectNoFrom(columns).executeTakeFirstOrThrow()
  return STATUSES.map((status) => ({
    status,
    total: Number(counts[`${status}_total`]),
    snoozed: Number(counts[`${status}_snoozed`]),
  }))
}

/** Counts in ranges of ids until the limit is exceeded. Reading a large share of all errors at once would block the host. */
async function countStatusesInRanges(
  context: Context,
  errors: ErrorsQuery<object>,
  limit: number,
): Promise<StatusTotals['rows']> {
  const rows: StatusTotals['rows'] = []
  for await (const { from, to } of errorIdRanges(context.database)) {
    const inRange = errors.where('faultboard_errors.id', '>=', from).where('faultboard_errors.id', '<', to)
    rows.push(...(await countStatuses(context, inRange, false)))
    if (sumTotals(rows) > limit) break
  }
  return rows
}

/** Avoids the index on status, which would read rows in random order to test columns that are not in the index. */
async function countStatuses(
  { database, now }: Context,
  errors: ErrorsQuery<object>,
  isCountIndexed: boolean,
): Promise<StatusTotals['rows']> {
  const { dialect } = database
  const column = 'faultboard_errors.status'
  const status = isCountIndexed
    ? withoutIndex<Status>(dialect, column)
    : dialect.withoutIndexOrder<Status>(sql.ref(column))
  const matchingRows = errors.select([status.as('status'), 'faultboard_errors.snoozed_until']).as('fitting')
  const rows = await database.read
    .selectFrom(matchingRows)
    .select(({ fn }) => [
      'status',
      fn.countAll<number>().as('total'),
      sql<number>`sum(case when snoozed_until > ${now()} then 1 else 0 end)`.as('snoozed'),
    ])
    .groupBy('status')
    .execute()
  return rows.map((row) => ({ ...row, snoozed: Number(row.snoozed) }))
}

function sumTotals(rows: StatusTotals['rows']): number {
  return rows.reduce((sum, { total }) => sum + total, 0)
}
