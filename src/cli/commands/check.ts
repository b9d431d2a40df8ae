import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { channelProblemText, readChannelProblems } from '../../health/channels.js'
import { hasIgnoredHeaders, ignoredHeadersText } from '../../health/forwarding-headers.js'
import { environmentHints } from '../../health/hints.js'
import { unwritableSpoolText } from '../../health/unwritable-spool.js'
import { BUDGETS } from '../../model/budgets.js'
import { ConfigurationError, TrackerError } from '../../model/errors.js'
import { incompleteChannelWarnings } from '../../notifications/channels/incomplete-channels.js'
import type { Options } from '../../options.js'
import { resolveConfiguration } from '../../options.js'
import { recentRejections } from '../../store/counters/rejections.js'
import type { Database } from '../../store/database.js'
import { loadSqlite } from '../../store/dialects/sqlite-library.js'
import { integrityProblems, repairSqlite } from '../../store/repair/repair-sqlite.js'
import { Spool, spoolFolder } from '../../store/spool/spool.js'
import { COMMON_FLAGS, type CommonFlags, defineCommand } from '../command.js'
import { type Configuration, readConfiguration, signInOptions } from '../configuration.js'
import { colorizeState } from '../io/colors.js'
import { escapeText, print, printJson } from '../io/terminal.js'
import { createDatabaseFrom, missingFile, withDatabase } from '../tracker-database.js'
import { readMigrations } from './migrate.js'

/** Result of one check. `exit_code` is the exit code that it would cause alone. */
interface Finding {
  subject:
    | 'configuration'
    | 'credentials'
    | 'repair'
    | 'integrity'
    | 'database'
    | 'schema'
    | 'proxies'
    | 'limits'
    | 'notifications'
    | 'spool'
  state: 'ok' | 'warning' | 'failed'
  text: string
  exit_code: number
}

export const check = defineCommand({
  name: 'check',
  summary: 'Validate the configuration and the database',
  text: 'Checks the configuration, the database connection, its schema, the integrity of a SQLite file, and the spool folder.\nChanges nothing without --repair. Warnings do not affect the exit code.',
  examples: [
    'faultboard check',
    'faultboard check --database postgres://localhost/shop --json',
    'faultboard check --repair',
  ],
  flags: {
    ...COMMON_FLAGS,
    repair: { text: 'Back up a damaged SQLite file and replace it with a new one that contains all readable rows' },
    json: { text: 'Print JSON' },
  },
  async run(flags) {
    const findings = await collectFindings(flags)
    const exit_code = findings.find(({ state }) => state === 'failed')?.exit_code ?? 0
    if (flags.json) {
      printJson({ ok: exit_code === 0, findings: findings.map(({ exit_code: _code, ...finding }) => finding) })
    } else {
      for (const { state, subject, text } of findings) {
        print(`${colorizeState(state)}${' '.repeat(9 - state.length)}${subject.padEnd(13)}  ${escapeText(text)}`)
      }
    }
    return exit_code
  },
})

async function collectFindings(flags: CommonFlags & { repair: boolean }): Promise<Finding[]> {
  try {
    const configuration = await readConfiguration(flags)
    const { options, warnings } = resolveConfiguration(configuration.settings)
    return [
      ok(
        'configuration',
        `${configuration.file ?? 'no file; using environment and defaults'}; application ${options.application_name}`,
      ),
      ...[...warnings, ...incompleteChannelWarnings(options)].map((text) => warning('configuration', text)),
      credentialFinding(configuration),
      ...(flags.repair ? await repairFindings(options) : []),
      ...(await withDatabase(options, (database) => databaseFindings(database, options))),
    ]
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems.map((text) => failed('configuration', text, error))
    if (error instanceof TrackerError && error.code !== 'invalid_input') {
      return [failed('configuration', error.message, error)]
    }
    throw error
  }
}

/** Missing credentials are a warning, because the application can set credentials in its own code. */
function credentialFinding({ settings }: Configuration): Finding {
  const names = signInOptions(settings)
  if (names.length > 0) return ok('credentials', `${names.join(' and ')} ${names.length > 1 ? 'are' : 'is'} set`)
  return warning(
    'credentials',
    'no sign-in is configured here, so the dashboard cannot be mounted; set dashboard_username and dashboard_password, dashboard_users, or authenticate',
  )
}

async function databaseFindings(database: Database, options: Options): Promise<Finding[]> {
  const spool = await spoolFinding(new Spool(spoolFolder(options, database.target), options.spool_max_bytes))
  try {
    const missing = missingFile(database)
    if (missing) return [...(await missingFileFindings(missing)), spool]
    const integrity = await integrityFindings(database)
    if (integrity.some(({ state }) => state === 'failed')) return [...integrity, spool]
    const migrations = await readMigrations(database)
    const pending = migrations.filter(({ applied_at }) => applied_at === null).map(({ name }) => name)
    return [
      ok('database', `${database.dialect.address} is reachable`),
      ...integrity,
      pending.length === 0
        ? ok('schema', `up to date, migrations applied: ${migrations.length}`)
        : failed('schema', `pending: ${pending.join(', ')}. Run  npx faultboard migrate`, { exit_code: 3 }),
      ...(pending.length === 0 ? await proxyFindings(database, options) : []),
      ...(pending.length === 0 ? await rejectionFindings(database) : []),
      ...(pending.length === 0 ? await channelFindings(database) : []),
      ...(pending.length === 0 ? await environmentFindings(database, options) : []),
      spool,
    ]
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error
    return [failed('database', error.message, error), spool]
  }
}

