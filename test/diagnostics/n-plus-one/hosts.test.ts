import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Settings } from '../../../src/options.js'
import { describeEachDatabase } from '../../support/databases.js'
import { describeEachRuntime } from '../../support/processes/runtimes.js'
import { CREDENTIALS, freshStorage, type TrackerStorage, trackerAt, withDatabase } from '../../support/tracker.js'
import { type QueryHost, startQueryHost } from './host.js'

const ON: Settings = { enable_breadcrumbs: true, detect_n_plus_one_queries: true, enable_deprecation_tracking: true }

const DRIVERS = [
  { driver: 'pg', url: process.env.FAULTBOARD_TEST_POSTGRES, statement: 'select $1::int as id, ? as name', line: 18 },
  { driver: 'mysql2', url: process.env.FAULTBOARD_TEST_MYSQL, statement: 'select ? as id, ? as name', line: 25 },
  { driver: 'none', url: 'none', statement: 'select * from users where id = ? and name = ?', line: 30 },
] as const

function settingsOf({ url, spool_path }: TrackerStorage, more: Settings): Settings {
  const project_root = new URL('../../..', import.meta.url).pathname
  return {
    ...CREDENTIALS,
    application_name: 'shop',
    app_version: '1.2.3',
    project_root,
    database: url,
    spool_path,
    ...more,
  }
}

describeEachDatabase(
  'a host',
  (database) => {
    describeEachRuntime('with one query per row', ({ path: node }) => {
      let storage: TrackerStorage
      let host: QueryHost

      beforeAll(async () => {
        storage = { url: await database.fresh(), spool_path: mkdtempSync(join(tmpdir(), 'faultboard-test-')) }
        const urls = Object.fromEntries(DRIVERS.flatMap(({ driver, url }) => (url ? [[driver, url]] : [])))
        host = await startQueryHost(node, { settings: settingsOf(storage, ON), urls })
        for (const driver of Object.keys(urls)) {
          for (const count of [4, 9, 31]) await host.get(`/${driver}/orders/${count}`)
          await host.get(`/${driver}/at-once/6`)
          await host.get(`/${driver}/job/8`)
          await host.get(`/${driver}/failing`)
        }
        for (let i = 0; i < 3; i++) await host.get('/deprecated')
        expect(await host.stop()).toBe(0)
      })
      afterAll(() => rmSync(storage.spool_path, { recursive: true, force: true }))

      for (const { driver, url, statement, line } of DRIVERS) {
        const why = url ? '' : ' (skipped: its server is not set)'
        test.skipIf(!url)(`detects one query per row with ${driver}${why}`, async () => {
          const { tracker, clock } = trackerAt(storage, ON)
          clock.now = null
          const found = await tracker.Queries.NPlusOneQueries.call({ days: 7 })
          const count = DRIVERS.filter(({ url }) => url).length
          expect(found).toMatchObject({ days: 7, threshold: 5, total_count: count })
          const repeated = found.statements.find((found) => found.statement === statement)
          expect(repeated).toMatchObject({ request_count: 5, statement_count: 61, worst_count: 31 })
          expect(repeated?.duration_ms).toBeGreaterThan(0)
          const place = expect.stringContaining(`test/diagnostics/n-plus-one/host.mjs:${line}`)
          const callers = repeated?.callers.map(({ route, worst_count, place }) => ({ route, worst_count, place }))
          expect(callers?.sort((a, b) => a.worst_count - b.worst_count)).toEqual([
            // With mysql2, all connections are requested before the first statement starts.
            { route: `GET /${driver}/at-once/:count`, worst_count: 6, place: driver === 'mysql2' ? '' : place },
            { route: `GET /${driver}/failing`, worst_count: 7, place },
            { route: `GET /${driver}/job/:count`, worst_count: 8, place },
            { route: `GET /${driver}/orders/:count`, worst_count: 31, place },
          ])
          expect(found.by_day.at(-1)).toMatchObject({ count: 5 * count })
          expect(await everythingStored(storage.url)).not.toContain('secret text')
        })
      }

      test('counts deprecation warnings with code, location and version', async () => {
        const { tracker, clock } = trackerAt(storage, ON)
        clock.now = null
        const { deprecations, total_count } = await tracker.Queries.Deprecations.call({ days: 7 })
        expect(total_count).toBe(4)
        const host_place = expect.stringContaining('test/diagnostics/n-plus-one/host.mjs:')
        expect(deprecations.sort((a, b) => (a.code < b.code ? -1 : 1))).toMatchObject([
          { code: '', message: 'DEPRECATED: colours() goes away, password=[FILTERED]', count: 3 },
          { code: 'DEP0005', count: 1, app_versions: ['1.2.3'], places: [{ place: host_place, count: 1 }] },
          { code: 'HOST001', message: 'old() is deprecated, use fresh()', count: 1, places: [{ place: host_place }] },
          { code: 'OWN', message: 'left by hand', count: 3, places: [{ place: host_place, count: 3 }] },
        ])
      })
    })

    describe('with detection off', () => {
      test('counts nothing with detection off', { timeout: 60_000 }, async () => {
        for (const off of [{ enable_breadcrumbs: true }, { ...ON, enable_breadcrumbs: false }]) {
          const storage = await freshStorage(database)
          const settings = settingsOf(storage, off)
          const host = await startQueryHost(process.execPath, { settings, urls: { none: '' } })
          await host.get('/none/orders/9')
          await host.get('/deprecated')
          expect(await host.stop()).toBe(0)
          expect(await everythingStored(storage.url)).toBe('[[],[]]')
        }
      })
    })
  },
  { except: ['postgres', 'mysql'] },
)

function everythingStored(url: string): Promise<string> {
  return withDatabase(url, async ({ read }) =>
    JSON.stringify([
      await read.selectFrom('faultboard_repeated_statement_hours').selectAll().execute(),
      await read.selectFrom('faultboard_deprecation_hours').selectAll().execute(),
    ]),
  )
}
