import { expect, test } from 'vitest'
import type { TrackerInstance } from '../../../src/tracker.js'
import { describeEachDatabase, describeOneDatabase } from '../../support/databases.js'
import { sums, verifiedCounts } from '../../support/stored-counts.js'
import { freshTracker, NOON, withDatabase } from '../../support/tracker.js'

const MINUTE = 60_000
const EVENT = { error_type: 'Recurring', message: 'it happens' }
const BACKTRACE = ['at total (/app/src/cart.ts:1:1)']

describeEachDatabase('recording', (database) => {
  test('reopens a resolved error that occurs again and keeps who resolved it in the activity trail', async () => {
    const { tracker, clock } = await freshTracker(database)
    const error_id = (await tracker.Commands.LogError.call(EVENT))?.id ?? 0
    await tracker.Commands.ResolveError.call({ error_id, resolved_by: 'Ada', resolution_comment: 'fixed' })
    clock.now = NOON + MINUTE
    expect(await tracker.Commands.LogError.call(EVENT)).toMatchObject({ reopened: true, occurrence_count: 2 })
    expect(await tracker.Commands.LogError.call(EVENT)).toMatchObject({ reopened: false, occurrence_count: 3 })
    const record = await tracker.Queries.FindError.call({ error_id })
    expect(record).toMatchObject({ status: 'new', resolved: false, reopened_at: new Date(NOON + MINUTE).toISOString() })
    expect(record.activities.filter(({ action }) => action === 'reopened')).toMatchObject([
      { comment: expect.stringContaining('Ada') },
    ])
    expect(record.activities.find(({ action }) => action === 'resolved')).toMatchObject({
      actor: 'Ada',
      comment: 'fixed',
    })
  })

  test('keeps a wont_fix error closed and counts its occurrences', async () => {
    const { tracker, clock } = await freshTracker(database)
    const error_id = (await tracker.Commands.LogError.call(EVENT))?.id ?? 0
    await tracker.Commands.UpdateStatus.call({ error_id, status: 'wont_fix' })
    clock.now = NOON + MINUTE
    expect(await tracker.Commands.LogError.call(EVENT)).toMatchObject({ reopened: false })
    const record = await tracker.Queries.FindError.call({ error_id })
    expect(record).toMatchObject({ status: 'wont_fix', resolved: true, occurrence_count: 2 })
  })

  test('does not reopen an error for an occurrence before the resolution', async () => {
    const { tracker } = await freshTracker(database)
    const error_id = (await tracker.Commands.LogError.call({ ...EVENT, occurred_at: NOON - 10 * MINUTE }))?.id ?? 0
    await tracker.Commands.ResolveError.call({ error_id })
    for (const occurred_at of [NOON - MINUTE, NOON]) {
      expect(await tracker.Commands.LogError.call({ ...EVENT, occurred_at })).toMatchObject({ reopened: false })
    }
    expect(await tracker.Queries.FindError.call({ error_id })).toMatchObject({
      status: 'resolved',
      occurrence_count: 3,
    })
  })

  test('updates first_seen_at but no value of the newest occurrence for a late occurrence', async () => {
    const { tracker, url } = await freshTracker(database)
    await tracker.Commands.LogError.call({ ...EVENT, app_version: '2.0', platform: 'iOS' })
    const late = { ...EVENT, occurred_at: NOON - 90 * MINUTE, app_version: '1.0', platform: 'web' }
    const error_id = (await tracker.Commands.LogError.call(late))?.id ?? 0
    expect(await tracker.Queries.FindError.call({ error_id })).toMatchObject({
      occurred_at: new Date(NOON).toISOString(),
      first_seen_at: new Date(NOON - 90 * MINUTE).toISOString(),
      app_version: '2.0',
      platform: 'iOS',
    })
    const hours = await withDatabase(url, ({ read }) =>
      read.selectFrom('faultboard_error_hours').select(['hour', 'count']).orderBy('hour').execute(),
    )
    expect(hours).toHaveLength(2)
    await verifiedCounts(url)
  })

  for (const at_a_time of [1, 20]) {
    test(`keeps rows of the newest occurrences and exact counts, with ${at_a_time} errors at a time`, async () => {
      const { tracker, url, clock } = await freshTracker(database, { max_occurrences_per_error: 8 })
      for (let i = 0; i < 40; i += at_a_time) {
        await Promise.all(
          Array.from({ length: at_a_time }, (_, j) => {
            clock.now = NOON + i + j
            return tracker.Commands.LogError.call({ ...EVENT, user_id: i + j })
          }),
        )
      }
      const { counts, users, rows } = await verifiedCounts(url)
      expect(counts).toEqual({ 'shop Recurring': 40 })
      expect(Object.keys(users)).toHaveLength(40)
      expect(rows).toBe(8)
      const kept = await withDatabase(url, ({ read }) =>
        read.selectFrom('faultboard_occurrences').select('occurred_at').orderBy('occurred_at').execute(),
      )
      expect(kept.map(({ occurred_at }) => occurred_at - NOON)).toEqual(Array.from({ length: 8 }, (_, i) => 32 + i))
    })
  }

  test('shares backtraces between occurrences and deletes unused backtraces', async () => {
    const { tracker, url } = await freshTracker(database, {
      max_occurrences_per_error: 4,
      custom_fingerprint: () => 'one group',
    })
    const log = (line: number, times: number) =>
      Promise.all(
        Array.from({ length: times }, () =>
          tracker.Commands.LogError.call({ ...EVENT, backtrace: [...BACKTRACE, `at line (/app/src/a.ts:${line}:1)`] }),
        ),
      )
    await log(1, 3)
    expect(await payloads(url)).toBe(1)
    await log(2, 1)
    expect(await payloads(url)).toBe(2)
    await log(3, 4)
    expect(await payloads(url)).toBe(1)
    expect((await verifiedCounts(url)).counts).toEqual({ 'shop Recurring': 8 })
  })

  test('stores any text unchanged and compares it exactly', async () => {
    const { tracker, url } = await freshTracker(database)
    const texts = [
      'ünïcödé 💥 "quoted" \\ backslash',
      "it's; drop table faultboard_errors; --",
      'A',
      'a',
      'ä',
      '%_',
      '日本語',
    ]
    for (const [i, text] of texts.entries()) {
      const event = { error_type: `Text${i}`, message: text, user_id: text, context: { text } }
      const error_id = (await tracker.Commands.LogError.call(event))?.id ?? 0
      const record = await tracker.Queries.FindError.call({ error_id })
      expect(record.message).toBe(text)
      expect(JSON.stringify(record.occurrences)).toContain(JSON.stringify(text))
    }
    await Promise.all(texts.map((user_id) => tracker.Commands.LogError.call({ ...EVENT, user_id })))
    const { users } = await verifiedCounts(url)
    expect(Object.keys(users).filter((key) => key.startsWith('Recurring'))).toHaveLength(texts.length)
  })

  test('writes a batch of large errors within the packet limit of the server', async () => {
    const { tracker, url } = await freshTracker(database)
    const context = { large: 'x'.repeat(15_000) }
    // Together as large as a packet of MariaDB may be, which is the only limit of this kind.
    const rows = database.dialect === 'mysql' ? 1000 : 300
    const logged = await Promise.all(
      Array.from({ length: rows }, (_, i) =>
        tracker.Commands.LogError.call({
          ...EVENT,
          error_type: `Large${i % 5}`,
          message: `${'y'.repeat(900)} ${i}`,
          context,
        }),
      ),
    )
    expect(logged.every((record) => record?.state === 'recorded')).toBe(true)
    expect((await verifiedCounts(url)).rows).toBe(rows)
  })

  test('counts every group of a storm that takes several transactions', async () => {
    const { tracker, url } = await freshTracker(database, { max_groups_per_place: 10_000 })
    // A server writes up to 1000 groups per transaction.
    await expectOneOfEachGroup(tracker, url, 1100)
  })
})

