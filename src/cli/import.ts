import { createReadStream, createWriteStream, type WriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { finished } from 'node:stream/promises'
import type { Imported, Line, Rejection } from '../transfer/import-records.js'
import { wrongUse } from './arguments.js'
import { COMMON_FLAGS, CommandFailed, defineCommand } from './command.js'
import { readConfiguration, withoutDashboard } from './configuration.js'
import { linesOf } from './lines.js'
import { openedTracker } from './open-tracker.js'
import { complain, harmless, print, printJson } from './terminal.js'

/** So many are told one by one; all are in the file of rejected lines. */
const TOLD = 20

export const importCommand = defineCommand({
  name: 'import',
  summary: 'Add the errors of an export to the database',
  text: 'Reads what faultboard export wrote as NDJSON. Importing the same again changes nothing; an error that is here from\nelsewhere gets the counts added, and keeps its status, assignee and priority. Nobody is sent a message.\nA line that cannot be taken is told by its number and kept in FILE.rejected; the exit code is then 1.',
  examples: [
    'faultboard import errors.ndjson --database postgres://localhost/shop',
    'gunzip -c errors.ndjson.gz | faultboard import -',
  ],
  argument: { name: 'FILE', text: 'What to read; -: standard input' },
  flags: {
    database: COMMON_FLAGS.database,
    config: COMMON_FLAGS.config,
    rejected: { value: 'FILE', text: 'Where lines go that cannot be taken; left out: FILE.rejected' },
    json: { text: 'Answer in JSON' },
  },
  async run(flags, file) {
    if (file === undefined) throw wrongUse('faultboard import needs a FILE, or - for standard input')
    await requireReadable(file)
    const { settings } = await readConfiguration({ ...flags, 'application-name': undefined })
    const aside = new Aside(flags.rejected ?? (file === '-' ? 'import.rejected' : `${file}.rejected`))
    const stream = file === '-' ? process.stdin : createReadStream(file)
    const imported = await openedTracker(withoutDashboard(settings), async ({ Commands }) => {
      const lines = ndjson(linesOf(stream as AsyncIterable<Uint8Array>), file)
      return Commands.ImportErrors.call({ lines, reject: (rejection, line) => aside.keep(rejection, line) })
    })
    await aside.close()
    tell(imported, aside, flags.json)
    return imported.rejected > 0 ? 1 : 0
  },
})

async function requireReadable(file: string): Promise<void> {
  if (file === '-') return
  const found = await stat(file).catch(() => null)
  if (!found) throw new CommandFailed(`There is no file ${file}.`)
  if (!found.isFile()) throw new CommandFailed(`${file} is no file.`)
}

/** What is something else altogether is said at once, instead of line by line. */
async function* ndjson(lines: AsyncIterable<Line>, file: string): AsyncGenerator<Line> {
  let is_first = true
  for await (const line of lines) {
    if (is_first && line.text?.trim() === '') continue
    if (is_first && !line.text?.trimStart().startsWith('{')) {
      throw new CommandFailed(
        `${file === '-' ? 'Standard input' : file} is no NDJSON of faultboard export: its first line is no JSON object. CSV cannot be imported.`,
      )
    }
    is_first = false
    yield line
  }
}

/** Keeps the lines that are not taken. */
class Aside {
  readonly file: string
  readonly first: Rejection[] = []
  #stream: WriteStream | null = null

  constructor(file: string) {
    this.file = file
  }

  keep(rejection: Rejection, { text }: Line): void {
    if (this.first.length < TOLD) this.first.push(rejection)
    this.#stream ??= createWriteStream(this.file, { mode: 0o600 })
    if (text !== null) this.#stream.write(`${text}\n`)
  }

  async close(): Promise<void> {
    if (!this.#stream) return
    this.#stream.end()
    await finished(this.#stream)
  }
}

function tell(imported: Imported, { first, file }: Aside, json: boolean): void {
  const { created, added, known, outdated, occurrences, rejected } = imported
  if (json) printJson({ ...imported, rejections: first })
  else {
    print(`${created} new, ${added} added to errors that were here, ${known} here already: ${occurrences} occurrences.`)
  }
  if (outdated > 0) {
    complain(
      `${outdated} here already from an earlier export of the same database, and changed there since. They stay as they are: delete them here and import again to have them as they are now.`,
    )
  }
  for (const { line, reason } of first) complain(`Line ${line}: ${harmless(reason)}`)
  if (rejected > first.length) complain(`… and ${rejected - first.length} more.`)
  if (rejected > 0) complain(`${rejected} ${rejected === 1 ? 'line was' : 'lines were'} not taken and kept in ${file}.`)
}
