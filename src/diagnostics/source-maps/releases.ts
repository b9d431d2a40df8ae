import * as v from 'valibot'
import type { Context } from '../../context.js'
import { optional, requiredText } from '../../model/input/input.js'
import { defineCommand, defineOperation } from '../../operation.js'
import { ownApplicationId } from '../../store/applications.js'

/** Release name, which equals the `app_version` that clients report. */
export const releaseName = () => requiredText({ max: 128 })

/** Release with stored source maps. */
export interface ReleaseMaps {
  release: string
  application_name: string
  file_count: number
  packed_bytes: number
  /** Time of the newest source map. */
  created_at: string
  /** File names, if one release is requested. */
  files?: string[]
}

const MAX_RELEASES = 1000
const MAX_FILES = 5000

/** Lists releases with source maps, newest first. Never returns the contents of maps. */
export const listSourceMaps = defineOperation({
  input: v.object({ release: optional(releaseName()) }),
  async run({ database, config }, { release }): Promise<ReleaseMaps[]> {
    const application_name = config.application_name
    const maps = database.read
      .selectFrom('faultboard_source_maps as map')
      .innerJoin('faultboard_applications as application', 'application.id', 'map.application_id')
      .where('application.name', '=', application_name)
      .$if(release !== undefined, (query) => query.where('map.release_name', '=', release ?? ''))
    const rows = await maps
      .select(({ fn }) => [
        'map.release_name',
        fn.countAll().as('file_count'),
        fn.sum('map.packed_bytes').as('packed_bytes'),
        fn.max('map.created_at').as('created_at'),
      ])
      .groupBy('map.release_name')
      .orderBy('created_at', 'desc')
      .orderBy('map.release_name', 'desc')
      .limit(MAX_RELEASES)
      .execute()
    const files =
      release === undefined
        ? null
        : await maps.select('map.file_name').orderBy('map.file_name').limit(MAX_FILES).execute()
    return rows.map(({ release_name, file_count, packed_bytes, created_at }) => ({
      release: release_name,
      application_name,
      file_count: Number(file_count),
      packed_bytes: Number(packed_bytes),
      created_at: new Date(Number(created_at)).toISOString(),
      ...(files && { files: files.map(({ file_name }) => file_name) }),
    }))
  },
})

/** Deletes the source maps of a release and returns their number. */
export const deleteSourceMaps = defineCommand({
  input: v.object({ release: releaseName() }),
  async run(context, { release }): Promise<{ deleted: number }> {
    const application_id = await ownApplicationId(context)
    if (application_id === null) return { deleted: 0 }
    const { numDeletedRows } = await context.database.write((trx) =>
      trx
        .deleteFrom('faultboard_source_maps')
        .where('application_id', '=', application_id)
        .where('release_name', '=', release)
        .executeTakeFirstOrThrow(),
    )
    return { deleted: Number(numDeletedRows) }
  },
  audit: ({ release }, { deleted }) =>
    deleted === 0 ? null : { action: 'delete_source_maps', target: release, count: deleted },
})

/** Deletes the maps of all but the newest `source_map_max_releases` releases. Returns the names of these releases. */
export async function deleteOldReleases({ config, database }: Context, application_id: number): Promise<string[]> {
  const releases = await database.read
    .selectFrom('faultboard_source_maps')
    .select('release_name')
    .where('application_id', '=', application_id)
    .groupBy('release_name')
    .orderBy((eb) => eb.fn.max('id'), 'desc')
    .execute()
  const outdated = releases.slice(config.source_map_max_releases).map(({ release_name }) => release_name)
  // One transaction per release, because maps are large and SQLite blocks the host's thread.
  for (const release_name of outdated) {
    await database.write((trx) =>
      trx
        .deleteFrom('faultboard_source_maps')
        .where('application_id', '=', application_id)
        .where('release_name', '=', release_name)
        .execute(),
    )
  }
  return outdated
}

/** Applies `deleteOldReleases` to all applications. Needed if the limit was lowered after the last upload. */
export async function deleteOldSourceMaps(context: Context): Promise<void> {
  const applications = await context.database.read
    .selectFrom('faultboard_source_maps')
    .select('application_id')
    .distinct()
    .execute()
  for (const { application_id } of applications) await deleteOldReleases(context, application_id)
}
