import { expect, test } from 'vitest'
import type { HeldNotice } from '../../src/notifications/content/notice.js'
import { sweepDeliveries } from '../../src/notifications/delivery/dispatcher.js'
import { describeEachDatabase } from '../support/databases.js'
import { harnessAt, harnessesOn, webhookInbox } from './delivery-harness.js'

const NIGHT = Date.parse('2026-03-10T23:30:00Z')
const MORNING = Date.parse('2026-03-11T07:00:00Z')
const QUIET = { quiet_hours: '22:00-07:00' }

describeEachDatabase('quiet hours', (database) => {
  const openHarness = harnessesOn(database)

  test('holds notifications and sends one summary after quiet hours, exactly once across processes', async () => {
    const inbox = await webhookInbox()
    const harness = await openHarness({ ...inbox.settings, ...QUIET })
    const others = [1, 2].map(() => harnessAt(harness.storage, { ...inbox.settings, ...QUIET }))
    harness.clock.now = NIGHT
    for (let i = 0; i < 22; i++) await harness.log(`Error${i}`, { severity: i === 7 ? 'high' : 'low' })
    await harness.sendDue()
    expect((await harness.rows()).every(({ state, run_at }) => state === 'held' && run_at === MORNING)).toBe(true)
    expect(inbox.messages).toHaveLength(0)

    for (const { clock } of [harness, ...others]) clock.now = MORNING
    await Promise.all([harness, ...others].map(({ context }) => sweepDeliveries(context)))
    await harness.sendDue()
    const rows = await harness.rows()
    expect(rows.filter(({ state }) => state === 'combined')).toHaveLength(22)
    expect(rows.filter(({ event }) => event === 'held')).toMatchObject([{ state: 'sent', channel: 'webhook' }])
    expect(inbox.messages.map(({ key }) => key)).toEqual([
      expect.stringMatching(new RegExp(`^[0-9a-f]{8}:held:${rows[0]?.id}:webhook$`)),
    ])
    const summary = JSON.parse(inbox.messages[0]?.raw ?? '') as HeldNotice
    expect(summary).toMatchObject({
      event: 'held',
      total: 22,
      severity: 'high',
      application_name: 'shop',
      environment: 'test',
    })
    expect(summary.notices).toHaveLength(20)
    expect(summary.notices.slice(0, 2)).toMatchObject([
      { error: { error_type: 'Error7' } },
      { error: { error_type: 'Error0' } },
    ])
  })

  test('sends one summary per application and channel, and holds neither severe errors nor incidents', async () => {
    const channels = { webhook_url: 'http://127.0.0.1:9/', community_chat_webhook_url: 'http://127.0.0.1:9/' }
    const incident = { incident_integration_key: 'k', severity_thresholds: { incident: 'low' } } as const
    const harness = await openHarness({ ...channels, ...incident, ...QUIET })
    const billing = harnessAt(harness.storage, { ...channels, ...QUIET, application_name: 'billing' })
    harness.clock.now = billing.clock.now = NIGHT
    await harness.log('Slight', { severity: 'low' })
    await harness.log('Grave', { severity: 'critical' })
    await billing.log('Slight', { severity: 'low' })
    const now = (await harness.rows()).filter(({ state }) => state === 'pending')
    expect(now.map(({ payload, channel }) => `${JSON.parse(payload).error.error_type} ${channel}`).sort()).toEqual([
      'Grave community_chat',
      'Grave incident',
      'Grave webhook',
      'Slight incident',
    ])
    harness.clock.now = MORNING
    await sweepDeliveries(harness.context)
    const held = (await harness.rows()).filter(({ event }) => event === 'held')
    expect(held.map(({ channel, payload }) => `${channel} ${JSON.parse(payload).application_name}`).sort()).toEqual([
      'community_chat billing',
      'community_chat shop',
      'webhook billing',
      'webhook shop',
    ])
  })
})
