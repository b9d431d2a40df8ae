import fc from 'fast-check'
import { onTestFinished } from 'vitest'
import type { Context } from '../../src/context.js'
import { SEVERITIES } from '../../src/model/severity.js'
import { createDatabase } from '../../src/store/database.js'
import type { TrackerInstance } from '../../src/tracker.js'
import { type TestTracker, type TrackerPlace, trackerAt } from '../support/tracker.js'
import type { Event } from './oracle.js'

const HOUR = 3_600_000

/** Europe changed its clocks two days before, America three weeks before. */
export const NOW = Date.parse('2026-03-31T10:20:00Z')

export const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe']

/** The severity follows the type, as it does for most hosts; events lie close to the edges of hours and days. */
export const someEvents: fc.Arbitrary<Event[]> = fc.array(
  fc
    .record({
      kind: fc.integer({ min: 0, max: 5 }),
      message: fc.constantFrom('alpha', 'beta', 'gamma'),
      file: fc.constantFrom('cart', 'mail'),
      platform: fc.constantFrom('Web', 'iOS', 'Android', 'API', 'kiosk'),
      app_version: fc.constantFrom('1.9.0', '1.10.0', 'a1b2c3d'),
      severity: fc.constantFrom(...SEVERITIES),
      user_id: fc.option(fc.constantFrom('ann', 'Bob', 'çelik', '7'), { nil: null }),
      hours: fc.integer({ min: 0, max: 60 * 24 }),
      within: fc.constantFrom(0, 1, HOUR / 2 - 1, HOUR / 2, HOUR - 1),
    })
    .map(({ kind, hours, within, ...event }) => ({
      ...event,
      error_type: `Kind${'ABCDEF'.charAt(kind)}Error`,
      occurred_at: Math.min(NOW, NOW - (NOW % HOUR) - hours * HOUR + within),
    })),
  { minLength: 0, maxLength: 120, size: 'max' },
)

export interface LoggedEvents extends TestTracker {
  application_id: number
  /** What the questions are asked of. */
  context: Context
}

let applications = 0

/** The events in an application of their own, so that one database serves many runs, and answers must not mix them. */
export async function logged(place: TrackerPlace, events: readonly Event[], time_zone: string): Promise<LoggedEvents> {
  const application_name = `application ${++applications}`
  const at = trackerAt(place, { application_name, time_zone })
  at.clock.now = NOW
  await logAll(at.tracker, events)
  const all = await at.tracker.Queries.Applications.call()
  const application_id = all.find(({ name }) => name === application_name)?.id ?? 999_999
  return { ...at, application_id, context: contextAt(place, at.clock, time_zone) }
}

/** A context of the operations' own: they ask for no more than this. */
export function contextAt({ url }: TrackerPlace, clock: TestTracker['clock'], time_zone: string): Context {
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

async function logAll(tracker: TrackerInstance, events: readonly Event[]): Promise<void> {
  await Promise.all(
    events.map(({ file, ...event }) =>
      tracker.Commands.LogError.call({
        ...event,
        user_id: event.user_id ?? undefined,
        backtrace: [`at run (${process.cwd()}/src/${file}.ts:1:1)`],
      }),
    ),
  )
  await tracker.flush()
}
