import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeOneDatabase } from '../support/databases.js'
import { type Host, startHost } from '../support/host.js'
import { ALL_PAGES_ON } from '../support/hostile.js'
import { PAGES } from '../support/routes.js'

const EVENTS = 3000
/** A page of ordinary data has 50 to 150 KB. */
const MAX_PAGE_BYTES = 1_000_000

describeOneDatabase('a flood of unique users, releases, platforms and tags', (database) => {
  let host: Host

  beforeAll(async () => {
    host = await startHost(await database.fresh(), { ...ALL_PAGES_ON, max_occurrences_per_error: 100 })
    const log = (i: number) =>
      host.tracker.Commands.LogError.call({
        error_type: 'Flood',
        message: 'the same every time',
        backtrace: ['at pay (/srv/pay.js:1:1)'],
        user_id: `user ${i} ${'u'.repeat(150)}`,
        app_version: `1.0.${i}-${'v'.repeat(80)}`,
        git_sha: i.toString(16).padStart(40, '0'),
        platform: `platform ${i} ${'p'.repeat(40)}`,
        tags: { [`tag ${i} ${'t'.repeat(50)}`]: 'x'.repeat(150), shared: `value ${i}` },
        context: { [`key ${i}`]: i },
      })
    for (let from = 0; from < EVENTS; from += 250) {
      await Promise.all(Array.from({ length: 250 }, (_, i) => log(from + i)))
    }
    await host.tracker.flush()
  }, 240_000)

  afterAll(() => host.close())

  test('a flood of unique values is counted in full in one error, and only the newest occurrences are stored', async () => {
    const { errors, pagination } = await host.tracker.Queries.ErrorsList.page()
    expect(pagination.total_count).toBe(1)
    expect(errors[0]?.occurrence_count).toBe(EVENTS)
    const { occurrences_pagination } = await host.tracker.Queries.FindError.call({ error_id: errors[0]?.id ?? 0 })
    expect(occurrences_pagination.total_count).toBeLessThanOrEqual(100)
  })

  test.each(PAGES.map(({ path }) => path.replace(/:\w+(?:\{[^}]+\})?/g, '1')))(
    'a flood of unique values leaves %s and its JSON at a bounded size',
    { timeout: 60_000 },
    async (path) => {
      for (const headers of [{}, { accept: 'application/json' }]) {
        const response = await host.get(path, headers)
        expect([200, 404, 422]).toContain(response.status)
        expect((await response.text()).length).toBeLessThan(MAX_PAGE_BYTES)
      }
    },
  )
})

describeOneDatabase('an error with thousands of tags, keys and breadcrumbs', (database) => {
  test('an error with thousands of tags, keys and breadcrumbs is stored at a bounded size', {
    timeout: 60_000,
  }, async () => {
    const host = await startHost(await database.fresh(), { enable_breadcrumbs: true })
    try {
      const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key ${i}`, 'x'.repeat(500)]))
      for (let i = 0; i < 5000; i++) {
        host.tracker.addBreadcrumb({ category: `category ${i}`, message: 'm'.repeat(5000), metadata: many })
      }
      const logged = await host.tracker.Commands.LogError.call({
        error_type: 'Wide',
        message: 'm',
        tags: many,
        context: many,
        request_params: many,
      })
      const json = await (await host.get(`/errors/${logged?.id}.json`)).text()
      expect(json).toContain('Wide')
      expect(json.length).toBeLessThan(MAX_PAGE_BYTES)
      expect((await host.get(`/errors/${logged?.id}`)).status).toBe(200)
    } finally {
      await host.close()
    }
  })
})
