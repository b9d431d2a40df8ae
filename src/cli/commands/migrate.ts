import { resolveConfiguration } from '../../options.js'
import type { Database } from '../../store/database.js'
import { migrate as applyMigrations, type MigrationStatus, migrationStatus } from '../../store/migrate.js'
import { MIGRATIONS } from '../../store/migrations/list.js'
import { COMMON_FLAGS, defineCommand } from '../command.js'
import { readConfiguration } from '../configuration.js'
import { colorize } from '../io/colors.js'
import { print, printError, printJson, terminalWidth } from '../io/terminal.js'
import { textTable } from '../io/text-table.js'
import { missingFile, runQuery, withDatabase } from '../tracker-database.js'

export const migrate = defineCommand({
  name: 'migrate',
  summary: 'Apply pending database migrations',
  text: 'If several processes run it, one of them applies the migrations. Run it with every deployment.\nWith --status, nothing is changed, and the exit code is 3 if migrations are pending.',
  examples: ['faultboard migrate --database postgres://localhost/shop', 'faultboard migrate --status --json'],
  flags: {
    ...COMMON_FLAGS,
    status: { text: 'List all migrations with their state and change nothing' },
    json: { text: 'Print JSON' },
  },
  async run(flags) {
    const { settings } = await readConfiguration(flags)
    const { options } = resolveConfiguration(settings)
    if (settings.database === undefined && !process.env.FAULTBOARD_DATABASE) printError(DEFAULT_DATABASE)
    return withDatabase(options, (database) =>
      flags.status ? status(database, flags.json) : apply(database, flags.json),
    )
  },
})

const DEFAULT_DATABASE =
  'No database is set by --database, FAULTBOARD_DATABASE or a configuration file, so the default database is used. Options passed to Tracker.configure in your code are not visible here.'

async function apply(database: Database, json: boolean): Promise<number> {
  const { address } = database.dialect
  const applied = await runQuery(database, () => applyMigrations(database))
  if (json) printJson({ database: address, applied })
  else if (applied.length === 0) print(colorize('green', `${address} is up to date.`))
  else print([colorize('green', `Applied to ${address}:`), ...applied.map((name) => `  ${name}`)].join('\n'))
  return 0
}

async function status(database: Database, json: boolean): Promise<number> {
  const migrations = await readMigrations(database)
  const pending = migrations.filter(({ applied_at }) => applied_at === null).length
  if (json) printJson({ database: database.dialect.address, up_to_date: pending === 0, migrations })
  else {
    for (const line of textTable(COLUMNS, migrations, terminalWidth())) print(line)
    print('')
    print(
      pending === 0
        ? colorize('green', `${database.dialect.address} is up to date.`)
        : colorize('yellow', `${database.dialect.address}: ${pending} pending. Run  npx faultboard migrate  to apply.`),
    )
  }
  return pending === 0 ? 0 : 3
}

/** Lists migrations with the time they were applied. Does not create a missing database file. */
export async function readMigrations(database: Database): Promise<MigrationStatus[]> {
  if (missingFile(database)) return Object.keys(MIGRATIONS).map((name) => ({ name, applied_at: null }))
  return runQuery(database, () => migrationStatus(database))
}

const COLUMNS = [
  { title: 'MIGRATION', text: ({ name }: MigrationStatus) => name },
  { title: 'STATE', text: ({ applied_at }: MigrationStatus) => (applied_at ? 'applied' : 'pending'), isState: true },
  { title: 'APPLIED AT', text: ({ applied_at }: MigrationStatus) => applied_at ?? '' },
]
