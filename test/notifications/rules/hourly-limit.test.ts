import { expect, test } from 'vitest'
import type { CaptureContext } from '../../../src/capture/capture-context.js'
import { logForeignError } from '../../../src/capture/clients/foreign-error.js'
import type { HeldNotice } from '../../../src/notifications/content/notice.js'
import { sweepDeliveries } from '../../../src/notifications/delivery/dispatcher.js'
import { sendTestNotification } from '../../../src/notifications/delivery/test-notification.js'
import { writeBaselineAlerts } from '../../../src/notifications/rules/baseline-alerts.js'
import type { Settings } from '../../../src/options.js'
import { resolveError } from '../../../src/triage/commands/resolve-error.js'
import { describeEachDatabase } from '../../support/databases.js'
import { NOON } from '../../support/tracker.js'
import { type DeliveryHarness, harnessAt, harnessesOn, webhookInbox } from '../delivery-harness.js'

const HOUR = 3_600_000
const MINUTE = 60_000
const THREE: Settings = { notification_max_per_hour: 3 }

const states = async (harness: DeliveryHarness) => {
  const counts: Record<string, number> = {}
  for (const { state, event } of await harness.rows()) {
    const key = event === 'held' ? `summary ${state}` : state
    counts[key] = (counts[key] ?? 0) + 1
  }
  return counts
}

describeEachDatabase('the hourly limit', (database) => {
  const openHarness = harnessesOn(database)

  test('creates one summary of the held notifications per hour across processes', async () => {
    const inbox = await webhookInbox()
    const settings = { ...inbox.settings, ...THREE }
    const harness = await openHarness(settings)
    const others = [harnessAt(harness.storage, settings), harnessAt(harness.storage, settings)]
    const harnesses = [harness, ...others]
    await Promise.all(
      harnesses.flatMap((harness, i) =>
        Array.from({ length: 10 }, (_, n) => harness.log(`Error${i}${'abcdefghij'[n]}`)),
      ),
    )
    expect(await states(harness)).toEqual({ pending: 3, over_limit: 27 })
    await harness.sendDue()
    expect(inbox.messages).toHaveLength(3)

    for (const { clock } of harnesses) clock.now = NOON + HOUR
    await Promise.all(harnesses.map(({ context }) => sweepDeliveries(context)))
    await harness.sendDue()
    expect(await states(harness)).toEqual({ sent: 3, combined: 27, 'summary sent': 1 })
    const notice = JSON.parse(inbox.messages[3]?.raw ?? '') as HeldNotice
    expect(notice).toMatchObject({ event: 'held', reason: 'hourly_limit', total: 27, application_name: 'shop' })
    expect(notice.notices).toHaveLength(20)

    await harness.log('NextHour')
    await harness.sendDue()
    expect(inbox.messages).toHaveLength(5)
  })

  test('sends the most severe errors of a batch first', async () => {
    const harness = await openHarness({ webhook_url: 'http://127.0.0.1:9/', notification_max_per_hour: 1 })
    await Promise.all([
      harness.log('MinorError', { severity: 'low' }),
      harness.log('CriticalError', { severity: 'critical' }),
    ])
    const rows = await harness.rows()
    const pending = rows.filter(({ state }) => state === 'pending').map(({ payload }) => JSON.parse(payload).severity)
    expect(pending).toEqual(['critical'])
  })

  test('counts late notifications toward the next hour once the summary is written', async () => {
    const harness = await openHarness({ webhook_url: 'http://127.0.0.1:9/', notification_max_per_hour: 1 })
    const late = harnessAt(harness.storage, { webhook_url: 'http://127.0.0.1:9/', notification_max_per_hour: 1 })
    for (const type of ['First', 'Second']) await harness.log(type)
    harness.clock.now = NOON + HOUR
    await sweepDeliveries(harness.context)
    // The clock of this process is slightly behind.
    late.clock.now = NOON + HOUR - 1
    for (const type of ['Third', 'Fourth']) await late.log(type)
    const waiting = (await harness.rows()).filter(({ state }) => state === 'over_limit')
    expect(waiting.map(({ run_at }) => run_at)).toEqual([NOON + 2 * HOUR])
    harness.clock.now = NOON + 2 * HOUR
    await sweepDeliveries(harness.context)
    const summaries = (await harness.rows()).filter(({ event }) => event === 'held')
    expect(summaries.map(({ payload }) => JSON.parse(payload).total)).toEqual([1, 1])
  })

  test('does not limit test notifications and resolve notifications of open incidents', async () => {
    const incident = { incident_integration_key: 'k', severity_thresholds: { incident: 'low' } } as const
    const harness = await openHarness({
      ...incident,
      incident_events_url: 'http://127.0.0.1:9/',
      notification_max_per_hour: 1,
    })
    const opened = await harness.log('Opened')
    const over = await harness.log('OverLimit')
    for (const error_id of [opened, over]) await harness.run(resolveError, { error_id, resolved_by: 'Ada' })
    await harness.run(sendTestNotification, { channel: 'incident' })
    const rows = await harness.rows()
    expect(rows.map(({ event, error_id, state }) => [event, error_id, state])).toEqual([
      ['new', opened, 'pending'],
      ['new', over, 'over_limit'],
      ['resolved', opened, 'pending'],
      ['test', null, 'failed'],
    ])
  })

  test('does not count notifications held by quiet hours', async () => {
    const quiet = { webhook_url: 'http://127.0.0.1:9/', quiet_hours: '11:00-13:30', notification_max_per_hour: 1 }
    const harness = await openHarness(quiet)
    for (const type of ['First', 'Second']) await harness.log(type)
    expect(await states(harness)).toEqual({ held: 2 })
  })

  test('sends the summary after quiet hours if the hour ends within them', async () => {
    const quiet = { webhook_url: 'http://127.0.0.1:9/', quiet_hours: '12:30-13:30', notification_max_per_hour: 1 }
    const harness = await openHarness(quiet)
    for (const type of ['First', 'Second']) await harness.log(type)
    harness.clock.now = NOON + HOUR
    await sweepDeliveries(harness.context)
    const [summary] = (await harness.rows()).filter(({ event }) => event === 'held')
    expect(summary).toMatchObject({ state: 'pending', run_at: NOON + 90 * MINUTE })
  })
})

