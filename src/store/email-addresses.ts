import type { Options } from '../config/options.js'
import type { Kysely } from './kysely.js'
import type { Schema } from './schema.js'

/** Returns the email address of a person: of the account with this name, or of the latest sign-in. */
export async function findEmail(
  db: Kysely<Schema>,
  { dashboard_users }: Pick<Options, 'dashboard_users'>,
  name: string,
): Promise<string | null> {
  const account = dashboard_users.find((user) => user.name === name)
  // An address that was removed from the configuration is no longer used.
  if (account) return account.email ?? null
  const person = await db.selectFrom('faultboard_people').select('email').where('name', '=', name).executeTakeFirst()
  return person?.email ?? null
}
