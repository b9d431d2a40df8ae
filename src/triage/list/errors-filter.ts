import * as v from 'valibot'
import type { Context } from '../../context.js'
import { facts } from '../../model/input/describe-input.js'
import { choice, clampedInteger, filterText, flag, integer, optional, withDefault } from '../../model/input/input.js'
import { scopeInput } from '../../model/input/scope.js'
import { normalizePlatform } from '../../model/requests/platform.js'
import { MAX_QUERY_LENGTH, parseQuery } from '../../model/search-query.js'
import { SEVERITIES } from '../../model/severity/severity.js'
import { parseTag } from '../../model/tags.js'
import { cleanText } from '../../model/text.js'
import { TIMEFRAMES, timeframeSpan } from '../../model/time.js'
import { STATUSES } from '../../model/workflow.js'
import { type SelectQueryBuilder, sql } from '../../store/kysely.js'
import type { Schema } from '../../store/schema.js'
import { hasRegressed } from '../../store/sql/regressed.js'
import { withoutIndex } from '../../store/sql/sort-order.js'
import { affectsUser, occurredOnDay, seenInCommit, seenInVersion, seenOnPlatform } from './occurrence-conditions.js'
import { queryKeyConditions } from './query-keys.js'
import {
  collectedTagRows,
  hasTag,
  lineCondition,
  lookedUpTagRows,
  MAX_TAG_LENGTH,
  type TagRows,
  tagLines,
  usesTagLookups,
} from './tag-conditions.js'

const DAY_MESSAGE = 'must be a date such as 2026-03-09'

/** Calendar day such as `2026-03-09`. */
const calendarDay = () =>
  v.pipe(
    v.string(DAY_MESSAGE),
    v.trim(),
    v.check((text) => isCalendarDay(text), DAY_MESSAGE),
    facts({ type: 'day' }),
  )

const QUERY_NOTE =
  'words and "quoted phrases" that must all match, -word to exclude, and operators such as is:unresolved user:42 release:5.12 platform:ios environment:staging url:/checkout type:Payment* tag:city=Berlin'

/** Query of the search box. Throws a `QueryError`, because a schema issue cannot contain the position. */
const searchQuery = () =>
  v.optional(
    v.pipe(
      v.nullable(v.string('must be a string')),
      v.transform((text) => {
        if (!text || text.trim() === '') return undefined
        const query = cleanText(text, text.length)
        parseQuery(query)
        return query.trim()
      }),
      facts({ type: 'text', max: MAX_QUERY_LENGTH, note: QUERY_NOTE }),
    ),
  )

const MAX_TAGS = 10

/**
 * Tags, all of which an error must have. Text with a line per tag, so that links, forms and saved views treat it like
 * every other filter.
 */
const tagFilter = () =>
  v.optional(
    v.pipe(
      v.union([v.null(), v.string(), v.array(v.string())], TAG_MESSAGE),
      v.transform((input) => tagLines([input ?? []].flat().join('\n'))),
      v.check((lines) => lines.every((line) => parseTag(line, ':').key !== ''), TAG_MESSAGE),
      v.maxLength(MAX_TAGS, `must contain at most ${MAX_TAGS} tags`),
      v.transform((lines) => (lines.length === 0 ? undefined : lines.join('\n'))),
      facts({
        type: 'text',
        max: MAX_TAG_LENGTH,
        list: { max: MAX_TAGS },
        note: 'key:value, or key for any value',
      }),
    ),
  )

const TAG_MESSAGE = 'must be a tag such as city:Berlin'

export const SORT_FIELDS = [
  'occurred_at',
  'first_seen_at',
  'occurrence_count',
  'error_type',
  'platform',
  'severity',
  'priority_level',
  'status',
  'app_version',
] as const

export const UNASSIGNED = '__unassigned__'
export const MAX_PER_PAGE = 100

export const errorsListInput = v.object({
  page: withDefault(clampedInteger({ min: 1, max: 1_000_000_000 }), 1),
  per_page: withDefault(clampedInteger({ min: 1, max: MAX_PER_PAGE }), 25),
  // Normalizes the platform: reports from `ios` are stored as `iOS`.
  platform: v.pipe(
    filterText({ max: 64, note: 'errors with at least one occurrence on this platform' }),
    v.transform((platform) => (platform === undefined ? undefined : normalizePlatform(platform))),
  ),
  error_type: filterText({ max: 255 }),
  severity: optional(choice(SEVERITIES)),
  status: optional(choice(STATUSES)),
  assigned_to: filterText({ max: 255 }),
  priority_level: optional(integer({ min: 0, max: 4 })),
  unresolved: optional(flag()),
  hide_snoozed: optional(flag()),
  snoozed: optional(flag('open errors that are snoozed')),
  regressed: optional(flag('open errors that occurred again after they were resolved')),
  search: filterText({ max: 1000, note: 'literal text in messages and backtraces' }),
  query: searchQuery(),
  timeframe: optional(choice(TIMEFRAMES)),
  day: optional(calendarDay()),
  sort_by: optional(choice(SORT_FIELDS)),
  sort_direction: optional(choice(['asc', 'desc'])),
  ...scopeInput,
  user_id: filterText({ max: 255 }),
  app_version: filterText({ max: 128, note: 'errors with at least one occurrence in this version' }),
  git_sha: filterText({
    max: 64,
    note: 'errors with at least one occurrence in this commit; a prefix of at least seven hex digits is accepted',
  }),
  tag: tagFilter(),
})

export type ErrorsListInput = v.InferInput<typeof errorsListInput>
export type ErrorsFilter = Partial<v.InferOutput<typeof errorsListInput>>

