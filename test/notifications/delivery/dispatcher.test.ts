import { expect, onTestFinished, test, vi } from 'vitest'
import { claimDue } from '../../../src/notifications/delivery/claim-due.js'
import { retryDelivery } from '../../../src/notifications/delivery/retry-delivery.js'
import { describeEachDatabase } from '../../support/databases.js'
import { withDatabase } from '../../support/tracker.js'
import { type DeliveryHarness, harnessAt, harnessesOn, webhookInbox } from '../delivery-harness.js'

const MINUTE = 60_000
const WORKING = { run_jobs: true }

const states = async ({ storage }: DeliveryHarness) =>
  withDatabase(storage.url, async ({ read }) =>
    (await read.selectFrom('faultboard_deliveries').select(['state', 'attempts']).orderBy('id').execute()).map(
      ({ state, attempts }) => `${state} ${attempts}`,
    ),
  )

const realSetTimeout = setTimeout
const sleep = () => new Promise((resume) => realSetTimeout(resume, 10))

/**
 * Replaces the timers of the tracker, so that a test proves which timer did the work. Databases and servers get ten
 * milliseconds for each millisecond of the tracker.
 */
function stopTimers(): (maxMs: number, isDone?: () => boolean | Promise<boolean>) => Promise<boolean> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  return async (maxMs, isDone = () => false) => {
    for (let ms = 0; ms < maxMs; ms++) {
      if (await isDone()) return true
      await vi.advanceTimersByTimeAsync(1)
      await sleep()
    }
    return isDone()
  }
}

describeEachDatabase('the dispatcher', (database) => {
  const openHarness = harnessesOn(database)

  test('sends a delivery at once after this process writes it, without waiting for the next poll', async () => {
    const inbox = await webhookInbox()
    const advance = stopTimers()
    const harness = await openHarness({ ...inbox.settings, ...WORKING })
    const first = harness.log('First')
    expect(await advance(1000, () => inbox.messages.length === 1)).toBe(true)
    await first
    // The worker polls again after it has sent a delivery. Then it waits for the next poll in two seconds.
    await advance(50)
    inbox.behavior = 'refuse'
    const second = harness.log('Second')
    expect(await advance(1000, async () => (await states(harness)).includes('failed 1'))).toBe(true)
    await second
    inbox.behavior = 'accept'
    await advance(50)
    const [, { id = 0 } = {}] = await harness.rows()
    const retried = harness.run(retryDelivery, { delivery_id: id })
    expect(await advance(1000, () => inbox.messages.length === 3)).toBe(true)
    await retried
  })

  test('sends a delivery that another process wrote', async () => {
    const inbox = await webhookInbox()
    const writer = await openHarness(inbox.settings)
    const worker = harnessAt(writer.storage, { ...inbox.settings, ...WORKING })
    await writer.log('First')
    await expect.poll(() => inbox.messages.length, { timeout: 20_000 }).toBe(1)
    await writer.log('Second')
    await expect.poll(() => states(worker), { timeout: 20_000 }).toEqual(['sent 1', 'sent 1'])
    expect(inbox.messages).toHaveLength(2)
  })

  test('sends nothing and combines nothing in a process that runs no jobs', async () => {
    const inbox = await webhookInbox()
    const advance = stopTimers()
    const harness = await openHarness({ ...inbox.settings, quiet_hours: '11:00-12:01' })
    let isLogged = false
    const logged = Promise.all([
      harness.log('Pending', { severity: 'critical' }),
      harness.log('Held', { severity: 'low' }),
    ]).then(() => {
      isLogged = true
    })
    expect(await advance(1000, () => isLogged)).toBe(true)
    await logged
    harness.clock.now += 2 * MINUTE
    for (let seconds = 0; seconds < 50; seconds++) {
      await vi.advanceTimersByTimeAsync(1000)
      await sleep()
    }
    expect((await states(harness)).sort()).toEqual(['held 0', 'pending 0'])
    await harness.stop()
    expect((await states(harness)).sort()).toEqual(['held 0', 'pending 0'])
    expect(inbox.messages).toEqual([])
  })

  test('takes over the claim of a killed process', async () => {
    const inbox = await webhookInbox()
    const killed = await openHarness(inbox.settings)
    await killed.log('TypeError')
    expect(await claimDue(killed.context, 1)).toHaveLength(1)
    const survivor = harnessAt(killed.storage, { ...inbox.settings, ...WORKING }, { now: killed.clock.now + MINUTE })
    await expect.poll(() => states(survivor), { timeout: 20_000 }).toEqual(['sent 2'])
    expect(inbox.messages).toHaveLength(1)
  })

  test('sends all recent deliveries before the process that wrote them exits', async () => {
    const inbox = await webhookInbox()
    const harness = await openHarness({ ...inbox.settings, ...WORKING })
    // More than the worker sends at a time, and few enough for the grace period on a busy machine.
    await Promise.all(Array.from({ length: 10 }, (_, i) => harness.log(`Kind${i}`)))
    await harness.stop()
    expect(inbox.messages).toHaveLength(10)
    expect(new Set(await states(harness))).toEqual(new Set(['sent 1']))
  })

  test('returns a delivery to the queue when the process stops and the receiver does not respond', async () => {
    const inbox = await webhookInbox()
    inbox.behavior = 'hang'
    const harness = await openHarness({ ...inbox.settings, ...WORKING })
    await harness.log('TypeError')
    await expect.poll(() => inbox.messages.length).toBe(1)
    await harness.stop()
    expect(await states(harness)).toEqual(['pending 0'])
    inbox.behavior = 'accept'
    harnessAt(harness.storage, { ...inbox.settings, ...WORKING })
    await expect.poll(() => states(harness)).toEqual(['sent 1'])
    expect(new Set(inbox.messages.map(({ key }) => key)).size).toBe(1)
  })
})
