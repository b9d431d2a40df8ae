import { expect, test } from 'vitest'
import { claimDue } from '../../src/notifications/delivery/claim-due.js'
import { deliver } from '../../src/notifications/delivery/deliver.js'
import { describeEachDatabase } from '../support/databases.js'
import { harnessesOn, webhookInbox } from './delivery-harness.js'

describeEachDatabase('the dispatcher during a database outage', (database) => {
  const openHarness = harnessesOn(database)

  test('does not send a delivery twice when the database is unavailable while recording the result', async () => {
    const inbox = await webhookInbox()
    const { context, log, rows } = await openHarness(inbox.settings)
    await log('TypeError')
    const [delivery] = await claimDue(context, 1)
    if (!delivery) throw new Error('nothing was claimed')
    let remainingFailures = 3
    const write: typeof context.database.write = async (work) => {
      if (inbox.messages.length > 0 && remainingFailures-- > 0) throw new Error('database is locked')
      return context.database.write(work)
    }
    await deliver({ ...context, database: { ...context.database, write } }, delivery, new AbortController().signal)
    expect(remainingFailures).toBeLessThan(0)
    expect(inbox.messages).toHaveLength(1)
    expect((await rows())[0]).toMatchObject({ state: 'sent', attempts: 1 })
  })
})
