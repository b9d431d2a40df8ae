import { expect, test } from 'vitest'
import { readChannelProblems } from '../../src/health/channels.js'
import { readHealth } from '../../src/health/health.js'
import { deliveries, deliveryCounts } from '../../src/notifications/delivery/deliveries.js'
import { sendTestNotification } from '../../src/notifications/delivery/test-notification.js'
import {
  type DeliveryHarness,
  harnessAt,
  harnessesOn,
  WEBHOOK,
  webhookInbox,
} from '../notifications/delivery-harness.js'
import { describeEachDatabase } from '../support/databases.js'

const MINUTE = 60_000

describeEachDatabase('channel health', (database) => {
  const openHarness = harnessesOn(database)
  const problems = ({ context }: DeliveryHarness) => readChannelProblems(context.database, context.now())

  test('reports a channel after three failed attempts, in every process, until a message arrives', async () => {
    const inbox = await webhookInbox()
    const harness = await openHarness(inbox.settings)
    inbox.behavior = 'broken'
    await harness.log('A')
    await harness.log('B')
    await harness.sendDue()
    expect(await problems(harness)).toEqual([])
    harness.clock.now += MINUTE
    await harness.sendNext()
    const [problem] = await problems(harness)
    expect(problem).toMatchObject({
      ...{ channel: 'webhook', application_name: 'shop', failed_attempts: 3, waiting: 0, retrying: 2 },
      text: 'Failing: the last 3 attempts failed',
    })
    expect(problem?.last_response).toContain('500')

    const other = harnessAt(harness.storage, WEBHOOK, harness.clock)
    await other.context.ready()
    const health = await readHealth(other.context)
    expect(health.state).toBe('degraded')
    expect(health.reasons.map(({ message }) => message).join()).toMatch(
      /^Channel webhook of shop: Failing: the last 3 attempts failed\. Last response: 500.*\. Messages: 0 waiting, 2 retrying\. .*notify --test webhook/,
    )

    inbox.behavior = 'accept'
    await harness.sendNext()
    expect(await problems(harness)).toEqual([])
    expect((await readHealth(other.context)).reasons).toEqual([])
  })

  test('counts attempts that precede a success only once', async () => {
    const inbox = await webhookInbox()
    const harness = await openHarness(inbox.settings)
    inbox.behavior = 'broken'
    await harness.log('A')
    await harness.sendNext()
    harness.clock.now += MINUTE
    await harness.sendNext()
    inbox.behavior = 'accept'
    await harness.log('B')
    await harness.sendNext()
    inbox.behavior = 'broken'
    harness.clock.now += 5 * MINUTE
    await harness.sendNext()
    // The third attempt for A is the first failure since B arrived.
    expect((await problems(harness)).map(({ failed_attempts }) => failed_attempts)).toEqual([1])
  })

  test('reports a channel whose oldest message waits for more than five minutes', async () => {
    const harness = await openHarness(WEBHOOK)
    await harness.log('A')
    harness.clock.now += 5 * MINUTE
    expect(await problems(harness)).toEqual([])
    harness.clock.now += MINUTE
    expect(await problems(harness)).toMatchObject([
      {
        channel: 'webhook',
        text: 'Delayed: the oldest message has waited 6 minutes',
        failed_attempts: 0,
        waiting: 1,
        retrying: 0,
      },
    ])
    expect((await readHealth(harness.context)).state).toBe('degraded')
  })

  test('adds a test that precedes the first error to the channel of the application', async () => {
    const inbox = await webhookInbox()
    const harness = await openHarness(inbox.settings)
    inbox.behavior = 'broken'
    for (let i = 0; i < 3; i += 1) await harness.run(sendTestNotification, { channel: 'webhook' })
    expect(await problems(harness)).toHaveLength(1)
    inbox.behavior = 'accept'
    harness.clock.now += MINUTE
    await harness.log('A')
    await harness.sendNext()
    expect(await problems(harness)).toEqual([])
  })

  test('does not report a summary that waits for the end of quiet hours', async () => {
    const harness = await openHarness(WEBHOOK)
    await harness.log('A')
    await harness.change({ event: 'held', run_at: harness.clock.now + 60 * MINUTE })
    harness.clock.now += 30 * MINUTE
    expect(await problems(harness)).toEqual([])
  })

  test('counts the messages ahead of an overdue message', async () => {
    const harness = await openHarness(WEBHOOK)
    for (const type of ['A', 'B', 'C']) {
      await harness.log(type)
      harness.clock.now += 1000
    }
    const ahead = async () =>
      (await harness.run(deliveries)).deliveries.map(({ subject, messages_ahead }) => [subject, messages_ahead])
    expect(await ahead()).toEqual([['C: x', null], ['B: x', null], ['A: x', null]]) // biome-ignore format: pairs
    harness.clock.now += MINUTE
    expect(await ahead()).toEqual([['C: x', 2], ['B: x', 1], ['A: x', 0]]) // biome-ignore format: pairs
    // Other applications have their own queue.
    const other = harnessAt(harness.storage, { ...WEBHOOK, application_name: 'warehouse' }, harness.clock)
    await other.log('D')
    harness.clock.now += MINUTE
    expect((await ahead())[0]).toEqual(['D: x', 0])
  })

  test('counts more than 1,000 waiting messages exactly, as the page of notifications does', async () => {
    const harness = await openHarness(WEBHOOK)
    await harness.log('A')
    const [row] = await harness.rows()
    if (!row) throw new Error('no delivery')
    const { id, ...delivery } = row
    const copies = Array.from({ length: 1100 }, (_, i) => ({ ...delivery, idempotency_key: `copy ${i}` }))
    const { read } = harness.context.database
    for (let i = 0; i < copies.length; i += 50) {
      await read
        .insertInto('faultboard_deliveries')
        .values(copies.slice(i, i + 50))
        .execute()
    }
    expect((await readHealth(harness.context)).work?.deliveries.by_state).toEqual({ pending: 1101 })
    expect(await harness.run(deliveryCounts)).toMatchObject({ pending: 1101 })
  })

  test('separates retries from messages that were not attempted', async () => {
    const harness = await openHarness(WEBHOOK)
    await harness.log('A')
    await harness.sendNext()
    await harness.log('B')
    expect(await harness.run(deliveryCounts)).toMatchObject({ pending: 1, retrying: 1, failed: 0 })
    const subjects = async (state: string) =>
      (await harness.run(deliveries, { state })).deliveries.map((delivery) => [delivery.subject, delivery.state])
    expect(await subjects('pending')).toEqual([['B: x', 'pending']])
    expect(await subjects('retrying')).toEqual([['A: x', 'retrying']])
    expect((await readHealth(harness.context)).work?.deliveries.by_state).toEqual({ pending: 1, retrying: 1 })
  })
})
