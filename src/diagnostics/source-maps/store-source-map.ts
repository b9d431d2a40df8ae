import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { ParsedMap } from '../../capture/source-maps/parsed-map.js'
import { packText } from '../../capture/source-maps/stored/packed-text.js'
import { packOwnSources } from '../../capture/source-maps/stored/source-bundle.js'
import { withoutContents } from '../../capture/source-maps/without-contents.js'
import { TrackerError } from '../../model/errors.js'
import { optionalText, requiredText } from '../../model/input/input.js'
import { defineCommand } from '../../operation.js'
import { applicationId } from '../../store/applications.js'
import { deleteOldReleases, releaseName } from './releases.js'

export interface StoredSourceMap {
  release: string
  file_name: string
  /** Size in the database. */
  packed_bytes: number
  /** True if frames show source code. False if the map contains no sources or too many. */
  has_sources: boolean
  /** True if this is the first map of the release. */
  is_first_map: boolean
  /** Releases whose maps were deleted because of `source_map_max_releases`. */
  removed_releases: string[]
}

/** Fits into a MySQL column and below the default `max_allowed_packet`. */
const MAX_PACKED_BYTES = 7_000_000

/**
 * Stores the source map of a script, with the application's own sources unless `sources` is false. Replaces a map of the
 * same release and file.
 */
export const storeSourceMap = defineCommand({
  input: v.object({
    release: releaseName(),
    file_name: requiredText({ max: 1000 }),
    map: v.string('must be a string'),
    code: v.optional(v.nullable(v.string('must be a string'))),
    debug_id: optionalText({ max: 64 }),
    folder: optionalText({ max: 500 }),
    sources: v.optional(v.boolean('must be true or false'), true),
  }),
  async run(context, { sources, ...input }): Promise<StoredSourceMap> {
    const { release, file_name, map, code = null, debug_id, folder = '' } = input
    const { config, database, now } = context
    const plain = validateMap(map, file_name, config.source_map_max_bytes)
    const packed_map = await packText(plain)
    // Frames have no function names without the script.
    const compressedCode = code !== null && code.length <= config.source_map_max_bytes ? await packText(code) : null
    const packed_code = compressedCode !== null && compressedCode.length <= MAX_PACKED_BYTES ? compressedCode : null
    if (packed_map.length > MAX_PACKED_BYTES) throw tooLarge(file_name, `${MAX_PACKED_BYTES} bytes when compressed`)
    const packed_sources = sources ? await packSources(map, folder, config.source_map_max_bytes) : null
    const application_id = await applicationId(database, config.application_name, now())
    const row = {
      ...{ application_id, release_name: release, file_name, folder, packed_map, packed_code },
      file_digest: createHash('sha256').update(`${release}\n${file_name}`).digest('hex'),
      debug_id: debug_id?.toLowerCase() ?? null,
      map_bytes: plain.length,
      packed_bytes: packed_map.length + (packed_code?.length ?? 0) + (packed_sources?.length ?? 0),
      created_at: now(),
    }
    const is_first_map = await database.write(async (trx) => {
      const other = await trx
        .selectFrom('faultboard_source_maps')
        .select('id')
        .where('application_id', '=', application_id)
        .where('release_name', '=', release)
        .limit(1)
        .executeTakeFirst()
      await trx
        .deleteFrom('faultboard_source_maps')
        .where('application_id', '=', application_id)
        .where('file_digest', '=', row.file_digest)
        .execute()
      await trx.insertInto('faultboard_source_maps').values(row).execute()
      // Separate statement, because of `max_allowed_packet` in MySQL.
      await trx
        .updateTable('faultboard_source_maps')
        .set({ packed_sources })
        .where('application_id', '=', application_id)
        .where('file_digest', '=', row.file_digest)
        .execute()
      return other === undefined
    })
    const removed_releases = await deleteOldReleases(context, application_id)
    const has_sources = packed_sources !== null
    return { release, file_name, packed_bytes: row.packed_bytes, has_sources, is_first_map, removed_releases }
  },
  // One entry per release, because a build has hundreds of maps.
  audit: (_input, { release, is_first_map }) =>
    is_first_map ? { action: 'store_source_maps', target: release } : null,
})

function validateMap(map: string, file_name: string, maxBytes: number): Buffer {
  const plain = withoutContents(Buffer.from(map))
  if (plain.length > maxBytes) throw tooLarge(file_name, `${maxBytes} bytes (source_map_max_bytes)`)
  try {
    const text = plain.toString('utf8')
    if (ParsedMap.parse({ text, bytes: plain.length, folder: '/' }, maxBytes, '/')) return plain
  } catch {
    throw new TrackerError('invalid_input', `The map of ${file_name} is not a valid source map.`)
  }
  throw tooLarge(file_name, `${maxBytes} bytes (source_map_max_bytes) in memory`)
}

/** Returns null if there are no sources or the sources exceed the limits. */
async function packSources(map: string, folder: string, maxBytes: number): Promise<string | null> {
  const sources = packOwnSources(map, folder)
  const packed = sources && sources.length <= maxBytes ? await packText(sources) : null
  return packed !== null && packed.length <= MAX_PACKED_BYTES ? packed : null
}

function tooLarge(file_name: string, limit: string): TrackerError {
  return new TrackerError('too_large', `The map of ${file_name} is larger than ${limit}.`)
}