export type ErrorsQuery<O> = SelectQueryBuilder<Schema, 'faultboard_errors', O>

const EQUALITY_COLUMNS = ['error_type', 'severity', 'status', 'priority_level'] as const

/** Query plan hints. The best plan depends on the number of errors that a statement reads. */
export interface IndexUse {
  /** Allows SQLite to use the index. Faster if all errors of an application are read in index order. */
  useApplicationIndex?: boolean
  /** Allows SQLite to use the index. False where another index is faster. */
  useTimeIndex?: boolean
  /**
   * How a server finds the errors with a tag. `collect` reads their ids first, which is faster for a statement that reads all
   * errors. `lookUp` tests error by error, which is faster for a statement that stops early.
   */
  tagAccess?: 'collect' | 'lookUp'
}

const TAG_ROWS = { collect: collectedTagRows, lookUp: lookedUpTagRows }

/** Applies all conditions of the filter except text conditions (see search-text.ts). */
export function applyFilter<O>(
  query: ErrorsQuery<O>,
  filter: ErrorsFilter,
  { context, tagRows: countedRows }: { context: Context; tagRows: TagRows },
  { useApplicationIndex = !hasFilters(filter), useTimeIndex = true, tagAccess }: IndexUse = {},
): ErrorsQuery<O> {
  const { config, now, database } = context
  const usesCounts = tagAccess === undefined || database.dialect.blocksHost
  const tagRows = usesCounts ? countedRows : TAG_ROWS[tagAccess](countedRows)
  let result = query
  if (filter.application_id !== undefined) {
    const column = 'faultboard_errors.application_id'
    const id = useApplicationIndex ? sql.ref(column) : withoutIndex(database.dialect, column)
    result = result.where(sql<boolean>`${id} = ${filter.application_id}`)
  }
  if (filter.environment !== undefined) {
    // The index of the record key would read and sort all errors of the environment.
    const column = withoutIndex(database.dialect, 'faultboard_errors.environment')
    result = result.where(sql<boolean>`${column} = ${filter.environment}`)
  }
  for (const column of EQUALITY_COLUMNS) {
    const value = filter[column]
    if (value !== undefined) result = result.where(`faultboard_errors.${column}`, '=', value)
  }
  const { application_id, platform, app_version, git_sha, assigned_to, user_id, day } = filter
  if (assigned_to === UNASSIGNED) result = result.where('faultboard_errors.assigned_to', 'is', null)
  else if (assigned_to !== undefined) result = result.where('faultboard_errors.assigned_to', '=', assigned_to)
  if (filter.unresolved) result = result.where('faultboard_errors.resolved', '=', 0)
  if (filter.hide_snoozed) {
    result = result.where(({ eb, or }) =>
      or([eb('faultboard_errors.snoozed_until', 'is', null), eb('faultboard_errors.snoozed_until', '<=', now())]),
    )
  }
  if (filter.snoozed) {
    result = result.where('faultboard_errors.resolved', '=', 0).where('faultboard_errors.snoozed_until', '>', now())
  }
  if (filter.regressed) result = result.where('faultboard_errors.resolved', '=', 0).where(hasRegressed)
  if (filter.timeframe) {
    const { from, to } = timeframeSpan(filter.timeframe, now(), config.time_zone)
    const column = 'faultboard_errors.occurred_at'
    const time = useTimeIndex ? sql.ref<number>(column) : withoutIndex(database.dialect, column)
    result = result.where(time, '>=', from)
    if (to !== null) result = result.where(time, '<', to)
  }
  if (day !== undefined) result = result.where((eb) => occurredOnDay(eb, day, config.time_zone))
  if (user_id !== undefined) result = result.where((eb) => affectsUser(eb, user_id))
  if (platform !== undefined) result = result.where((eb) => seenOnPlatform(eb, database.dialect, platform))
  if (app_version !== undefined)
    result = result.where((eb) => seenInVersion(eb, database.dialect, { app_version, application_id }))
  if (git_sha !== undefined) result = result.where((eb) => seenInCommit(eb, database.dialect, git_sha))
  for (const line of tagLines(filter.tag))
    result = result.where((eb) => hasTag(eb, database.dialect, lineCondition(line), tagRows))
  const { query: searchedQuery } = filter
  if (searchedQuery !== undefined)
    result = result.where((eb) => eb.and(queryKeyConditions(eb, searchedQuery, { context, application_id, tagRows })))
  return result
}

/** Checks whether the filter contains more than an application, an environment and an order. */
export function hasFilters(filter: ErrorsFilter): boolean {
  const { application_id, environment, page, per_page, sort_by, sort_direction, ...others } = filter
  return Object.values(others).some((value) => value !== undefined && value !== false)
}

/** Checks whether the filter probably matches many errors and tests all conditions error by error. */
export function isBroadFilter(filter: ErrorsFilter, tagRows: TagRows): boolean {
  // Excludes the platform: a count in ranges would read all errors of the platform for each range.
  const { severity, priority_level, ...others } = filter
  return hasOnlyTags(others) && usesTagLookups(filter, tagRows)
}

/** Checks whether the filter contains nothing but tags, an application, an environment and an order. */
export function hasOnlyTags({ tag, query, ...others }: ErrorsFilter): boolean {
  return !hasFilters(others) && (query === undefined || parseQuery(query).every(({ key }) => key === 'tag'))
}

function isCalendarDay(text: string): boolean {
  if (!/^(19[7-9]|2\d\d)\d-\d\d-\d\d$/.test(text)) return false
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}
