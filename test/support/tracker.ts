import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Settings } from '../../src/options.js'
import { createDatabase, type Database } from '../../src/store/database.js'
import { TrackerInstance } from '../../src/tracker.js'
import type { TestDatabase } from './databases.js'

/** A moment that every test may call now. */
export const NOON = Date.parse('2026-03-10T12:00:00Z')

export interface TestTracker {
  tracker: TrackerInstance
  /** What it would have written to standard error. */
  lines: string[]
  /** The tracker's clock stands still at this time until it is set; null lets it follow the real one. */
  clock: { now: number | null }
}

export interface TrackerPlace {
  url: string
  spool_path: string
}

/** A new database with its schema, and a spool folder of its own. */
export async function freshPlace(database: Omit<TestDatabase, 'empty'>): Promise<TrackerPlace> {
  return { url: await database.fresh(), spool_path: temporaryFolder() }
}

/** A tracker on a new database. It is shut down when the test is done. */
export async function freshTracker(
  database: Omit<TestDatabase, 'empty'>,
  settings: Settings = {},
): Promise<TestTracker & TrackerPlace> {
  const place = await freshPlace(database)
  return { ...place, ...trackerAt(place, settings) }
}

/** Another tracker on a database that is there already. */
export function trackerAt({ url, spool_path }: TrackerPlace, settings: Settings = {}): TestTracker {
  const lines: string[] = []
  const clock: TestTracker['clock'] = { now: NOON }
  const tracker = new TrackerInstance(
    // A loaded machine is late now and then, and the tests look at what would be left out.
    { database: url, spool_path, application_name: 'shop', max_event_loop_lag_ms: null, ...CREDENTIALS, ...settings },
    { now: () => clock.now ?? Date.now(), random: () => 0.5, env: {}, write: (line) => lines.push(line) },
  ).start()
  onTestFinished(() => tracker.shutdown())
  return { tracker, lines, clock }
}

export const CREDENTIALS = { dashboard_username: 'admin', dashboard_password: 'correct horse' }

/** Looks into a database past the tracker, or prepares it. */
export async function withDatabase<T>(option: string | object, work: (database: Database) => Promise<T>): Promise<T> {
  const database = createDatabase(option, process.cwd())
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/** A folder that is removed when the test is done. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'faultboard-test-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** Waits for something that happens by itself; the deadline only ends a test that would never end. */
export async function eventually(proof: () => boolean | Promise<boolean>, what: string): Promise<void> {
  // Asked less and less often, because many a proof is a question to a database that is at work.
  for (let pause = 10, deadline = Date.now() + 60_000; !(await proof()); pause = Math.min(pause * 1.5, 100)) {
    if (Date.now() > deadline) throw new Error(`waited in vain until ${what}`)
    await new Promise((resume) => setTimeout(resume, pause))
  }
}

export async function spoolIsEmpty(tracker: TrackerInstance): Promise<boolean> {
  const { spool, unavailable_since } = await tracker.stats()
  return spool.files === 0 && unavailable_since === null
}
