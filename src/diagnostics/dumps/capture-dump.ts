import * as v from 'valibot'
import { readOptions } from '../../config/options.js'
import type { Context } from '../../context.js'
import { TrackerError } from '../../model/errors.js'
import { flag, id, integer, optional, optionalText, withDefault } from '../../model/input.js'
import { defineOperation } from '../../operation.js'
import { applicationId } from '../../store/applications.js'
import type { Insertable } from '../../store/kysely.js'
import type { DiagnosticDumpsTable } from '../../store/schema.js'
import { contentOf, findDiagnosticDump, HEAD, readSummary, summaryOf } from './diagnostic-dump.js'
import { dumpSections, processRedactor } from './dump-content.js'
import { removeFiles } from './dump-files.js'
import { MAX_PROFILE_MS } from './limits.js'
import { dumpOptions } from './options.js'
import { takeFiles } from './take-files.js'

/** Beyond this many of an application, the oldest go. */
export const KEPT_DUMPS = 100
export const NOTE_LIMIT = 1000

/**
 * Takes a snapshot of this process and keeps it.
 *
 * @example
 * await Tracker.Commands.CaptureDiagnosticDump.call({ note: 'before the deploy', cpu_profile_ms: 5000 })
 */
export const captureDiagnosticDump = defineOperation({
  input: v.object({
    note: optionalText({ max: NOTE_LIMIT }),
    report: withDefault(flag(), false),
    cpu_profile_ms: withDefault(integer({ min: 0, max: MAX_PROFILE_MS }), 0),
    heap_snapshot: withDefault(flag(), false),
    actor: optionalText({ max: 255 }),
  }),
  async run(context, { note, actor, report, ...wanted }): Promise<{ id: number; created_at: string }> {
    const { config, database, now } = context
    if (!readOptions(config, dumpOptions).enable_diagnostic_dump) {
      throw new TrackerError(
        'switched_off',
        'Diagnostic dumps are switched off. Set enable_diagnostic_dump to true in the configuration to turn them on.',
      )
    }
    const created_at = now()
    const safeNote = note == null ? null : processRedactor(context).text(note)
    const sections = await dumpSections(context, { report })
    const files = await takeFiles(context, wanted)
    try {
      const application_id = await applicationId(database, config.application_name, created_at)
      const content = contentOf({ ...summaryOf(sections, actor ?? null), files }, sections)
      const dump_id = await keep(context, { application_id, note: safeNote, content, created_at })
      return { id: dump_id, created_at: new Date(created_at).toISOString() }
    } catch (error) {
      await removeFiles(context, files)
      throw error
    }
  },
})

/** Writes the dump; the oldest of its application, which it takes the place of, go with their files. */
async function keep(context: Context, dump: Insertable<DiagnosticDumpsTable>): Promise<number> {
  const { dialect, write } = context.database
  const { id, surplus } = await write(async (trx) => {
    const dumps = trx.selectFrom('faultboard_diagnostic_dumps').where('application_id', '=', dump.application_id)
    const insert = trx.insertInto('faultboard_diagnostic_dumps').values(dump)
    // The newest row may belong to another process.
    const { id } = dialect.hasReturning
      ? await insert.returning('id').executeTakeFirstOrThrow()
      : { id: Number((await insert.executeTakeFirstOrThrow()).insertId) }
    const surplus = await dumps.select(['id', HEAD]).orderBy('id', 'desc').limit(1000).offset(KEPT_DUMPS).execute()
    if (surplus.length > 0) {
      const ids = surplus.map((row) => row.id)
      await trx.deleteFrom('faultboard_diagnostic_dumps').where('id', 'in', ids).execute()
    }
    return { id, surplus }
  })
  for (const { head } of surplus) await removeFiles(context, readSummary(head).files)
  return id
}

/** Deletes a dump with its files, as far as they lie on this machine. */
export const deleteDiagnosticDump = defineOperation({
  input: v.object({ dump_id: id(), application_id: optional(id()) }),
  async run(context, input): Promise<{ deleted: number }> {
    const { files } = await findDiagnosticDump.run(context, input)
    await context.database.read.deleteFrom('faultboard_diagnostic_dumps').where('id', '=', input.dump_id).execute()
    await removeFiles(context, files)
    return { deleted: 1 }
  },
})