async function integrityFindings({ dialect: { file } }: Database): Promise<Finding[]> {
  if (!file) return []
  const problems = await integrityProblems(file.path)
  if (problems.length === 0) return [ok('integrity', `${file.path} is intact`)]
  const text = `${file.path} is damaged: ${problems.join('; ')}. Run  npx faultboard check --repair`
  return [failed('integrity', text, { exit_code: 1 })]
}

async function repairFindings(options: Options): Promise<Finding[]> {
  const { dialect } = createDatabaseFrom(options)
  const { file } = dialect
  if (!file) {
    throw new TrackerError(
      'invalid_input',
      dialect.isEmbedded
        ? `--repair only applies to a SQLite file. ${dialect.address} is in memory and needs no repair.`
        : `--repair only applies to a SQLite file, and the database is ${dialect.address}. Use the database server's own tools.`,
    )
  }
  if (!existsSync(file.path)) {
    throw new TrackerError(
      'invalid_input',
      `${file.path} does not exist. Check the database option, or restore a backup to this path.`,
    )
  }
  if ((await integrityProblems(file.path)).length === 0) {
    return [ok('repair', `nothing to repair: ${file.path} is intact`)]
  }
  const { backup, tables, undated } = await repairSqlite(file.path, Date.now())
  const copied = tables.reduce((sum, table) => sum + table.copied, 0)
  const lost = tables.filter(({ unreadable }) => unreadable !== 0)
  if (copied === 0) {
    const text = `No rows could be read. The new file is empty, and the damaged file is kept as ${backup}. Restore a backup if you have one.`
    return [warning('repair', text)]
  }
  const uncounted = lost.filter(({ unreadable }) => unreadable === null).map(({ table }) => table)
  return [
    ok('repair', `${copied} rows copied to a new file; the damaged file is kept as ${backup}`),
    ...lost
      .filter(({ unreadable }) => unreadable !== null)
      .map(({ table, unreadable }) => warning('repair', `${table}: up to ${unreadable} rows could not be read`)),
    ...(uncounted.length > 0
      ? [warning('repair', `Some or all rows could not be read from ${uncounted.join(', ')}`)]
      : []),
    ...(undated > 0
      ? [
          warning(
            'repair',
            `The hour of ${undated} occurrences is lost; they are counted in the first hour of their error`,
          ),
        ]
      : []),
  ]
}

/** Reports observations of running processes: requests do not pass through this command. */
async function proxyFindings(database: Database, { trusted_proxies }: Options): Promise<Finding[]> {
  if (trusted_proxies.length > 0 || !(await hasIgnoredHeaders(database, Date.now()))) return []
  return [warning('proxies', ignoredHeadersText())]
}

/** Recent rejections, by the option that sets the limit. */
async function rejectionFindings(database: Database): Promise<Finding[]> {
  const rejections = await recentRejections(database, Date.now())
  if (rejections.length === 0) return [ok('limits', 'no rejections in the last 24 hours')]
  return rejections.map(({ budget, count, first_seen_at }) => {
    const { title, consequence } = BUDGETS[budget]
    const since = new Date(first_seen_at).toISOString()
    return warning(
      'limits',
      `${count} over ${budget} since ${since}. ${title}. ${consequence} Raise it if this volume is expected.`,
    )
  })
}

/** Channels that do not deliver, for all applications of the database. */
async function channelFindings(database: Database): Promise<Finding[]> {
  const problems = await readChannelProblems(database, Date.now())
  return problems.map((problem) => warning('notifications', channelProblemText(problem)))
}

/** Names of `notification_environments` that no error has, such as a misspelled name. */
async function environmentFindings(database: Database, options: Options): Promise<Finding[]> {
  return (await environmentHints(database, options)).map((hint) => warning('notifications', hint))
}

/**
 * The application creates the file with its schema, so a missing file before the first start is fine. Throws if the
 * package for SQLite is missing.
 */
async function missingFileFindings(file: string): Promise<Finding[]> {
  await loadSqlite()
  if (!isWritable(dirname(file))) {
    const text = `${file} does not exist, and its folder is missing or not writable`
    return [failed('database', text, { exit_code: 1 })]
  }
  return [
    ok('database', `${file} does not exist yet; it will be created when the application starts`),
    ok('schema', 'will be created with the database'),
  ]
}

async function spoolFinding(spool: Spool): Promise<Finding> {
  const { folder, files, failed: rejectedFiles, bytes } = await spool.state()
  const problem = await spool.writeProblem()
  spool.close()
  if (problem !== null) return failed('spool', unwritableSpoolText(problem), { exit_code: 1 })
  if (rejectedFiles > 0) {
    return warning(
      'spool',
      `${folder} contains ${batches(rejectedFiles)} rejected by the database; ${batches(files)} to import`,
    )
  }
  const pendingText = files === 0 ? 'empty' : `${batches(files)} to import (${bytes} bytes)`
  return ok('spool', `${folder} is writable; ${pendingText}`)
}

function batches(count: number): string {
  return count === 1 ? '1 batch' : `${count} batches`
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    return statSync(folder).isDirectory()
  } catch {
    // Any failure means that the folder is not writable.
    return false
  }
}

function ok(subject: Finding['subject'], text: string): Finding {
  return { subject, state: 'ok', text, exit_code: 0 }
}

function warning(subject: Finding['subject'], text: string): Finding {
  return { subject, state: 'warning', text, exit_code: 0 }
}

function failed(subject: Finding['subject'], text: string, { exit_code }: { exit_code: number }): Finding {
  return { subject, state: 'failed', text, exit_code }
}
