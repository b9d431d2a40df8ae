import { expect, test } from 'vitest'
import type { CaptureContext } from '../../../src/capture/capture-context.js'
import { logForeignError } from '../../../src/capture/clients/foreign-error.js'
import type { HeldNotice } from '../../../src/notifications/content/notice.js'
import { sendTestNotification } from '../../../src/notifications/delivery/test-message.js'
import { alertOn } from '../../../src/notifications/rules/baseline-alerts.js'
import { sweepDeliveries } from '../../../src/notifications/rules/dispatch.js'
import type { Settings } from '../../../src/options.js'
import { resolveError } from '../../../src/triage/commands/resolve-error.js'
import { describeEachDatabase } from '../../support/databases.js'
import { NOON } from '../../support/tracker.js'
import { type Desk, deskAt, desksOn, webhookInbox } from '../desk.js'

const HOUR = 3_600_000
const MINUTE = 60_000
const THREE: Settings = { notification_max_per_hour: 3 }

const states = async (desk: Desk) => {
  const counts: Record<string, number> = {}
  for (const { state, event } of await desk.rows()) {
    const key = event === 'held' ? `summary ${state}` : state
    counts[key] = (counts[key] ?? 0) + 1
  }
  return counts
}

describeEachDatabase('more messages than a channel may send in an hour', (database) => {
  const openDesk = desksOn(database)

  test('are listed in one summary at the end of the hour, written once by many processes', async () => {
    const inbox = await webhookInbox()
    const settings = { ...inbox.settings, ...THREE }
    const desk = await openDesk(settings)
    const others = [deskAt(desk.place, settings), deskAt(desk.place, settings)]
    const desks = [desk, ...others]
    await Promise.all(
      desks.flatMap((one, i) => Array.from({ length: 10 }, (_, n) => one.log(`Error${i}${'abcdefghij'[n]}`))),
    )
    expect(await states(desk)).toEqual({ pending: 3, over_limit: 27 })
    await desk.sendDue()
    expect(inbox.letters).toHaveLength(3)

    for (const { clock } of desks) clock.now = NOON + HOUR
    await Promise.all(desks.map(({ context }) => sweepDeliveries(context)))
    await desk.sendDue()
    expect(await states(desk)).toEqual({ sent: 3, combined: 27, 'summary sent': 1 })
    const notice = JSON.parse(inbox.letters[3]?.raw ?? '') as HeldNotice
    expect(notice).toMatchObject({ event: 'held', reason: 'hourly_limit', total: 27, application_name: 'shop' })
    expect(notice.notices).toHaveLength(20)

    await desk.log('NextHour')
    await desk.sendDue()
    expect(inbox.letters).toHaveLength(5)
  })

  test('send the most severe of a batch first', async () => {
    const desk = await openDesk({ webhook_url: 'http://127.0.0.1:9/', notification_max_per_hour: 1 })
    await Promise.all([desk.log('Slight', { severity: 'low' }), desk.log('Grave', { severity: 'critical' })])
    const rows = await desk.rows()
    const pending = rows.filter(({ state }) => state === 'pending').map(({ payload }) => JSON.parse(payload).severity)
    expect(pending).toEqual(['critical'])
  })

  test('count for the next hour if the summary of their hour is written already', async () => {
    const desk = await openDesk({ webhook_url: 'http://127.0.0.1:9/', notification_max_per_hour: 1 })
    const late = deskAt(desk.place, { webhook_url: 'http://127.0.0.1:9/', notification_max_per_hour: 1 })
    for (const type of ['First', 'Second']) await desk.log(type)
    desk.clock.now = NOON + HOUR
    await sweepDeliveries(desk.context)
    // The clock of this process is a moment behind.
    late.clock.now = NOON + HOUR - 1
    for (const type of ['Third', 'Fourth']) await late.log(type)
    const waiting = (await desk.rows()).filter(({ state }) => state === 'over_limit')
    expect(waiting.map(({ run_at }) => run_at)).toEqual([NOON + 2 * HOUR])
    desk.clock.now = NOON + 2 * HOUR
    await sweepDeliveries(desk.context)
    const summaries = (await desk.rows()).filter(({ event }) => event === 'held')
    expect(summaries.map(({ payload }) => JSON.parse(payload).total)).toEqual([1, 1])
  })

  test('do not keep back test messages and resolutions of incidents that were opened', async () => {
    const incident = { incident_integration_key: 'k', severity_thresholds: { incident: 'low' } } as const
    const desk = await openDesk({
      ...incident,
      incident_events_url: 'http://127.0.0.1:9/',
      notification_max_per_hour: 1,
    })
    const opened = await desk.log('Opened')
    const over = await desk.log('OverLimit')
    for (const error_id of [opened, over]) await desk.run(resolveError, { error_id, resolved_by: 'Ada' })
    await desk.run(sendTestNotification, { channel: 'incident' })
    const rows = await desk.rows()
    expect(rows.map(({ event, error_id, state }) => [event, error_id, state])).toEqual([
      ['new', opened, 'pending'],
      ['new', over, 'over_limit'],
      ['resolved', opened, 'pending'],
      ['test', null, 'failed'],
    ])
  })

  test('are held by quiet hours before they count', async () => {
    const quiet = { webhook_url: 'http://127.0.0.1:9/', quiet_hours: '11:00-13:30', notification_max_per_hour: 1 }
    const desk = await openDesk(quiet)
    for (const type of ['First', 'Second']) await desk.log(type)
    expect(await states(desk)).toEqual({ held: 2 })
  })

  test('are summarized after quiet hours if the hour ends within them', async () => {
    const quiet = { webhook_url: 'http://127.0.0.1:9/', quiet_hours: '12:30-13:30', notification_max_per_hour: 1 }
    const desk = await openDesk(quiet)
    for (const type of ['First', 'Second']) await desk.log(type)
    desk.clock.now = NOON + HOUR
    await sweepDeliveries(desk.context)
    const [summary] = (await desk.rows()).filter(({ event }) => event === 'held')
    expect(summary).toMatchObject({ state: 'pending', run_at: NOON + 90 * MINUTE })
  })
})

