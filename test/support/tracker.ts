import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Settings } from '../../src/options.js'
import { createDatabase, type Database } from '../../src/store/database.js'
import { TrackerInstance } from '../../src/tracker.js'
import type { TestDatabase } from './databases.js'

/** Default current time of the tests. */
export const NOON = Date.parse('2026-03-10T12:00:00Z')

export interface TestTracker {
  tracker: TrackerInstance
  /** Lines for standard error. */
  lines: string[]
  /** Fixed clock of the tracker. Null uses the real time. */
  clock: { now: number | null }
}

export interface TrackerStorage {
  url: string
  spool_path: string
}

/** Creates a database with its schema and a spool folder. */
export async function freshStorage(database: Omit<TestDatabase, 'empty'>): Promise<TrackerStorage> {
  return { url: await database.fresh(), spool_path: temporaryFolder() }
}

/** Starts a tracker on a new database. It is shut down after the test. */
export async function freshTracker(
  database: Omit<TestDatabase, 'empty'>,
  settings: Settings = {},
): Promise<TestTracker & TrackerStorage> {
  const storage = await freshStorage(database)
  return { ...storage, ...trackerAt(storage, settings) }
}

/** Starts a tracker on an existing database. */
export function trackerAt({ url, spool_path }: TrackerStorage, settings: Settings = {}): TestTracker {
  const lines: string[] = []
  const clock: TestTracker['clock'] = { now: NOON }
  const tracker = new TrackerInstance(
    // Prevents a busy machine from dropping details that the tests check.
    { database: url, spool_path, application_name: 'shop', max_event_loop_lag_ms: null, ...CREDENTIALS, ...settings },
    {
      now: () => clock.now ?? Date.now(),
      random: () => 0.5,
      env: {},
      announcesDashboard: false,
      write: (line) => lines.push(line),
    },
  ).start()
  onTestFinished(() => tracker.shutdown())
  return { tracker, lines, clock }
}

export const CREDENTIALS = { dashboard_username: 'admin', dashboard_password: 'correct horse' }

/** Reads or changes a database without a tracker. */
export async function withDatabase<T>(option: string | object, work: (database: Database) => Promise<T>): Promise<T> {
  const database = createDatabase(option, process.cwd())
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/** Creates a folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'faultboard-test-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** Polls until the condition holds. The deadline only stops a test that would never finish. */
export async function eventually(condition: () => boolean | Promise<boolean>, description: string): Promise<void> {
  // Polls with a growing pause, because many conditions query a busy database.
  for (let pause = 10, deadline = Date.now() + 60_000; !(await condition()); pause = Math.min(pause * 1.5, 100)) {
    if (Date.now() > deadline) throw new Error(`Timed out waiting until ${description}`)
    await new Promise((resume) => setTimeout(resume, pause))
  }
}

export async function spoolIsEmpty(tracker: TrackerInstance): Promise<boolean> {
  const { spool, unavailable_since } = await tracker.stats()
  return spool.files === 0 && unavailable_since === null
}
