import { expect, test } from 'vitest'
import { deliver } from '../../src/notifications/delivery/deliver.js'
import { finishDispatching } from '../../src/notifications/rules/dispatch.js'
import { describeEachDatabase } from '../support/databases.js'
import { desksOn, webhookInbox } from './desk.js'

const NEVER = new AbortController().signal

describeEachDatabase('a message', (database) => {
  const openDesk = desksOn(database)

  test('that was answered is not sent again, although the database was away when the answer came', async () => {
    const inbox = await webhookInbox()
    const desk = await openDesk(inbox.settings)
    await desk.log('TypeError')
    const [{ id = 0 } = {}] = await desk.rows()
    let away = 3
    const write: typeof desk.context.database.write = async (work) => {
      if (inbox.letters.length > 0 && away-- > 0) throw new Error('database is locked')
      return desk.context.database.write(work)
    }
    await deliver({ ...desk.context, database: { ...desk.context.database, write } }, id, NEVER)
    expect(away).toBeLessThan(0)
    expect((await desk.rows())[0]).toMatchObject({ state: 'sent', attempts: 1 })
  })

  test('that a script writes and then stops is sent before it ends', async () => {
    const inbox = await webhookInbox()
    const desk = await openDesk({ ...inbox.settings, run_jobs: true })
    const { context } = desk
    context.jobs.work(({ data, signal }) => deliver(context, Number(data.delivery_id), signal, data))
    await desk.log('TypeError')
    await finishDispatching(context)
    await context.jobs.stop()
    expect(inbox.letters).toHaveLength(1)
    expect((await desk.rows())[0]).toMatchObject({ state: 'sent' })
  })
})
