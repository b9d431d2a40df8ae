import type { Context } from '../../context.js'

/**
 * Token that changes when any process records or changes an error. Reads only index ends, so the cost does not depend
 * on the amount of data.
 */
export async function latestChange({ database, ready }: Context): Promise<string> {
  await ready()
  const latest = await database.read
    .selectNoFrom(({ selectFrom }) => [
      selectFrom('faultboard_errors')
        .select(({ fn }) => fn.max('id').as('id'))
        .as('error_id'),
      // Every flush adds a marker, even a flush of repeats only.
      selectFrom('faultboard_batches')
        .select(({ fn }) => fn.max('created_at').as('created_at'))
        .as('created_at'),
      selectFrom('faultboard_activities')
        .select(({ fn }) => fn.max('id').as('id'))
        .as('id'),
    ])
    .executeTakeFirstOrThrow()
  return Object.values(latest).join(' ')
}