describeEachDatabase('the hourly limit with client errors', (database) => {
  const openHarness = harnessesOn(database)
  const INCIDENT_SETTINGS = {
    ...{
      incident_integration_key: 'k',
      incident_events_url: 'http://127.0.0.1:9/',
      webhook_url: 'http://127.0.0.1:9/',
    },
    ...{ severity_thresholds: { incident: 'low' }, quiet_hours: '11:00-13:00', quiet_hours_bypass_severity: 'high' },
  } as const satisfies Settings

  const reportFromClient = (harness: DeliveryHarness, error_type = 'OutOfMemoryError') =>
    logForeignError(harness.context as CaptureContext, {
      ...{ source: 'sentry', error_type, message: 'x', backtrace: [], severity: 'critical' },
    })

  const written = async (harness: DeliveryHarness) => {
    const rows = await harness.rows()
    return rows.map(({ channel, state, payload }) => [channel, state, JSON.parse(payload).severity]).sort()
  }

  test('does not trigger incidents for client errors and limits their severity', async () => {
    const harness = await openHarness(INCIDENT_SETTINGS)
    await reportFromClient(harness)
    expect(await written(harness)).toEqual([['webhook', 'held', 'high']])
    await harness.log('ServerError', { severity: 'high' })
    expect(await written(harness)).toEqual([
      ['incident', 'pending', 'high'],
      ['webhook', 'held', 'high'],
      ['webhook', 'pending', 'high'],
    ])
  })

  test('sends a critical server error at once after a flood of client errors', async () => {
    const inbox = await webhookInbox()
    const settings = { ...inbox.settings, notification_max_per_hour: 8 }
    const harness = await openHarness(settings)
    const harnesses = [harness, harnessAt(harness.storage, settings)]
    const flood = (prefix: string) =>
      Promise.all(
        harnesses.flatMap((harness, i) =>
          Array.from({ length: 10 }, (_, n) => reportFromClient(harness, `${prefix}${i}${'abcdefghij'[n]}`)),
        ),
      )
    await flood('Before')
    expect(await states(harness)).toEqual({ pending: 2, over_limit: 18 })

    await harness.log('DatabaseDown', { severity: 'critical' })
    await harness.sendDue()
    expect(inbox.messages.map(({ raw }) => JSON.parse(raw).severity).sort()).toEqual(['critical', 'high', 'high'])

    // The limit of the channel still applies to all errors together.
    for (const type of 'abcdefg') await harness.log(`ServerError${type}`)
    await flood('After')
    await harness.sendDue()
    expect(await states(harness)).toEqual({ sent: 8, over_limit: 40 })

    for (const { clock } of harnesses) clock.now = NOON + HOUR
    await Promise.all(harnesses.map(({ context }) => sweepDeliveries(context)))
    await harness.sendDue()
    expect(await states(harness)).toEqual({ sent: 8, combined: 40, 'summary sent': 1 })
    expect(JSON.parse(inbox.messages[8]?.raw ?? '')).toMatchObject({ event: 'held', reason: 'hourly_limit', total: 40 })
  })

  test('holds client errors once server errors have reached the limit of the channel', async () => {
    const harness = await openHarness({ webhook_url: 'http://127.0.0.1:9/', notification_max_per_hour: 4 })
    for (const type of 'abcd') await harness.log(`ServerError${type}`)
    await reportFromClient(harness)
    expect(await states(harness)).toEqual({ pending: 4, over_limit: 1 })
  })

  test('does not let summaries of client errors bypass quiet hours', async () => {
    const { quiet_hours_bypass_severity, severity_thresholds } = INCIDENT_SETTINGS
    const base = { webhook_url: INCIDENT_SETTINGS.webhook_url, quiet_hours_bypass_severity, severity_thresholds }
    const harness = await openHarness({ ...base, quiet_hours: '12:30-13:30', notification_max_per_hour: 1 })
    await reportFromClient(harness)
    await reportFromClient(harness, 'Another')
    harness.clock.now = NOON + HOUR
    await sweepDeliveries(harness.context)
    const [summary] = (await harness.rows()).filter(({ event }) => event === 'held')
    expect(summary).toMatchObject({ state: 'pending', run_at: NOON + 90 * MINUTE })
  })

  test('triggers incidents for critical client errors with enable_client_paging and client_max_severity', async () => {
    const harness = await openHarness({
      ...INCIDENT_SETTINGS,
      enable_client_paging: true,
      client_max_severity: 'critical',
    })
    await reportFromClient(harness)
    expect(await written(harness)).toEqual([
      ['incident', 'pending', 'critical'],
      ['webhook', 'pending', 'critical'],
    ])
  })

  test('triggers a baseline incident only if server errors alone exceed the baseline', async () => {
    const harness = await openHarness({ ...INCIDENT_SETTINGS, enable_baseline_alerts: true, quiet_hours: null })
    const baselineExcess = {
      ...{ error_type: 'OutOfMemoryError', platform: 'API', count: 9, mean: 1, std_dev: 1, deviations: 8 },
      environment: 'test',
      severity: 'critical',
    } as const
    for (let i = 0; i < 9; i++) await reportFromClient(harness)
    const [row] = await harness.rows()
    await writeBaselineAlerts(harness.context, [{ ...baselineExcess, application_id: row?.application_id ?? 0 }])
    const alerts = async () =>
      (await harness.rows()).filter(({ event }) => event === 'baseline').map(({ channel }) => channel)
    expect(await alerts()).toEqual(['webhook'])
    for (let i = 0; i < 9; i++) await harness.log('OutOfMemoryError')
    harness.clock.now = NOON + 50 * MINUTE
    await harness.context.database.read.deleteFrom('faultboard_cooldowns').execute()
    await writeBaselineAlerts(harness.context, [{ ...baselineExcess, application_id: row?.application_id ?? 0 }])
    expect((await alerts()).sort()).toEqual(['incident', 'webhook', 'webhook'])
  })
})
