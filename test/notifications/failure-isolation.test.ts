import { beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Settings } from '../../src/options.js'
import { migrate } from '../../src/store/migrate.js'
import { describeOneDatabase } from '../support/databases.js'
import { serveTracker } from '../support/host.js'
import { runChild } from '../support/processes/children.js'
import { CREDENTIALS, eventually, temporaryFolder, withDatabase } from '../support/tracker.js'
import { webhookInbox } from './delivery-harness.js'

const UNREACHABLE = 'http://127.0.0.1:9/'
const UNREACHABLE_MAIL: Settings = {
  ...{ enable_email_notifications: true, notification_email_recipients: ['a@x.example'] },
  smtp_url: 'smtp://127.0.0.1:9',
}
const NO_REDIS: Settings = { webhook_url: UNREACHABLE, job_engine: 'bullmq', redis_url: 'redis://127.0.0.1:9' }

describeOneDatabase('a host with failing notifications', (database) => {
  const failures: [string, () => Promise<Settings>][] = [
    ['an unreachable mail server', async () => UNREACHABLE_MAIL],
    ['an unreachable webhook', async () => ({ webhook_url: UNREACHABLE })],
    [
      'a hanging webhook',
      async () => {
        const inbox = await webhookInbox()
        inbox.behavior = 'hang'
        return inbox.settings
      },
    ],
    ['an unreachable Redis', async () => NO_REDIS],
  ]

  let url = ''
  beforeAll(async () => {
    url = await database.fresh()
    await withDatabase(url, migrate)
  })
  /** Each test uses its own application name, because creating a database is slow. */
  const place = (application_name: string): Settings => ({
    ...{ database: url, spool_path: temporaryFolder(), application_name, max_event_loop_lag_ms: null },
  })

  test.each(failures)('records errors and serves pages with %s', async (failure, settings) => {
    const host = await serveTracker({ ...place(failure), ...(await settings()) })
    onTestFinished(() => host.close())
    const { Commands, Queries } = host.tracker
    for (let i = 0; i < 12; i++) {
      const logged = await Commands.LogError.call({ error_type: `Kind${i}`, message: 'x' })
      expect(logged).toMatchObject({ state: 'recorded', occurrence_count: 1 })
      const { deliveries } = await Queries.Deliveries.call({ error_id: logged?.id ?? 0 })
      expect(deliveries).toHaveLength(1)
      expect(deliveries[0]?.state).not.toBe('sent')
    }
    expect((await host.get('/errors')).status).toBe(200)
  })

  test('sends notifications while Redis is unreachable', async () => {
    const inbox = await webhookInbox()
    const host = await serveTracker({ ...place('redis'), ...NO_REDIS, ...inbox.settings })
    onTestFinished(() => host.close())
    await host.tracker.Commands.LogError.call({ error_type: 'TypeError', message: 'x' })
    await eventually(() => inbox.messages.length > 0, 'the message has arrived')
    expect(inbox.messages).toHaveLength(1)
  })

  test('exits cleanly while a webhook hangs', async () => {
    const inbox = await webhookInbox()
    inbox.behavior = 'hang'
    const result = await runChild<{ states: object }>('record', {
      settings: { ...place('ending'), ...CREDENTIALS, ...inbox.settings },
      events: [{ error_type: 'Last', message: 'x' }],
    })
    expect(result.states).toEqual({ recorded: 1 })
  })
})
