import { expect, test } from 'vitest'
import type { TrackerInstance } from '../../../src/tracker.js'
import { describeEachDatabase } from '../../support/databases.js'
import { freshTracker, NOON, trackerAt } from '../../support/tracker.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

interface TestOccurrence {
  error_type: string
  platform: string
  occurred_at: number
}

/** Start of the local day the given number of days before today. */
function startOfDayBefore(days: number, time_zone: string): number {
  const date = new Intl.DateTimeFormat('en-CA', { timeZone: time_zone })
  const wanted = new Date(Date.parse(date.format(NOON)) - days * DAY).toISOString().slice(0, 10)
  let time = Date.parse(wanted) - DAY
  while (date.format(time) !== wanted) time += 15 * MINUTE
  return time
}

/** Occurrences around every boundary: midnight, half past, the week, the month and their hours. */
function occurrences(time_zone: string): TestOccurrence[] {
  const edges = [0, DAY, 7 * DAY, 30 * DAY, 60 * DAY].map((back) => NOON - back)
  const times = [...[0, 6, 29].map((days) => startOfDayBefore(days, time_zone)), ...edges].flatMap((edge) =>
    [-HOUR, -30 * MINUTE, -1, 0, 1, 30 * MINUTE].map((by) => edge + by),
  )
  return times
    .filter((occurred_at) => occurred_at <= NOON)
    .flatMap((occurred_at, i) =>
      Array.from({ length: 1 + (i % 3) }, () => ({
        occurred_at,
        error_type: `Error${String.fromCharCode(65 + ((i * 7) % 13))}`,
        platform: ['Web', 'iOS', 'API'][i % 3] ?? 'API',
      })),
    )
}

/** Reference: counts every occurrence. */
function counted(all: readonly TestOccurrence[], time_zone: string) {
  const [midnight, week, month] = [0, 6, 29].map((days) => startOfDayBefore(days, time_zone)) as [
    number,
    number,
    number,
  ]
  const newest = new Map<string, TestOccurrence>()
  for (const occurrence of all) {
    const known = newest.get(occurrence.error_type)
    if (!known || occurrence.occurred_at >= known.occurred_at) newest.set(occurrence.error_type, occurrence)
  }
  const records = [...newest.values()]
  const since = (list: readonly TestOccurrence[], from: number) =>
    list.filter(({ occurred_at }) => occurred_at >= from).length
  const types = [...newest.keys()].map((error_type) => ({
    error_type,
    count: all.filter((occurrence) => occurrence.error_type === error_type).length,
  }))
  return {
    total_errors: records.length,
    errors_today: since(records, midnight),
    errors_last_7_days: since(records, week),
    errors_last_30_days: since(records, month),
    total_occurrences: all.length,
    occurrences_today: since(all, midnight),
    occurrences_last_7_days: since(all, week),
    occurrences_last_30_days: since(all, month),
    top_errors: types.sort((a, b) => b.count - a.count).slice(0, 10),
    errors_by_platform: Object.fromEntries(
      [...new Set(records.map(({ platform }) => platform))].map((platform) => [
        platform,
        records.filter((record) => record.platform === platform).length,
      ]),
    ),
  }
}

/** Sequential, so that the order of equally frequent types is known. */
async function logAll(tracker: TrackerInstance, all: readonly TestOccurrence[]): Promise<void> {
  const types = [...new Set(all.map(({ error_type }) => error_type))]
  const log = (occurrence: TestOccurrence) => tracker.Commands.LogError.call({ message: 'x', ...occurrence })
  for (const type of types) await Promise.all(all.filter(({ error_type }) => error_type === type).map(log))
}

describeEachDatabase('DashboardStats', (database) => {
  test('returns zeros on an empty database', async () => {
    const { tracker } = await freshTracker(database)
    expect(await tracker.Queries.DashboardStats.call()).toEqual({
      ...counted([], 'UTC'),
      resolved_count: 0,
      unresolved_count: 0,
    })
  })

  test.each(['UTC', 'Asia/Kolkata', 'Asia/Kathmandu', 'America/New_York'])(
    'matches the reference counts of errors and occurrences by local days in %s',
    async (time_zone) => {
      const { tracker, clock } = await freshTracker(database, { time_zone })
      const all = occurrences(time_zone)
      await logAll(tracker, all)
      expect(await tracker.Queries.DashboardStats.call()).toMatchObject(counted(all, time_zone))
      const [first, second] = await tracker.Queries.ErrorsList.call()
      clock.now = NOON + 1
      await tracker.Commands.BatchResolveErrors.call({ error_ids: [first?.id ?? 0, second?.id ?? 0] })
      const stats = await tracker.Queries.DashboardStats.call()
      expect(stats.resolved_count).toBe(2)
      expect(stats.resolved_count + stats.unresolved_count).toBe(stats.total_errors)
    },
  )

  test('matches the error list for every timeframe', async () => {
    const { tracker } = await freshTracker(database, { time_zone: 'Asia/Kolkata' })
    await logAll(tracker, occurrences('Asia/Kolkata'))
    const stats = await tracker.Queries.DashboardStats.call()
    const total = async (timeframe: 'today' | 'last_7_days' | 'last_30_days') =>
      (await tracker.Queries.ErrorsList.page({ timeframe })).pagination.total_count
    expect(stats.errors_today).toBe(await total('today'))
    expect(stats.errors_last_7_days).toBe(await total('last_7_days'))
    expect(stats.errors_last_30_days).toBe(await total('last_30_days'))
  })

  test('counts all occurrences of a storm when only a few are stored', async () => {
    const { tracker } = await freshTracker(database, { max_occurrences_per_error: 5 })
    const storm = Array.from({ length: 500 }, () => ({ error_type: 'Storm', platform: 'API', occurred_at: NOON }))
    await logAll(tracker, storm)
    expect(await tracker.Queries.DashboardStats.call()).toMatchObject({
      total_errors: 1,
      errors_today: 1,
      total_occurrences: 500,
      occurrences_today: 500,
      occurrences_last_7_days: 500,
      top_errors: [{ error_type: 'Storm', count: 500 }],
    })
  })

  test('filters by application_id and counts all applications without it', async () => {
    const storage = await freshTracker(database)
    const billing = trackerAt(storage, { application_name: 'billing' }).tracker
    const [shopOccurrences, billingOccurrences] = [occurrences('UTC'), occurrences('UTC').slice(5, 40)]
    await logAll(storage.tracker, shopOccurrences)
    await logAll(billing, billingOccurrences)
    const [first, second] = await billing.Queries.Applications.call()
    const stats = (application_id?: number | string) => billing.Queries.DashboardStats.call({ application_id })
    expect(await stats(first?.id)).toMatchObject(counted(billingOccurrences, 'UTC'))
    expect(await stats(String(second?.id))).toMatchObject(counted(shopOccurrences, 'UTC'))
    expect((await stats()).total_occurrences).toBe(shopOccurrences.length + billingOccurrences.length)
    expect((await stats(999_999)).total_errors).toBe(0)
    await expect(stats('shop')).rejects.toThrow('application_id must be a record id')
  })

  test('counts a platform named __proto__ like any other', async () => {
    const { tracker } = await freshTracker(database)
    await tracker.Commands.LogError.call({ error_type: 'A', message: 'x', platform: '__proto__' })
    const { errors_by_platform } = await tracker.Queries.DashboardStats.call()
    expect(Object.entries(errors_by_platform)).toEqual([['__proto__', 1]])
  })
})
