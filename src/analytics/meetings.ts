import type { Context } from '../context.js'
import type { Database } from '../store/database.js'

/** Who met which error, and when; the newest meetings, so that what is read stays bounded. */
export interface MeetingsInput {
  /** Only of this application: the meetings of others do not use up what may be read. */
  application_id: number | undefined
  since: number
  most: number
}

/** Rows searched for those of one application on SQLite, which blocks the host. */
const MOST_LOOKED_AT = 30_000

/** The meetings of users and errors since an instant, the newest first. */
export function newestMeetings({ database }: Context, { application_id, since, most }: MeetingsInput) {
  const newest = meetings(database, since)
  if (application_id === undefined) return newest.limit(most)
  const { read, dialect } = database
  const among = dialect.blocksHost ? newest.limit(MOST_LOOKED_AT) : newest
  const own = read
    .selectFrom('faultboard_errors')
    .select('id')
    .where('application_id', '=', application_id)
    // Whoever met it since then, it occurred since then.
    .where('occurred_at', '>=', since)
  return read
    .selectFrom(among.as('u'))
    .selectAll('u')
    .where('u.error_id', 'in', own)
    .orderBy('u.last_seen_at', 'desc')
    .limit(most)
}

/** Whether there are more than the newest: then what is counted among those is the least that there is. */
export async function areMore(context: Context, { most, ...input }: MeetingsInput): Promise<boolean> {
  const next = await newestMeetings(context, { ...input, most: 1 })
    .offset(most)
    .executeTakeFirst()
  return next !== undefined || areOutOfSight(context, input)
}

/** Whether so many meetings were newer that older ones of the application were not looked for. */
export async function areOutOfSight(
  { database }: Context,
  { application_id, since }: Omit<MeetingsInput, 'most'>,
): Promise<boolean> {
  if (application_id === undefined || !database.dialect.blocksHost) return false
  return (await meetings(database, since).limit(1).offset(MOST_LOOKED_AT).executeTakeFirst()) !== undefined
}

function meetings({ read }: Database, since: number) {
  return read
    .selectFrom('faultboard_error_users as u')
    .select(['u.error_id', 'u.user_id', 'u.first_seen_at', 'u.last_seen_at'])
    .where('u.last_seen_at', '>=', since)
    .orderBy('u.last_seen_at', 'desc')
}
