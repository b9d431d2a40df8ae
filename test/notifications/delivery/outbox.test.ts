import { describe, expect, test } from 'vitest'
import type { ErrorNotice } from '../../../src/notifications/content/notice.js'
import { batchDeleteErrors } from '../../../src/triage/commands/batch-errors.js'
import { muteError, unmuteError } from '../../../src/triage/commands/mute-error.js'
import { resolveError } from '../../../src/triage/commands/resolve-error.js'
import { snoozeError } from '../../../src/triage/commands/snooze-error.js'
import { updateStatus } from '../../../src/triage/commands/update-status.js'
import { describeEachDatabase } from '../../support/databases.js'
import { type Desk, deskAt, desksOn } from '../desk.js'

const MINUTE = 60_000
const INCIDENT = { incident_integration_key: 'key', incident_events_url: 'http://127.0.0.1:9/' }

describeEachDatabase('what is told of errors', (database) => {
  const openDesk = desksOn(database)

  const noticesOf = async (desk: Desk) => (await desk.rows()).map(({ payload }) => JSON.parse(payload) as ErrorNotice)
  /** Resolves it and lets it occur again, some minutes later. */
  const bringBack = async (desk: Desk, error_id: number, minutes: number, fields = {}) => {
    desk.clock.now += (minutes * MINUTE) / 2
    await desk.run(resolveError, { error_id })
    desk.clock.now += (minutes * MINUTE) / 2
    await desk.log('TypeError', fields)
  }

  test('a new error is told of once, with all that a message needs, however often it came in its first batch', async () => {
    const desk = await openDesk()
    const fields = { message: 'cart is undefined', app_version: '1.2.3', platform: 'Web' }
    const [error_id] = await Promise.all([desk.log('TypeError', fields), desk.log('TypeError', fields)])
    await desk.log('TypeError', fields)
    expect(await desk.keys()).toEqual([`new:${error_id}:webhook`])
    const [row] = await desk.rows()
    expect(row).toMatchObject({ channel: 'webhook', event: 'new', error_id, state: 'pending', attempts: 0 })
    expect(row).toMatchObject({ run_at: desk.clock.now, created_at: desk.clock.now })
    expect((await noticesOf(desk))[0]).toMatchObject({
      ...{ event: 'new', application_name: 'shop', environment: 'test', at: desk.clock.now, severity: 'high' },
      error: {
        ...{ id: error_id, error_type: 'TypeError', message: 'cart is undefined', platform: 'Web' },
        ...{ app_version: '1.2.3', occurrence_count: 2, first_seen_at: desk.clock.now },
      },
    })
  })

  test('a message carries the severity of the error, not that of its newest occurrence', async () => {
    const desk = await openDesk()
    const [error_id] = await Promise.all([
      desk.log('ShopError', { severity: 'critical' }),
      desk.log('ShopError', { severity: 'low' }),
    ])
    expect(await noticesOf(desk)).toMatchObject([{ event: 'new', severity: 'critical', error: { id: error_id } }])
  })

  test('nothing is written where no channel is on', async () => {
    const desk = await openDesk({})
    await desk.log('TypeError')
    expect(await desk.keys()).toEqual([])
    expect(desk.context.outbox.hasRecentWrites()).toBe(false)
  })

  test('an error that came back is told of, but not within the cooldown after the last message about it', async () => {
    const desk = await openDesk()
    const error_id = await desk.log('TypeError')
    await bringBack(desk, error_id, 4)
    expect(await desk.keys()).toEqual([`new:${error_id}:webhook`])
    await bringBack(desk, error_id, 2)
    expect(await desk.keys()).toEqual([`new:${error_id}:webhook`, `reopened:${error_id}:${desk.clock.now}:webhook`])
    await bringBack(desk, error_id, 4)
    expect(await desk.keys()).toHaveLength(2)
    await bringBack(desk, error_id, 2)
    expect(await desk.keys()).toHaveLength(3)
  })

  test('the release in which it came back is told with it', async () => {
    const desk = await openDesk()
    const error_id = await desk.log('TypeError', { app_version: '1.0.0' })
    await bringBack(desk, error_id, 10, { app_version: '1.1.0' })
    expect((await noticesOf(desk))[1]).toMatchObject({ event: 'reopened', error: { regressed_in_version: '1.1.0' } })
  })

  test('of the milestones that a batch crosses the highest is told of, whatever the cooldown', async () => {
    const desk = await openDesk({
      webhook_url: 'http://127.0.0.1:9/',
      notification_threshold_alerts: [2, 4, 6],
    })
    const error_id = await desk.log('TypeError')
    await desk.log('TypeError')
    await Promise.all([1, 2, 3, 4, 5].map(() => desk.log('TypeError')))
    await desk.log('TypeError')
    expect(await desk.keys()).toEqual([
      `new:${error_id}:webhook`,
      `milestone:${error_id}:2:webhook`,
      `milestone:${error_id}:6:webhook`,
    ])
  })

  test('a milestone is told of when its return is not', async () => {
    const desk = await openDesk({ webhook_url: 'http://127.0.0.1:9/', notification_threshold_alerts: [2, 3] })
    const error_id = await desk.log('TypeError')
    await bringBack(desk, error_id, 1)
    await bringBack(desk, error_id, 20)
    expect((await noticesOf(desk)).map(({ event }) => event)).toEqual(['new', 'milestone', 'reopened'])
  })

  test('muted, snoozed and wont_fix errors are silent, until they are not any more', async () => {
    const settings = { webhook_url: 'http://127.0.0.1:9/', notification_threshold_alerts: [2, 3, 4, 5, 6, 7] }
    const desk = await openDesk(settings)
    const error_id = await desk.log('TypeError')
    await desk.run(muteError, { error_id, hours: 1 })
    await desk.log('TypeError')
    desk.clock.now += 60 * MINUTE
    await desk.log('TypeError')
    await desk.run(snoozeError, { error_id, hours: 1 })
    await desk.log('TypeError')
    desk.clock.now += 60 * MINUTE
    await desk.run(muteError, { error_id })
    await desk.log('TypeError')
    await desk.run(unmuteError, { error_id })
    await desk.log('TypeError')
    await desk.run(updateStatus, { error_id, status: 'wont_fix' })
    await desk.log('TypeError')
    const keys = [`new:${error_id}:webhook`, `milestone:${error_id}:3:webhook`, `milestone:${error_id}:6:webhook`]
    expect(await desk.keys()).toEqual(keys)
  })

  test('each channel has its own least severity, and that of incidents is critical', async () => {
    const channels = {
      ...INCIDENT,
      webhook_url: 'http://127.0.0.1:9/',
      community_chat_webhook_url: 'http://127.0.0.1:9/',
    }
    const desk = await openDesk({ ...channels, severity_thresholds: { community_chat: 'high' } })
    const told = async (severity: 'low' | 'high' | 'critical') => {
      const id = await desk.log(`Error${severity}`, { severity })
      return (await desk.rows()).filter(({ error_id }) => error_id === id).map(({ channel }) => channel)
    }
    expect(await told('low')).toEqual(['webhook'])
    expect((await told('high')).sort()).toEqual(['community_chat', 'webhook'])
    expect((await told('critical')).sort()).toEqual(['community_chat', 'incident', 'webhook'])
  })

  describe('the end of an error', () => {
    const events = async (desk: Desk) => (await desk.rows()).map(({ event, channel }) => `${event} ${channel}`)

    test('is told to the incident channel alone, and only where an incident was opened since the last end', async () => {
      const desk = await openDesk({ ...INCIDENT, webhook_url: 'http://127.0.0.1:9/' })
      const [grave, slight] = [await desk.log('A', { severity: 'critical' }), await desk.log('B', { severity: 'low' })]
      await desk.run(resolveError, { error_id: grave })
      await desk.run(resolveError, { error_id: slight })
      await desk.run(updateStatus, { error_id: grave, status: 'wont_fix' })
      await desk.run(batchDeleteErrors, { error_ids: [grave, slight] })
      expect((await events(desk)).sort()).toEqual(['new incident', 'new webhook', 'new webhook', 'resolved incident'])
    })

    test('is told also when somebody resolves it where no messages are sent', async () => {
      const desk = await openDesk(INCIDENT)
      const error_id = await desk.log('A', { severity: 'critical' })
      const silent = deskAt(desk.place, {})
      await silent.run(resolveError, { error_id })
      expect(await events(desk)).toEqual(['new incident', 'resolved incident'])
    })

    test('is told when it is deleted or nobody is to fix it, and again after it came back', async () => {
      const desk = await openDesk({ ...INCIDENT, notification_cooldown_minutes: 0 })
      const [a, b] = [await desk.log('A', { severity: 'critical' }), await desk.log('B', { severity: 'critical' })]
      await desk.run(updateStatus, { error_id: a, status: 'wont_fix' })
      await desk.run(resolveError, { error_id: b })
      desk.clock.now += MINUTE
      await desk.log('B', { severity: 'critical' })
      await desk.run(batchDeleteErrors, { error_ids: [b] })
      const told = (await desk.rows()).map(({ event, error_id }) => `${event} ${error_id === a ? 'a' : 'b'}`)
      expect(told).toEqual(['new a', 'new b', 'resolved a', 'resolved b', 'reopened b', 'resolved b'])
    })
  })

  test('an error from the spool of another application is told of under its name', async () => {
    const desk = await openDesk()
    const billing = deskAt(desk.place, { application_name: 'billing', environment: 'live' })
    void billing.log('Spooled').catch(() => {})
    // As at the exit of its process: the file is left for another process.
    billing.context.recorder.end()
    await desk.context.recorder.import()
    expect((await noticesOf(desk))[0]).toMatchObject({
      ...{ event: 'new', application_name: 'billing', environment: 'live' },
      error: { error_type: 'Spooled' },
    })
  })
})
