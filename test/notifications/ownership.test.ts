import { expect, test } from 'vitest'
import { deliver } from '../../src/notifications/delivery/deliver.js'
import { dispatchDue, sweepDeliveries } from '../../src/notifications/rules/dispatch.js'
import { describeEachDatabase } from '../support/databases.js'
import { type Desk, deskAt, desksOn, webhookInbox } from './desk.js'

const SECOND = 1000
const MINUTE = 60 * SECOND
const DAY = 1440 * MINUTE
const NEVER = new AbortController().signal

const take = async (desk: Desk, id = 0) => deliver(desk.context, id, NEVER)

describeEachDatabase('a message', (database) => {
  const openDesk = desksOn(database)

  test('is never sent by the settings of another application, however long it waits', async () => {
    const [ours, theirs] = [await webhookInbox(), await webhookInbox()]
    const desk = await openDesk(ours.settings)
    const billing = deskAt(desk.place, { ...theirs.settings, application_name: 'billing' })
    await desk.log('TypeError')
    await dispatchDue(desk.context)
    const [{ id } = {}] = await desk.rows()
    await take(billing, id)
    expect(await desk.context.jobs.counts()).toMatchObject({ waiting: 1, delayed: 1 })
    for (const pause of [31 * SECOND, 31 * SECOND, 5 * MINUTE, DAY]) {
      billing.clock.now += pause
      await sweepDeliveries(billing.context)
      await take(billing, id)
    }
    expect((await desk.rows())[0]).toMatchObject({ state: 'pending', attempts: 0 })
    desk.clock.now = billing.clock.now
    // The process of the application may have queued it already.
    await dispatchDue(desk.context)
    expect((await desk.rows())[0]).toMatchObject({ queued_at: expect.any(Number) })
    await take(desk, id)
    expect([ours.letters.length, theirs.letters.length]).toEqual([1, 0])
  })

  test('is handed over only by the processes of its application', async () => {
    const desk = await openDesk()
    const billing = deskAt(desk.place, { webhook_url: 'http://127.0.0.1:9/', application_name: 'billing' })
    await desk.log('TypeError')
    await dispatchDue(desk.context)
    await desk.change({ queued_at: null })
    billing.clock.now += DAY
    expect(await dispatchDue(billing.context)).toBe(0)
    // It may have been quicker by itself.
    await dispatchDue(desk.context)
    expect((await desk.rows())[0]).toMatchObject({ queued_at: desk.clock.now })
  })

  test('has failed when no process of its application came for a week', async () => {
    const desk = await openDesk()
    const billing = deskAt(desk.place, { application_name: 'billing' })
    await desk.log('TypeError')
    billing.clock.now += 7 * DAY - MINUTE
    await sweepDeliveries(billing.context)
    expect((await desk.rows())[0]).toMatchObject({ state: 'pending' })
    billing.clock.now += 2 * MINUTE
    await sweepDeliveries(billing.context)
    expect((await desk.rows())[0]).toMatchObject({
      ...{ state: 'failed', finished_at: billing.clock.now },
      last_answer: 'Not sent: no process of shop came to send it.',
    })
  })

  test('waits for a process that has its channel, as while a release is rolled out', async () => {
    const inbox = await webhookInbox()
    const desk = await openDesk(inbox.settings)
    await desk.log('TypeError')
    await dispatchDue(desk.context)
    const [{ id } = {}] = await desk.rows()
    const old = deskAt(desk.place, {})
    await take(old, id)
    expect(await desk.context.jobs.counts()).toMatchObject({ waiting: 1, delayed: 1 })
    for (let minutes = 1; minutes <= 14; minutes++) {
      old.clock.now += MINUTE
      await take(old, id)
      expect((await desk.rows())[0]).toMatchObject({
        ...{ state: 'pending', attempts: 0, run_at: old.clock.now + MINUTE },
        last_answer: 'Waits for a process that sends by webhook: this one has it not set.',
      })
    }
    desk.clock.now = old.clock.now + MINUTE
    await take(desk, id)
    expect((await desk.rows())[0]).toMatchObject({ state: 'sent', attempts: 1 })
  })

  test('of a channel that was switched off has failed after a while, and says what to set', async () => {
    const desk = await openDesk()
    await desk.log('TypeError')
    await dispatchDue(desk.context)
    const later = deskAt(desk.place, {})
    // It was tried before, and is older than the patience: that begins with the first process that cannot.
    await desk.change({ attempts: 2, run_at: later.clock.now + DAY, queued_at: later.clock.now })
    later.clock.now += DAY
    const [{ id } = {}] = await desk.rows()
    for (let minutes = 0; minutes <= 16; minutes++) {
      await take(later, id)
      expect((await desk.rows())[0]?.state).toBe(minutes < 15 ? 'pending' : 'failed')
      later.clock.now += MINUTE
    }
    expect((await desk.rows())[0]).toMatchObject({
      attempts: 2,
      last_answer: 'Not sent by webhook, which is off: set webhook_url.',
    })
  })
})
