import { readdir } from 'node:fs/promises'
import { environmentVariable, type Options, resolveConfiguration } from '../../options.js'
import type { Database } from '../../store/database.js'
import { type Moved, type MovedRows, moveDatabase, requireMovable } from '../../store/move/move.js'
import { spoolFolder } from '../../store/open-schema.js'
import { usageError } from '../arguments.js'
import { COMMON_FLAGS, CommandFailed, defineCommand, type ParsedFlags } from '../command.js'
import { readConfiguration, withoutDashboard } from '../configuration.js'
import { print, printError, printJson, terminalWidth } from '../io/terminal.js'
import { textTable } from '../io/text-table.js'
import { createDatabaseFrom, missingFile, runQuery } from '../tracker-database.js'

const FLAGS = {
  from: { value: 'URL', text: 'Where everything is now: sqlite:FILE, postgres://… or mysql://…' },
  to: { value: 'URL', text: 'Where it goes; left out: the database of the configuration' },
  config: COMMON_FLAGS.config,
  json: { text: 'Print JSON' },
} as const

export const move = defineCommand({
  name: 'move',
  summary: 'Copy everything to another database, and verify it',
  text: 'Every table is copied under the same ids, read back and compared row by row. The move is all or nothing,\nand the source is not changed. The tables of the target are created, and it must not contain errors.\nStop the application first, so that no error is recorded during the move. Then start it with the new database.',
  examples: [
    'faultboard move --from sqlite:faultboard.sqlite3 --to postgres://app:secret@localhost/shop',
    'FAULTBOARD_DATABASE=postgres://app:secret@localhost/shop faultboard move --from sqlite:faultboard.sqlite3',
  ],
  flags: FLAGS,
  async run(flags) {
    if (flags.from === undefined) throw usageError('--from is missing: the database that everything is in now')
    const source = await optionsFor(flags, flags.from, '--from')
    const target = await optionsFor(flags, flags.to, '--to')
    const [from, to] = [createDatabaseFrom(source), createDatabaseFrom(target)]
    try {
      if (from.dialect.address === to.dialect.address) {
        throw usageError(`--from and --to are the same database, ${from.dialect.address}`)
      }
      const missing = missingFile(from)
      if (missing) throw new CommandFailed(`There is no database ${missing}: check what follows --from.`)
      await runQuery(from, () => requireMovable(from))
      const spool = spoolFolder(source, from)
      const waitingFiles = await filesIn(spool)
      warnAboutSpool(spool, waitingFiles)
      const moved = await runQuery(to, () => moveDatabase(from, to, progress(flags.json)))
      printSummary(moved, from, to, flags.json)
      warnAboutHost(spool, (await filesIn(spool)) - waitingFiles)
      return 0
    } finally {
      await from.close()
      await to.close()
    }
  },
})

async function optionsFor(
  { config }: ParsedFlags<typeof FLAGS>,
  database: string | undefined,
  flag: string,
): Promise<Options> {
  const { settings } = await readConfiguration({ config, database, 'application-name': undefined })
  if (settings.database === undefined && !process.env[environmentVariable('database') ?? '']) {
    throw usageError(`${flag} is missing, and no configuration names a database`)
  }
  return resolveConfiguration(withoutDashboard(settings)).options
}

/** For people who wait; a log would only be longer by it. */
function progress(json: boolean): (table: string) => void {
  return json || !process.stderr.isTTY ? () => {} : (table) => printError(`Copying ${table} …`)
}

async function filesIn(spool: string): Promise<number> {
  const names = await readdir(spool).catch(() => [])
  return names.filter((name) => !/\.(tmp|failed)$/.test(name)).length
}

/** Warns about errors in the spool folder, which are not in the source yet. */
function warnAboutSpool(spool: string, waitingFiles: number): void {
  if (waitingFiles === 0) return
  printError(
    `${waitingFiles} ${waitingFiles === 1 ? 'file waits' : 'files wait'} in ${spool} to be written to the source, and will not be moved. Let the application run on the source until it is empty, then move.`,
  )
}

/** An embedded source is locked during the move, so that a host that runs all the same puts there what it records. */
function warnAboutHost(spool: string, arrivedCount: number): void {
  if (arrivedCount <= 0) return
  printError(
    `${arrivedCount} ${arrivedCount === 1 ? 'file' : 'files'} arrived in ${spool} during the move: an application still records to the source. Stop it once the folder is empty, empty the target and move again.`,
  )
}

function printSummary({ tables, counted_since }: Moved, from: Database, to: Database, json: boolean): void {
  const [source, target] = [from.dialect.address, to.dialect.address]
  if (json) printJson({ from: source, to: target, verified: true, counted_since, tables })
  else {
    for (const line of textTable(COLUMNS, tables, terminalWidth())) print(line)
    const rows = tables.reduce((sum, table) => sum + table.rows, 0)
    print(`\nMoved ${rows} rows to ${target}, read back and equal row by row. ${source} is unchanged.`)
    print('Now start the application with the new database.')
  }
  if (counted_since > 0) {
    printError(
      `${source} recorded ${counted_since} more occurrences after the move began, and ${target} does not contain them. Stop the application, empty the target and move again.`,
    )
  }
}

const COLUMNS = [
  { title: 'TABLE', text: ({ table }: MovedRows) => table },
  { title: 'ROWS', text: ({ rows }: MovedRows) => String(rows), align: 'right' as const },
  { title: 'SUM', text: ({ sum }: MovedRows) => (sum ? String(sum.total) : ''), align: 'right' as const },
  { title: 'OF', text: ({ sum }: MovedRows) => sum?.column ?? '' },
]
