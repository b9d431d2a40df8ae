import { constants, createReadStream } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import type { TrackerInstance } from '../../tracker.js'
import type { Imported, Line, Rejection } from '../../transfer/import-records.js'
import { wrongUse } from '../arguments.js'
import { COMMON_FLAGS, CommandFailed, defineCommand } from '../command.js'
import { readConfiguration, withoutDashboard } from '../configuration.js'
import { linesOf } from '../io/lines.js'
import { RejectedLines } from '../io/rejected-lines.js'
import { complain, harmless, print, printJson } from '../io/terminal.js'
import { openedTracker, targetOf } from '../open-tracker.js'

export const importCommand = defineCommand({
  name: 'import',
  summary: 'Add the errors of an export to the database',
  text: 'Reads what faultboard export wrote as NDJSON. Importing the same again changes nothing; an error that is here from\nelsewhere gets the counts added, and keeps its status, assignee and priority. Nobody is sent a message.\nA line that cannot be taken is told by its number and kept in FILE.rejected; the exit code is then 1.',
  examples: [
    'faultboard import errors.ndjson --database postgres://localhost/shop',
    'gunzip -c errors.ndjson.gz | faultboard import -',
  ],
  argument: { name: 'FILE', text: 'What to read; -: standard input', is_required: true },
  flags: {
    database: COMMON_FLAGS.database,
    config: COMMON_FLAGS.config,
    rejected: { value: 'FILE', text: 'Where lines go that cannot be taken; left out: FILE.rejected' },
    json: { text: 'Answer in JSON' },
  },
  async run(flags, file) {
    if (file === undefined) throw wrongUse('faultboard import needs a FILE, or - for standard input')
    await requireReadable(file)
    const configuration = await readConfiguration({ ...flags, 'application-name': undefined })
    const settings = withoutDashboard(configuration.settings)
    const rejected = await RejectedLines.beside(
      file,
      flags.rejected ?? (file === '-' ? 'import.rejected' : `${file}.rejected`),
    )
    const target = targetOf(settings)
    const imported = await openedTracker(settings, (tracker) => importFrom(file, tracker, rejected))
    tell(imported, target, rejected, flags.json)
    return imported.rejected > 0 ? 1 : 0
  },
})

async function importFrom(file: string, { Commands }: TrackerInstance, rejected: RejectedLines): Promise<Imported> {
  const stream: AsyncIterable<Uint8Array> = file === '-' ? process.stdin : createReadStream(file)
  const reject = (rejection: Rejection, line: Line) => rejected.keep(rejection, line)
  try {
    return await Commands.ImportErrors.call({ lines: ndjson(linesOf(stream), file), reject })
  } catch (error) {
    if (error instanceof CommandFailed) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandFailed(
      `The import stopped: ${harmless(reason)}. What was taken so far stays; import the same again to go on.`,
    )
  } finally {
    await rejected.close()
  }
}

async function requireReadable(file: string): Promise<void> {
  if (file === '-') return
  const found = await stat(file).catch(() => null)
  if (!found) throw new CommandFailed(`There is no file ${file}.`)
  if (found.isDirectory()) throw new CommandFailed(`${file} is a folder: name the file of faultboard export.`)
  await access(file, constants.R_OK).catch(({ message }: Error) => {
    throw new CommandFailed(`Cannot read ${file}: ${message}. Import it as a user who may read it.`)
  })
  // Before a database is made for it. A pipe can be read only once.
  if (found.isFile()) for await (const _first of ndjson(linesOf(createReadStream(file)), file)) break
}

/** What is something else altogether is said at once, instead of line by line. */
async function* ndjson(lines: AsyncIterable<Line>, file: string): AsyncGenerator<Line> {
  let is_first = true
  for await (const line of lines) {
    if (is_first && line.text?.trim() === '') continue
    if (is_first && !isRecord(line.text ?? '')) {
      throw new CommandFailed(
        `${file === '-' ? 'Standard input' : file} is no NDJSON of faultboard export: its first line is not a record of one. CSV cannot be imported.`,
      )
    }
    is_first = false
    yield line
  }
}

/** Also one that is broken further on, which is told by its number. */
function isRecord(text: string): boolean {
  if (/^\s*\{\s*"(kind|version)"\s*:/.test(text)) return true
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && 'kind' in value && 'version' in value
  } catch {
    // Whatever it is, it is not what an export writes.
    return false
  }
}

function tell(
  imported: Imported,
  { address, is_new }: ReturnType<typeof targetOf>,
  { first, file, kept }: RejectedLines,
  json: boolean,
): void {
  const { created, added, known, outdated, occurrences, rejected } = imported
  if (json) printJson({ ...imported, database: address, database_is_new: is_new, rejections: first })
  else {
    print(`${created} new, ${added} added to errors that were here, ${known} here already: ${occurrences} occurrences.`)
    print(`Imported into ${address}${is_new ? ', which did not exist and was made' : ''}.`)
  }
  if (outdated > 0) {
    complain(
      `${outdated} here already from an earlier export of the same database, and changed there since. They stay as they are: delete them here and import again to have them as they are now.`,
    )
  }
  for (const { line, reason } of first) complain(`Line ${line}: ${harmless(reason)}`)
  if (rejected > first.length) complain(`… and ${rejected - first.length} more.`)
  if (rejected === 0) return
  const not_taken = `${rejected} ${rejected === 1 ? 'line was' : 'lines were'} not taken`
  complain(
    kept === rejected
      ? `${not_taken} and kept in ${file}.`
      : `${not_taken}; ${kept} of them ${kept === 1 ? 'is' : 'are'} kept in ${file}, what is too long or no text is not.`,
  )
}
