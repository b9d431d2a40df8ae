import type { Context } from '../context.js'
import { DAY } from '../model/time.js'
import { bulkTarget } from '../store/bulk/bulk-targets.js'

/** Person who signed in. */
export interface SeenPerson {
  name: string
  email: string | null
}

/** Bounds the table if `authenticate` returns a new name for every request. */
export const MAX_KNOWN_PEOPLE = 1000
/** Bounds the list, which every page with an assignee field contains. */
const MAX_SUGGESTED_NAMES = 100

const PEOPLE = bulkTarget('faultboard_people', ['name', 'email', 'last_seen_at'], {
  onConflict: {
    update: [
      { column: 'email', by: 'replace' },
      { column: 'last_seen_at', by: 'greatest' },
    ],
  },
})

/** Stores people with their current addresses. Deletes the least recently seen people over the limit. */
export async function recordPeople(
  { database, ready }: Context,
  people: readonly SeenPerson[],
  time: number,
): Promise<void> {
  await ready()
  const rows = people.map(({ name, email }) => [name, email, time])
  await database.write(async (trx) => {
    await database.dialect.insertMany(trx, PEOPLE, rows)
    const surplus = await trx
      .selectFrom('faultboard_people')
      .select('name')
      .orderBy('last_seen_at', 'desc')
      .orderBy('name')
      .limit(MAX_KNOWN_PEOPLE)
      .offset(MAX_KNOWN_PEOPLE)
      .execute()
    if (surplus.length === 0) return
    const names = surplus.map(({ name }) => name)
    await trx.deleteFrom('faultboard_people').where('name', 'in', names).execute()
  })
}

/** Names to suggest for an assignment: accounts, and the people who signed in most recently. */
export async function knownNames({ database, config }: Context): Promise<string[]> {
  const rows = await database.read
    .selectFrom('faultboard_people')
    .select('name')
    .orderBy('last_seen_at', 'desc')
    .limit(MAX_SUGGESTED_NAMES)
    .execute()
  return mergeNames(
    config.dashboard_users.map(({ name }) => name),
    rows.map(({ name }) => name),
  )
}

export function mergeNames(...lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())].sort()
}

/** Deletes people who have not signed in for `audit_retention_days`. The audit log keeps names for the same period. */
export async function deleteOldPeople({ database, config, now }: Context): Promise<void> {
  const cutoff = now() - config.audit_retention_days * DAY
  await database.write((trx) => trx.deleteFrom('faultboard_people').where('last_seen_at', '<', cutoff).execute())
}
