import type { Dialect } from '../dialect.js'
import type { UnknownRow } from '../kysely.js'
import { sql, type Transaction } from '../kysely.js'
import type { Schema } from '../schema.js'

/** What was added to `faultboard_error_users`. */
export type AddedUser = readonly [error_id: number, user_id: string, count: number, first: number, last: number]

/**
 * Adds to each error the users that met it for the first time: those whose sum is now what was just added. The rows of
 * the errors are locked by then, so that no other process counts the same user.
 */
export async function countUsers(
  trx: Transaction<Schema>,
  dialect: Dialect,
  added: readonly AddedUser[],
  returned: readonly UnknownRow[] | null,
): Promise<void> {
  const news = new Map<number, number>()
  const sumOf = sumsInAnyOrder((returned as Sum[] | null) ?? (await read(trx, added)))
  added.forEach((user, i) => {
    const [error_id, , count] = user
    if (sumOf(user, i) === count) news.set(error_id, (news.get(error_id) ?? 0) + 1)
  })
  const byKey = dialect.primaryKeyHint ?? sql``
  for (const count of new Set(news.values())) {
    const ids = [...news].filter(([, one]) => one === count).map(([id]) => id)
    // One of the statements of every flush: as text it takes half of what the query builder does.
    await sql`update faultboard_errors ${byKey} set user_count = coalesce(user_count, 0) + ${sql.lit(count)}
      where id in (${sql.join(ids)})`.execute(trx)
  }
}

/** Finds the sum of a user. SQLite returns the rows in the order they were written, which spares the look-up by key. */
function sumsInAnyOrder(rows: readonly Sum[]): (user: AddedUser, i: number) => number | undefined {
  let byKey: Map<string, number> | null = null
  return ([error_id, user_id], i) => {
    const row = rows[i]
    if (row?.user_id === user_id && row.error_id === error_id) return row.count
    byKey ??= new Map(rows.map((one) => [`${one.error_id}\n${one.user_id}`, one.count]))
    return byKey.get(`${error_id}\n${user_id}`)
  }
}

interface Sum {
  error_id: number
  user_id: string
  count: number
}

/** For a database that does not return what it has written. */
async function read(trx: Transaction<Schema>, added: readonly AddedUser[]): Promise<Sum[]> {
  const error_ids = [...new Set(added.map(([error_id]) => error_id))]
  const user_ids = [...new Set(added.map(([, user_id]) => user_id))]
  return trx
    .selectFrom('faultboard_error_users')
    .select(['error_id', 'user_id', 'count'])
    .where('error_id', 'in', error_ids)
    .where('user_id', 'in', user_ids)
    .execute()
}
