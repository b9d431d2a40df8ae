import { expect, test } from 'vitest'
import type { Context } from '../../src/context.js'
import { createDatabase } from '../../src/store/database.js'
import type { TrackerInstance } from '../../src/tracker.js'
import { errorHistory } from '../../src/triage/queries/error-history.js'
import { errorUsers } from '../../src/triage/queries/error-users.js'
import { describeEachDatabase, type TestDatabase } from '../support/databases.js'
import { freshTracker, NOON, trackerAt } from '../support/tracker.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR

type Fields = Parameters<TrackerInstance['Commands']['LogError']['call']>[0]

async function log(tracker: TrackerInstance, fields: Fields = {}): Promise<number> {
  const logged = await tracker.Commands.LogError.call({
    error_type: 'CartError',
    message: 'Empty',
    backtrace: ['at total (src/cart.ts:1:2)'],
    ...fields,
  })
  return logged?.id ?? 0
}

async function withContext<T>(
  url: string,
  query: (context: Context) => Promise<T>,
  { time_zone = 'UTC', now = NOON } = {},
): Promise<T> {
  const database = createDatabase(url, '.')
  try {
    return await query({ database, now: () => now, config: { time_zone }, ready: async () => {} } as unknown as Context)
  } finally {
    await database.close()
  }
}

async function threeOccurrences(database: TestDatabase) {
  const storage = await freshTracker(database)
  const { tracker } = storage
  let error_id = 0
  for (const [i, line] of [12, 14, 16].entries()) {
    error_id = await log(tracker, {
      message: `Order ${i + 1} is empty`,
      backtrace: [`at total (src/cart.ts:${line}:2)`],
      occurred_at: NOON - (3 - i) * HOUR,
      user_id: `user-${i + 1}`,
      tags: { number: i + 1 },
    })
  }
  const { occurrences } = await tracker.Queries.FindError.call({ error_id })
  return { ...storage, error_id, ids: occurrences.map(({ id }) => id) }
}

