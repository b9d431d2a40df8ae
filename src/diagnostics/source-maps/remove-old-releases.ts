import type { Context } from '../../context.js'

/** Removes the maps of all but the newest `source_map_max_releases` of an application; gives which releases they were. */
export async function removeOldReleases({ config, database }: Context, application_id: number): Promise<string[]> {
  const releases = await database.read
    .selectFrom('faultboard_source_maps')
    .select('release_name')
    .where('application_id', '=', application_id)
    .groupBy('release_name')
    .orderBy((eb) => eb.fn.max('id'), 'desc')
    .execute()
  const old = releases.slice(config.source_map_max_releases).map(({ release_name }) => release_name)
  // One after the other: maps are large, and an embedded SQLite holds the host's thread while it deletes.
  for (const release_name of old) {
    await database.write((trx) =>
      trx
        .deleteFrom('faultboard_source_maps')
        .where('application_id', '=', application_id)
        .where('release_name', '=', release_name)
        .execute(),
    )
  }
  return old
}

/** The same for every application, for the nightly cleanup: the option may have been lowered since the last upload. */
export async function removeOldSourceMaps(context: Context): Promise<void> {
  const applications = await context.database.read
    .selectFrom('faultboard_source_maps')
    .select('application_id')
    .distinct()
    .execute()
  for (const { application_id } of applications) await removeOldReleases(context, application_id)
}
