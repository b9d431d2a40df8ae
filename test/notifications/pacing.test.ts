import { expect, test } from 'vitest'
import { deliver } from '../../src/notifications/delivery/deliver.js'
import { sweepDeliveries } from '../../src/notifications/rules/dispatch.js'
import { BUSY_SECONDS } from '../contract/http-inbox.js'
import { describeEachDatabase } from '../support/databases.js'
import { type Desk, deskAt, desksOn, webhookInbox } from './desk.js'

const SECOND = 1000
const HOUR = 3600 * SECOND
const PAUSE = BUSY_SECONDS * SECOND
const NEVER = new AbortController().signal

describeEachDatabase('a receiver that was told too much', (database) => {
  const openDesk = desksOn(database)

  test('is left alone as long as it asks, and uses up no try', async () => {
    const inbox = await webhookInbox()
    inbox.manner = 'busy'
    const desk = await openDesk(inbox.settings)
    await desk.log('A')
    await desk.log('B')
    await desk.sendDue()
    expect(inbox.letters).toHaveLength(1)
    expect((await desk.rows()).map(({ state, attempts }) => [state, attempts])).toEqual([
      ['pending', 0],
      ['pending', 0],
    ])
    inbox.manner = 'accept'
    desk.clock.now += PAUSE - 1
    await desk.sendDue()
    expect(inbox.letters).toHaveLength(1)
    desk.clock.now += 1
    await desk.sendDue()
    expect((await desk.rows()).map(({ state }) => state)).toEqual(['sent', 'pending'])
    desk.clock.now += 2 * PAUSE
    await desk.sendDue()
    expect((await desk.rows()).map(({ state }) => state)).toEqual(['sent', 'sent'])
  })

  test('gets what waits for it one at a time, in its order, and within an hour', async () => {
    const inbox = await webhookInbox()
    inbox.manner = 'busy'
    const desk = await openDesk(inbox.settings)
    await fill(desk, 500)
    const [first, ...others] = await desk.rows()
    await deliver(desk.context, first?.id ?? 0, NEVER)
    expect(inbox.letters).toHaveLength(1)
    const [again, ...spread] = (await desk.rows()).map(({ run_at }) => (run_at ?? 0) - desk.clock.now)
    expect(again).toBe(PAUSE)
    const step = 1.5 * PAUSE
    expect(spread).toEqual(others.map((_, i) => PAUSE + Math.min(HOUR, step * (i + 1))))
    // Only what comes soon has a job: the rest is handed over by later sweeps.
    const soon = spread.filter((pause) => pause < 60 * SECOND).length
    const queued = (await desk.rows()).filter(({ queued_at }) => queued_at !== null).length
    expect(queued).toBe(1 + soon)
    desk.clock.now += 60 * SECOND
    await sweepDeliveries(desk.context)
    expect((await desk.rows()).filter(({ queued_at }) => queued_at !== null).length).toBeGreaterThan(queued)
  })

  test('has no say in the messages of other channels and applications', async () => {
    const inbox = await webhookInbox()
    inbox.manner = 'busy'
    const channels = { ...inbox.settings, community_chat_webhook_url: 'http://127.0.0.1:9/' }
    const desk = await openDesk(channels)
    const billing = deskAt(desk.place, { ...inbox.settings, application_name: 'billing' })
    await desk.log('A')
    await billing.log('A')
    const [first] = (await desk.rows()).filter(({ channel }) => channel === 'webhook')
    await deliver(desk.context, first?.id ?? 0, NEVER)
    const moved = (await desk.rows()).filter(({ run_at }) => run_at !== desk.clock.now)
    expect(moved.map(({ id }) => id)).toEqual([first?.id])
  })

  test('is not asked during the pause by what is written meanwhile, nor all at once after it', async () => {
    const inbox = await webhookInbox()
    inbox.manner = 'busy'
    const desk = await openDesk(inbox.settings)
    await desk.log('A')
    await desk.sendDue()
    desk.clock.now += SECOND
    await desk.log('B')
    const [, late] = await desk.rows()
    await deliver(desk.context, late?.id ?? 0, NEVER)
    expect(inbox.letters).toHaveLength(1)
    // Within four times what is left of the pause; the chance of this test is a half.
    expect((await desk.rows())[1]?.run_at).toBe(desk.clock.now + 3 * (PAUSE - SECOND))
  })
})

/** Messages as if so many errors had come. */
async function fill(desk: Desk, count: number): Promise<void> {
  await desk.log('First')
  const [row] = await desk.rows()
  if (!row) throw new Error('nothing was written')
  const { id: _, ...values } = row
  const copies = Array.from({ length: count - 1 }, (__, i) => ({
    ...values,
    idempotency_key: `copy:${i}`,
    error_id: null,
  }))
  await desk.context.database.read.insertInto('faultboard_deliveries').values(copies).execute()
}
