import { constants, createReadStream } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import type { TrackerInstance } from '../../tracker.js'
import type { ImportResult, Line, Rejection } from '../../transfer/import-records.js'
import { usageError } from '../arguments.js'
import { COMMON_FLAGS, CommandFailed, defineCommand } from '../command.js'
import { readConfiguration } from '../configuration.js'
import { readLines } from '../io/lines.js'
import { progressLine } from '../io/progress.js'
import { RejectedLines } from '../io/rejected-lines.js'
import { escapeText, print, printError, printJson } from '../io/terminal.js'
import { describeTarget, withNewTracker } from '../open-tracker.js'

export const importCommand = defineCommand({
  name: 'import',
  summary: 'Import exported errors into the database',
  text: 'Reads NDJSON written by faultboard export. Importing the same file again changes nothing. Counts are added to an existing\nerror, which keeps its status, assignee and priority. No notifications are sent.\nRejected lines are reported with their number and saved to FILE.rejected; the exit code is then 1.',
  examples: [
    'faultboard import errors.ndjson --database postgres://localhost/shop',
    'gunzip -c errors.ndjson.gz | faultboard import -',
  ],
  argument: { name: 'FILE', text: 'Input file; - for standard input', isRequired: true },
  flags: {
    database: COMMON_FLAGS.database,
    config: COMMON_FLAGS.config,
    rejected: { value: 'FILE', text: 'File for rejected lines (default: FILE.rejected)' },
    json: { text: 'Print JSON' },
  },
  async run(flags, file) {
    if (file === undefined) throw usageError('faultboard import needs a FILE, or - for standard input')
    await requireReadable(file)
    const configuration = await readConfiguration({ ...flags, 'application-name': undefined })
    const { settings } = configuration
    const rejected = await RejectedLines.create(
      file,
      flags.rejected ?? (file === '-' ? 'import.rejected' : `${file}.rejected`),
    )
    const target = describeTarget(settings)
    const imported = await withNewTracker(settings, (tracker) => importFrom(file, tracker, rejected, flags.json))
    printSummary(imported, target, rejected, flags.json)
    return imported.rejected > 0 ? 1 : 0
  },
})

async function importFrom(
  file: string,
  { Commands }: TrackerInstance,
  rejected: RejectedLines,
  isQuiet: boolean,
): Promise<ImportResult> {
  const stream = withProgress(file === '-' ? process.stdin : createReadStream(file), await fileSize(file), isQuiet)
  const reject = (rejection: Rejection, line: Line) => rejected.save(rejection, line)
  try {
    return await Commands.ImportErrors.call({ lines: ndjson(readLines(stream), file), reject })
  } catch (error) {
    if (error instanceof CommandFailed) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandFailed(
      `The import stopped: ${escapeText(reason)}. Everything imported so far is kept; run the same import again to continue.`,
    )
  } finally {
    await rejected.close()
  }
}

/** Null for a pipe, whose size is unknown. */
async function fileSize(file: string): Promise<number | null> {
  const found = file === '-' ? null : await stat(file)
  return found?.isFile() ? found.size : null
}

async function* withProgress(
  stream: AsyncIterable<Uint8Array>,
  total: number | null,
  isQuiet: boolean,
): AsyncGenerator<Uint8Array> {
  const showProgress = progressLine({ label: 'Importing', unit: 'MB', isQuiet })
  let done = 0
  for await (const chunk of stream) {
    showProgress?.(done, total)
    yield chunk
    done += chunk.length
  }
}

async function requireReadable(file: string): Promise<void> {
  if (file === '-') return
  const found = await stat(file).catch(() => null)
  if (!found) throw new CommandFailed(`${file} does not exist. Check the path.`)
  if (found.isDirectory()) throw new CommandFailed(`${file} is a folder. Specify a file written by faultboard export.`)
  await access(file, constants.R_OK).catch(({ message }: Error) => {
    throw new CommandFailed(`Cannot read ${file}: ${message}. Check its permissions.`)
  })
  // Fails before a database is created for the import. A pipe can only be read once.
  if (found.isFile()) for await (const _first of ndjson(readLines(createReadStream(file)), file)) break
}

/** Rejects a file of another format immediately, instead of line by line. */
async function* ndjson(lines: AsyncIterable<Line>, file: string): AsyncGenerator<Line> {
  let isFirst = true
  for await (const line of lines) {
    if (isFirst && line.text?.trim() === '') continue
    if (isFirst && !isRecord(line.text ?? '')) {
      throw new CommandFailed(
        `${file === '-' ? 'Standard input' : file} is not an NDJSON export of Faultboard: the first line is not a record. CSV cannot be imported; export to a file such as errors.ndjson.`,
      )
    }
    isFirst = false
    yield line
  }
}

/** Accepts a record whose later part is invalid, because such a record is reported with its line number. */
function isRecord(text: string): boolean {
  if (/^\s*\{\s*"(kind|version)"\s*:/.test(text)) return true
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && 'kind' in value && 'version' in value
  } catch {
    // Not a line of an export.
    return false
  }
}

function printSummary(
  imported: ImportResult,
  { address, isNew }: ReturnType<typeof describeTarget>,
  { first, file, savedCount }: RejectedLines,
  json: boolean,
): void {
  const { created, added, known, outdated, occurrences, rejected } = imported
  if (json) printJson({ ...imported, database: address, database_is_new: isNew, rejections: first })
  else {
    print(
      `${created} new, ${added} merged into existing errors, ${known} already imported: ${occurrences} ${occurrences === 1 ? 'occurrence' : 'occurrences'}.`,
    )
    print(`Imported into ${address}${isNew ? ', which was created' : ''}.`)
  }
  if (outdated > 0) {
    printError(
      `${outdated} already imported from an earlier export of the same database, and changed there since. They were not updated: delete them here and import again to update them.`,
    )
  }
  for (const { line, reason } of first) printError(`Line ${line}: ${escapeText(reason)}`)
  if (rejected > first.length) printError(`… and ${rejected - first.length} more.`)
  if (rejected === 0) return
  const rejectedText = `${rejected} ${rejected === 1 ? 'line was' : 'lines were'} rejected`
  printError(
    savedCount === rejected
      ? `${rejectedText} and saved to ${file}.`
      : `${rejectedText}; ${savedCount} of them ${savedCount === 1 ? 'was' : 'were'} saved to ${file}. Lines that are too long or not valid text are not saved.`,
  )
}
