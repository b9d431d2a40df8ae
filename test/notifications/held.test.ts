import { expect, test } from 'vitest'
import type { HeldNotice } from '../../src/notifications/content/notice.js'
import { sweepDeliveries } from '../../src/notifications/rules/dispatch.js'
import { describeEachDatabase } from '../support/databases.js'
import { deskAt, desksOn, webhookInbox } from './desk.js'

const NIGHT = Date.parse('2026-03-10T23:30:00Z')
const MORNING = Date.parse('2026-03-11T07:00:00Z')
const QUIET = { quiet_hours: '22:00-07:00' }

describeEachDatabase('during quiet hours', (database) => {
  const openDesk = desksOn(database)

  test('messages are held, and told in one at their end, exactly once, whichever process does it', async () => {
    const inbox = await webhookInbox()
    const desk = await openDesk({ ...inbox.settings, ...QUIET })
    const others = [1, 2].map(() => deskAt(desk.place, { ...inbox.settings, ...QUIET }))
    desk.clock.now = NIGHT
    for (let i = 0; i < 22; i++) await desk.log(`Error${i}`, { severity: i === 7 ? 'high' : 'low' })
    await desk.sendDue()
    expect((await desk.rows()).every(({ state, run_at }) => state === 'held' && run_at === MORNING)).toBe(true)
    expect(inbox.letters).toHaveLength(0)

    for (const { clock } of [desk, ...others]) clock.now = MORNING
    await Promise.all([desk, ...others].map(({ context }) => sweepDeliveries(context)))
    await desk.sendDue()
    const rows = await desk.rows()
    expect(rows.filter(({ state }) => state === 'combined')).toHaveLength(22)
    expect(rows.filter(({ event }) => event === 'held')).toMatchObject([{ state: 'sent', channel: 'webhook' }])
    expect(inbox.letters.map(({ key }) => key)).toEqual([
      expect.stringMatching(new RegExp(`^[0-9a-f]{8}:held:${rows[0]?.id}:webhook$`)),
    ])
    const told = JSON.parse(inbox.letters[0]?.raw ?? '') as HeldNotice
    expect(told).toMatchObject({
      event: 'held',
      total: 22,
      severity: 'high',
      application_name: 'shop',
      environment: 'test',
    })
    expect(told.notices).toHaveLength(20)
    expect(told.notices.slice(0, 2)).toMatchObject([
      { error: { error_type: 'Error7' } },
      { error: { error_type: 'Error0' } },
    ])
  })

  test('each application and channel has a message of its own; what is grave, and incidents, go out at once', async () => {
    const channels = { webhook_url: 'http://127.0.0.1:9/', community_chat_webhook_url: 'http://127.0.0.1:9/' }
    const incident = { incident_integration_key: 'k', severity_thresholds: { incident: 'low' } } as const
    const desk = await openDesk({ ...channels, ...incident, ...QUIET })
    const billing = deskAt(desk.place, { ...channels, ...QUIET, application_name: 'billing' })
    desk.clock.now = billing.clock.now = NIGHT
    await desk.log('Slight', { severity: 'low' })
    await desk.log('Grave', { severity: 'critical' })
    await billing.log('Slight', { severity: 'low' })
    const now = (await desk.rows()).filter(({ state }) => state === 'pending')
    expect(now.map(({ payload, channel }) => `${JSON.parse(payload).error.error_type} ${channel}`).sort()).toEqual([
      'Grave community_chat',
      'Grave incident',
      'Grave webhook',
      'Slight incident',
    ])
    desk.clock.now = MORNING
    await sweepDeliveries(desk.context)
    const held = (await desk.rows()).filter(({ event }) => event === 'held')
    expect(held.map(({ channel, payload }) => `${channel} ${JSON.parse(payload).application_name}`).sort()).toEqual([
      'community_chat billing',
      'community_chat shop',
      'webhook billing',
      'webhook shop',
    ])
  })
})
