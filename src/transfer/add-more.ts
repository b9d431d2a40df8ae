import type { Context } from '../context.js'
import { TrackerError } from '../model/errors.js'
import { trimOccurrences } from '../store/recording/trim-occurrences.js'
import { addRows } from './add-rows.js'
import { findOrCreateApplication, IMPORT_MARKERS, importedEnvironment, importedRevision, lockGroup } from './group.js'
import { markerName } from './origin.js'
import type { ErrorPartLine } from './record.js'

/** Adds another part of an error. Skips a part that was added before or belongs to another revision. */
export async function addErrorPart(context: Context, line: ErrorPartLine): Promise<void> {
  const { database, now, config } = context
  const application = await findOrCreateApplication(database, line.application_name, now())
  const error_id = await database.write(async (trx) => {
    const environment = line.environment ?? (await importedEnvironment(trx, application, line))
    const group = environment === null ? null : { environment, hash_signature: line.hash_signature }
    const row = group && (await lockGroup(trx, database, application, group))
    const revision = row && (await importedRevision(trx, application, row, line.origins))
    if (!row || revision === null) {
      throw new TrackerError('not_found', 'the error that this line continues was not imported')
    }
    if (revision !== line.revision) return null
    const [origin = ''] = line.origins
    const marker = markerName(row.id, origin, line.part)
    const existing = await trx
      .selectFrom('faultboard_leases')
      .select('name')
      .where('name', '=', marker)
      .executeTakeFirst()
    if (existing) return null
    await addRows(trx, database.dialect, { application_id: application.id, row, hours: [], commits: [], ...line })
    await database.dialect.insertMany(trx, IMPORT_MARKERS, [[marker, line.revision, 0]])
    return row.id
  })
  if (error_id !== null) await trimOccurrences(database, error_id, config.max_occurrences_per_error)
}