describeEachDatabase('messages about client errors', (database) => {
  const openDesk = desksOn(database)
  const PAGED = {
    ...{
      incident_integration_key: 'k',
      incident_events_url: 'http://127.0.0.1:9/',
      webhook_url: 'http://127.0.0.1:9/',
    },
    ...{ severity_thresholds: { incident: 'low' }, quiet_hours: '11:00-13:00', quiet_hours_bypass_severity: 'high' },
  } as const satisfies Settings

  const byClient = (desk: Desk) =>
    logForeignError(desk.context as CaptureContext, {
      ...{ source: 'sentry', error_type: 'OutOfMemoryError', message: 'x', backtrace: [], severity: 'critical' },
    })

  const written = async (desk: Desk) => {
    const rows = await desk.rows()
    return rows.map(({ channel, state, payload }) => [channel, state, JSON.parse(payload).severity]).sort()
  }

  test('do not page anyone, and their severity is limited', async () => {
    const desk = await openDesk(PAGED)
    await byClient(desk)
    expect(await written(desk)).toEqual([['webhook', 'held', 'high']])
    await desk.log('ServerError', { severity: 'high' })
    expect(await written(desk)).toEqual([
      ['incident', 'pending', 'high'],
      ['webhook', 'held', 'high'],
      ['webhook', 'pending', 'high'],
    ])
  })

  test('over the hourly limit do not bypass quiet hours in their summary', async () => {
    const { quiet_hours_bypass_severity, severity_thresholds } = PAGED
    const base = { webhook_url: PAGED.webhook_url, quiet_hours_bypass_severity, severity_thresholds }
    const desk = await openDesk({ ...base, quiet_hours: '12:30-13:30', notification_max_per_hour: 1 })
    await byClient(desk)
    await logForeignError(desk.context as CaptureContext, {
      ...{ source: 'sentry', error_type: 'Another', message: 'x', backtrace: [], severity: 'critical' },
    })
    desk.clock.now = NOON + HOUR
    await sweepDeliveries(desk.context)
    const [summary] = (await desk.rows()).filter(({ event }) => event === 'held')
    expect(summary).toMatchObject({ state: 'pending', run_at: NOON + 90 * MINUTE })
  })

  test('page with enable_client_paging, and are critical with client_max_severity', async () => {
    const desk = await openDesk({ ...PAGED, enable_client_paging: true, client_max_severity: 'critical' })
    await byClient(desk)
    expect(await written(desk)).toEqual([
      ['incident', 'pending', 'critical'],
      ['webhook', 'pending', 'critical'],
    ])
  })

  test('above a baseline page only if the errors of the server alone are above it', async () => {
    const desk = await openDesk({ ...PAGED, enable_baseline_alerts: true, quiet_hours: null })
    const alarm = {
      ...{ error_type: 'OutOfMemoryError', platform: 'API', count: 9, usual: 1, std_dev: 1, deviations: 8 },
      severity: 'critical',
    } as const
    for (let i = 0; i < 9; i++) await byClient(desk)
    const [row] = await desk.rows()
    await alertOn(desk.context, [{ ...alarm, application_id: row?.application_id ?? 0 }])
    const alerts = async () =>
      (await desk.rows()).filter(({ event }) => event === 'baseline').map(({ channel }) => channel)
    expect(await alerts()).toEqual(['webhook'])
    for (let i = 0; i < 9; i++) await desk.log('OutOfMemoryError')
    desk.clock.now = NOON + 50 * MINUTE
    await desk.context.database.read.deleteFrom('faultboard_cooldowns').execute()
    await alertOn(desk.context, [{ ...alarm, application_id: row?.application_id ?? 0 }])
    expect((await alerts()).sort()).toEqual(['incident', 'webhook', 'webhook'])
  })
})
