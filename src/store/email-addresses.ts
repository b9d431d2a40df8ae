import type { Options } from '../config/options.js'
import type { Kysely } from './kysely.js'
import type { Schema } from './schema.js'

/** Returns the email address of a person: of the account with this name, or of the latest sign-in. */
export async function findEmail(
  db: Kysely<Schema>,
  { dashboard_users }: Options,
  name: string,
): Promise<string | null> {
  const account = dashboard_users.find((user) => user.name === name)
  // An address that was removed from the configuration is no longer used.
  if (account) return account.email ?? null
  const person = await db.selectFrom('faultboard_people').select('email').where('name', '=', name).executeTakeFirst()
  return person?.email ?? null
}

/** Finds the names of the people behind recipients such as `Ben <ben@shop.example>`. Omits unknown recipients. */
export async function findRecipientNames(
  db: Kysely<Schema>,
  { dashboard_users, notification_email_recipients }: Options,
): Promise<Map<string, string[]>> {
  const seen = await db.selectFrom('faultboard_people').select(['name', 'email']).execute()
  const emailByName = new Map([...seen, ...dashboard_users].map(({ name, email }) => [name, email?.toLowerCase()]))
  const names = notification_email_recipients.map((recipient): [string, string[]] => {
    const address = emailAddress(recipient).toLowerCase()
    return [recipient, [...emailByName].filter(([, email]) => email === address).map(([name]) => name)]
  })
  return new Map(names.filter(([, people]) => people.length > 0))
}

function emailAddress(recipient: string): string {
  return /<([^<>]+)>\s*$/.exec(recipient)?.[1] ?? recipient.trim()
}
