import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { LogErrorInput } from '../../src/capture/fields.js'
import type { TrackerInstance } from '../../src/tracker.js'
import { describeEachDatabase } from '../support/databases.js'
import { freshTracker, temporaryFolder, trackerAt, withDatabase } from '../support/tracker.js'

const TABLES = ['errors', 'error_search', 'payloads', 'occurrences', 'error_users', 'activities', 'comments'] as const
const SECRET = /s3cr3t|4111.?1111/

/** One secret in every place that can hold one. */
function leaky(): LogErrorInput {
  const root = new Error('connect postgres://anna:s3cr3t@db.example failed')
  root.stack = 'Error\n    at load (https://shop.example/a.js?token=s3cr3t:1:2)'
  const cause = new Error('token=s3cr3t', { cause: root })
  const exception = new AggregateError([new Error('api_key: "s3cr3t"')], 'login failed: password=s3cr3t', { cause })
  Object.assign(exception, { path: '/x?token=s3cr3t', code: 'Bearer s3cr3t-s3cr3t' })
  return {
    exception,
    request_url:
      'https://anna:s3cr3t@shop.example/login?token=s3cr3t&user%5Bpassword%5D=s3cr3t&q=1#access_token=s3cr3t',
    request_params: {
      user: { name: 'anna', password: 's3cr3t', newPassword2: 's3cr3t' },
      list: [{ token: 's3cr3t' }],
      note: 'my password: s3cr3t',
      payment: 4111111111111111,
      text: '4111 1111 1111 1111',
      '{"password":"s3cr3t"}': '',
      map: new Map([['secret', 's3cr3t']]),
      inner: new Error('token=s3cr3t'),
      salary: 's3cr3t',
    },
    user_agent: 'Client/1.0 token=s3cr3t',
    context: {
      headers: { Authorization: 'Bearer s3cr3t', cookie: 'a=s3cr3t', 'x-api-key': 's3cr3t' },
      deep: { a: { jwt: 's3cr3t' } },
    },
    tags: { api_key: 's3cr3t', note: 'password=s3cr3t' },
    source: 'token=s3cr3t',
    request: {
      method: 'GET',
      route: '/login?token=s3cr3t',
      headers: { referer: 'https://shop.example/?token=s3cr3t', 'x-api-key': 's3cr3t' },
      content_type: 'text/plain; password=s3cr3t',
    },
  }
}

/** The same in what the host had set and left behind before the error. */
function leaveSecrets(tracker: TrackerInstance): void {
  tracker.setContext({ login: { password: 's3cr3t' }, note: 'token=s3cr3t' })
  tracker.setTags({ access_token: 's3cr3t' })
  tracker.addBreadcrumb({
    category: 'password=s3cr3t',
    message: 'GET https://anna:s3cr3t@api.example/items?token=s3cr3t',
    metadata: { authorization: 'Bearer s3cr3t', url: 'https://api.example/?api_key=s3cr3t', nested: { jwt: 's3cr3t' } },
  })
}

function logLeaky(tracker: TrackerInstance) {
  return tracker.withScope(() => {
    leaveSecrets(tracker)
    return tracker.Commands.LogError.call(leaky())
  })
}

const fromBrowser: LogErrorInput = {
  error_type: 'CartError',
  message: 'x',
  backtrace: ['CartError: password=s3cr3t', 'total@https://shop.example/a.js?token=s3cr3t:1:2'],
}

describeEachDatabase('sensitive data is replaced before anything is stored', (database) => {
  test('in every row of every table', async () => {
    const { tracker, url } = await freshTracker(database, {
      sensitive_data_patterns: ['salary'],
      enable_breadcrumbs: true,
    })
    const logged = await logLeaky(tracker)
    await tracker.Commands.LogError.call(fromBrowser)
    const rows = await withDatabase(url, async ({ read }) =>
      Promise.all(
        TABLES.map(async (table) => (await sql`select * from ${sql.table(`faultboard_${table}`)}`.execute(read)).rows),
      ),
    )
    const stored = JSON.stringify(rows)
    expect(stored).not.toMatch(SECRET)
    expect(JSON.stringify(logged)).not.toMatch(SECRET)
    const error = await tracker.Queries.FindError.call({ error_id: logged?.id ?? 0 })
    expect(error.message).toBe('login failed: password=[FILTERED]')
    expect(error.request_url).toBe(
      'https://[FILTERED]@shop.example/login?token=[FILTERED]&user%5Bpassword%5D=[FILTERED]&q=1#access_token=[FILTERED]',
    )
    expect(error.causes[0]).toMatchObject({
      message: 'token=[FILTERED]',
      causes: [{ message: 'connect postgres://[FILTERED]@db.example failed' }],
    })
    expect(error.request_params).toMatchObject({
      user: { name: 'anna', password: '[FILTERED]', newPassword2: '[FILTERED]' },
      note: 'my password: [FILTERED]',
      payment: '[FILTERED]',
      salary: '[FILTERED]',
      map: { secret: '[FILTERED]' },
    })
    expect(error.context).toMatchObject({
      headers: { Authorization: '[FILTERED]', cookie: '[FILTERED]' },
      login: { password: '[FILTERED]' },
    })
    expect(error.tags).toMatchObject({ api_key: '[FILTERED]', access_token: '[FILTERED]' })
    expect(error.request).toMatchObject({ method: 'GET', headers: { 'x-api-key': '[FILTERED]' } })
    expect(error.breadcrumbs).toMatchObject([
      {
        message: 'GET https://[FILTERED]@api.example/items?token=[FILTERED]',
        metadata: { authorization: '[FILTERED]' },
      },
    ])
  })
})

describe('sensitive data is replaced before anything is spooled', () => {
  const spooled = (folder: string) =>
    readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join()

  test('while the database is away', async () => {
    const spool_path = temporaryFolder()
    const { tracker, lines } = trackerAt(
      { url: 'postgres://anna:s3cr3t@127.0.0.1:1/shop', spool_path },
      { sensitive_data_patterns: ['salary'], enable_breadcrumbs: true },
    )
    expect(await logLeaky(tracker)).toMatchObject({ state: 'spooled' })
    expect(await tracker.Commands.LogError.call(fromBrowser)).toMatchObject({ state: 'spooled' })
    expect(spooled(spool_path)).toContain('login failed: password=[FILTERED]')
    expect(spooled(spool_path)).not.toMatch(SECRET)
    expect(lines.join()).not.toMatch(SECRET)
  })
})

describe('filter_sensitive_data', () => {
  const place = () => ({ url: `sqlite:${join(temporaryFolder(), 'x.sqlite3')}`, spool_path: temporaryFolder() })

  test('false stores everything as it came', async () => {
    const { tracker } = trackerAt(place(), { filter_sensitive_data: false })
    const logged = await tracker.Commands.LogError.call(leaky())
    expect(logged?.message).toBe('login failed: password=s3cr3t')
  })

  test('a filter that fails drops the value and keeps the error', async () => {
    class Broken extends RegExp {
      override test(): boolean {
        throw new Error('no')
      }
    }
    const { tracker } = trackerAt(place(), { sensitive_data_patterns: [new Broken('x')], enable_breadcrumbs: true })
    const logged = await logLeaky(tracker)
    expect(logged).toMatchObject({ state: 'recorded', message: '[FILTERED]' })
    const error = await tracker.Queries.FindError.call({ error_id: logged?.id ?? 0 })
    expect(JSON.stringify(error)).not.toMatch(SECRET)
  })
})
