import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { TrackerInstance } from '../../src/tracker.js'
import { describeEachDatabase } from '../support/databases.js'
import { freshTracker, NOON, trackerAt, withDatabase } from '../support/tracker.js'

const DAY = 86_400_000

async function logMany(tracker: TrackerInstance, count: number, fields: object = {}): Promise<number[]> {
  const logged = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      tracker.Commands.LogError.call({
        error_type: `Error${String.fromCharCode(65 + i)}`,
        message: 'x',
        user_id: i,
        ...fields,
      }),
    ),
  )
  return logged.map((record) => record?.id ?? 0)
}

const CHILDREN = ['error_search', 'payloads', 'occurrences', 'error_hours', 'error_users', 'comments', 'activities']

async function left(url: string): Promise<Record<string, number>> {
  return withDatabase(url, async ({ read }) => {
    const counts: Record<string, number> = {}
    for (const name of ['errors', ...CHILDREN, 'application_hours']) {
      const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(`faultboard_${name}`)}`.execute(
        read,
      )
      counts[name] = Number(rows[0]?.n)
    }
    return counts
  })
}

describeEachDatabase('batch resolve and delete', (database) => {
  test('resolves each error once, adds an activity to each and counts unknown ids as skipped', async () => {
    const { tracker } = await freshTracker(database)
    const ids = await logMany(tracker, 3)
    const result = await tracker.Commands.BatchResolveErrors.call({
      error_ids: [ids[0], ids[1], String(ids[1]), 999_999] as never,
      resolved_by: 'Anna',
      resolution_comment: 'All done',
    })
    expect(result).toEqual({ changed: 2, unchanged: 0, skipped: 1 })
    for (const error_id of ids.slice(0, 2)) {
      expect(await tracker.Queries.FindError.call({ error_id })).toMatchObject({
        resolved: true,
        status: 'resolved',
        resolved_by_name: 'Anna',
        resolution_comment: 'All done',
        activities: [
          { actor: 'Anna', action: 'resolved', from_value: 'new', to_value: 'resolved', comment: 'All done' },
        ],
      })
    }
    expect(await tracker.Queries.FindError.call({ error_id: ids[2] ?? 0 })).toMatchObject({
      resolved: false,
      activities: [],
    })
  })

  test('accepts a thousand errors', async () => {
    const { tracker } = await freshTracker(database)
    const [error_id = 0] = await logMany(tracker, 1)
    const error_ids = Array.from({ length: 1000 }, (_, i) => error_id + i)
    expect(await tracker.Commands.BatchResolveErrors.call({ error_ids })).toMatchObject({ changed: 1, skipped: 999 })
    expect(await tracker.Commands.BatchDeleteErrors.call({ error_ids })).toMatchObject({ changed: 1, skipped: 999 })
  })

  test('deletes errors with all their data and keeps the sums correct', async () => {
    const { tracker, url } = await freshTracker(database)
    const [kept = 0, ...deletedIds] = await logMany(tracker, 3)
    await logMany(tracker, 2)
    for (const error_id of [kept, ...deletedIds])
      await tracker.Commands.AddComment.call({ error_id, author_name: 'A', body: 'b' })
    expect(await tracker.Commands.BatchDeleteErrors.call({ error_ids: [...deletedIds, 999_999] })).toEqual({
      changed: 2,
      unchanged: 0,
      skipped: 1,
    })
    expect((await tracker.Queries.ErrorsList.call()).map(({ id }) => id)).toEqual([kept])
    await expect(tracker.Queries.FindError.call({ error_id: deletedIds[0] ?? 0 })).rejects.toThrow(/No error with id/)
    expect(await tracker.Queries.DashboardStats.call()).toMatchObject({
      total_errors: 1,
      total_occurrences: 2,
      occurrences_today: 2,
    })
    expect(await left(url)).toEqual({
      errors: 1, error_search: 1, payloads: 1, occurrences: 2, error_hours: 1, error_users: 1, comments: 1, activities: 1,
      application_hours: 1,
    }) // biome-ignore format: reads best as a table
    await tracker.Commands.BatchDeleteErrors.call({ error_ids: [kept] })
    expect(Object.values(await left(url)).every((count) => count === 0)).toBe(true)
  })

  test('records a new error when a deleted error occurs again', async () => {
    const { tracker } = await freshTracker(database)
    const [first = 0] = await logMany(tracker, 1)
    await tracker.Commands.BatchDeleteErrors.call({ error_ids: [first] })
    expect(await tracker.Commands.LogError.call({ error_type: 'ErrorA', message: 'x' })).toMatchObject({
      is_new: true,
      occurrence_count: 1,
    })
  })
})

describeEachDatabase('retention cleanup', (database) => {
  test('deletes errors whose newest occurrence is older than retention_days, to the millisecond', async () => {
    const { tracker, url } = await freshTracker(database, { retention_days: 30 })
    const at = (error_type: string, occurred_at: number) =>
      tracker.Commands.LogError.call({ error_type, message: 'x', occurred_at })
    await at('Old', NOON - 31 * DAY)
    await at('JustOver', NOON - 30 * DAY - 1)
    await at('JustUnder', NOON - 30 * DAY)
    await at('SeenAgain', NOON - 200 * DAY)
    await at('SeenAgain', NOON - DAY)
    const result = await tracker.Commands.CleanupErrors.call()
    expect(result).toEqual({ deleted: 2, older_than: new Date(NOON - 30 * DAY).toISOString() })
    const names = (await tracker.Queries.ErrorsList.call()).map(({ error_type }) => error_type)
    expect(names.sort()).toEqual(['JustUnder', 'SeenAgain'])
    expect(await left(url)).toMatchObject({ errors: 2, occurrences: 3, error_search: 2 })
    expect(await tracker.Commands.CleanupErrors.call()).toMatchObject({ deleted: 0 })
  })

  test('deletes nothing with retention_days null, unless a number is passed', async () => {
    const { tracker } = await freshTracker(database, { retention_days: null })
    await tracker.Commands.LogError.call({ error_type: 'Old', message: 'x', occurred_at: NOON - 5000 * DAY })
    expect(await tracker.Commands.CleanupErrors.call()).toEqual({ deleted: 0, older_than: null })
    expect(await tracker.Commands.CleanupErrors.call({ retention_days: '4999' })).toMatchObject({ deleted: 1 })
  })

  test('deletes more errors of all applications than one transaction can handle', async () => {
    const storage = await freshTracker(database)
    const other = trackerAt(storage, { application_name: 'billing' }).tracker
    const occurred_at = NOON - 400 * DAY
    const log = (tracker: TrackerInstance, i: number) =>
      tracker.Commands.LogError.call({ error_type: `Old${'x'.repeat(i)}`, message: 'x', occurred_at })
    await Promise.all(Array.from({ length: 240 }, (_, i) => log(i % 2 ? other : storage.tracker, i)))
    expect(await storage.tracker.Commands.CleanupErrors.call()).toMatchObject({ deleted: 240 })
    expect(await left(storage.url)).toMatchObject({ errors: 0, occurrences: 0, application_hours: 0 })
  })
})
