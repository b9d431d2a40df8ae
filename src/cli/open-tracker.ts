import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { TrackerError } from '../model/errors.js'
import type { ChangeOrigin } from '../model/people/audit.js'
import type { Settings } from '../options.js'
import { resolveConfiguration } from '../options.js'
import { type Environment, TrackerInstance } from '../tracker.js'
import { printError } from './io/terminal.js'
import { createDatabaseFrom, missingFile, withHint } from './tracker-database.js'

/** Runs the work with a tracker on an existing database, then shuts the tracker down. */
export async function withTracker<T>(
  settings: Settings,
  work: (tracker: TrackerInstance) => Promise<T>,
  environment: Environment = {},
): Promise<T> {
  const { options } = resolveConfiguration(settings)
  const missing = missingFile(createDatabaseFrom(options))
  if (missing) {
    throw new TrackerError(
      'database_unavailable',
      `There is no database ${missing} yet. Either nothing has been recorded, or --database or FAULTBOARD_DATABASE points to the wrong database.`,
    )
  }
  return withNewTracker(settings, work, environment)
}

/** Variant that creates a missing database file. */
export async function withNewTracker<T>(
  settings: Settings,
  work: (tracker: TrackerInstance) => Promise<T>,
  environment: Environment = {},
): Promise<T> {
  // Failures of a command are not errors of the application. The application imports its own spool and runs its own
  // jobs. The spool folder is created on first use, so that an aborted command leaves nothing behind.
  const spool_path = join(tmpdir(), `faultboard-cli-${randomUUID()}`)
  const commandSettings = { enable_error_subscriber: false, enable_breadcrumbs: false, run_jobs: false, spool_path }
  try {
    const tracker = await openTracker({ ...settings, ...commandSettings }, environment)
    try {
      return await work(tracker)
    } finally {
      await tracker.shutdown()
    }
  } finally {
    await rm(spool_path, { recursive: true, force: true })
  }
}

/** The database that a command writes to, and whether its file will be created. */
export function describeTarget(settings: Settings): { address: string; isNew: boolean } {
  const database = createDatabaseFrom(resolveConfiguration(settings).options)
  return { address: database.dialect.address, isNew: missingFile(database) !== null }
}

/** Opens a tracker whose database is ready, or throws one complete message. */
export async function openTracker(settings: Settings, environment: Environment = {}): Promise<TrackerInstance> {
  const earlyLines: string[] = []
  let writeLine = (line: string): void => void earlyLines.push(line)
  // The application imports its own crash files.
  const trackerSettings = { ...settings, crash_capture_path: null }
  const ownEnvironment = {
    origin: commandOrigin(),
    ...environment,
    announcesDashboard: false,
    write: (line: string) => writeLine(line),
  }
  const tracker = new TrackerInstance(trackerSettings, ownEnvironment).start()
  const warnings = earlyLines.splice(0)
  try {
    await tracker.ready()
  } catch (error) {
    await tracker.shutdown()
    if (!(error instanceof TrackerError) || error.code !== 'database_unavailable') throw error
    throw new TrackerError(error.code, withHint(error.message), { cause: error })
  }
  writeLine = (line) => printError(line.trimEnd())
  for (const line of warnings) writeLine(line)
  return tracker
}

/** Changes of a command are recorded with the name of the operating-system user. */
function commandOrigin(): ChangeOrigin {
  return { kind: 'cli', actor: systemUser() ?? 'command line', address: null }
}

function systemUser(): string | null {
  try {
    return userInfo().username
  } catch {
    // A container may run with a user id that has no name.
    return null
  }
}
