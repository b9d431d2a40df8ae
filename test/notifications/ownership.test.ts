import { expect, test } from 'vitest'
import { sweepDeliveries } from '../../src/notifications/delivery/dispatcher.js'
import { describeEachDatabase } from '../support/databases.js'
import { harnessAt, harnessesOn, webhookInbox } from './delivery-harness.js'

const SECOND = 1000
const MINUTE = 60 * SECOND
const DAY = 1440 * MINUTE

describeEachDatabase('deliveries of several applications', (database) => {
  const openHarness = harnessesOn(database)

  test('deliveries are never sent with the settings of another application', async () => {
    const [shopInbox, billingInbox] = [await webhookInbox(), await webhookInbox()]
    const harness = await openHarness(shopInbox.settings)
    const billing = harnessAt(harness.storage, { ...billingInbox.settings, application_name: 'billing' })
    await harness.log('TypeError')
    for (const pause of [0, 31 * SECOND, 5 * MINUTE, DAY]) {
      billing.clock.now += pause
      await billing.sendDue()
    }
    expect((await harness.rows())[0]).toMatchObject({ state: 'pending', attempts: 0, last_response: null })
    harness.clock.now = billing.clock.now
    await harness.sendDue()
    expect([shopInbox.messages.length, billingInbox.messages.length]).toEqual([1, 0])
  })

  test('deliveries fail if their application had no running process for a week', async () => {
    const harness = await openHarness()
    const billing = harnessAt(harness.storage, { application_name: 'billing' })
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

  test('deliveries wait for a process with their channel configured, as during a rollout', async () => {
    const inbox = await webhookInbox()
    const harness = await openHarness(inbox.settings)
    await harness.log('TypeError')
    const old = harnessAt(harness.storage, {})
    await old.sendDue()
    expect((await harness.rows())[0]).toMatchObject({ state: 'pending', last_response: null })
    old.clock.now += SECOND
    for (let minutes = 1; minutes <= 15; minutes++) {
      old.clock.now += MINUTE
      await old.sendDue()
      expect((await harness.rows())[0]).toMatchObject({
        ...{ state: 'pending', attempts: 0 },
        last_response: 'Waiting for a process with the webhook channel configured.',
      })
    }
    await harness.sendDue()
    expect(inbox.messages).toHaveLength(0)
    harness.clock.now = old.clock.now
    await harness.sendDue()
    expect((await harness.rows())[0]).toMatchObject({ state: 'sent', attempts: 1 })
  })

  test('deliveries fail with the missing options after their channel was disabled for 15 minutes', async () => {
    const harness = await openHarness()
    await harness.log('TypeError')
    const later = harnessAt(harness.storage, {})
    // The wait starts with the first process without the channel, so an older delivery with attempts still gets all of
    // it.
    await harness.change({ attempts: 2, last_response: '500 out of order' })
    later.clock.now += DAY
    for (let minutes = 0; minutes <= 16; minutes++) {
      await later.sendDue()
      expect((await harness.rows())[0]?.state).toBe(minutes < 15 ? 'pending' : 'failed')
      later.clock.now += MINUTE
    }
    expect((await harness.rows())[0]).toMatchObject({
      attempts: 2,
      last_response: 'Not sent: channel webhook is not configured. Set webhook_url.',
    })
  })
})
