import * as v from 'valibot'
import { optional } from '../../model/input.js'
import { defineOperation } from '../../operation.js'
import { releaseName } from './release-name.js'

/** A release of which source maps are kept. */
export interface ReleaseMaps {
  release: string
  application_name: string
  file_count: number
  packed_bytes: number
  /** Of the newest one. */
  created_at: string
  /** Only where one release was asked for. */
  files?: string[]
}

const MOST_RELEASES = 1000
const MOST_FILES = 5000

/** Of which releases there are source maps, the newest first. The maps themselves are handed out to nobody. */
export const listSourceMaps = defineOperation({
  input: v.object({ release: optional(releaseName()) }),
  async run({ database, config }, { release }): Promise<ReleaseMaps[]> {
    const application_name = config.application_name
    const own = database.read
      .selectFrom('faultboard_source_maps as map')
      .innerJoin('faultboard_applications as application', 'application.id', 'map.application_id')
      .where('application.name', '=', application_name)
      .$if(release !== undefined, (query) => query.where('map.release_name', '=', release ?? ''))
    const rows = await own
      .select(({ fn }) => [
        'map.release_name',
        fn.countAll().as('file_count'),
        fn.sum('map.packed_bytes').as('packed_bytes'),
        fn.max('map.created_at').as('created_at'),
      ])
      .groupBy('map.release_name')
      .orderBy('created_at', 'desc')
      .orderBy('map.release_name', 'desc')
      .limit(MOST_RELEASES)
      .execute()
    const files =
      release === undefined
        ? null
        : await own.select('map.file_name').orderBy('map.file_name').limit(MOST_FILES).execute()
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
