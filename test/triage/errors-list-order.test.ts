import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { LogErrorInput } from '../../src/capture/fields.js'
import { SORT_FIELDS } from '../../src/triage/list/errors-list.js'
import { describeEachDatabase, type TestDatabase } from '../support/databases.js'
import { freshTracker, NOON, withDatabase } from '../support/tracker.js'

const HOUR = 3_600_000

/** Types in mixed case and alphabets, and missing versions, which databases sort differently. */
const ERRORS: [error_type: string, count: number, fields: Partial<LogErrorInput>][] = [
  ['alpha', 1, { platform: 'Web', severity: 'low', app_version: '1.10', occurred_at: NOON - 3 * HOUR }],
  ['Beta', 3, { platform: 'android', severity: 'critical', app_version: '1.9', occurred_at: NOON - HOUR }],
  ['beta', 2, { platform: 'ios', severity: 'medium', occurred_at: NOON - 4 * HOUR }],
  ['_under', 5, { platform: 'api', severity: 'high', app_version: 'a', occurred_at: NOON }],
  ['Émile', 4, { platform: 'tv', severity: 'low', app_version: 'B', occurred_at: NOON - 2 * HOUR }],
]

async function setUp(database: TestDatabase) {
  const { tracker, url } = await freshTracker(database, { project_root: '/nowhere' })
  if (database.dialect === 'postgres') await sortByLanguage(url)
  const ids: Record<string, number> = {}
  for (const [error_type, count, fields] of ERRORS)
    for (let i = 0; i < count; i++)
      ids[error_type] = (await tracker.Commands.LogError.call({ error_type, message: 'x', ...fields }))?.id ?? 0
  const idOf = (name: string) => ids[name] ?? 0
  const { UpdatePriority, UpdateStatus } = tracker.Commands
  await UpdatePriority.call({ error_id: idOf('beta'), priority_level: 4 })
  await UpdatePriority.call({ error_id: idOf('alpha'), priority_level: 2 })
  await UpdateStatus.call({ error_id: idOf('Beta'), status: 'wont_fix' })
  await UpdateStatus.call({ error_id: idOf('_under'), status: 'investigating' })
  return tracker
}

/** Simulates a server whose databases use a language-specific collation. */
async function sortByLanguage(url: string): Promise<void> {
  await withDatabase(url, async ({ read }) => {
    for (const column of ['error_type', 'platform', 'app_version'])
      await sql`alter table faultboard_errors alter column ${sql.ref(column)} type varchar(255) collate "en-x-icu"`.execute(
        read,
      )
  })
}

describeEachDatabase('the order of the list', (database) => {
  test('sorts by the requested field in both directions, identically on every database', async () => {
    const tracker = await setUp(database)
    const ascending: Record<(typeof SORT_FIELDS)[number], string> = {
      occurred_at: 'beta alpha Émile Beta _under',
      first_seen_at: 'beta alpha Émile Beta _under',
      occurrence_count: 'alpha beta Beta Émile _under',
      error_type: 'Beta _under alpha beta Émile',
      platform: '_under Beta alpha beta Émile',
      severity: 'alpha Émile beta _under Beta',
      priority_level: 'Beta _under Émile alpha beta',
      status: 'alpha beta Émile _under Beta',
      app_version: 'beta alpha Beta Émile _under',
    }
    for (const sort_by of SORT_FIELDS) {
      const names = async (sort_direction: 'asc' | 'desc') =>
        (await tracker.Queries.ErrorsList.call({ sort_by, sort_direction })).map(({ error_type }) => error_type)
      expect((await names('asc')).join(' '), sort_by).toBe(ascending[sort_by])
      expect((await names('desc')).reverse().join(' '), sort_by).toBe(ascending[sort_by])
    }
  })

  test('sorts newest first by default', async () => {
    const tracker = await setUp(database)
    const names = (await tracker.Queries.ErrorsList.call()).map(({ error_type }) => error_type)
    expect(names).toEqual(['_under', 'Beta', 'Émile', 'alpha', 'beta'])
  })
})

describeEachDatabase('pagination of the list', (database) => {
  test('returns 25 errors per page by default, at most 100, and clamps the page', async () => {
    const { tracker } = await freshTracker(database)
    const type = (i: number) => `Error${String.fromCharCode(65 + Math.floor(i / 26), 65 + (i % 26))}`
    await Promise.all(
      Array.from({ length: 107 }, (_, i) => tracker.Commands.LogError.call({ error_type: type(i), message: 'x' })),
    )
    const page = async (filter: object) => {
      const { errors, pagination } = await tracker.Queries.ErrorsList.page(filter)
      return [errors.length, pagination.page, pagination.per_page, pagination.total_count, pagination.total_pages]
    }
    expect(await page({})).toEqual([25, 1, 25, 107, 5])
    expect(await page({ page: 5 })).toEqual([7, 5, 25, 107, 5])
    expect(await page({ page: 6 })).toEqual([7, 5, 25, 107, 5])
    expect(await page({ page: '1000000000' })).toEqual([7, 5, 25, 107, 5])
    for (const first of [0, -1, '-99', '', null, undefined])
      expect(await page({ page: first })).toEqual([25, 1, 25, 107, 5])
    expect(await page({ per_page: 1000 })).toEqual([100, 1, 100, 107, 2])
    expect(await page({ per_page: 0 })).toEqual([1, 1, 1, 107, 107])
    expect(await page({ per_page: '10', page: '11' })).toEqual([7, 11, 10, 107, 11])
    expect(await page({ search: 'nothing like it', page: 3 })).toEqual([0, 1, 25, 0, 1])

    // Every error is on exactly one page, although all have the same time.
    const seen: number[] = []
    for (let number = 1; number <= 11; number++)
      seen.push(...(await tracker.Queries.ErrorsList.call({ per_page: 10, page: number })).map(({ id }) => id))
    expect(new Set(seen).size).toBe(107)
  })
})
