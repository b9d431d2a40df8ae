import * as v from 'valibot'
import { readOptions } from '../../config/options.js'
import type { Context } from '../../context.js'
import { TrackerError } from '../../model/errors.js'
import { flag, integer, optionalText, withDefault } from '../../model/input/input.js'
import { defineCommand } from '../../operation.js'
import { applicationId } from '../../store/applications.js'
import type { Insertable } from '../../store/kysely.js'
import type { DiagnosticDumpsTable } from '../../store/schema.js'
import { findDiagnosticDump, formatContent, parseSummary, SUMMARY_PREFIX, summarize } from './diagnostic-dump.js'
import { dumpSections, processRedactor } from './dump-content.js'
import { type DumpFile, removeFiles, storeFile } from './dump-files.js'
import { dumpOptions } from './options.js'

/** Dumps per application. The oldest are deleted. */
export const MAX_DUMPS = 100
export const MAX_NOTE_LENGTH = 1000
const MAX_PROFILE_MS = 30_000

/**
 * Captures and stores a snapshot of this process.
 *
 * @example
 * await Tracker.Commands.CaptureDiagnosticDump.call({ note: 'before the deploy', cpu_profile_ms: 5000 })
 */
export const captureDiagnosticDump = defineCommand({
  input: v.object({
    note: optionalText({ max: MAX_NOTE_LENGTH }),
    report: withDefault(flag(), false),
    cpu_profile_ms: withDefault(integer({ min: 0, max: MAX_PROFILE_MS }), 0),
    heap_snapshot: withDefault(flag(), false),
    actor: optionalText({ max: 255 }),
  }),
  async run(context, { note, actor, report, ...fileOptions }): Promise<{ id: number; created_at: string }> {
    const { config, database, now } = context
    if (!readOptions(config, dumpOptions).enable_diagnostic_dump) {
      throw new TrackerError(
        'switched_off',
        'Diagnostic dumps are off. Set enable_diagnostic_dump to true to enable them.',
      )
    }
    const created_at = now()
    const safeNote = note == null ? null : processRedactor(context).text(note)
    const sections = await dumpSections(context, { report })
    const files = await captureFiles(context, fileOptions)
    try {
      const application_id = await applicationId(database, config.application_name, created_at)
      const content = formatContent({ ...summarize(sections, actor ?? null), files }, sections)
      const { environment } = config
      const dump_id = await insertDump(context, { application_id, environment, note: safeNote, content, created_at })
      return { id: dump_id, created_at: new Date(created_at).toISOString() }
    } catch (error) {
      await removeFiles(context, files)
      throw error
    }
  },
  audit: ({ heap_snapshot }, { id }) => ({
    action: 'capture_dump',
    target: `dump ${id}`,
    ...(heap_snapshot && { detail: 'with heap snapshot' }),
  }),
})

/** Inserts a dump and deletes the oldest dumps above the limit with their files. */
async function insertDump(context: Context, dump: Insertable<DiagnosticDumpsTable>): Promise<number> {
  const { dialect, write } = context.database
  const { id, surplus } = await write(async (trx) => {
    const dumps = trx.selectFrom('faultboard_diagnostic_dumps').where('application_id', '=', dump.application_id)
    const insert = trx.insertInto('faultboard_diagnostic_dumps').values(dump)
    // Not the newest row, which may belong to another process.
    const { id } = dialect.hasReturning
      ? await insert.returning('id').executeTakeFirstOrThrow()
      : { id: Number((await insert.executeTakeFirstOrThrow()).insertId) }
    const surplus = await dumps
      .select(['id', SUMMARY_PREFIX])
      .orderBy('id', 'desc')
      .limit(1000)
      .offset(MAX_DUMPS)
      .execute()
    if (surplus.length > 0) {
      const ids = surplus.map((row) => row.id)
      await trx.deleteFrom('faultboard_diagnostic_dumps').where('id', 'in', ids).execute()
    }
    return { id, surplus }
  })
  for (const { summary_prefix } of surplus) await removeFiles(context, parseSummary(summary_prefix).files)
  return id
}

interface FileOptions {
  cpu_profile_ms: number
  heap_snapshot: boolean
}

/** Captures the requested CPU profile and heap snapshot. Loads their modules on demand. */
async function captureFiles(context: Context, { cpu_profile_ms, heap_snapshot }: FileOptions): Promise<DumpFile[]> {
  if (heap_snapshot && !readOptions(context.config, dumpOptions).enable_heap_snapshots) {
    throw new TrackerError(
      'switched_off',
      'Heap snapshots are off, because a snapshot contains every secret of the process in clear text. Set enable_heap_snapshots to true to enable them.',
    )
  }
  const files: DumpFile[] = []
  try {
    if (cpu_profile_ms > 0) {
      const { writeCpuProfile } = await import('./cpu-profile.js')
      files.push(await storeFile(context, 'cpu_profile', (path) => writeCpuProfile(path, cpu_profile_ms)))
    }
    if (heap_snapshot) {
      const { writeHeapSnapshotFile } = await import('./heap-snapshot.js')
      files.push(await storeFile(context, 'heap_snapshot', writeHeapSnapshotFile))
    }
    return files
  } catch (error) {
    await removeFiles(context, files)
    throw error
  }
}

/** Deletes a dump and those of its files that are on this machine. */
export const deleteDiagnosticDump = defineCommand({
  input: findDiagnosticDump.input,
  async run(context, input): Promise<{ deleted: number }> {
    const { files } = await findDiagnosticDump.run(context, input)
    await context.database.read.deleteFrom('faultboard_diagnostic_dumps').where('id', '=', input.dump_id).execute()
    await removeFiles(context, files)
    return { deleted: 1 }
  },
  audit: ({ dump_id }) => ({ action: 'delete_dump', target: `dump ${dump_id}` }),
})
