import type { Context } from '../context.js'
import { isoTime } from '../model/time.js'
import type { ErrorsFilter } from '../triage/list/errors-list.js'
import { matchingErrors, withSearchText } from '../triage/list/matching-errors.js'
import { exportError } from './export-error.js'
import { MARKER_PATTERN, parseMarkerName } from './origin.js'
import { type ExportedLine, FORMAT_VERSION } from './record.js'

const IDS_PER_PAGE = 200

/**
 * All stored data of the matching errors, as lines for `importRecords`. Ordered by id, because new occurrences cannot
 * change that order during the export. Ignores `page` and `sort_by`.
 */
export async function* exportRecords(context: Context, filter: ErrorsFilter): AsyncGenerator<ExportedLine> {
  const matching = await matchingErrors(context, filter)
  const imported = await readImportedOrigins(context)
  const exported = new Set<number>()
  for (let last = 0; ; ) {
    const query = matching
      .query({ useApplicationIndex: false })
      .select(['faultboard_errors.id', 'faultboard_errors.application_id'])
      .where('faultboard_errors.id', '>', last)
      .orderBy('faultboard_errors.id')
      .limit(IDS_PER_PAGE)
    const found = await (matching.commonText === null ? query : withSearchText(query, matching.commonText)).execute()
    for (const { id, application_id } of found) {
      if (!exported.has(application_id)) {
        exported.add(application_id)
        yield* exportApplication(context, application_id)
      }
      yield* exportError(context, id, imported.get(id) ?? [])
    }
    last = found.at(-1)?.id ?? last
    if (found.length < IDS_PER_PAGE) return
  }
}

/** Origins already imported into each error, so that an import of this export does not count them again. */
async function readImportedOrigins({ database }: Context): Promise<Map<number, string[]>> {
  const rows = await database.read
    .selectFrom('faultboard_leases')
    .select('name')
    .where('name', 'like', MARKER_PATTERN)
    .execute()
  const found = new Map<number, string[]>()
  for (const { name } of rows) {
    const { error_id, origin, part } = parseMarkerName(name)
    if (part === 1) found.set(error_id, [...(found.get(error_id) ?? []), origin])
  }
  return found
}

async function* exportApplication({ database }: Context, application_id: number): AsyncGenerator<ExportedLine> {
  const application = await database.read
    .selectFrom('faultboard_applications')
    .select(['name', 'created_at'])
    .where('id', '=', application_id)
    .executeTakeFirst()
  if (!application) return
  const releasesIn = async (table: 'faultboard_releases' | 'faultboard_client_releases') => {
    const releases = await database.read
      .selectFrom(table)
      .select(['platform', 'version', 'environment', 'first_seen_at'])
      .where('application_id', '=', application_id)
      .execute()
    return releases.map((release) => ({ ...release, first_seen_at: isoTime(release.first_seen_at) }))
  }
  yield {
    version: FORMAT_VERSION,
    kind: 'application',
    application_name: application.name,
    created_at: isoTime(application.created_at),
    releases: await releasesIn('faultboard_releases'),
    client_releases: await releasesIn('faultboard_client_releases'),
  }
}
