import { expect, test } from 'vitest'
import { calculateAllBaselines } from '../../../src/analytics/baselines/baseline-calculator.js'
import { audibleSpikes } from '../../../src/analytics/baselines/spiking-errors.js'
import { sendBaselineAlerts } from '../../../src/jobs/registry.js'
import type { BaselineNotice } from '../../../src/notifications/content/notice.js'
import { alertOn } from '../../../src/notifications/rules/baseline-alerts.js'
import type { Settings } from '../../../src/options.js'
import { muteError } from '../../../src/triage/commands/mute-error.js'
import { snoozeError } from '../../../src/triage/commands/snooze-error.js'
import { describeEachDatabase } from '../../support/databases.js'
import { NOON } from '../../support/tracker.js'
import { type Desk, deskAt, desksOn } from '../desk.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const ON: Settings = { enable_baseline_alerts: true, webhook_url: 'http://127.0.0.1:9/' }

describeEachDatabase('a type of error above its baseline', (database) => {
  const openDesk = desksOn(database)

  /** Once every 6 hours for this many days: five in an hour are 11.8 deviations, six are 14.3. */
  const remember = async (desk: Desk, error_type: string, days: number, fields = {}) => {
    const past = Array.from({ length: days * 4 }, (_, i) => NOON - (i + 1) * 6 * HOUR)
    await Promise.all(past.map((occurred_at) => desk.log(error_type, { occurred_at, ...fields })))
    desk.clock.now = NOON + HOUR / 2
  }
  const logFive = async (desk: Desk, error_type: string, fields = {}) => {
    for (let i = 0; i < 5; i++) await desk.log(error_type, fields)
  }
  const alert = async ({ context }: Desk) => alertOn(context, await audibleSpikes(context))
  const told = async (desk: Desk) =>
    (await desk.rows())
      .filter(({ event }) => event === 'baseline')
      .map(({ payload, channel }) => ({ ...(JSON.parse(payload) as BaselineNotice), channel }))

  test('is told of with what is usual, at most once in its cooldown, by one process of many', async () => {
    const desk = await openDesk({ ...ON, baseline_alert_cooldown_minutes: 120 })
    await remember(desk, 'TypeError', 14)
    await desk.run(calculateAllBaselines)
    for (let i = 0; i < 4; i++) await desk.log('TypeError')
    expect(await alert(desk)).toBe(0)
    await desk.log('TypeError')
    const others = [1, 2].map(() => deskAt(desk.place, ON))
    for (const { clock } of others) clock.now = desk.clock.now
    await Promise.all([desk, ...others].map(alert))
    expect(await told(desk)).toMatchObject([
      {
        ...{ event: 'baseline', error_type: 'TypeError', severity: 'high', application_name: 'shop' },
        platforms: [{ count: 5, usual: expect.closeTo(1 / 6, 2), deviations: expect.closeTo(11.8, 1) }],
      },
    ])
    const later = async (time: number) => {
      desk.clock.now = time
      await logFive(desk, 'TypeError')
      return alert(desk)
    }
    expect(await later(NOON + 2 * HOUR + HOUR / 2 - 1)).toBe(0)
    expect(await later(NOON + 2 * HOUR + HOUR / 2)).toBe(1)
  })

  test('has to be above it by more deviations than the threshold', async () => {
    const desk = await openDesk({ ...ON, baseline_alert_threshold_std_devs: 14 })
    await remember(desk, 'TypeError', 14)
    await desk.run(calculateAllBaselines)
    await logFive(desk, 'TypeError')
    expect(await alert(desk)).toBe(0)
    await desk.log('TypeError')
    expect(await alert(desk)).toBe(1)
  })

  test('is told of only with seven days of history, ten occurrences, and a severity that is asked for', async () => {
    const desk = await openDesk({ ...ON, baseline_alert_severities: ['critical', 'high'] })
    await remember(desk, 'ShortError', 6, { severity: 'high' })
    await remember(desk, 'SlightError', 14, { severity: 'medium' })
    await Promise.all([8, 9].map((days) => desk.log('RareError', { severity: 'high', occurred_at: NOON - days * DAY })))
    await desk.run(calculateAllBaselines)
    for (const type of ['ShortError', 'RareError']) await logFive(desk, type, { severity: 'high' })
    await logFive(desk, 'SlightError', { severity: 'medium' })
    expect(await alert(desk)).toBe(0)
    await desk.log('SlightError', { severity: 'high' })
    expect(await alert(desk)).toBe(1)
  })

  test('is told to each channel by its least severity, and to nobody while alerts are off', async () => {
    const incident = {
      incident_integration_key: 'k',
      severity_thresholds: { webhook: 'critical', incident: 'high' },
    } as const
    const desk = await openDesk({ ...ON, ...incident })
    await remember(desk, 'TypeError', 14)
    await desk.run(calculateAllBaselines)
    await logFive(desk, 'TypeError')
    const off = deskAt(desk.place, { ...ON, enable_baseline_alerts: false })
    off.clock.now = desk.clock.now
    expect(await alert(off)).toBe(0)
    expect(await alert(desk)).toBe(1)
    expect((await told(desk)).map(({ channel }) => channel)).toEqual(['incident'])
  })

  test('does not count the occurrences of muted and snoozed errors', async () => {
    const desk = await openDesk(ON)
    await remember(desk, 'TypeError', 14)
    await desk.run(calculateAllBaselines)
    await logFive(desk, 'TypeError')
    const error_id = await desk.log('TypeError')
    await desk.run(muteError, { error_id, hours: 1 })
    expect(await alert(desk)).toBe(0)
    await desk.run(snoozeError, { error_id, hours: 2 })
    desk.clock.now += HOUR
    await logFive(desk, 'TypeError')
    expect(await alert(desk)).toBe(0)
    desk.clock.now += HOUR
    await logFive(desk, 'TypeError')
    expect(await alert(desk)).toBe(1)
  })
  test('sends no alert for a type that occurs once a day and occurs again', async () => {
    const desk = await openDesk(ON)
    for (let day = 1; day <= 20; day++) await desk.log('Once', { severity: 'high', occurred_at: NOON - day * DAY })
    await desk.run(calculateAllBaselines)
    await desk.log('Once', { severity: 'high' })
    await sendBaselineAlerts(desk.context)
    expect(await told(desk)).toEqual([])
  })

  test('sends one alert for a burst in the last minute of an hour', async () => {
    const desk = await openDesk({ ...ON, baseline_alert_cooldown_minutes: 0 })
    await remember(desk, 'TypeError', 14)
    await desk.run(calculateAllBaselines)
    desk.clock.now = NOON + HOUR - 30_000
    await logFive(desk, 'TypeError')
    for (const minutes of [0.5, 1, 2, 30, 59]) {
      desk.clock.now = NOON + HOUR + minutes * 60_000
      await sendBaselineAlerts(desk.context)
    }
    expect(await told(desk)).toMatchObject([
      { at: NOON + HOUR + 60_000, hour_started_at: NOON, platforms: [{ count: 5 }] },
    ])
    desk.clock.now = NOON + 2 * HOUR + 60_000
    await sendBaselineAlerts(desk.context)
    expect(await told(desk)).toHaveLength(1)
  })

  test('sends no second alert for an hour that alerted while it was running', async () => {
    const desk = await openDesk({ ...ON, baseline_alert_cooldown_minutes: 10 })
    await remember(desk, 'TypeError', 14)
    await desk.run(calculateAllBaselines)
    await logFive(desk, 'TypeError')
    await sendBaselineAlerts(desk.context)
    expect(await told(desk)).toMatchObject([{ hour_started_at: NOON }])
    desk.clock.now = NOON + HOUR + 60_000
    await sendBaselineAlerts(desk.context)
    expect(await told(desk)).toHaveLength(1)
  })
})