describeOneDatabase('the buffer of the recorder', (database) => {
  test('loses no error and no caller in a storm of more groups than it keeps', { timeout: 60_000 }, async () => {
    const { tracker, url } = await freshTracker(database, { max_groups_per_place: 10_000 })
    await expectOneOfEachGroup(tracker, url, 5200)
  })

  test('keeps few events in memory in a storm of repeats and counts all', async () => {
    const { tracker, url } = await freshTracker(database)
    await tracker.ready()
    const events = Array.from({ length: 20_500 }, (_, i) => ({ ...EVENT, error_type: `Storm${i % 50}` }))
    const logged = await Promise.all(events.map((event) => tracker.Commands.LogError.call(event)))
    expect(logged.filter((record) => record?.state !== 'recorded')).toEqual([])
    const { counts, rows } = await verifiedCounts(url)
    expect(new Set(Object.values(counts))).toEqual(new Set([410]))
    expect(rows).toBeLessThanOrEqual(20_000)
  })

  test('moves a storm of large errors to disk above a memory limit', {
    timeout: 60_000,
  }, async () => {
    const { tracker, url } = await freshTracker(database)
    await tracker.ready()
    const large = () => new Error('x'.repeat(2000), { cause: new Error('y'.repeat(2000)) })
    const exception = new AggregateError(
      Array.from({ length: 10 }, () => large()),
      'z'.repeat(10_000),
    )
    const calls = Array.from({ length: 800 }, (_, i) =>
      tracker.Commands.LogError.call({ exception, error_type: `Large${i % 32}` }),
    )
    const { buffered } = await tracker.stats()
    expect(buffered).toBeLessThan((34 * 1024 * 1024) / 48_000)
    expect((await Promise.all(calls)).filter((record) => record === null)).toEqual([])
    await tracker.flush()
    expect(new Set(Object.values((await verifiedCounts(url)).counts))).toEqual(new Set([25]))
  })

  test('settles many callers of one error after a write to disk', { timeout: 60_000 }, async () => {
    const { tracker, url } = await freshTracker(database)
    await tracker.ready()
    const calls = Array.from({ length: 30_500 }, () => tracker.Commands.LogError.call(EVENT))
    expect((await tracker.stats()).buffered).toBeLessThanOrEqual(5000)
    const logged = await Promise.all(calls)
    expect(
      sums(
        logged,
        (record) => record?.state ?? 'null',
        () => 1,
      ),
    ).toEqual({ spooled: 30_000, recorded: 500 })
    await tracker.flush()
    expect(Object.values((await verifiedCounts(url)).counts)).toEqual([30_500])
  })
})

/** Records an error of every group in one event loop iteration. */
async function expectOneOfEachGroup(tracker: TrackerInstance, url: string, groups: number): Promise<void> {
  await tracker.ready()
  const events = Array.from({ length: groups }, (_, i) => ({ ...EVENT, error_type: `Many${i}` }))
  const logged = await Promise.all(events.map((event) => tracker.Commands.LogError.call(event)))
  expect(logged.filter((record) => record === null)).toEqual([])
  await tracker.flush()
  expect((await tracker.stats()).spool.files).toBe(0)
  const { counts } = await verifiedCounts(url)
  expect(Object.keys(counts)).toHaveLength(groups)
  expect(new Set(Object.values(counts))).toEqual(new Set([1]))
}

async function payloads(url: string): Promise<number> {
  return withDatabase(
    url,
    async ({ read }) => (await read.selectFrom('faultboard_payloads').select('id').execute()).length,
  )
}
