import type { Context } from '../context.js'
import { TrackerError } from '../model/errors.js'
import { trimOccurrences } from '../store/recording/trim-occurrences.js'
import { addRows } from './add-rows.js'
import { applicationOf, IMPORTS, knownRevision, lockedGroup } from './group.js'
import { markOf } from './origin.js'
import type { MoreLine } from './record.js'

/** Adds a further part of an error, once, and only to the imported revision. */
export async function addMore(context: Context, line: MoreLine): Promise<void> {
  const { database, now, config } = context
  const application = await applicationOf(database, line.application_name, now())
  const error_id = await database.write(async (trx) => {
    const row = await lockedGroup(trx, database, application, line.hash_signature)
    const known = row && (await knownRevision(trx, application, row, line.origins))
    if (!row || known === null) {
      throw new TrackerError('not_found', 'the line with its error was not imported')
    }
    if (known !== line.revision) return null
    const [origin = ''] = line.origins
    const mark = markOf(row.id, origin, line.part)
    const done = await trx.selectFrom('faultboard_leases').select('name').where('name', '=', mark).executeTakeFirst()
    if (done) return null
    await addRows(trx, database.dialect, { application_id: application.id, row, hours: [], ...line })
    await database.dialect.insertMany(trx, IMPORTS, [[mark, line.revision, 0]])
    return row.id
  })
  if (error_id !== null) await trimOccurrences(database, error_id, config.max_occurrences_per_error)
}