describeEachDatabase('reading occurrences of an error', (database) => {
  test('shows the newest occurrence unless another is selected', async () => {
    const { tracker, error_id, ids } = await threeOccurrences(database)
    const [newest = 0, middle = 0, oldest = 0] = ids
    expect(await tracker.Queries.FindError.call({ error_id })).toMatchObject({
      occurrence: { id: newest, previous_id: middle, next_id: null, position: 1, message: 'Order 3 is empty' },
      backtrace: ['at total (src/cart.ts:16:2)'],
      tags: { number: 3 },
    })
    expect(await tracker.Queries.FindError.call({ error_id, occurrence_id: middle })).toMatchObject({
      message: 'Order 2 is empty',
      place: 'src/cart.ts:14 in total',
      user_id: 'user-2',
      occurrence: { id: middle, previous_id: oldest, next_id: newest, position: 2, user_id: 'user-2' },
      backtrace: ['at total (src/cart.ts:14:2)'],
      tags: { number: 2 },
      occurrences: ids.map((id) => ({ id })),
    })
    expect(await tracker.Queries.FindError.call({ error_id, occurrence_id: oldest })).toMatchObject({
      occurrence: { previous_id: null, next_id: middle, position: 3 },
    })
  })

  test('returns occurrences of the same millisecond in a stable order', async () => {
    const { tracker } = await freshTracker(database)
    let error_id = 0
    for (let i = 0; i < 4; i++) error_id = await log(tracker, { tags: { i } })
    const visitedIds: number[] = []
    for (let next: number | null | undefined; next !== null; ) {
      const { occurrence } = await tracker.Queries.FindError.call({ error_id, occurrence_id: next })
      visitedIds.push(occurrence?.id ?? 0)
      expect(occurrence?.position).toBe(visitedIds.length)
      next = occurrence?.previous_id ?? null
    }
    const { occurrences } = await tracker.Queries.FindError.call({ error_id })
    expect(visitedIds).toEqual(occurrences.map(({ id }) => id))
    expect(visitedIds).toHaveLength(4)
  })

  test('lists the stored occurrences page by page', async () => {
    const { tracker } = await freshTracker(database, { max_occurrences_per_error: 5 })
    let error_id = 0
    for (let i = 0; i < 8; i++) error_id = await log(tracker, { occurred_at: NOON - (10 - i) * HOUR, tags: { i } })
    await tracker.flush()
    const page = (number: number) => tracker.Queries.FindError.call({ error_id, page: number, per_page: 2 })
    const first = await page(1)
    const kept = first.occurrences_pagination.total_count
    expect(first.occurrence_count).toBe(8)
    expect(kept).toBeLessThan(8)
    expect(first.occurrences.map(({ tags }) => tags.i)).toEqual([7, 6])
    expect((await page(2)).occurrences.map(({ tags }) => tags.i)).toEqual([5, 4])
    const last = Math.ceil(kept / 2)
    expect((await page(99)).occurrences_pagination).toEqual({
      page: last,
      per_page: 2,
      total_count: kept,
      total_pages: last,
    })
  })

  test('returns not_found for an occurrence of another error', async () => {
    const { tracker, ids } = await threeOccurrences(database)
    const other = await log(tracker, { error_type: 'OtherError' })
    await expect(tracker.Queries.FindError.call({ error_id: other, occurrence_id: ids[0] })).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  test('returns not_found for an error of another application', async () => {
    const { tracker, url, spool_path, error_id } = await threeOccurrences(database)
    const { tracker: second } = trackerAt({ url, spool_path: `${spool_path}-2` }, { application_name: 'billing' })
    const otherErrorId = await log(second)
    const { application_id } = await tracker.Queries.FindError.call({ error_id })
    expect(await tracker.Queries.FindError.call({ error_id, application_id })).toMatchObject({ id: error_id })
    const outside = { error_id: otherErrorId, application_id }
    await expect(tracker.Queries.FindError.call(outside)).rejects.toMatchObject({ code: 'not_found' })
    await expect(withContext(url, (context) => errorHistory.run(context, outside))).rejects.toMatchObject({
      code: 'not_found',
    })
    await expect(withContext(url, (context) => errorUsers.run(context, outside))).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})

describeEachDatabase('the history of an error', (database) => {
  test('counts occurrences by hour, local day, version and platform', async () => {
    const { tracker, url } = await freshTracker(database, { max_occurrences_per_error: 1 })
    const seen: [ago: number, app_version: string, platform: string][] = [
      [0, '2.0.0', 'API'],
      [10 * 60_000, '2.0.0', 'API'],
      [23 * HOUR, '1.9.0', 'iOS'],
      [24 * HOUR, '1.9.0', 'API'],
      [29 * DAY, '1.8.0', 'API'],
      [45 * DAY, '1.0.0', 'Web'],
    ]
    let error_id = 0
    for (const [ago, app_version, platform] of seen.toReversed()) {
      error_id = await log(tracker, { occurred_at: NOON - ago, app_version, platform })
    }
    const { hours, days, app_versions, platforms } = await withContext(url, (context) =>
      errorHistory.run(context, { error_id }),
    )
    expect(hours).toHaveLength(24)
    expect(hours.at(-1)).toEqual({ starts_at: new Date(NOON).toISOString(), count: 1 })
    expect(hours.map(({ count }) => count)).toEqual([1, ...Array(21).fill(0), 1, 1])
    expect(days).toHaveLength(30)
    expect(days.at(-1)).toEqual({ day: '2026-03-10', starts_at: '2026-03-10T00:00:00.000Z', count: 2 })
    expect(days.at(-2)).toMatchObject({ day: '2026-03-09', count: 2 })
    expect(days[0]).toMatchObject({ day: '2026-02-09', count: 1 })
    expect(app_versions).toEqual([
      { app_version: '1.9.0', count: 2 },
      { app_version: '2.0.0', count: 2 },
      { app_version: '1.8.0', count: 1 },
    ])
    expect(platforms).toEqual([
      { platform: 'API', count: 4 },
      { platform: 'iOS', count: 1 },
    ])
  })

  test('counts days, versions and platforms over the same 30 days', async () => {
    const { tracker, url } = await freshTracker(database)
    let error_id = 0
    for (const ago of [30 * DAY, 29.4 * DAY, 10 * DAY, 5 * DAY]) {
      error_id = await log(tracker, { occurred_at: NOON - ago, app_version: '1.0.0', platform: 'Web' })
    }
    const { days, app_versions, platforms } = await withContext(url, (context) =>
      errorHistory.run(context, { error_id }),
    )
    expect(days.reduce((sum, { count }) => sum + count, 0)).toBe(3)
    expect(app_versions).toEqual([{ app_version: '1.0.0', count: 3 }])
    expect(platforms).toEqual([{ platform: 'Web', count: 3 }])
  })

  test('counts versions in the 30 days before an old error was last seen', async () => {
    const { tracker, url } = await freshTracker(database)
    const error_id = await log(tracker, { occurred_at: NOON - 60 * DAY, app_version: '1.0.0' })
    const history = await withContext(url, (context) => errorHistory.run(context, { error_id }))
    expect(history.app_versions).toEqual([{ app_version: '1.0.0', count: 1 }])
    expect(history.days.every(({ count }) => count === 0)).toBe(true)
  })

  test('counts days in the configured time zone across daylight saving time', async () => {
    const { tracker, url, clock } = await freshTracker(database)
    const now = Date.parse('2026-03-30T10:00:00Z')
    clock.now = now
    let error_id = 0
    // In Berlin, daylight saving time started on the 29th: midnight was at 23:00 UTC, then at 22:00.
    for (const time of ['2026-03-28T22:30:00Z', '2026-03-28T23:30:00Z', '2026-03-29T21:30:00Z', '2026-03-29T22:30:00Z'])
      error_id = await log(tracker, { occurred_at: time })
    const { days } = await withContext(url, (context) => errorHistory.run(context, { error_id }), {
      now,
      time_zone: 'Europe/Berlin',
    })
    expect(days.slice(-3).map(({ day, count }) => [day, count])).toEqual([
      ['2026-03-28', 1],
      ['2026-03-29', 2],
      ['2026-03-30', 1],
    ])
  })
})

describeEachDatabase('reading users of an error', (database) => {
  test('returns the ten users with the most occurrences', async () => {
    const { tracker, url } = await freshTracker(database)
    let error_id = 0
    for (let user = 1; user <= 12; user++) {
      for (let i = 0; i < user; i++)
        error_id = await log(tracker, { user_id: `user-${user}`, occurred_at: NOON - user * 60_000 })
    }
    const { users, scope } = await withContext(url, (context) => errorUsers.run(context, { error_id }))
    expect(scope).toBe('all')
    expect(users).toHaveLength(10)
    expect(users[0]).toEqual({
      user_id: 'user-12',
      count: 12,
      last_seen_at: new Date(NOON - 12 * 60_000).toISOString(),
    })
    expect(users.map(({ count }) => count)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3])
  })

  test('ranks only the recent users of an error with too many users, by all their occurrences', async () => {
    const { tracker, url } = await freshTracker(database)
    const calls: Promise<number>[] = []
    for (let user = 0; user < 520; user++) calls.push(log(tracker, { user_id: `one-${user}`, occurred_at: NOON - DAY }))
    for (let i = 0; i < 5; i++) calls.push(log(tracker, { user_id: 'zoe', occurred_at: NOON - i * 1000 }))
    const [error_id = 0] = await Promise.all(calls)
    const { users, scope } = await withContext(url, (context) => errorUsers.run(context, { error_id }))
    expect(scope).toBe('recent')
    expect(users[0]).toMatchObject({ user_id: 'zoe', count: 5 })
  })
})
