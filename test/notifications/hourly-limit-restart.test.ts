import { expect, onTestFinished, test } from 'vitest'
import type { HeldNotice } from '../../src/notifications/content/notice.js'
import { createDatabase } from '../../src/store/database.js'
import { describeEachDatabase } from '../support/databases.js'
import { CREDENTIALS, freshStorage, NOON, trackerAt } from '../support/tracker.js'
import { slowWebhook, startFleetHost } from './host-fleet.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const LIMIT = 3
const errors = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, i) => ({ error_type: `${prefix}${'abcdefghij'[i]}`, message: 'x' }))

describeEachDatabase('a host that was killed after it reached the hourly limit', (database) => {
  test('keeps the hourly limit after a restart and sends one summary afterward', async () => {
    const storage = await freshStorage(database)
    const webhook = await slowWebhook()
    const settings = {
      ...{ database: storage.url, spool_path: storage.spool_path, application_name: 'shop', ...CREDENTIALS },
      ...{ max_event_loop_lag_ms: null, notification_max_per_hour: LIMIT, webhook_url: webhook.url },
    }
    const counter = createDatabase(storage.url, '.')
    onTestFinished(() => counter.close())
    const countStates = async () => {
      const rows = await counter.read.selectFrom('faultboard_deliveries').select('state').execute()
      const counts: Record<string, number> = {}
      for (const { state } of rows) counts[state] = (counts[state] ?? 0) + 1
      return counts
    }
    const keysOf = (isSummary: boolean) =>
      new Set(
        webhook.arrivals
          .filter(({ notice }) => ((notice.event as string) === 'held') === isSummary)
          .map(({ key }) => key),
      )

    const victim = startFleetHost(settings, errors('Before', 8), { starts_at: NOON + 10 * MINUTE })
    await expect.poll(() => victim.isDone, { timeout: 120_000 }).toBe(true)
    victim.kill()

    const { tracker: restarted, clock } = trackerAt(storage, settings)
    clock.now = NOON + 25 * MINUTE
    for (const error of errors('After', 4)) await restarted.Commands.LogError.call(error)
    await expect.poll(countStates, { timeout: 120_000, interval: 500 }).toEqual({ sent: LIMIT, over_limit: 9 })
    expect(keysOf(false).size).toBe(LIMIT)
    await restarted.shutdown()

    const next = [1, 2].map(() => startFleetHost(settings, [], { starts_at: NOON + HOUR + MINUTE }))
    await expect.poll(countStates, { timeout: 180_000, interval: 500 }).toEqual({ sent: LIMIT + 1, combined: 9 })
    for (const host of next) expect(await host.stop()).toBe(0)
    expect(keysOf(false).size).toBe(LIMIT)
    expect(keysOf(true).size).toBe(1)
    const summaries = webhook.arrivals.map(({ notice }) => notice as unknown as HeldNotice)
    expect(summaries.filter(({ event }) => event === 'held')).toMatchObject([{ reason: 'hourly_limit', total: 9 }])
  }, 400_000)
})
