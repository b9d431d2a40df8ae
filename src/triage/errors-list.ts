import * as v from 'valibot'
import type { Context } from '../context.js'
import { choice, clampedInteger, filterText, flag, id, optional, parseInput } from '../model/input.js'
import { platformOf } from '../model/platform.js'
import { SEVERITIES } from '../model/severity.js'
import { TIMEFRAMES, timeframeSpan } from '../model/time.js'
import { STATUSES } from '../model/workflow.js'
import type { Dialect } from '../store/dialect.js'
import { type ExpressionBuilder, type SelectQueryBuilder, sql } from '../store/kysely.js'
import type { Schema } from '../store/schema.js'
import { letterOrder, orderOfMatches } from '../store/sort-order.js'
import { type ErrorSummary, summaryOf } from './error-record.js'

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
  page: v.optional(optional(clampedInteger({ min: 1, max: 1_000_000_000 }))),
  per_page: v.optional(optional(clampedInteger({ min: 1, max: MAX_PER_PAGE }))),
  // A client that reports as `ios` is kept as iOS, and is looked for as either.
  platform: v.pipe(
    filterText({ max: 64 }),
    v.transform((platform) => (platform === undefined ? undefined : platformOf(platform))),
  ),
  error_type: filterText({ max: 255 }),
  severity: optional(choice(SEVERITIES)),
  status: optional(choice(STATUSES)),
  assigned_to: filterText({ max: 255 }),
  priority_level: optional(clampedInteger({ min: 0, max: 4 })),
  unresolved: optional(flag()),
  hide_snoozed: optional(flag()),
  search: filterText({ max: 1000 }),
  timeframe: optional(choice(TIMEFRAMES)),
  sort_by: optional(choice(SORT_FIELDS)),
  sort_direction: optional(choice(['asc', 'desc'])),
  application_id: optional(id()),
  user_id: filterText({ max: 255 }),
  app_version: filterText({ max: 128 }),
  git_sha: filterText({ max: 64 }),
})

export type ErrorsListInput = v.InferInput<typeof errorsListInput>
export type ErrorsFilter = v.InferOutput<typeof errorsListInput>

export interface Pagination {
  page: number
  per_page: number
  total_count: number
  total_pages: number
}

export interface ErrorsPage {
  errors: ErrorSummary[]
  pagination: Pagination
}

/** The errors that fit the filter, newest first unless asked otherwise, a page at a time. */
export async function errorsPage(context: Context, input: unknown): Promise<ErrorsPage> {
  const filter = parseInput(errorsListInput, input ?? {})
  await context.ready()
  const per_page = filter.per_page ?? 25
  const { total } = await matching(context, filter)
    .select(({ fn }) => fn.countAll().as('total'))
    .executeTakeFirstOrThrow()
  const total_count = Number(total)
  const total_pages = Math.max(1, Math.ceil(total_count / per_page))
  const page = Math.min(filter.page ?? 1, total_pages)
  return {
    errors: await listed(context, filter, { limit: per_page, offset: (page - 1) * per_page, matches: total_count }),
    pagination: { page, per_page, total_count, total_pages },
  }
}

/** The first of the errors that fit, without counting the others. */
export async function firstErrors(context: Context, filter: ErrorsFilter, limit: number): Promise<ErrorSummary[]> {
  await context.ready()
  return listed(context, filter, { limit, offset: 0, matches: Number.POSITIVE_INFINITY })
}

interface Slice {
  limit: number
  offset: number
  /** How many fit in all. */
  matches: number
}

async function listed(context: Context, filter: ErrorsFilter, { limit, offset, matches }: Slice) {
  const rows = await sorted(matching(context, filter), filter, context.database.dialect, matches)
    .selectAll('faultboard_errors')
    .limit(limit)
    .offset(offset)
    .execute()
  const names = await applicationNames(context)
  const users = await userCounts(
    context,
    rows.map((row) => row.id),
  )
  const now = context.now()
  return rows.map((row) =>
    summaryOf(row, { application_name: names.get(row.application_id) ?? '', user_count: users.get(row.id) ?? 0, now }),
  )
}

function matching(context: Context, filter: ErrorsFilter) {
  return filtered(context.database.read.selectFrom('faultboard_errors'), filter, context)
}

export async function applicationNames({ database }: Context): Promise<Map<number, string>> {
  const rows = await database.read.selectFrom('faultboard_applications').select(['id', 'name']).execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}

