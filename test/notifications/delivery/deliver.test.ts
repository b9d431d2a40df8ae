import { describe, expect, test } from 'vitest'
import { deliveries } from '../../../src/notifications/delivery/deliveries.js'
import { deleteOldDeliveries } from '../../../src/notifications/delivery/expire-deliveries.js'
import { retryDelivery } from '../../../src/notifications/delivery/retry-delivery.js'
import { sendTestNotification } from '../../../src/notifications/delivery/test-notification.js'
import { resolveError } from '../../../src/triage/commands/resolve-error.js'
import { openHttpInbox } from '../../contract/http-inbox.js'
import { describeEachDatabase } from '../../support/databases.js'
import { harnessesOn, webhookInbox } from '../delivery-harness.js'

const SECOND = 1000
const MINUTE = 60 * SECOND
const DAY = 1440 * MINUTE

describeEachDatabase('sending a delivery', (database) => {
  const openHarness = harnessesOn(database)

  test('sends the delivery once with its key', async () => {
    const inbox = await webhookInbox()
    const harness = await openHarness(inbox.settings)
    const error_id = await harness.log('TypeError')
    await harness.sendDue()
    await harness.sendDue()
    // Each database adds its own prefix, so that staging and production never share a key.
    expect(inbox.messages.map(({ key }) => key)).toEqual([
      expect.stringMatching(new RegExp(`^[0-9a-f]{8}:new:${error_id}:webhook$`)),
    ])
    expect((await harness.rows())[0]).toMatchObject({ state: 'sent', attempts: 1, finished_at: harness.clock.now })
  })

  test('retries with growing delays and keeps a failed delivery for a manual retry', async () => {
    const inbox = await webhookInbox()
    inbox.behavior = 'broken'
    const harness = await openHarness(inbox.settings)
    await harness.log('TypeError')
    const pauses: number[] = []
    for (let tries = 1; tries <= 5; tries++) {
      await harness.sendDue()
      await harness.sendDue()
      expect(inbox.messages).toHaveLength(tries)
      const [row] = await harness.rows()
      expect(row).toMatchObject({ attempts: tries, state: tries < 5 ? 'pending' : 'failed' })
      expect(row?.last_response).toContain('500')
      pauses.push((row?.run_at ?? 0) - harness.clock.now)
      harness.clock.now = Math.max(harness.clock.now, row?.run_at ?? 0)
    }
    expect(pauses.slice(0, 4)).toEqual([10 * SECOND, MINUTE, 5 * MINUTE, 30 * MINUTE])
    inbox.behavior = 'accept'
    const [{ id = 0 } = {}] = await harness.rows()
    await harness.run(retryDelivery, { delivery_id: id })
    await harness.sendDue()
    expect((await harness.rows())[0]).toMatchObject({ state: 'sent', attempts: 1 })
    expect(new Set(inbox.messages.map(({ key }) => key)).size).toBe(1)
    await expect(harness.run(retryDelivery, { delivery_id: id })).rejects.toThrow(
      /Only failed deliveries can be retried/,
    )
    await expect(harness.run(retryDelivery, { delivery_id: id + 99 })).rejects.toThrow(/not found/)
  })

  test('does not retry a delivery whose stored content is damaged', async () => {
    const inbox = await webhookInbox()
    const harness = await openHarness(inbox.settings)
    await harness.log('TypeError')
    await harness.change({ payload: '{' })
    await harness.sendDue()
    expect(inbox.messages).toEqual([])
    expect((await harness.rows())[0]).toMatchObject({ state: 'failed', attempts: 1, locked_until: null })
  })

  test('does not retry a permanently rejected delivery', async () => {
    const inbox = await webhookInbox()
    inbox.behavior = 'refuse'
    const harness = await openHarness(inbox.settings)
    await harness.log('TypeError')
    await harness.sendDue()
    expect((await harness.rows())[0]).toMatchObject({ state: 'failed', attempts: 1 })
  })

  test('sends a delivery that was created before the clock was set back', async () => {
    const inbox = await webhookInbox()
    inbox.behavior = 'broken'
    const harness = await openHarness(inbox.settings)
    await harness.log('TypeError')
    harness.clock.now -= DAY
    await harness.sendDue()
    const [row] = await harness.rows()
    expect(row).toMatchObject({ state: 'pending', attempts: 1, run_at: harness.clock.now + 10 * SECOND })
    await harness.sendDue()
    expect((await harness.rows())[0]).toEqual(row)
    await harness.change({ state: 'sending', locked_until: harness.clock.now + DAY })
    harness.clock.now += 10 * SECOND
    await harness.sendDue()
    expect(inbox.messages).toHaveLength(2)
  })

  test('waits for an older delivery about the same error', async () => {
    const inbox = await openHttpInbox((incident_events_url) => ({ incident_events_url, incident_integration_key: 'k' }))
    inbox.behavior = 'broken'
    const harness = await openHarness(inbox.settings)
    const error_id = await harness.log('A', { severity: 'critical' })
    await harness.run(resolveError, { error_id })
    await harness.sendDue()
    expect(inbox.messages).toHaveLength(1)
    inbox.behavior = 'accept'
    for (let round = 0; round < 3; round++) {
      harness.clock.now += 13 * SECOND
      await harness.sendDue()
    }
    const actions = inbox.messages.map(({ raw }) => JSON.parse(raw).event_action)
    expect(actions).toEqual(['trigger', 'trigger', 'resolve'])
    await inbox.close()
  })
})

