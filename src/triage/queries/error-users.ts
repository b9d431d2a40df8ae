import * as v from 'valibot'
import type { Context } from '../../context.js'
import { id } from '../../model/input/input.js'
import { scopeInput } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import { defineOperation } from '../../operation.js'
import { requireError } from './find-error.js'

export const ErrorUsers = r.object({
  /** Most affected users, with all their occurrences. */
  users: r.list(r.object({ user_id: r.text, count: r.integer, last_seen_at: r.time })),
  /** `recent` when only users of the newest occurrences were compared. */
  scope: r.oneOf(['all', 'recent']),
})
export type ErrorUsers = v.InferOutput<typeof ErrorUsers>

const MAX_USERS = 10
/** Maximum number of users to sort for one page. */
const MAX_COMPARED_USERS = 500
const RECENT_OCCURRENCES = 200

/** Returns the users most affected by an error. */
export const errorUsers = defineOperation({
  input: v.object({ error_id: id(), ...scopeInput }),
  async run(context, input): Promise<ErrorUsers> {
    const { id: error_id } = await requireError(context, input)
    return loadTopUsers(context, error_id)
  },
})

export async function loadTopUsers(context: Context, error_id: number): Promise<ErrorUsers> {
  if (await hasMoreThan(context, error_id, MAX_COMPARED_USERS)) {
    const recent = await recentUsers(context, error_id)
    return {
      users: topUsers(await userRows(context, error_id).where('user_id', 'in', recent).execute()),
      scope: 'recent',
    }
  }
  return { users: topUsers(await userRows(context, error_id).limit(MAX_COMPARED_USERS).execute()), scope: 'all' }
}

interface UserRow {
  user_id: string
  count: number
  last_seen_at: number
}

function userRows({ database }: Context, error_id: number) {
  return database.read
    .selectFrom('faultboard_error_users')
    .select(['user_id', 'count', 'last_seen_at'])
    .where('error_id', '=', error_id)
}

/** Reads only the primary key, which is far cheaper than reading rows. */
async function hasMoreThan({ database }: Context, error_id: number, count: number): Promise<boolean> {
  const nextUser = await database.read
    .selectFrom('faultboard_error_users')
    .select('user_id')
    .where('error_id', '=', error_id)
    .orderBy('user_id')
    .limit(1)
    .offset(count)
    .executeTakeFirst()
  return nextUser !== undefined
}

async function recentUsers({ database }: Context, error_id: number): Promise<string[]> {
  const rows = await database.read
    .selectFrom('faultboard_occurrences')
    .select('user_id')
    .where('error_id', '=', error_id)
    .orderBy('occurred_at', 'desc')
    .limit(RECENT_OCCURRENCES)
    .execute()
  // SQL does not allow an empty list. No user has an empty id.
  return [...new Set(['', ...rows.flatMap(({ user_id }) => user_id ?? [])])]
}

/** Sorts in code, because databases order names with equal counts differently. */
function topUsers(rows: readonly UserRow[]): ErrorUsers['users'] {
  return [...rows]
    .sort((a, b) => b.count - a.count || b.last_seen_at - a.last_seen_at || (a.user_id < b.user_id ? -1 : 1))
    .slice(0, MAX_USERS)
    .map(({ last_seen_at, ...user }) => ({ ...user, last_seen_at: new Date(last_seen_at).toISOString() }))
}
