import { expect, test } from 'vitest'
import { deliver } from '../../src/notifications/delivery/deliver.js'
import { flushDispatcher } from '../../src/notifications/delivery/dispatcher.js'
import { describeEachDatabase } from '../support/databases.js'
import { harnessesOn, webhookInbox } from './delivery-harness.js'

const NEVER_ABORTED = new AbortController().signal

describeEachDatabase('a delivery during a database outage', (database) => {
  const openHarness = harnessesOn(database)

  test('does not send a delivery twice when the database is unavailable while recording the result', async () => {
    const inbox = await webhookInbox()
    const harness = await openHarness(inbox.settings)
    await harness.log('TypeError')
    const [{ id = 0 } = {}] = await harness.rows()
    let remainingFailures = 3
    const write: typeof harness.context.database.write = async (work) => {
      if (inbox.messages.length > 0 && remainingFailures-- > 0) throw new Error('database is locked')
      return harness.context.database.write(work)
    }
    await deliver({ ...harness.context, database: { ...harness.context.database, write } }, id, NEVER_ABORTED)
    expect(remainingFailures).toBeLessThan(0)
    expect((await harness.rows())[0]).toMatchObject({ state: 'sent', attempts: 1 })
  })

  test('sends a notification before the script that created it exits', async () => {
    const inbox = await webhookInbox()
    const harness = await openHarness({ ...inbox.settings, run_jobs: true })
    const { context } = harness
    context.jobs.work(({ data, signal }) => deliver(context, Number(data.delivery_id), signal, data))
    await harness.log('TypeError')
    await flushDispatcher(context)
    await context.jobs.stop()
    expect(inbox.messages).toHaveLength(1)
    expect((await harness.rows())[0]).toMatchObject({ state: 'sent' })
  })
})
