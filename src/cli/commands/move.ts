import { readdir } from 'node:fs/promises'
import { ConfigurationError } from '../../model/errors.js'
import { environmentVariable, type Options, resolveConfiguration } from '../../options.js'
import type { Database } from '../../store/database.js'
import {
  type MovedTable,
  type MoveProgress,
  type MoveResult,
  moveDatabase,
  requireMovable,
} from '../../store/move/move.js'
import { spoolFolder } from '../../store/spool/spool.js'
import { usageError } from '../arguments.js'
import { COMMON_FLAGS, CommandFailed, defineCommand, type ParsedFlags } from '../command.js'
import { readConfiguration } from '../configuration.js'
import { progressLine } from '../io/progress.js'
import { print, printError, printJson, terminalWidth } from '../io/terminal.js'
import { textTable } from '../io/text-table.js'
import { createDatabaseFrom, missingFile, runQuery } from '../tracker-database.js'

const FLAGS = {
  from: { value: 'URL', text: 'Source database: sqlite:FILE, postgres://… or mysql://…' },
  to: { value: 'URL', text: 'Target database (default: the configured database)' },
  config: COMMON_FLAGS.config,
  json: { text: 'Print JSON' },
} as const

export const move = defineCommand({
  name: 'move',
  summary: 'Copy all data to another database and verify the copy',
  text: 'Every table is copied with the same ids, read back and compared row by row. The move is all or nothing,\nand the source is not changed. The target must not contain errors; its tables are created.\nStop the application first, so that no error is recorded during the move. Then start it with the new database.',
  examples: [
    'faultboard move --from sqlite:faultboard.sqlite3 --to postgres://app:secret@localhost/shop',
    'FAULTBOARD_DATABASE=postgres://app:secret@localhost/shop faultboard move --from sqlite:faultboard.sqlite3',
  ],
  flags: FLAGS,
  async run(flags) {
    if (flags.from === undefined) throw usageError('--from is missing: specify the source database')
    const source = await optionsFor(flags, flags.from, '--from')
    const target = await optionsFor(flags, flags.to, '--to')
    const [from, to] = [createDatabaseFrom(source), createDatabaseFrom(target)]
    try {
      if (from.dialect.address === to.dialect.address) {
        throw usageError(`--from and --to are the same database, ${from.dialect.address}`)
      }
      const missing = missingFile(from)
      if (missing) throw new CommandFailed(`There is no database ${missing}. Check --from.`)
      await runQuery(from, () => requireMovable(from))
      const spool = spoolFolder(source, from.target)
      const pendingFiles = await countSpoolFiles(spool)
      warnAboutSpool(spool, pendingFiles)
      const moved = await runQuery(to, () => moveDatabase(from, to, progressPrinter(flags.json)))
      printSummary(moved, from, to, flags.json)
      warnAboutActiveHost(spool, (await countSpoolFiles(spool)) - pendingFiles)
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
    throw usageError(`${flag} is missing, and no database is configured: specify the target database`)
  }
  try {
    return resolveConfiguration(settings).options
  } catch (error) {
    if (!(error instanceof ConfigurationError) || database === undefined) throw error
    // Names the flag, because the message about the option does not show which of the two databases is wrong.
    throw new ConfigurationError(error.problems.map((problem) => problem.replace(/^database\b/, flag)))
  }
}

function progressPrinter(isQuiet: boolean): ((progress: MoveProgress) => void) | undefined {
  const show = {
    copy: progressLine({ label: 'Copying', unit: 'rows', isQuiet }),
    verify: progressLine({ label: 'Verifying', unit: 'rows', isQuiet }),
  }
  // Without a terminal, the rows do not have to be counted.
  return show.copy && (({ step, rows, total }) => show[step]?.(rows, total))
}

async function countSpoolFiles(spool: string): Promise<number> {
  const names = await readdir(spool).catch(() => [])
  return names.filter((name) => !/\.(tmp|failed)$/.test(name)).length
}

/** Warns about errors in the spool folder, which are not in the source yet. */
function warnAboutSpool(spool: string, pendingFiles: number): void {
  if (pendingFiles === 0) return
  printError(
    `${pendingFiles} ${pendingFiles === 1 ? 'file is' : 'files are'} pending in ${spool} and will not be moved. Run the application with the source until the folder is empty, then move.`,
  )
}

/** Detects a running host. It spools errors during the move, because the move locks an embedded source. */
function warnAboutActiveHost(spool: string, newFiles: number): void {
  if (newFiles <= 0) return
  printError(
    `${newFiles} ${newFiles === 1 ? 'file was' : 'files were'} added to ${spool} during the move: an application is still recording to the source. Stop it once the folder is empty, empty the target and move again.`,
  )
}

function printSummary({ tables, counted_since }: MoveResult, from: Database, to: Database, json: boolean): void {
  const [source, target] = [from.dialect.address, to.dialect.address]
  if (json) printJson({ from: source, to: target, verified: true, counted_since, tables })
  else {
    for (const line of textTable(COLUMNS, tables, terminalWidth())) print(line)
    const rows = tables.reduce((sum, table) => sum + table.rows, 0)
    print(`\nMoved ${rows} rows to ${target} and verified each row. ${source} is unchanged.`)
    print('Now start the application with the new database.')
  }
  if (counted_since > 0) {
    printError(
      `${source} recorded ${counted_since} more occurrences after the move began, and ${target} does not contain them. Stop the application, empty the target and move again.`,
    )
  }
}

const COLUMNS = [
  { title: 'TABLE', text: ({ table }: MovedTable) => table },
  { title: 'ROWS', text: ({ rows }: MovedTable) => String(rows), align: 'right' as const },
  { title: 'SUM', text: ({ sum }: MovedTable) => (sum ? String(sum.total) : ''), align: 'right' as const },
  { title: 'OF', text: ({ sum }: MovedTable) => sum?.column ?? '' },
]
