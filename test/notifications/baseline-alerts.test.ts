import { expect, test } from 'vitest'
import { calculateAllBaselines } from '../../src/analytics/baseline-calculator.js'
import { audibleSpikes } from '../../src/analytics/spiking-errors.js'
import type { Settings } from '../../src/config/options.js'
import { alertOn } from '../../src/notifications/baseline-alerts.js'
import type { BaselineNotice } from '../../src/notifications/notice.js'
import { muteError } from '../../src/triage/mute-error.js'
import { snoozeError } from '../../src/triage/snooze-error.js'
import { describeEachDatabase } from '../support/databases.js'
import { NOON } from '../support/tracker.js'
import { type Desk, deskAt, desksOn } from './desk.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const ON: Settings = { enable_baseline_alerts: true, webhook_url: 'http://127.0.0.1:9/' }

describeEachDatabase('a type of error above its baseline', (database) => {
  const openDesk = desksOn(database)

  /** Once every 6 hours for so many days: one more in an hour is 2.2 deviations, two are 4.9. */
  const remember = async (desk: Desk, error_type: string, days: number, fields = {}) => {
    const past = Array.from({ length: days * 4 }, (_, i) => NOON - (i + 1) * 6 * HOUR)
    await Promise.all(past.map((occurred_at) => desk.log(error_type, { occurred_at, ...fields })))
    desk.clock.now = NOON + HOUR / 2
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
    expect(await alert(desk)).toBe(0)
    await desk.log('TypeError')
    const others = [1, 2].map(() => deskAt(desk.place, ON))
    for (const { clock } of others) clock.now = desk.clock.now
    await Promise.all([desk, ...others].map(alert))
    expect(await told(desk)).toMatchObject([
      {
        ...{ event: 'baseline', error_type: 'TypeError', severity: 'high', application_name: 'shop' },
        platforms: [{ count: 1, usual: expect.closeTo(1 / 6, 2), deviations: expect.closeTo(2.2, 1) }],
      },
    ])
    const later = async (time: number) => {
      desk.clock.now = time
      await desk.log('TypeError')
      return alert(desk)
    }
    expect(await later(NOON + 2 * HOUR + HOUR / 2 - 1)).toBe(0)
    expect(await later(NOON + 2 * HOUR + HOUR / 2)).toBe(1)
  })

  test('has to be above it by more deviations than the threshold', async () => {
    const desk = await openDesk({ ...ON, baseline_alert_threshold_std_devs: 4 })
    await remember(desk, 'TypeError', 14)
    await desk.run(calculateAllBaselines)
    await desk.log('TypeError')
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
    for (const type of ['ShortError', 'RareError']) await desk.log(type, { severity: 'high' })
    await desk.log('SlightError', { severity: 'medium' })
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
    await desk.log('TypeError')
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
    const error_id = await desk.log('TypeError')
    await desk.run(muteError, { error_id, hours: 1 })
    expect(await alert(desk)).toBe(0)
    await desk.run(snoozeError, { error_id, hours: 2 })
    desk.clock.now += HOUR
    await desk.log('TypeError')
    expect(await alert(desk)).toBe(0)
    desk.clock.now += HOUR
    await desk.log('TypeError')
    expect(await alert(desk)).toBe(1)
  })
})
