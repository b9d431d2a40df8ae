import type { Context } from '../../context.js'

/** The id of the application of this configuration; null where nothing was ever kept for it. */
export async function ownApplication({ database, config }: Context): Promise<number | null> {
  const row = await database.read
    .selectFrom('faultboard_applications')
    .select('id')
    .where('name', '=', config.application_name)
    .executeTakeFirst()
  return row?.id ?? null
}
