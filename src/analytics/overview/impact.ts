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
  /** First counted hour: that of the period, or a later one if the row limit was reached. */
  since: number
  /** True when user counts are lower bounds. */
  user_counts_are_lower_bounds: boolean
  errors: ErrorImpact[]
}

const MAX_LISTED_ERRORS = 8
const MAX_CANDIDATES = 25
/** Maximum number of hourly sums to read, newest first. Takes a few milliseconds on SQLite. */
const MAX_HOURLY_SUMS = 8000
const IDS_PER_QUERY = 200

/** Open errors with the highest impact: their share of occurrences and users in the period. */
export async function loadImpact(context: Context, scope: Scope, period: Span): Promise<Impact> {
  const since = await firstCoveredHour(context, period)
  const hours = { from: since, to: period.to }
  const occurrences = await findMostFrequent(context, scope, hours)
  const users = await countUsersByError(context, scope, period)
  const idsByUsers = [...users.byError.keys()].slice(0, MAX_CANDIDATES)
  const ids = await filterOpen(context, scope, [...occurrences.keys(), ...idsByUsers])
  const uncounted = ids.filter((id) => !occurrences.has(id))
  for (const [id, count] of await countOccurrences(context, uncounted, hours)) occurrences.set(id, count)
  const errors = ids.map((error_id) => ({
    error_id,
    occurrences: occurrences.get(error_id) ?? 0,
    users: users.byError.get(error_id) ?? 0,
  }))
  // Users are counted to the minute, occurrences by whole hours, so a user in the first hour can have no occurrence.
  const counted = rankByImpact(errors).filter((error) => error.occurrences > 0)
  return { since, user_counts_are_lower_bounds: users.is_lower_bound, errors: counted.slice(0, MAX_LISTED_ERRORS) }
}

function rankByImpact(errors: readonly ErrorImpact[]): ErrorImpact[] {
  const most = (figure: 'occurrences' | 'users') => Math.max(1, ...errors.map((error) => error[figure]))
  const [occurrences, users] = [most('occurrences'), most('users')]
  const weight = (error: ErrorImpact) => error.occurrences / occurrences + error.users / users
  return [...errors].sort((a, b) => weight(b) - weight(a) || a.error_id - b.error_id)
}

/** First hour of the period that stays within the row limit. A period of minutes is extended to whole hours. */
async function firstCoveredHour({ database }: Context, { from, to }: Span): Promise<number> {
  const first = to - from < DAY ? startOfHour(from) : firstHourFrom(from)
  const next = await database.read
    .selectFrom('faultboard_error_hours')
    .select('hour')
    .where('hour', '>=', first)
    .where('hour', '<', to)
    .orderBy('hour', 'desc')
    .offset(MAX_HOURLY_SUMS)
    .limit(1)
    .executeTakeFirst()
  return next?.hour ?? first
}

/** Open errors with the most occurrences. Only the most frequent errors are checked for being open. */
async function findMostFrequent(context: Context, scope: Scope, { from, to }: Span) {
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
  const most = new Map<number, number>()
  for (let i = 0; i < rows.length && most.size < MAX_CANDIDATES; i += IDS_PER_QUERY) {
    const counts = new Map(rows.slice(i, i + IDS_PER_QUERY).map(({ id, count }) => [id, Number(count)]))
    const open = new Set(await filterOpen(context, scope, [...counts.keys()]))
    for (const [id, count] of counts) if (open.has(id) && most.size < MAX_CANDIDATES) most.set(id, count)
  }
  return most
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

async function countOccurrences({ database }: Context, ids: readonly number[], { from, to }: Span) {
  if (ids.length === 0) return new Map<number, number>()
  const rows = await database.read
    .selectFrom('faultboard_error_hours')
    .select(({ fn }) => ['error_id', fn.sum<number>('count').as('count')])
    .where('error_id', 'in', ids)
    .where('hour', '>=', from)
    .where('hour', '<', to)
    .groupBy('error_id')
    .execute()
  return new Map(rows.map(({ error_id, count }) => [error_id, Number(count)]))
}
