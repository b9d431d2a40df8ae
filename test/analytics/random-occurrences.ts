import fc from 'fast-check'
import { onTestFinished } from 'vitest'
import type { Context } from '../../src/context.js'
import { SEVERITIES } from '../../src/model/severity/severity.js'
import { createDatabase } from '../../src/store/database.js'
import type { TrackerInstance } from '../../src/tracker.js'
import { type TestTracker, type TrackerStorage, trackerAt } from '../support/tracker.js'
import type { TestOccurrence } from './reference-statistics.js'

const HOUR = 3_600_000

/** Daylight saving time started in Europe two days earlier, in America three weeks earlier. */
export const NOW = Date.parse('2026-03-31T10:20:00Z')

export const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe']

/** Random occurrences close to the boundaries of hours and days. */
export const randomOccurrences: fc.Arbitrary<TestOccurrence[]> = fc.array(
  fc
    .record({
      typeIndex: fc.integer({ min: 0, max: 5 }),
      message: fc.constantFrom('alpha', 'beta', 'gamma'),
      file: fc.constantFrom('cart', 'mail'),
      platform: fc.constantFrom('Web', 'iOS', 'Android', 'API', 'kiosk'),
      app_version: fc.constantFrom('1.9.0', '1.10.0', 'a1b2c3d'),
      severity: fc.constantFrom(...SEVERITIES),
      user_id: fc.option(fc.constantFrom('ann', 'Bob', 'çelik', '7'), { nil: null }),
      hours: fc.integer({ min: 0, max: 60 * 24 }),
      within: fc.constantFrom(0, 1, HOUR / 2 - 1, HOUR / 2, HOUR - 1),
    })
    .map(({ typeIndex, hours, within, ...occurrence }) => ({
      ...occurrence,
      error_type: `Kind${'ABCDEF'.charAt(typeIndex)}Error`,
      occurred_at: Math.min(NOW, NOW - (NOW % HOUR) - hours * HOUR + within),
    })),
  { minLength: 0, maxLength: 120, size: 'max' },
)

export interface RecordedOccurrences extends TestTracker {
  application_id: number
  /** Context for running operations directly. */
  context: Context
}

let applications = 0

/** Records the occurrences in a new application, so that many runs share one database without mixing results. */
export async function recordOccurrences(
  storage: TrackerStorage,
  occurrences: readonly TestOccurrence[],
  time_zone: string,
): Promise<RecordedOccurrences> {
  const application_name = `application ${++applications}`
  const at = trackerAt(storage, { application_name, time_zone })
  at.clock.now = NOW
  await logAll(at.tracker, occurrences)
  const all = await at.tracker.Queries.Applications.call()
  const application_id = all.find(({ name }) => name === application_name)?.id ?? 999_999
  return { ...at, application_id, context: contextAt(storage, at.clock, time_zone) }
}

/** Minimal context for analytics operations. */
export function contextAt({ url }: TrackerStorage, clock: TestTracker['clock'], time_zone: string): Context {
  const database = createDatabase(url, process.cwd())
  onTestFinished(() => database.close())
  const context = {
    database,
    config: { time_zone, baseline_alert_threshold_std_devs: 2, enable_platform_comparison: true },
    now: () => clock.now ?? 0,
    ready: async () => {},
  }
  return context as unknown as Context
}

async function logAll(tracker: TrackerInstance, occurrences: readonly TestOccurrence[]): Promise<void> {
  await Promise.all(
    occurrences.map(({ file, ...occurrence }) =>
      tracker.Commands.LogError.call({
        ...occurrence,
        user_id: occurrence.user_id ?? undefined,
        backtrace: [`at run (${process.cwd()}/src/${file}.ts:1:1)`],
      }),
    ),
  )
  await tracker.flush()
}
