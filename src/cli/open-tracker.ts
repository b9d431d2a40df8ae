import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Settings } from '../config/options.js'
import { resolveConfiguration } from '../config/resolve.js'
import { TrackerError } from '../model/errors.js'
import { type Environment, TrackerInstance } from '../tracker.js'
import { complain } from './io/terminal.js'
import { databaseOf, missingFile, withNextStep } from './tracker-database.js'

/** Lends the work a tracker on a database that exists, and closes it. */
export async function withTracker<T>(settings: Settings, work: (tracker: TrackerInstance) => Promise<T>): Promise<T> {
  const { options } = resolveConfiguration(settings)
  const missing = missingFile(databaseOf(options))
  if (missing) {
    throw new TrackerError(
      'database_unavailable',
      `There is no database ${missing} yet: nothing was recorded there, or --database or FAULTBOARD_DATABASE should name another one.`,
    )
  }
  return openedTracker(settings, work)
}

/** The same where a database file that is not there yet is to be made. */
export async function openedTracker<T>(settings: Settings, work: (tracker: TrackerInstance) => Promise<T>): Promise<T> {
  // A fault of the command line is no error of the application whose errors it looks at.
  // What waits in the spool folder is the application's to import, which knows whom to tell of it; so are its jobs.
  // It is made when something is put into it, so that a command that is stopped leaves nothing behind.
  const spool_path = join(tmpdir(), `faultboard-cli-${randomUUID()}`)
  const own = { enable_error_subscriber: false, enable_breadcrumbs: false, run_jobs: false, spool_path }
  try {
    const tracker = await openTracker({ ...settings, ...own })
    try {
      return await work(tracker)
    } finally {
      await tracker.shutdown()
    }
  } finally {
    await rm(spool_path, { recursive: true, force: true })
  }
}

/** The database that a command writes to, and whether its file is still to be made. */
export function targetOf(settings: Settings): { address: string; is_new: boolean } {
  const database = databaseOf(resolveConfiguration(settings).options)
  return { address: database.dialect.address, is_new: missingFile(database) !== null }
}

/** A tracker whose database is ready; when it is not, the one sentence that is thrown says all there is to say. */
export async function openTracker(settings: Settings, environment: Environment = {}): Promise<TrackerInstance> {
  const early: string[] = []
  let say = (line: string): void => void early.push(line)
  // The crash files are the application's to import.
  const own = { ...settings, crash_capture_path: null }
  const tracker = new TrackerInstance(own, { ...environment, write: (line) => say(line) }).start()
  const warnings = early.splice(0)
  try {
    await tracker.ready()
  } catch (error) {
    await tracker.shutdown()
    if (!(error instanceof TrackerError) || error.code !== 'database_unavailable') throw error
    throw new TrackerError(error.code, withNextStep(error.message), { cause: error })
  }
  say = (line) => complain(line.trimEnd())
  for (const line of warnings) say(line)
  return tracker
}
