import { expect, test } from 'vitest'
import { calculateAllBaselines } from '../../../src/analytics/baselines/baseline-calculator.js'
import { alertableSpikes } from '../../../src/analytics/baselines/spiking-errors.js'
import { sendBaselineAlerts } from '../../../src/jobs/handlers.js'
import type { BaselineNotice } from '../../../src/notifications/content/notice.js'
import { writeBaselineAlerts } from '../../../src/notifications/rules/baseline-alerts.js'
import type { Settings } from '../../../src/options.js'
import { muteError } from '../../../src/triage/commands/mute-error.js'
import { snoozeError } from '../../../src/triage/commands/snooze-error.js'
import { describeEachDatabase } from '../../support/databases.js'
import { NOON } from '../../support/tracker.js'
import { type DeliveryHarness, harnessAt, harnessesOn } from '../delivery-harness.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const ON: Settings = { enable_baseline_alerts: true, webhook_url: 'http://127.0.0.1:9/' }

describeEachDatabase('baseline alert job', (database) => {
  const openHarness = harnessesOn(database)

  /** One occurrence every 6 hours for this many days: five in an hour are 11.8 deviations, six are 14.3. */
  const insertHistory = async (harness: DeliveryHarness, error_type: string, days: number, fields = {}) => {
    const past = Array.from({ length: days * 4 }, (_, i) => NOON - (i + 1) * 6 * HOUR)
    await Promise.all(past.map((occurred_at) => harness.log(error_type, { occurred_at, ...fields })))
    harness.clock.now = NOON + HOUR / 2
  }
  const logFive = async (harness: DeliveryHarness, error_type: string, fields = {}) => {
    for (let i = 0; i < 5; i++) await harness.log(error_type, fields)
  }
  const alert = async ({ context }: DeliveryHarness) => {
    await context.ready()
    return writeBaselineAlerts(context, await alertableSpikes(context))
  }
  const writtenNotices = async (harness: DeliveryHarness) =>
    (await harness.rows())
      .filter(({ event }) => event === 'baseline')
      .map(({ payload, channel }) => ({ ...(JSON.parse(payload) as BaselineNotice), channel }))

  test('sends one alert with the baseline per cooldown across processes', async () => {
    const harness = await openHarness({ ...ON, baseline_alert_cooldown_minutes: 120 })
    await insertHistory(harness, 'TypeError', 14)
    await harness.run(calculateAllBaselines)
    for (let i = 0; i < 4; i++) await harness.log('TypeError')
    expect(await alert(harness)).toBe(0)
    await harness.log('TypeError')
    const others = [1, 2].map(() => harnessAt(harness.storage, ON))
    for (const { clock } of others) clock.now = harness.clock.now
    await Promise.all([harness, ...others].map(alert))
    expect(await writtenNotices(harness)).toMatchObject([
      {
        ...{ event: 'baseline', error_type: 'TypeError', severity: 'high', application_name: 'shop' },
        platforms: [{ count: 5, mean: expect.closeTo(1 / 6, 2), deviations: expect.closeTo(11.8, 1) }],
      },
    ])
    const later = async (time: number) => {
      harness.clock.now = time
      await logFive(harness, 'TypeError')
      return alert(harness)
    }
    expect(await later(NOON + 2 * HOUR + HOUR / 2 - 1)).toBe(0)
    expect(await later(NOON + 2 * HOUR + HOUR / 2)).toBe(1)
  })

  test('sends an alert only above the configured number of deviations', async () => {
    const harness = await openHarness({ ...ON, baseline_alert_threshold_std_devs: 14 })
    await insertHistory(harness, 'TypeError', 14)
    await harness.run(calculateAllBaselines)
    await logFive(harness, 'TypeError')
    expect(await alert(harness)).toBe(0)
    await harness.log('TypeError')
    expect(await alert(harness)).toBe(1)
  })

  test('sends an alert only with seven days of history, ten occurrences and a configured severity', async () => {
    const harness = await openHarness({ ...ON, baseline_alert_severities: ['critical', 'high'] })
    await insertHistory(harness, 'ShortError', 6, { severity: 'high' })
    await insertHistory(harness, 'SlightError', 14, { severity: 'medium' })
    await Promise.all(
      [8, 9].map((days) => harness.log('RareError', { severity: 'high', occurred_at: NOON - days * DAY })),
    )
    await harness.run(calculateAllBaselines)
    for (const type of ['ShortError', 'RareError']) await logFive(harness, type, { severity: 'high' })
    await logFive(harness, 'SlightError', { severity: 'medium' })
    expect(await alert(harness)).toBe(0)
    await harness.log('SlightError', { severity: 'high' })
    expect(await alert(harness)).toBe(1)
  })

  test('applies the threshold of each channel and sends nothing while alerts are disabled', async () => {
    const incident = {
      incident_integration_key: 'k',
      severity_thresholds: { webhook: 'critical', incident: 'high' },
    } as const
    const harness = await openHarness({ ...ON, ...incident })
    await insertHistory(harness, 'TypeError', 14)
    await harness.run(calculateAllBaselines)
    await logFive(harness, 'TypeError')
    const off = harnessAt(harness.storage, { ...ON, enable_baseline_alerts: false })
    off.clock.now = harness.clock.now
    expect(await alert(off)).toBe(0)
    expect(await alert(harness)).toBe(1)
    expect((await writtenNotices(harness)).map(({ channel }) => channel)).toEqual(['incident'])
  })

  test('ignores occurrences of muted and snoozed errors', async () => {
    const harness = await openHarness(ON)
    await insertHistory(harness, 'TypeError', 14)
    await harness.run(calculateAllBaselines)
    await logFive(harness, 'TypeError')
    const error_id = await harness.log('TypeError')
    await harness.run(muteError, { error_id, hours: 1 })
    expect(await alert(harness)).toBe(0)
    await harness.run(snoozeError, { error_id, hours: 2 })
    harness.clock.now += HOUR
    await logFive(harness, 'TypeError')
    expect(await alert(harness)).toBe(0)
    harness.clock.now += HOUR
    await logFive(harness, 'TypeError')
    expect(await alert(harness)).toBe(1)
  })
  test('sends no alert for another occurrence of a daily error type', async () => {
    const harness = await openHarness(ON)
    for (let day = 1; day <= 20; day++) await harness.log('Once', { severity: 'high', occurred_at: NOON - day * DAY })
    await harness.run(calculateAllBaselines)
    await harness.log('Once', { severity: 'high' })
    await sendBaselineAlerts(harness.context)
    expect(await writtenNotices(harness)).toEqual([])
  })

  test('sends one alert for a burst in the last minute of an hour', async () => {
    const harness = await openHarness({ ...ON, baseline_alert_cooldown_minutes: 0 })
    await insertHistory(harness, 'TypeError', 14)
    await harness.run(calculateAllBaselines)
    harness.clock.now = NOON + HOUR - 30_000
    await logFive(harness, 'TypeError')
    for (const minutes of [0.5, 1, 2, 30, 59]) {
      harness.clock.now = NOON + HOUR + minutes * 60_000
      await sendBaselineAlerts(harness.context)
    }
    expect(await writtenNotices(harness)).toMatchObject([
      { at: NOON + HOUR + 60_000, hour_started_at: NOON, platforms: [{ count: 5 }] },
    ])
    harness.clock.now = NOON + 2 * HOUR + 60_000
    await sendBaselineAlerts(harness.context)
    expect(await writtenNotices(harness)).toHaveLength(1)
  })

  test('sends no second alert for the same hour', async () => {
    const harness = await openHarness({ ...ON, baseline_alert_cooldown_minutes: 10 })
    await insertHistory(harness, 'TypeError', 14)
    await harness.run(calculateAllBaselines)
    await logFive(harness, 'TypeError')
    await sendBaselineAlerts(harness.context)
    expect(await writtenNotices(harness)).toMatchObject([{ hour_started_at: NOON }])
    harness.clock.now = NOON + HOUR + 60_000
    await sendBaselineAlerts(harness.context)
    expect(await writtenNotices(harness)).toHaveLength(1)
  })
})
