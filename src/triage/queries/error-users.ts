import * as v from 'valibot'
import type { Context } from '../../context.js'
import { id, optional } from '../../model/input.js'
import { defineOperation } from '../../operation.js'
import { errorWithin } from './find-error.js'

export interface ErrorUsers {
  /** Who met the error most often, with all their occurrences. */
  users: { user_id: string; count: number; last_seen_at: string }[]
  /** `recent`: of so many users only those of the newest occurrences were compared. */
  of: 'all' | 'recent'
}

const TOP = 10
/** More users than this are not sorted for one page. */
const COMPARED = 500
const RECENT = 200

/** Who met one error most often. */
export const errorUsers = defineOperation({
  input: v.object({ error_id: id(), application_id: optional(id()) }),
  async run(context, input): Promise<ErrorUsers> {
    const { id: error_id } = await errorWithin(context, input)
    if (await hasMoreThan(context, error_id, COMPARED)) {
      const recent = await recentUsers(context, error_id)
      return { users: top(await usersOf(context, error_id).where('user_id', 'in', recent).execute()), of: 'recent' }
    }
    return { users: top(await usersOf(context, error_id).limit(COMPARED).execute()), of: 'all' }
  },
})

interface UserRow {
  user_id: string
  count: number
  last_seen_at: number
}

function usersOf({ database }: Context, error_id: number) {
  return database.read
    .selectFrom('faultboard_error_users')
    .select(['user_id', 'count', 'last_seen_at'])
    .where('error_id', '=', error_id)
}

/** Asked of the key alone, which is far cheaper than the rows. */
async function hasMoreThan({ database }: Context, error_id: number, count: number): Promise<boolean> {
  const beyond = await database.read
    .selectFrom('faultboard_error_users')
    .select('user_id')
    .where('error_id', '=', error_id)
    .orderBy('user_id')
    .limit(1)
    .offset(count)
    .executeTakeFirst()
  return beyond !== undefined
}

async function recentUsers({ database }: Context, error_id: number): Promise<string[]> {
  const rows = await database.read
    .selectFrom('faultboard_occurrences')
    .select('user_id')
    .where('error_id', '=', error_id)
    .orderBy('occurred_at', 'desc')
    .limit(RECENT)
    .execute()
  // An empty list is no list to SQL, and nobody has the empty name.
  return [...new Set(['', ...rows.flatMap(({ user_id }) => user_id ?? [])])]
}

/** Sorted here, because names of equal counts sort differently on each database. */
function top(rows: readonly UserRow[]): ErrorUsers['users'] {
  return [...rows]
    .sort((a, b) => b.count - a.count || b.last_seen_at - a.last_seen_at || (a.user_id < b.user_id ? -1 : 1))
    .slice(0, TOP)
    .map(({ last_seen_at, ...user }) => ({ ...user, last_seen_at: new Date(last_seen_at).toISOString() }))
}