export async function userCounts({ database }: Context, ids: readonly number[]): Promise<Map<number, number>> {
  if (ids.length === 0) return new Map()
  const rows = await database.read
    .selectFrom('faultboard_error_users')
    .select(({ fn }) => ['error_id', fn.countAll<number>().as('user_count')])
    .where('error_id', 'in', ids)
    .groupBy('error_id')
    .execute()
  return new Map(rows.map(({ error_id, user_count }) => [error_id, user_count]))
}

type Query<O> = SelectQueryBuilder<Schema, 'faultboard_errors', O>

function filtered<O>(query: Query<O>, filter: ErrorsFilter, { config, now }: Context): Query<O> {
  let result = query
  for (const column of [
    'application_id',
    'platform',
    'error_type',
    'severity',
    'status',
    'priority_level',
    'app_version',
    'git_sha',
  ] as const) {
    const wanted = filter[column]
    if (wanted !== undefined) result = result.where(`faultboard_errors.${column}`, '=', wanted)
  }
  if (filter.assigned_to === UNASSIGNED) result = result.where('faultboard_errors.assigned_to', 'is', null)
  else if (filter.assigned_to !== undefined)
    result = result.where('faultboard_errors.assigned_to', '=', filter.assigned_to)
  if (filter.unresolved) result = result.where('faultboard_errors.resolved', '=', 0)
  if (filter.hide_snoozed) {
    result = result.where(({ eb, or }) =>
      or([eb('faultboard_errors.snoozed_until', 'is', null), eb('faultboard_errors.snoozed_until', '<=', now())]),
    )
  }
  if (filter.timeframe) {
    const { from, to } = timeframeSpan(filter.timeframe, now(), config.time_zone)
    result = result.where('faultboard_errors.occurred_at', '>=', from)
    if (to !== null) result = result.where('faultboard_errors.occurred_at', '<', to)
  }
  const { user_id, search } = filter
  if (user_id !== undefined) result = result.where((eb) => affects(eb, user_id))
  if (search !== undefined) result = result.where((eb) => contains(eb, search))
  return result
}

/** Every error that met this user, not only those whose newest occurrence did. */
function affects(eb: ExpressionBuilder<Schema, 'faultboard_errors'>, user_id: string) {
  return eb(
    'faultboard_errors.id',
    'in',
    eb
      .selectFrom('faultboard_error_users')
      .select('faultboard_error_users.error_id')
      .where('faultboard_error_users.user_id', '=', user_id),
  )
}

/** Literal text, in any letter case: the stored text is lower case already, and `%` and `_` mean themselves. */
function contains(eb: ExpressionBuilder<Schema, 'faultboard_errors'>, search: string) {
  const pattern = `%${search.toLowerCase().replace(/[!%_]/g, '!$&')}%`
  return eb(
    'faultboard_errors.id',
    'in',
    eb
      .selectFrom('faultboard_error_search')
      .select('faultboard_error_search.error_id')
      .where(sql<boolean>`faultboard_error_search.search_text like ${pattern} escape '!'`),
  )
}

function sorted<O>(
  query: Query<O>,
  { sort_by = 'occurred_at', sort_direction = 'desc' }: ErrorsFilter,
  dialect: Dialect,
  matches: number,
): Query<O> {
  // The id makes the order total, so that no row stands on two pages.
  return query
    .orderBy(orderOf(sort_by, dialect, matches), sort_direction)
    .orderBy('faultboard_errors.id', sort_direction)
}

function orderOf(field: (typeof SORT_FIELDS)[number], dialect: Dialect, matches: number) {
  switch (field) {
    // Words that have an order of their own, which is not that of the alphabet.
    case 'severity':
      return rank('severity', [...SEVERITIES].reverse())
    case 'status':
      return rank('status', STATUSES)
    case 'error_type':
    case 'platform':
    case 'app_version':
      return letterOrder(dialect, `faultboard_errors.${field}`)
    default:
      return orderOfMatches(dialect, `faultboard_errors.${field}`, matches)
  }
}

const rank = (column: string, words: readonly string[]) =>
  sql`case ${sql.ref(`faultboard_errors.${column}`)} ${sql.join(
    words.map((word, i) => sql`when ${sql.lit(word)} then ${sql.lit(i)}`),
    sql` `,
  )} end`
