import type { Dialect } from '../dialect.js'
import type { UnknownRow } from '../kysely.js'
import { sql, type Transaction } from '../kysely.js'
import type { Schema } from '../schema.js'

/** Row that was added to `faultboard_error_users`. */
export type AddedUser = readonly [error_id: number, user_id: string, count: number, first: number, last: number]

/**
 * Increases `user_count` by the users who are new to each error. The stored sum of a new user equals the count that was
 * just added. The error rows are locked already, so no other process counts the same user.
 */
export async function countUsers(
  trx: Transaction<Schema>,
  dialect: Dialect,
  added: readonly AddedUser[],
  returned: readonly UnknownRow[] | null,
): Promise<void> {
  const newUsers = new Map<number, number>()
  const findSum = createSumLookup((returned as UserCount[] | null) ?? (await readCounts(trx, added)))
  added.forEach((user, i) => {
    const [error_id, , count] = user
    if (findSum(user, i) === count) newUsers.set(error_id, (newUsers.get(error_id) ?? 0) + 1)
  })
  if (newUsers.size === 0) return
  const idsByCount = new Map<number, number[]>()
  for (const [id, count] of newUsers) idsByCount.set(count, [...(idsByCount.get(count) ?? []), id])
  const cases = [...idsByCount].map(([count, ids]) => sql`when id in (${sql.join(ids)}) then ${sql.lit(count)}`)
  const increment =
    idsByCount.size === 1 ? sql.lit([...idsByCount.keys()][0]) : sql`case ${sql.join(cases, sql` `)} end`
  // Part of every flush. Raw SQL takes half the time of the query builder.
  await sql`update faultboard_errors ${dialect.primaryKeyHint ?? sql``}
    set user_count = coalesce(user_count, 0) + ${increment} where id in (${sql.join([...newUsers.keys()])})`.execute(
    trx,
  )
}

/** Returns a function that finds the sum of a user. SQLite returns rows in insertion order, so the index usually matches. */
function createSumLookup(rows: readonly UserCount[]): (user: AddedUser, i: number) => number | undefined {
  let byKey: Map<string, number> | null = null
  return ([error_id, user_id], i) => {
    const row = rows[i]
    if (row?.user_id === user_id && row.error_id === error_id) return row.count
    byKey ??= new Map(rows.map((other) => [`${other.error_id}\n${other.user_id}`, other.count]))
    return byKey.get(`${error_id}\n${user_id}`)
  }
}

interface UserCount {
  error_id: number
  user_id: string
  count: number
}

/** Needed for databases that do not return inserted rows. */
async function readCounts(trx: Transaction<Schema>, added: readonly AddedUser[]): Promise<UserCount[]> {
  const error_ids = [...new Set(added.map(([error_id]) => error_id))]
  const user_ids = [...new Set(added.map(([, user_id]) => user_id))]
  return trx
    .selectFrom('faultboard_error_users')
    .select(['error_id', 'user_id', 'count'])
    .where('error_id', 'in', error_ids)
    .where('user_id', 'in', user_ids)
    .execute()
}
