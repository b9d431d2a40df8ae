import { describe, expect, test } from 'vitest'
import { deliver } from '../../../src/notifications/delivery/deliver.js'
import { deliveries } from '../../../src/notifications/delivery/deliveries.js'
import { forgetDeliveries } from '../../../src/notifications/delivery/forget-deliveries.js'
import { retryDelivery } from '../../../src/notifications/delivery/retry-delivery.js'
import { sendTestNotification } from '../../../src/notifications/delivery/test-message.js'
import { dispatchDue } from '../../../src/notifications/rules/dispatch.js'
import { resolveError } from '../../../src/triage/commands/resolve-error.js'
import { openHttpInbox } from '../../contract/http-inbox.js'
import { describeEachDatabase } from '../../support/databases.js'
import { deskAt, desksOn, webhookInbox } from '../desk.js'

const SECOND = 1000
const MINUTE = 60 * SECOND
const DAY = 1440 * MINUTE
const NEVER = new AbortController().signal

describeEachDatabase('a message', (database) => {
  const openDesk = desksOn(database)

  test('is sent once, under its key, however many processes have its job', async () => {
    const inbox = await webhookInbox()
    const desk = await openDesk(inbox.settings)
    const others = [1, 2, 3].map(() => deskAt(desk.place, inbox.settings))
    const error_id = await desk.log('TypeError')
    const [row] = await desk.rows()
    await Promise.all([desk, ...others, desk].map(({ context }) => deliver(context, row?.id ?? 0, NEVER)))
    await desk.sendDue()
    // Staging and production may tell one receiver of their error 1, so each database has a mark of its own.
    expect(inbox.letters.map(({ key }) => key)).toEqual([
      expect.stringMatching(new RegExp(`^[0-9a-f]{8}:new:${error_id}:webhook$`)),
    ])
    expect((await desk.rows())[0]).toMatchObject({ state: 'sent', attempts: 1, finished_at: desk.clock.now })
  })

  test('is handed to the engine as soon as it is committed', async () => {
    const desk = await openDesk()
    await desk.log('TypeError')
    await expect.poll(async () => (await desk.rows())[0]?.queued_at).toBe(desk.clock.now)
    expect(await desk.context.jobs.counts()).toMatchObject({ waiting: 1 })
    expect(await dispatchDue(desk.context)).toBe(0)
  })

  test('is handed over once more when its job got lost with its engine', async () => {
    const desk = await openDesk()
    await desk.log('TypeError')
    await dispatchDue(desk.context)
    await desk.context.database.read.deleteFrom('faultboard_jobs').execute()
    desk.clock.now += 4 * MINUTE
    expect(await dispatchDue(desk.context)).toBe(0)
    desk.clock.now += 2 * MINUTE
    expect(await dispatchDue(desk.context)).toBe(1)
    expect(await desk.context.jobs.counts()).toMatchObject({ waiting: 1 })
  })

  test('is tried again after growing pauses, and kept when it failed for good, to be tried once more by hand', async () => {
    const inbox = await webhookInbox()
    inbox.manner = 'broken'
    const desk = await openDesk(inbox.settings)
    await desk.log('TypeError')
    const pauses: number[] = []
    for (let tries = 1; tries <= 5; tries++) {
      await desk.sendDue()
      await desk.sendDue()
      expect(inbox.letters).toHaveLength(tries)
      const [row] = await desk.rows()
      expect(row).toMatchObject({ attempts: tries, state: tries < 5 ? 'pending' : 'failed' })
      expect(row?.last_answer).toContain('500')
      pauses.push((row?.run_at ?? 0) - desk.clock.now)
      desk.clock.now = Math.max(desk.clock.now, row?.run_at ?? 0)
    }
    expect(pauses.slice(0, 4)).toEqual([10 * SECOND, MINUTE, 5 * MINUTE, 30 * MINUTE])
    inbox.manner = 'accept'
    const [{ id = 0 } = {}] = await desk.rows()
    await desk.run(retryDelivery, { delivery_id: id })
    await desk.sendDue()
    expect((await desk.rows())[0]).toMatchObject({ state: 'sent', attempts: 1 })
    expect(new Set(inbox.letters.map(({ key }) => key)).size).toBe(1)
    await expect(desk.run(retryDelivery, { delivery_id: id })).rejects.toThrow(/Only a message that failed/)
    await expect(desk.run(retryDelivery, { delivery_id: id + 99 })).rejects.toThrow(/no message with the id/)
  })

  test('is left to another job when it was put off or tried since this one was made', async () => {
    const inbox = await webhookInbox()
    const desk = await openDesk(inbox.settings)
    await desk.log('TypeError')
    const [{ id = 0, run_at } = {}] = await desk.rows()
    await desk.change({ run_at: desk.clock.now + 2 * SECOND })
    await deliver(desk.context, id, NEVER, { delivery_id: id, attempts: 0, run_at: run_at ?? 0 })
    await deliver(desk.context, id, NEVER, { delivery_id: id, attempts: 1, run_at: desk.clock.now + 2 * SECOND })
    expect(inbox.letters).toHaveLength(0)
  })

  test('is sent although the clock here is a little behind that of whoever made its job', async () => {
    const inbox = await webhookInbox()
    const desk = await openDesk(inbox.settings)
    await desk.log('TypeError')
    const run_at = desk.clock.now + 4 * SECOND
    await desk.change({ run_at })
    const [{ id = 0 } = {}] = await desk.rows()
    await deliver(desk.context, id, NEVER, { delivery_id: id, attempts: 0, run_at })
    expect(inbox.letters).toHaveLength(1)
  })

  test('is handed over once more where the clock is far behind', async () => {
    const desk = await openDesk()
    await desk.log('TypeError')
    const run_at = desk.clock.now + 20 * SECOND
    await desk.change({ run_at })
    const [{ id = 0 } = {}] = await desk.rows()
    await desk.context.database.read.deleteFrom('faultboard_jobs').execute()
    await deliver(desk.context, id, NEVER, { delivery_id: id, attempts: 0, run_at })
    expect(await desk.context.jobs.counts()).toMatchObject({ delayed: 1 })
    expect((await desk.rows())[0]).toMatchObject({ state: 'pending', attempts: 0 })
  })

  test('that changes while it is handed over is not taken for handed over', async () => {
    const writer = await openDesk()
    await writer.log('TypeError')
    await writer.stop()
    // A tracker without a channel dispatches nothing in the background.
    const desk = deskAt(writer.place, {})
    const { jobs } = desk.context
    for (const change of [{ run_at: desk.clock.now + 1 }, { attempts: 1 }]) {
      await desk.change({ run_at: desk.clock.now, attempts: 0, queued_at: null })
      const add: typeof jobs.add = async (list) => {
        await jobs.add(list)
        await desk.change(change)
      }
      expect(await dispatchDue({ ...desk.context, jobs: { ...jobs, add } })).toBe(0)
      expect((await desk.rows())[0]).toMatchObject({ ...change, queued_at: null })
    }
  })

  test('that is refused is not tried again', async () => {
    const inbox = await webhookInbox()
    inbox.manner = 'refuse'
    const desk = await openDesk(inbox.settings)
    await desk.log('TypeError')
    await desk.sendDue()
    expect((await desk.rows())[0]).toMatchObject({ state: 'failed', attempts: 1 })
  })

  test('that a killed process was sending is sent again under its key, after its lock has run out', async () => {
    const inbox = await webhookInbox()
    const desk = await openDesk(inbox.settings)
    await desk.log('TypeError')
    await dispatchDue(desk.context)
    await desk.context.database.read
      .updateTable('faultboard_deliveries')
      .set({ state: 'sending', attempts: 1, locked_until: desk.clock.now + 45 * SECOND })
      .execute()
    await desk.sendDue()
    expect(inbox.letters).toHaveLength(0)
    desk.clock.now += 46 * SECOND
    expect(await dispatchDue(desk.context)).toBe(1)
    await desk.sendDue()
    expect((await desk.rows())[0]).toMatchObject({ state: 'sent', attempts: 2 })
  })

  test('does not overtake an older one about the same error', async () => {
    const inbox = await openHttpInbox((incident_events_url) => ({ incident_events_url, incident_integration_key: 'k' }))
    inbox.manner = 'broken'
    const desk = await openDesk(inbox.settings)
    const error_id = await desk.log('A', { severity: 'critical' })
    await desk.run(resolveError, { error_id })
    await desk.sendDue()
    expect(inbox.letters).toHaveLength(1)
    inbox.manner = 'accept'
    for (let round = 0; round < 3; round++) {
      desk.clock.now += 13 * SECOND
      await desk.sendDue()
    }
    const actions = inbox.letters.map(({ raw }) => JSON.parse(raw).event_action)
    expect(actions).toEqual(['trigger', 'trigger', 'resolve'])
    await inbox.close()
  })
})

