import { expect, test } from 'vitest'
import { createTracker, type Tracker } from '../../src/index.js'
import { TrackerInstance } from '../../src/tracker.js'
import { describeEachDatabase } from '../support/databases.js'
import { CREDENTIALS, freshStorage, withDatabase } from '../support/tracker.js'
import { slowWebhook, startFleetHost } from './host-fleet.js'

/** Errors that a process records at a time. */
const KINDS = 10
const LAST_MILESTONE = 30
const MINUTE = 60_000

/**
 * Every process reports every kind in turn, so no batch contains both a new kind and its milestone. Two processes reach
 * the last milestone without the killed process.
 */
const SHARE = Array.from({ length: (KINDS * LAST_MILESTONE) / 2 }, (_, i) => ({
  error_type: `Kind${i % KINDS}`,
  message: 'x',
}))

async function recordInTurn({ Commands }: Tracker): Promise<void> {
  for (let start = 0; start < SHARE.length; start += KINDS) {
    await Promise.all(SHARE.slice(start, start + KINDS).map((error) => Commands.LogError.call(error)))
  }
}

/** Prefix that the database adds to every key. */
const MARK = '12345678:'.length

describeEachDatabase('sending from several processes', (database) => {
  test('sends each notification once when two processes send what a third process writes', async () => {
    const storage = await freshStorage(database)
    const webhook = await slowWebhook()
    const settings = {
      ...{ database: storage.url, spool_path: storage.spool_path, application_name: 'shop', ...CREDENTIALS },
      ...{ max_event_loop_lag_ms: null, notification_max_per_hour: 100_000 },
      ...{ webhook_url: webhook.url, dashboard_base_url: 'https://shop.example' },
    }
    const kinds = Array.from({ length: 40 }, (_, i) => ({ error_type: `Kind${i}`, message: 'x' }))
    const writer = createTracker({ ...settings, run_jobs: false })
    for (const kind of kinds) await writer.Commands.LogError.call(kind)
    await writer.shutdown()
    await withDatabase(storage.url, async ({ read }) => {
      const states = async () =>
        (await read.selectFrom('faultboard_deliveries').select('state').execute()).map(({ state }) => state)
      expect(await states()).toEqual(kinds.map(() => 'pending'))
      expect(webhook.arrivals).toEqual([])
      const workers = [1, 2].map(() => startFleetHost(settings, []))
      await expect.poll(states, { timeout: 60_000, interval: 100 }).toEqual(kinds.map(() => 'sent'))
      for (const host of workers) expect(await host.stop()).toBe(0)
    })
    expect(new Set(webhook.arrivals.map(({ key }) => key)).size).toBe(kinds.length)
    expect(webhook.arrivals).toHaveLength(kinds.length)
  }, 200_000)

  test('sends every due notification, and none under two keys, when one of three processes is killed', async () => {
    const storage = await freshStorage(database)
    const webhook = await slowWebhook()
    const settings = {
      ...{ database: storage.url, spool_path: storage.spool_path, application_name: 'shop', ...CREDENTIALS },
      ...{ max_event_loop_lag_ms: null, notification_threshold_alerts: [5, 20, LAST_MILESTONE] },
      notification_max_per_hour: 100_000,
      ...{ webhook_url: webhook.url, dashboard_base_url: 'https://shop.example' },
    }
    const victim = startFleetHost(settings, SHARE)
    const survivor = startFleetHost(settings, SHARE)
    await expect.poll(() => victim.recorded > 0 && survivor.recorded > 0, { timeout: 60_000 }).toBe(true)
    const ownProcess = createTracker(settings)
    const recording = recordInTurn(ownProcess)
    await expect.poll(() => victim.recorded >= 100 && webhook.arrivals.length > 5, { timeout: 60_000 }).toBe(true)
    victim.kill()
    await recording
    await expect.poll(() => survivor.isDone, { timeout: 120_000 }).toBe(true)

    expect(await survivor.stop()).toBe(0)
    await ownProcess.shutdown()
    // Sets the clock past the leases of the killed process, so that the test does not wait for them.
    const environment = { now: () => Date.now() + MINUTE, announcesDashboard: false }
    const successor = new TrackerInstance(settings, environment).start()
    const read = <T>(query: Parameters<typeof withDatabase<T>>[1]) => withDatabase(storage.url, query)
    await read(async ({ read }) => {
      const unsent = read.selectFrom('faultboard_deliveries').select('state').where('state', '!=', 'sent')
      await expect.poll(() => unsent.execute(), { timeout: 180_000, interval: 500 }).toEqual([])
    })
    const rows = await read(({ read }) =>
      read.selectFrom('faultboard_deliveries').select(['idempotency_key', 'error_id']).execute(),
    )
    const errors = await read(({ read }) =>
      read.selectFrom('faultboard_errors').select(['id', 'occurrence_count']).execute(),
    )

    expect(errors).toHaveLength(KINDS)
    expect(new Set(webhook.arrivals.map(({ key }) => key.slice(0, MARK))).size).toBe(1)
    const arrived = new Set(webhook.arrivals.map(({ key }) => key.slice(MARK)))
    expect([...arrived].sort()).toEqual(rows.map(({ idempotency_key }) => idempotency_key).sort())
    for (const { id, occurrence_count } of errors) {
      expect(occurrence_count).toBeGreaterThanOrEqual(LAST_MILESTONE)
      expect(arrived).toContain(`new:${id}:webhook`)
      expect(arrived).toContain(`milestone:${id}:${LAST_MILESTONE}:webhook`)
    }
    const keysOfNew = webhook.arrivals.filter(({ notice }) => notice.event === 'new').map(({ key }) => key)
    expect(new Set(keysOfNew).size).toBe(KINDS)
    // Only deliveries in flight in the killed process may arrive twice.
    expect(webhook.arrivals.length - arrived.size).toBeLessThanOrEqual(4)
    await successor.shutdown()
  }, 300_000)
})
