import { expect, test } from 'vitest'
import { deliver } from '../../src/notifications/delivery/deliver.js'
import { dispatchDue, sweepDeliveries } from '../../src/notifications/delivery/dispatcher.js'
import { describeEachDatabase } from '../support/databases.js'
import { type DeliveryHarness, harnessAt, harnessesOn, webhookInbox } from './delivery-harness.js'

const SECOND = 1000
const MINUTE = 60 * SECOND
const DAY = 1440 * MINUTE
const NEVER_ABORTED = new AbortController().signal

const take = async (harness: DeliveryHarness, id = 0) => deliver(harness.context, id, NEVER_ABORTED)

describeEachDatabase('a delivery of another application', (database) => {
  const openHarness = harnessesOn(database)

  test('never sends a delivery with the settings of another application', async () => {
    const [shopInbox, billingInbox] = [await webhookInbox(), await webhookInbox()]
    const harness = await openHarness(shopInbox.settings)
    const billing = harnessAt(harness.place, { ...billingInbox.settings, application_name: 'billing' })
    await harness.log('TypeError')
    await dispatchDue(harness.context)
    const [{ id } = {}] = await harness.rows()
    await take(billing, id)
    expect(await harness.context.jobs.counts()).toMatchObject({ waiting: 1, delayed: 1 })
    for (const pause of [31 * SECOND, 31 * SECOND, 5 * MINUTE, DAY]) {
      billing.clock.now += pause
      await sweepDeliveries(billing.context)
      await take(billing, id)
    }
    expect((await harness.rows())[0]).toMatchObject({ state: 'pending', attempts: 0 })
    harness.clock.now = billing.clock.now
    // A process of the application may have enqueued it already.
    await dispatchDue(harness.context)
    expect((await harness.rows())[0]).toMatchObject({ queued_at: expect.any(Number) })
    await take(harness, id)
    expect([shopInbox.messages.length, billingInbox.messages.length]).toEqual([1, 0])
  })

  test('enqueues a delivery only in processes of its own application', async () => {
    const harness = await openHarness()
    const billing = harnessAt(harness.place, { webhook_url: 'http://127.0.0.1:9/', application_name: 'billing' })
    await harness.log('TypeError')
    await dispatchDue(harness.context)
    await harness.change({ queued_at: null })
    billing.clock.now += DAY
    expect(await dispatchDue(billing.context)).toBe(0)
    // The dispatcher may have enqueued it already.
    await dispatchDue(harness.context)
    expect((await harness.rows())[0]).toMatchObject({ queued_at: harness.clock.now })
  })

  test('fails a delivery whose application had no running process for a week', async () => {
    const harness = await openHarness()
    const billing = harnessAt(harness.place, { application_name: 'billing' })
    await harness.log('TypeError')
    billing.clock.now += 7 * DAY - MINUTE
    await sweepDeliveries(billing.context)
    expect((await harness.rows())[0]).toMatchObject({ state: 'pending' })
    billing.clock.now += 2 * MINUTE
    await sweepDeliveries(billing.context)
    expect((await harness.rows())[0]).toMatchObject({
      ...{ state: 'failed', finished_at: billing.clock.now },
      last_response: 'Not sent: no process of shop was running.',
    })
  })

  test('keeps a delivery for a process with its channel configured, as during a rollout', async () => {
    const inbox = await webhookInbox()
    const harness = await openHarness(inbox.settings)
    await harness.log('TypeError')
    await dispatchDue(harness.context)
    const [{ id } = {}] = await harness.rows()
    const old = harnessAt(harness.place, {})
    await take(old, id)
    expect(await harness.context.jobs.counts()).toMatchObject({ waiting: 1, delayed: 1 })
    for (let minutes = 1; minutes <= 14; minutes++) {
      old.clock.now += MINUTE
      await take(old, id)
      expect((await harness.rows())[0]).toMatchObject({
        ...{ state: 'pending', attempts: 0, run_at: old.clock.now + MINUTE },
        last_response: 'Waiting for a process with the webhook channel configured.',
      })
    }
    harness.clock.now = old.clock.now + MINUTE
    await take(harness, id)
    expect((await harness.rows())[0]).toMatchObject({ state: 'sent', attempts: 1 })
  })

  test('fails a delivery with the missing options after its channel was disabled for 15 minutes', async () => {
    const harness = await openHarness()
    await harness.log('TypeError')
    await dispatchDue(harness.context)
    const later = harnessAt(harness.place, {})
    // The wait starts with the first process without the channel, so an older delivery with attempts still gets all of
    // it.
    await harness.change({ attempts: 2, run_at: later.clock.now + DAY, queued_at: later.clock.now })
    later.clock.now += DAY
    const [{ id } = {}] = await harness.rows()
    for (let minutes = 0; minutes <= 16; minutes++) {
      await take(later, id)
      expect((await harness.rows())[0]?.state).toBe(minutes < 15 ? 'pending' : 'failed')
      later.clock.now += MINUTE
    }
    expect((await harness.rows())[0]).toMatchObject({
      attempts: 2,
      last_response: 'Not sent: channel webhook is not configured. Set webhook_url.',
    })
  })
})