describeEachDatabase('the log of messages', (database) => {
  const openDesk = desksOn(database)

  test('tells what became of each, a page at a time, by state, channel and application', async () => {
    const inbox = await webhookInbox()
    const desk = await openDesk({ ...inbox.settings, community_chat_webhook_url: 'http://127.0.0.1:9/' })
    const error_id = await desk.log('TypeError', { message: 'cart is undefined' })
    await desk.sendDue()
    const { deliveries: all, pagination } = await desk.run(deliveries)
    expect(pagination).toEqual({ page: 1, per_page: 25, total_count: 2, total_pages: 1 })
    expect(all.find(({ channel }) => channel === 'webhook')).toMatchObject({
      ...{ event: 'new', state: 'sent', severity: 'high', subject: 'TypeError: cart is undefined', error_id },
      ...{ application_name: 'shop', attempts: 1, idempotency_key: inbox.letters[0]?.key },
      finished_at: new Date(desk.clock.now).toISOString(),
    })
    const count = async (filter: object) => (await desk.run(deliveries, filter)).pagination.total_count
    expect(await count({ state: 'sent' })).toBe(1)
    expect(await count({ channel: 'community_chat' })).toBe(1)
    expect(await count({ application_id: 99 })).toBe(0)
    expect((await desk.run(deliveries, { page: 9, per_page: 1 })).pagination.page).toBe(2)
    await expect(desk.run(deliveries, { state: 'lost' })).rejects.toThrow(/state must be one of pending/)
  })

  test('is emptied after a month, but for what tells that an incident is still open', async () => {
    const desk = await openDesk({ webhook_url: 'http://127.0.0.1:9/', incident_integration_key: 'k' })
    const [open, closed] = [
      await desk.log('A', { severity: 'critical' }),
      await desk.log('B', { severity: 'critical' }),
    ]
    desk.clock.now += 1
    await desk.run(resolveError, { error_id: closed })
    desk.clock.now += 30 * DAY + 1
    await forgetDeliveries(desk.context)
    expect(await desk.keys()).toEqual([`new:${open}:incident`])
    await desk.run(resolveError, { error_id: open })
    expect((await desk.rows()).at(-1)).toMatchObject({ event: 'resolved', error_id: open })
  })

  describe('a test message', () => {
    test('goes out at once, and its outcome is told and kept', async () => {
      const inbox = await webhookInbox()
      const desk = await openDesk(inbox.settings)
      const sent = await desk.run(sendTestNotification, { channel: 'webhook', actor: 'Anna' })
      expect(sent).toMatchObject({ channel: 'webhook', state: 'sent' })
      inbox.manner = 'broken'
      const failed = await desk.run(sendTestNotification, { channel: 'webhook' })
      expect(failed).toMatchObject({ state: 'failed', answer: expect.stringContaining('500') })
      expect((await desk.rows()).map(({ id, event, state }) => [id, event, state])).toEqual([
        [sent.delivery_id, 'test', 'sent'],
        [failed.delivery_id, 'test', 'failed'],
      ])
      expect(JSON.parse(inbox.letters[0]?.raw ?? '')).toMatchObject({ event: 'test', requested_by: 'Anna' })
    })

    test('says what to set where the channel is off, and which channels there are', async () => {
      const desk = await openDesk({ enable_chat_notifications: true })
      await expect(desk.run(sendTestNotification, { channel: 'chat' })).rejects.toThrow(/set chat_webhook_url/)
      await expect(desk.run(sendTestNotification, { channel: 'email' })).rejects.toThrow(
        /set enable_email_notifications/,
      )
      await expect(desk.run(sendTestNotification, { channel: 'fax' })).rejects.toThrow(/must be one of chat/)
    })
  })
})
