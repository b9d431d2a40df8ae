import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { sql } from '../../src/store/kysely.js'
import { startProxy } from '../support/databases/proxy.js'
import { describeEachDatabase } from '../support/databases.js'
import { type Host, startHost } from '../support/host.js'
import { temporaryFolder, withDatabase } from '../support/tracker.js'

describeEachDatabase(
  'the dashboard without its database',
  (database) => {
    test('returns 503 with a plain message until the database recovers, and logs the cause', async () => {
      const proxy = await startProxy(await database.fresh())
      const host = await start(proxy.url)
      expect((await host.get('/errors')).status).toBe(200)
      await proxy.refuse()

      const page = await host.get('/errors')
      expect(page.status).toBe(503)
      expect(Number(page.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(page.headers.get('cache-control')).toBe('no-store')
      expect(await page.text()).toContain('The database is unreachable or locked')
      expect(await host.json('/errors')).toEqual({
        status: 503,
        error: 'The database is unreachable or locked. New errors are buffered and saved once it is available.',
      })
      expect(host.lines.join('')).toMatch(/request failed: \/errors: .*(ECONN|PROTOCOL|[Cc]onnection)/)

      await host.tracker.Commands.LogError.call({ error_type: 'ShopError', message: 'kept during the outage' })
      expect(await (await host.get('/health')).text()).toContain('title="Health: failing"')

      await proxy.open()
      await vi.waitFor(async () => expect((await host.get('/errors')).status).toBe(200))
    })

    test('returns 503 for requests that were waiting', async () => {
      const proxy = await startProxy(await database.fresh())
      const host = await start(proxy.url)
      expect((await host.get('/errors')).status).toBe(200)
      proxy.hang()
      const page = host.get('/errors')
      await proxy.dataHeld()
      await proxy.refuse()
      expect((await page).status).toBe(503)
    })

    test('returns 503 with Retry-After for a database that is not migrated', async () => {
      const host = await start(await database.empty())
      const response = await host.get('/errors.json')
      expect(response.status).toBe(503)
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    })
  },
  { except: ['sqlite'] },
)

test('returns 503 for a change to a SQLite file that another process has locked', async () => {
  const url = `sqlite:${join(temporaryFolder(), 'errors.sqlite3')}`
  const host = await start(url)
  const recorded = await host.tracker.Commands.LogError.call({ error_type: 'ShopError', message: 'out of stock' })
  const assign = () => host.post(`/errors/${recorded?.id}/assign`, { assigned_to: 'anna' })
  await withDatabase(url, ({ write }) =>
    write(async (trx) => {
      await sql`update faultboard_errors set occurrence_count = occurrence_count`.execute(trx)
      const response = await assign()
      expect(response.status).toBe(503)
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    }),
  )
  expect((await assign()).status).toBe(302)
})

test.each([
  ['a bug', () => new Error('nothing a driver says')],
  [
    'a bug that Node.js numbers',
    () => Object.assign(new TypeError('wrong argument'), { code: 'ERR_INVALID_ARG_TYPE' }),
  ],
  ['a file', () => Object.assign(new Error('EACCES'), { code: 'EACCES', path: '/srv/spool' })],
])('does not treat %s as a lost database', async (_case, thrown) => {
  let broken = false
  const host = await start('sqlite::memory:', () => {
    // The handler reads the clock first, then the page. Only the page must fail.
    if (broken && new Error().stack?.includes('errors-list')) throw thrown()
    return Date.now()
  })
  expect((await host.get('/errors?timeframe=today')).status).toBe(200)
  broken = true
  const response = await host.get('/errors?timeframe=today')
  expect(response.status).toBe(500)
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
})

async function start(database: string, now = Date.now): Promise<Host> {
  const host = await startHost(database, {}, { now })
  onTestFinished(() => host.close())
  return host
}
