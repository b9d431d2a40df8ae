import { describe, expect, test } from 'vitest'
import type { ErrorNotice } from '../../../src/notifications/content/notice.js'
import { batchDeleteErrors } from '../../../src/triage/commands/batch-errors.js'
import { muteError, unmuteError } from '../../../src/triage/commands/mute-error.js'
import { resolveError } from '../../../src/triage/commands/resolve-error.js'
import { snoozeError } from '../../../src/triage/commands/snooze-error.js'
import { updateStatus } from '../../../src/triage/commands/update-status.js'
import { describeEachDatabase } from '../../support/databases.js'
import { type DeliveryHarness, harnessAt, harnessesOn } from '../delivery-harness.js'

const MINUTE = 60_000
const INCIDENT = { incident_integration_key: 'key', incident_events_url: 'http://127.0.0.1:9/' }

describeEachDatabase('the notification outbox', (database) => {
  const openHarness = harnessesOn(database)

  const noticesOf = async (harness: DeliveryHarness) =>
    (await harness.rows()).map(({ payload }) => JSON.parse(payload) as ErrorNotice)
  /** Resolves the error and reports it again some minutes later. */
  const reopenError = async (harness: DeliveryHarness, error_id: number, minutes: number, fields = {}) => {
    harness.clock.now += (minutes * MINUTE) / 2
    await harness.run(resolveError, { error_id })
    harness.clock.now += (minutes * MINUTE) / 2
    await harness.log('TypeError', fields)
  }

  test('writes one complete notice for a new error, regardless of the occurrences in the first batch', async () => {
    const harness = await openHarness()
    const fields = { message: 'cart is undefined', app_version: '1.2.3', platform: 'Web' }
    const [error_id] = await Promise.all([harness.log('TypeError', fields), harness.log('TypeError', fields)])
    await harness.log('TypeError', fields)
    expect(await harness.keys()).toEqual([`new:${error_id}:webhook`])
    const [row] = await harness.rows()
    expect(row).toMatchObject({ channel: 'webhook', event: 'new', error_id, state: 'pending', attempts: 0 })
    expect(row).toMatchObject({ run_at: harness.clock.now, created_at: harness.clock.now })
    expect((await noticesOf(harness))[0]).toMatchObject({
      ...{ event: 'new', application_name: 'shop', environment: 'test', at: harness.clock.now, severity: 'high' },
      error: {
        ...{ id: error_id, error_type: 'TypeError', message: 'cart is undefined', platform: 'Web' },
        ...{ app_version: '1.2.3', occurrence_count: 2, first_seen_at: harness.clock.now },
      },
    })
  })

  test('uses the severity of the error, not of its newest occurrence', async () => {
    const harness = await openHarness()
    const [error_id] = await Promise.all([
      harness.log('ShopError', { severity: 'critical' }),
      harness.log('ShopError', { severity: 'low' }),
    ])
    expect(await noticesOf(harness)).toMatchObject([{ event: 'new', severity: 'critical', error: { id: error_id } }])
  })

  test('writes nothing without an active channel', async () => {
    const harness = await openHarness({})
    await harness.log('TypeError')
    expect(await harness.keys()).toEqual([])
    expect(harness.context.outbox.hasRecentWrites()).toBe(false)
  })

  test('notifies about a reopened error unless the cooldown is active', async () => {
    const harness = await openHarness()
    const error_id = await harness.log('TypeError')
    await reopenError(harness, error_id, 4)
    expect(await harness.keys()).toEqual([`new:${error_id}:webhook`])
    await reopenError(harness, error_id, 2)
    expect(await harness.keys()).toEqual([
      `new:${error_id}:webhook`,
      `reopened:${error_id}:${harness.clock.now}:webhook`,
    ])
    await reopenError(harness, error_id, 4)
    expect(await harness.keys()).toHaveLength(2)
    await reopenError(harness, error_id, 2)
    expect(await harness.keys()).toHaveLength(3)
  })

  test('includes the release in which an error regressed', async () => {
    const harness = await openHarness()
    const error_id = await harness.log('TypeError', { app_version: '1.0.0' })
    await reopenError(harness, error_id, 10, { app_version: '1.1.0' })
    expect((await noticesOf(harness))[1]).toMatchObject({ event: 'reopened', error: { regressed_in_version: '1.1.0' } })
  })

  test('notifies about the highest milestone in a batch during a cooldown', async () => {
    const harness = await openHarness({
      webhook_url: 'http://127.0.0.1:9/',
      notification_threshold_alerts: [2, 4, 6],
    })
    const error_id = await harness.log('TypeError')
    await harness.log('TypeError')
    await Promise.all([1, 2, 3, 4, 5].map(() => harness.log('TypeError')))
    await harness.log('TypeError')
    expect(await harness.keys()).toEqual([
      `new:${error_id}:webhook`,
      `milestone:${error_id}:2:webhook`,
      `milestone:${error_id}:6:webhook`,
    ])
  })

  test('notifies about a milestone when the cooldown suppresses the reopening', async () => {
    const harness = await openHarness({ webhook_url: 'http://127.0.0.1:9/', notification_threshold_alerts: [2, 3] })
    const error_id = await harness.log('TypeError')
    await reopenError(harness, error_id, 1)
    await reopenError(harness, error_id, 20)
    expect((await noticesOf(harness)).map(({ event }) => event)).toEqual(['new', 'milestone', 'reopened'])
  })

  test('writes nothing for muted, snoozed and wont_fix errors', async () => {
    const settings = { webhook_url: 'http://127.0.0.1:9/', notification_threshold_alerts: [2, 3, 4, 5, 6, 7] }
    const harness = await openHarness(settings)
    const error_id = await harness.log('TypeError')
    await harness.run(muteError, { error_id, hours: 1 })
    await harness.log('TypeError')
    harness.clock.now += 60 * MINUTE
    await harness.log('TypeError')
    await harness.run(snoozeError, { error_id, hours: 1 })
    await harness.log('TypeError')
    harness.clock.now += 60 * MINUTE
    await harness.run(muteError, { error_id })
    await harness.log('TypeError')
    await harness.run(unmuteError, { error_id })
    await harness.log('TypeError')
    await harness.run(updateStatus, { error_id, status: 'wont_fix' })
    await harness.log('TypeError')
    const keys = [`new:${error_id}:webhook`, `milestone:${error_id}:3:webhook`, `milestone:${error_id}:6:webhook`]
    expect(await harness.keys()).toEqual(keys)
  })

  test('applies the severity threshold of each channel, and critical for incidents', async () => {
    const channels = {
      ...INCIDENT,
      webhook_url: 'http://127.0.0.1:9/',
      community_chat_webhook_url: 'http://127.0.0.1:9/',
    }
    const harness = await openHarness({ ...channels, severity_thresholds: { community_chat: 'high' } })
    const notifiedChannels = async (severity: 'low' | 'high' | 'critical') => {
      const id = await harness.log(`Error${severity}`, { severity })
      return (await harness.rows()).filter(({ error_id }) => error_id === id).map(({ channel }) => channel)
    }
    expect(await notifiedChannels('low')).toEqual(['webhook'])
    expect((await notifiedChannels('high')).sort()).toEqual(['community_chat', 'webhook'])
    expect((await notifiedChannels('critical')).sort()).toEqual(['community_chat', 'incident', 'webhook'])
  })

  describe('resolve notifications', () => {
    const events = async (harness: DeliveryHarness) =>
      (await harness.rows()).map(({ event, channel }) => `${event} ${channel}`)

    test('sends a resolve notification only to the incident channel and only for an open incident', async () => {
      const harness = await openHarness({ ...INCIDENT, webhook_url: 'http://127.0.0.1:9/' })
      const [criticalId, lowId] = [
        await harness.log('A', { severity: 'critical' }),
        await harness.log('B', { severity: 'low' }),
      ]
      await harness.run(resolveError, { error_id: criticalId })
      await harness.run(resolveError, { error_id: lowId })
      await harness.run(updateStatus, { error_id: criticalId, status: 'wont_fix' })
      await harness.run(batchDeleteErrors, { error_ids: [criticalId, lowId] })
      expect((await events(harness)).sort()).toEqual([
        'new incident',
        'new webhook',
        'new webhook',
        'resolved incident',
      ])
    })

    test('sends a resolve notification for an error resolved in a process without channels', async () => {
      const harness = await openHarness(INCIDENT)
      const error_id = await harness.log('A', { severity: 'critical' })
      const silent = harnessAt(harness.storage, {})
      await silent.run(resolveError, { error_id })
      expect(await events(harness)).toEqual(['new incident', 'resolved incident'])
    })

    test('sends a resolve notification on deletion and wont_fix, and again after a regression', async () => {
      const harness = await openHarness({ ...INCIDENT, notification_cooldown_minutes: 0 })
      const [a, b] = [
        await harness.log('A', { severity: 'critical' }),
        await harness.log('B', { severity: 'critical' }),
      ]
      await harness.run(updateStatus, { error_id: a, status: 'wont_fix' })
      await harness.run(resolveError, { error_id: b })
      harness.clock.now += MINUTE
      await harness.log('B', { severity: 'critical' })
      await harness.run(batchDeleteErrors, { error_ids: [b] })
      const notices = (await harness.rows()).map(({ event, error_id }) => `${event} ${error_id === a ? 'a' : 'b'}`)
      expect(notices).toEqual(['new a', 'new b', 'resolved a', 'resolved b', 'reopened b', 'resolved b'])
    })
  })

  test('names the application that recorded an error, even if another application imports the spool', async () => {
    const harness = await openHarness()
    const billing = harnessAt(harness.storage, { application_name: 'billing', environment: 'live' })
    await billing.context.ready()
    // Waits for the import at its start, which would find the file too.
    await billing.context.recorder.flush()
    void billing.log('Spooled').catch(() => {})
    // Simulates the exit of its process: the file is left for another process.
    billing.context.recorder.end()
    await harness.context.recorder.import()
    expect((await noticesOf(harness))[0]).toMatchObject({
      ...{ event: 'new', application_name: 'billing', environment: 'live' },
      error: { error_type: 'Spooled' },
    })
  })
})
