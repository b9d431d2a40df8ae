import type { Context } from '../context.js'
import { TrackerError } from '../model/errors.js'
import { trimOccurrences } from '../store/recording/trim-occurrences.js'
import { addRows } from './add-rows.js'
import { findOrCreateApplication, IMPORT_MARKS, importedRevision, lockGroup } from './group.js'
import { markName } from './origin.js'
import type { MoreLine } from './record.js'

/** Adds a further part of an error, once, and only to the imported revision. */
export async function addErrorPart(context: Context, line: MoreLine): Promise<void> {
  const { database, now, config } = context
  const application = await findOrCreateApplication(database, line.application_name, now())
  const error_id = await database.write(async (trx) => {
    const row = await lockGroup(trx, database, application, line.hash_signature)
    const revision = row && (await importedRevision(trx, application, row, line.origins))
    if (!row || revision === null) {
      throw new TrackerError('not_found', 'the line with its error was not imported')
    }
    if (revision !== line.revision) return null
    const [origin = ''] = line.origins
    const mark = markName(row.id, origin, line.part)
    const existing = await trx
      .selectFrom('faultboard_leases')
      .select('name')
      .where('name', '=', mark)
      .executeTakeFirst()
    if (existing) return null
    await addRows(trx, database.dialect, { application_id: application.id, row, hours: [], ...line })
    await database.dialect.insertMany(trx, IMPORT_MARKS, [[mark, line.revision, 0]])
    return row.id
  })
  if (error_id !== null) await trimOccurrences(database, error_id, config.max_occurrences_per_error)
}
