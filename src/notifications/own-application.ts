import type { Context } from '../context.js'

/** The id of the application whose process this is; null before its first error. */
export async function ownApplicationId({ database, config }: Context): Promise<number | null> {
  const row = await database.read
    .selectFrom('faultboard_applications')
    .select('id')
    .where('name', '=', config.application_name)
    .executeTakeFirst()
  return row?.id ?? null
}
