import type { Context } from '../../context.js'

/**
 * A text that is another one after an error was recorded or somebody has done something with one, whichever process it
 * was. Each part of it is the end of an index, so that asking costs the same however much is stored.
 */
export async function latestChange({ database, ready }: Context): Promise<string> {
  await ready()
  const latest = await database.read
    .selectNoFrom(({ selectFrom }) => [
      selectFrom('faultboard_errors')
        .select(({ fn }) => fn.max('id').as('id'))
        .as('error_id'),
      // Every flush leaves its marker, also one of nothing but repeats.
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
