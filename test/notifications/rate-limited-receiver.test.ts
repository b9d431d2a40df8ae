import { expect, test } from 'vitest'
import { BUSY_SECONDS } from '../contract/http-inbox.js'
import { describeEachDatabase } from '../support/databases.js'
import { type DeliveryHarness, harnessAt, harnessesOn, webhookInbox } from './delivery-harness.js'

const SECOND = 1000
const HOUR = 3600 * SECOND
const PAUSE = BUSY_SECONDS * SECOND

describeEachDatabase('the rate limit of a receiver', (database) => {
  const openHarness = harnessesOn(database)

  test('pauses the channel for the requested time without counting the attempt', async () => {
    const inbox = await webhookInbox()
    inbox.behavior = 'busy'
    const harness = await openHarness(inbox.settings)
    await harness.log('A')
    await harness.log('B')
    await harness.sendDue()
    expect(inbox.messages).toHaveLength(1)
    expect((await harness.rows()).map(({ state, attempts }) => [state, attempts])).toEqual([
      ['pending', 0],
      ['pending', 0],
    ])
    inbox.behavior = 'accept'
    harness.clock.now += PAUSE - 1
    await harness.sendDue()
    expect(inbox.messages).toHaveLength(1)
    harness.clock.now += 1
    await harness.sendDue()
    expect((await harness.rows()).map(({ state }) => state)).toEqual(['sent', 'pending'])
    harness.clock.now += 2 * PAUSE
    await harness.sendDue()
    expect((await harness.rows()).map(({ state }) => state)).toEqual(['sent', 'sent'])
  })

  test('releases the backlog one by one, in order and within an hour', async () => {
    const inbox = await webhookInbox()
    inbox.behavior = 'busy'
    const harness = await openHarness(inbox.settings)
    await fill(harness, 500)
    const [, ...others] = await harness.rows()
    await harness.sendNext()
    expect(inbox.messages).toHaveLength(1)
    const [again, ...spread] = (await harness.rows()).map(({ run_at }) => (run_at ?? 0) - harness.clock.now)
    expect(again).toBe(PAUSE)
    const step = 1.5 * PAUSE
    expect(spread).toEqual(others.map((_, i) => PAUSE + Math.min(HOUR, step * (i + 1))))
  })

  test('does not pause other channels and applications', async () => {
    const inbox = await webhookInbox()
    inbox.behavior = 'busy'
    const channels = { ...inbox.settings, community_chat_webhook_url: 'http://127.0.0.1:9/' }
    const harness = await openHarness(channels)
    const billing = harnessAt(harness.storage, { ...inbox.settings, application_name: 'billing' })
    await harness.log('A')
    await billing.log('A')
    const [first] = (await harness.rows()).filter(({ channel }) => channel === 'webhook')
    await harness.sendDue()
    const moved = (await harness.rows()).filter(
      ({ run_at, channel }) => channel === 'webhook' && run_at !== harness.clock.now,
    )
    expect(moved.map(({ id }) => id)).toEqual([first?.id])
    expect((await harness.rows()).find(({ channel }) => channel === 'community_chat')).toMatchObject({ attempts: 1 })
  })

  test('holds new notifications and causes no burst after the pause', async () => {
    const inbox = await webhookInbox()
    inbox.behavior = 'busy'
    const harness = await openHarness(inbox.settings)
    await harness.log('A')
    await harness.sendDue()
    harness.clock.now += SECOND
    await harness.log('B')
    expect(await harness.sendNext()).toBeUndefined()
    expect(inbox.messages).toHaveLength(1)
    // Within four times the remaining pause; `random` returns 0.5 in this test.
    expect((await harness.rows())[1]?.run_at).toBe(harness.clock.now + 3 * (PAUSE - SECOND))
  })
})

/** Inserts deliveries as if for this many errors. */
async function fill(harness: DeliveryHarness, count: number): Promise<void> {
  await harness.log('First')
  const [row] = await harness.rows()
  if (!row) throw new Error('nothing was written')
  const { id: _, ...values } = row
  const copies = Array.from({ length: count - 1 }, (__, i) => ({
    ...values,
    idempotency_key: `copy:${i}`,
    error_id: null,
  }))
  await harness.context.database.read.insertInto('faultboard_deliveries').values(copies).execute()
}