describeEachDatabase('the delivery log', (database) => {
  const openHarness = harnessesOn(database)

  test('lists delivery results by page, state, channel and application', async () => {
    const inbox = await webhookInbox()
    const harness = await openHarness({ ...inbox.settings, community_chat_webhook_url: 'http://127.0.0.1:9/' })
    const error_id = await harness.log('TypeError', { message: 'cart is undefined' })
    await harness.sendDue()
    const { deliveries: all, pagination } = await harness.run(deliveries)
    expect(pagination).toEqual({ page: 1, per_page: 25, total_count: 2, total_pages: 1 })
    expect(all.find(({ channel }) => channel === 'webhook')).toMatchObject({
      ...{ event: 'new', state: 'sent', severity: 'high', subject: 'TypeError: cart is undefined', error_id },
      ...{ application_name: 'shop', attempts: 1, idempotency_key: inbox.messages[0]?.key },
      finished_at: new Date(harness.clock.now).toISOString(),
    })
    const count = async (filter: object) => (await harness.run(deliveries, filter)).pagination.total_count
    expect(await count({ state: 'sent' })).toBe(1)
    expect(await count({ channel: 'community_chat' })).toBe(1)
    expect(await count({ application_id: 99 })).toBe(0)
    expect((await harness.run(deliveries, { page: 9, per_page: 1 })).pagination.page).toBe(2)
    await expect(harness.run(deliveries, { state: 'lost' })).rejects.toThrow(/state must be one of pending/)
  })

  test('deletes deliveries after 30 days, except for the triggers of open incidents', async () => {
    const harness = await openHarness({ webhook_url: 'http://127.0.0.1:9/', incident_integration_key: 'k' })
    const [open, closed] = [
      await harness.log('A', { severity: 'critical' }),
      await harness.log('B', { severity: 'critical' }),
    ]
    harness.clock.now += 1
    await harness.run(resolveError, { error_id: closed })
    harness.clock.now += 30 * DAY + 1
    await deleteOldDeliveries(harness.context)
    expect(await harness.keys()).toEqual([`new:${open}:incident`])
    await harness.run(resolveError, { error_id: open })
    expect((await harness.rows()).at(-1)).toMatchObject({ event: 'resolved', error_id: open })
  })

  describe('test notifications', () => {
    test('sends a test notification immediately, returns its result and logs it', async () => {
      const inbox = await webhookInbox()
      const harness = await openHarness(inbox.settings)
      const sent = await harness.run(sendTestNotification, { channel: 'webhook', actor: 'Anna' })
      expect(sent).toMatchObject({ channel: 'webhook', state: 'sent' })
      inbox.behavior = 'broken'
      const failed = await harness.run(sendTestNotification, { channel: 'webhook' })
      expect(failed).toMatchObject({ state: 'failed', response: expect.stringContaining('500') })
      expect((await harness.rows()).map(({ id, event, state }) => [id, event, state])).toEqual([
        [sent.delivery_id, 'test', 'sent'],
        [failed.delivery_id, 'test', 'failed'],
      ])
      expect(JSON.parse(inbox.messages[0]?.raw ?? '')).toMatchObject({ event: 'test', requested_by: 'Anna' })
    })

    test('names the missing options of an inactive channel, and the valid channels for an unknown name', async () => {
      const harness = await openHarness({ enable_chat_notifications: true })
      await expect(harness.run(sendTestNotification, { channel: 'chat' })).rejects.toThrow(/Set chat_webhook_url/)
      await expect(harness.run(sendTestNotification, { channel: 'email' })).rejects.toThrow(
        /Set enable_email_notifications/,
      )
      await expect(harness.run(sendTestNotification, { channel: 'fax' })).rejects.toThrow(/must be one of chat/)
    })
  })
})
