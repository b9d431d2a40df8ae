import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { ParsedMap } from '../../capture/source-maps/parsed-map.js'
import { packText } from '../../capture/source-maps/stored/packed-text.js'
import { packOwnSources } from '../../capture/source-maps/stored/source-bundle.js'
import { withoutContents } from '../../capture/source-maps/without-contents.js'
import { TrackerError } from '../../model/errors.js'
import { optionalText, requiredText } from '../../model/input.js'
import { defineOperation } from '../../operation.js'
import { applicationId } from '../../store/applications.js'
import { releaseName } from './release-name.js'
import { removeOldReleases } from './remove-old-releases.js'

export interface StoredSourceMap {
  release: string
  file_name: string
  /** What it takes in the database. */
  packed_bytes: number
  /** Whether frames will be shown with the lines around them: not where the map brought none, or too much. */
  has_sources: boolean
  /** Releases whose maps gave way. */
  removed_releases: string[]
}

/** What MySQL takes in one column, with room to spare, and its servers in one statement. */
const PACKED_LIMIT = 7_000_000

/**
 * Keeps the source map of a script, with the application's own sources unless `sources` is false; one of the same release
 * and name is replaced.
 */
export const storeSourceMap = defineOperation({
  input: v.object({
    release: releaseName(),
    file_name: requiredText({ max: 1000 }),
    map: v.string('must be text'),
    code: v.optional(v.nullable(v.string('must be text'))),
    debug_id: optionalText({ max: 64 }),
    folder: optionalText({ max: 500 }),
    sources: v.optional(v.boolean('must be true or false'), true),
  }),
  async run(context, { sources, ...given }): Promise<StoredSourceMap> {
    const { release, file_name, map, code = null, debug_id, folder = '' } = given
    const { config, database, now } = context
    const plain = checkedMap(map, file_name, config.source_map_max_bytes)
    const packed_map = await packText(plain)
    // Without the script there are positions, but no names of functions.
    const kept_code = code !== null && code.length <= config.source_map_max_bytes ? await packText(code) : null
    const packed_code = kept_code !== null && kept_code.length <= PACKED_LIMIT ? kept_code : null
    if (packed_map.length > PACKED_LIMIT) throw tooLarge(file_name, `${PACKED_LIMIT} bytes when it is packed`)
    const packed_sources = sources ? await packedSources(map, folder, config.source_map_max_bytes) : null
    const application_id = await applicationId(database, config.application_name, now())
    const row = {
      ...{ application_id, release_name: release, file_name, folder, packed_map, packed_code },
      file_digest: createHash('sha256').update(`${release}\n${file_name}`).digest('hex'),
      debug_id: debug_id?.toLowerCase() ?? null,
      map_bytes: plain.length,
      packed_bytes: packed_map.length + (packed_code?.length ?? 0) + (packed_sources?.length ?? 0),
      created_at: now(),
    }
    await database.write(async (trx) => {
      await trx
        .deleteFrom('faultboard_source_maps')
        .where('application_id', '=', application_id)
        .where('file_digest', '=', row.file_digest)
        .execute()
      await trx.insertInto('faultboard_source_maps').values(row).execute()
      // In a statement of their own: MySQL takes only so much in one.
      await trx
        .updateTable('faultboard_source_maps')
        .set({ packed_sources })
        .where('application_id', '=', application_id)
        .where('file_digest', '=', row.file_digest)
        .execute()
    })
    const removed_releases = await removeOldReleases(context, application_id)
    const has_sources = packed_sources !== null
    return { release, file_name, packed_bytes: row.packed_bytes, has_sources, removed_releases }
  },
})

function checkedMap(map: string, file_name: string, max_bytes: number): Buffer {
  const plain = withoutContents(Buffer.from(map))
  if (plain.length > max_bytes) throw tooLarge(file_name, `${max_bytes} bytes (source_map_max_bytes)`)
  try {
    const text = plain.toString('utf8')
    if (ParsedMap.parse({ text, bytes: plain.length, folder: '/' }, max_bytes, '/')) return plain
  } catch {
    throw new TrackerError('invalid_input', `The map of ${file_name} is no source map.`)
  }
  throw tooLarge(file_name, `${max_bytes} bytes (source_map_max_bytes) in what it takes to read it`)
}

/** Null where there are none, or so many that no process would read them. */
async function packedSources(map: string, folder: string, max_bytes: number): Promise<string | null> {
  const sources = packOwnSources(map, folder)
  const packed = sources && sources.length <= max_bytes ? await packText(sources) : null
  return packed !== null && packed.length <= PACKED_LIMIT ? packed : null
}

function tooLarge(file_name: string, limit: string): TrackerError {
  return new TrackerError('too_large', `The map of ${file_name} is larger than ${limit}.`)
}
