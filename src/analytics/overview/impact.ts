import type { Context } from '../../context.js'
import { firstHourFrom, startOfLastDays } from '../../model/time.js'
import { packedRows } from '../../store/packed-rows.js'
import { withoutIndex } from '../../store/sort-order.js'
import { errorsOf } from '../sums/application-filter.js'
import { usersOfErrors } from './affected-users.js'

export interface ImpactOfError {
  error_id: number
  occurrences: number
  users: number
}

export interface Impact {
  /** Since when occurrences are counted: seven days, or less where so many sums are kept that they were not all read. */
  since: number
  /** More users met these errors than are counted. */
  users_are_bound: boolean
  errors: ImpactOfError[]
}

const SHOWN = 8
const CANDIDATES = 25
/** So many hourly sums are read, newest first: a few milliseconds of an embedded database. */
const MOST_SUMS = 8000
const LOOKED_UP = 200

/** The open errors that hurt most: by their share of the occurrences and of the users of the last seven days. */
export async function impact(context: Context, application_id: number | undefined): Promise<Impact> {
  const since = await reach(context)
  const occurrences = await mostFrequent(context, application_id, since)
  const users = await usersOfErrors(context, application_id)
  const mostMet = [...users.by_error.keys()].slice(0, CANDIDATES)
  const ids = await openAmong(context, application_id, [...occurrences.keys(), ...mostMet])
  const missing = ids.filter((id) => !occurrences.has(id))
  for (const [id, count] of await occurrencesOf(context, missing, since)) occurrences.set(id, count)
  const errors = ids.map((error_id) => ({
    error_id,
    occurrences: occurrences.get(error_id) ?? 0,
    users: users.by_error.get(error_id) ?? 0,
  }))
  // Users are counted to the minute, occurrences by whole hours, so a user in the first hour can have no occurrence.
  const counted = ranked(errors).filter((error) => error.occurrences > 0)
  return { since, users_are_bound: users.is_lower_bound, errors: counted.slice(0, SHOWN) }
}

function ranked(errors: readonly ImpactOfError[]): ImpactOfError[] {
  const most = (what: 'occurrences' | 'users') => Math.max(1, ...errors.map((error) => error[what]))
  const [occurrences, users] = [most('occurrences'), most('users')]
  const weight = (error: ImpactOfError) => error.occurrences / occurrences + error.users / users
  return [...errors].sort((a, b) => weight(b) - weight(a) || a.error_id - b.error_id)
}

/** From which hour on the sums of seven days are read without reading too many. */
async function reach({ database, config, now }: Context): Promise<number> {
  const week = firstHourFrom(startOfLastDays(7, now(), config.time_zone))
  const next = await database.read
    .selectFrom('faultboard_error_hours')
    .select('hour')
    .where('hour', '>=', week)
    .orderBy('hour', 'desc')
    .offset(MOST_SUMS)
    .limit(1)
    .executeTakeFirst()
  return next?.hour ?? week
}

/** The open errors with the most occurrences. Which are open is looked up afterwards, for the few that came most often. */
async function mostFrequent(context: Context, application_id: number | undefined, since: number) {
  const { read, dialect } = context.database
  const sums = read
    .selectFrom('faultboard_error_hours')
    // By its index the sums of all time would be read in the order of their errors.
    .select(({ fn }) => [withoutIndex(dialect, 'error_id').as('id'), fn.sum<number>('count').as('count')])
    .where('hour', '>=', since)
    .groupBy('id')
    .orderBy('count', 'desc')
    .orderBy('id')
  const rows = await packedRows(context.database, sums.limit(MOST_SUMS), ['id', 'count'])
  const most = new Map<number, number>()
  for (let i = 0; i < rows.length && most.size < CANDIDATES; i += LOOKED_UP) {
    const counts = new Map(rows.slice(i, i + LOOKED_UP).map(({ id, count }) => [id, Number(count)]))
    const open = new Set(await openAmong(context, application_id, [...counts.keys()]))
    for (const [id, count] of counts) if (open.has(id) && most.size < CANDIDATES) most.set(id, count)
  }
  return most
}

async function openAmong(context: Context, application_id: number | undefined, ids: readonly number[]) {
  if (ids.length === 0) return []
  const rows = await context.database.read
    .selectFrom('faultboard_errors')
    .select('id')
    .where('id', 'in', [...new Set(ids)])
    .where('resolved', '=', 0)
    .where(errorsOf(context, application_id))
    .execute()
  return rows.map(({ id }) => id)
}

async function occurrencesOf({ database }: Context, ids: readonly number[], since: number) {
  if (ids.length === 0) return new Map<number, number>()
  const rows = await database.read
    .selectFrom('faultboard_error_hours')
    .select(({ fn }) => ['error_id', fn.sum<number>('count').as('count')])
    .where('error_id', 'in', ids)
    .where('hour', '>=', since)
    .groupBy('error_id')
    .execute()
  return new Map(rows.map(({ error_id, count }) => [error_id, Number(count)]))
}
