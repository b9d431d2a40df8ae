import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import { DAY, firstHourFrom, startOfHour } from '../../model/time.js'
import { packedRows } from '../../store/bulk/packed-rows.js'
import { withoutIndex } from '../../store/sql/sort-order.js'
import type { Span } from '../sums/period.js'
import { errorsInScope } from '../sums/scope-conditions.js'
import { countUsersByError } from './affected-users.js'

export interface ErrorImpact {
  error_id: number
  occurrences: number
  users: number
}

export interface Impact {
  /** True when user counts are lower bounds. */
  user_counts_are_lower_bounds: boolean
  errors: ErrorImpact[]
}

const MAX_LISTED_ERRORS = 8
const MAX_CANDIDATES = 25
/** Maximum number of hourly sums to read, newest first. Takes a few milliseconds on SQLite. */
const MAX_HOURLY_SUMS = 8000
const IDS_PER_QUERY = 200
/** An error has up to 2,160 hourly sums within 90 days. */
const COUNTED_PER_QUERY = 25

/** Open errors with the highest impact: their share of occurrences and users in the period. */
export async function loadImpact(context: Context, scope: Scope, { from, to }: Span): Promise<Impact> {
  // A period of minutes is extended to whole hours.
  const period = { from: to - from < DAY ? startOfHour(from) : firstHourFrom(from), to }
  const users = await countUsersByError(context, scope, { from, to })
  const ids = await filterOpen(context, scope, [
    ...(await findMostFrequent(context, scope, period)),
    ...[...users.byError.keys()].slice(0, MAX_CANDIDATES),
  ])
  const occurrences = await countOccurrences(context, ids, period)
  const errors = ids.map((error_id) => ({
    error_id,
    occurrences: occurrences.get(error_id) ?? 0,
    users: users.byError.get(error_id) ?? 0,
  }))
  // Users are counted to the minute, but occurrences by whole hours. A user in the first hour may thus have no
  // occurrence.
  const counted = rankByImpact(errors).filter((error) => error.occurrences > 0)
  return { user_counts_are_lower_bounds: users.is_lower_bound, errors: counted.slice(0, MAX_LISTED_ERRORS) }
}

function rankByImpact(errors: readonly ErrorImpact[]): ErrorImpact[] {
  const most = (figure: 'occurrences' | 'users') => Math.max(1, ...errors.map((error) => error[figure]))
  const [occurrences, users] = [most('occurrences'), most('users')]
  const weight = (error: ErrorImpact) => error.occurrences / occurrences + error.users / users
  return [...errors].sort((a, b) => weight(b) - weight(a) || a.error_id - b.error_id)
}

/** First hour of the period for which the sums stay within the row limit. */
async function firstCoveredHour({ database }: Context, { from, to }: Span): Promise<number> {
  const next = await database.read
    .selectFrom('faultboard_error_hours')
    .select('hour')
    .where('hour', '>=', from)
    .where('hour', '<', to)
    .orderBy('hour', 'desc')
    .offset(MAX_HOURLY_SUMS)
    .limit(1)
    .executeTakeFirst()
  return next?.hour ?? from
}

/**
 * Open errors with the most occurrences in the newest hours of the period. If the row limit excludes older hours, adds
 * the errors with the most occurrences of all time.
 */
async function findMostFrequent(context: Context, scope: Scope, { from, to }: Span): Promise<number[]> {
  const since = await firstCoveredHour(context, { from, to })
  const recent = await findMostFrequentSince(context, scope, { from: since, to })
  return since === from ? recent : [...recent, ...(await findMostFrequentEver(context, scope, from))]
}

async function findMostFrequentEver(context: Context, scope: Scope, from: number): Promise<number[]> {
  const rows = await context.database.read
    .selectFrom('faultboard_errors')
    .select('id')
    .where('resolved', '=', 0)
    .where('occurred_at', '>=', from)
    .where(errorsInScope(context, scope))
    .orderBy('occurrence_count', 'desc')
    .orderBy('id', 'desc')
    .limit(MAX_CANDIDATES)
    .execute()
  return rows.map(({ id }) => id)
}

/** Returns the most frequent open errors. Checks whether an error is open only until there are enough. */
async function findMostFrequentSince(context: Context, scope: Scope, { from, to }: Span): Promise<number[]> {
  const { read, dialect } = context.database
  const sums = read
    .selectFrom('faultboard_error_hours')
    // Using the index on `error_id` would read the sums of all time.
    .select(({ fn }) => [withoutIndex(dialect, 'error_id').as('id'), fn.sum<number>('count').as('count')])
    .where('hour', '>=', from)
    .where('hour', '<', to)
    .groupBy('id')
    .orderBy('count', 'desc')
    .orderBy('id')
  const rows = await packedRows(context.database, sums.limit(MAX_HOURLY_SUMS), ['id', 'count'])
  const openIds: number[] = []
  for (let i = 0; i < rows.length && openIds.length < MAX_CANDIDATES; i += IDS_PER_QUERY) {
    const ids = rows.slice(i, i + IDS_PER_QUERY).map(({ id }) => id)
    const open = new Set(await filterOpen(context, scope, ids))
    openIds.push(...ids.filter((id) => open.has(id)))
  }
  return openIds.slice(0, MAX_CANDIDATES)
}

async function filterOpen(context: Context, scope: Scope, ids: readonly number[]) {
  if (ids.length === 0) return []
  const rows = await context.database.read
    .selectFrom('faultboard_errors')
    .select('id')
    .where('id', 'in', [...new Set(ids)])
    .where('resolved', '=', 0)
    .where(errorsInScope(context, scope))
    .execute()
  return rows.map(({ id }) => id)
}

/** Exact sums for the whole period, queried for a few errors at a time. */
async function countOccurrences({ database }: Context, ids: readonly number[], { from, to }: Span) {
  const counts = new Map<number, number>()
  for (let i = 0; i < ids.length; i += COUNTED_PER_QUERY) {
    const rows = await database.read
      .selectFrom('faultboard_error_hours')
      .select(({ fn }) => ['error_id', fn.sum<number>('count').as('count')])
      .where('error_id', 'in', ids.slice(i, i + COUNTED_PER_QUERY))
      .where('hour', '>=', from)
      .where('hour', '<', to)
      .groupBy('error_id')
      .execute()
    for (const { error_id, count } of rows) counts.set(error_id, Number(count))
  }
  return counts
}
