import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { LogErrorInput } from '../../../src/capture/fields.js'
import type { TrackerInstance } from '../../../src/tracker.js'
import { describeOneDatabase } from '../../support/databases.js'
import { freshTracker, temporaryFolder, trackerAt, withDatabase } from '../../support/tracker.js'

const TABLES = ['errors', 'error_search', 'payloads', 'occurrences', 'error_users', 'activities', 'comments'] as const
const SECRET = /s3cr3t|4111.?1111/

/** Contains one secret in every field that can hold a secret. */
function leakyError(): LogErrorInput {
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
      form: 'user[password]=s3cr3t&password[]=s3cr3t',
    },
    tags: { api_key: 's3cr3t', note: 'password=s3cr3t', next: '/a%3Ftoken%3Ds3cr3t' },
    source: 'token=s3cr3t',
    request: {
      method: 'GET',
      route: '/login?token=s3cr3t',
      headers: { referer: 'https://shop.example/?next=%2Fa%3Fb%3D1%26token%3Ds3cr3t', 'x-api-key': 's3cr3t' },
      content_type: 'text/plain; password=s3cr3t',
    },
  }
}

/** Adds secrets to the scope and to breadcrumbs before the error. */
function addSecretsToScope(tracker: TrackerInstance): void {
  tracker.setContext({ login: { password: 's3cr3t' }, note: 'token=s3cr3t' })
  tracker.setTags({ access_token: 's3cr3t' })
  tracker.addBreadcrumb({
    category: 'password=s3cr3t',
    message: 'GET https://anna:s3cr3t@api.example/items?token=s3cr3t',
    metadata: { authorization: 'Bearer s3cr3t', url: 'https://api.example/?api_key=s3cr3t', nested: { jwt: 's3cr3t' } },
  })
}

/** Text with a URL across the limit of a field, so that truncation removes the end of the URL. */
const textAcrossLimit = (limit: number) => `${'x'.repeat(limit)} `.slice(-limit + 28) + DATABASE_URL
const DATABASE_URL = 'postgres://admin:s3cr3t-s3cr3t@db.example'

function logLeakyError(tracker: TrackerInstance) {
  return tracker.withScope(() => {
    addSecretsToScope(tracker)
    return tracker.Commands.LogError.call(leakyError())
  })
}

const BROWSER_ERROR: LogErrorInput = {
  error_type: 'CartError',
  message: 'x',
  backtrace: ['CartError: password=s3cr3t', 'total@https://shop.example/a.js?token=s3cr3t:1:2'],
}

describeOneDatabase('redaction before storing', (database) => {
  test('replaces secrets in every row of every table', async () => {
    const { tracker, url } = await freshTracker(database, {
      sensitive_data_patterns: ['salary'],
      enable_breadcrumbs: true,
    })
    const logged = await logLeakyError(tracker)
    await tracker.Commands.LogError.call(BROWSER_ERROR)
    const rows = await withDatabase(url, async ({ read }) =>
      Promise.all(
        TABLES.map(async (table) => (await sql`select * from ${sql.table(`faultboard_${table}`)}`.execute(read)).rows),
      ),
    )
    const storedText = JSON.stringify(rows)
    expect(storedText).not.toMatch(SECRET)
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

describeOneDatabase('redaction of stored values', (database) => {
  const logAndFind = async (input: LogErrorInput) => {
    const { tracker } = await freshTracker(database)
    const logged = await tracker.Commands.LogError.call(input)
    return tracker.Queries.FindError.call({ error_id: logged?.id ?? 0 })
  }

  test('replaces a secret that crosses the length limit', async () => {
    const cause = new Error(textAcrossLimit(2000))
    const error = await logAndFind({
      exception: new Error(textAcrossLimit(10_000), { cause }),
      request_url: `/${textAcrossLimit(2048).replace(' ', '?u=')}`,
      user_agent: textAcrossLimit(512),
      user_id: textAcrossLimit(255),
      app_version: textAcrossLimit(128),
      git_sha: textAcrossLimit(64),
    })
    expect(JSON.stringify(error)).not.toContain('s3c')
    expect(error.message).toHaveLength(10_000)
    expect(error.causes[0]?.message).toHaveLength(2000)
    expect(error.message).toMatch(/x postgres:\/\/\[FILTERED\]@/)
  })

  test('replaces secrets in URLs and objects inside a URL parameter', async () => {
    const params = ['next=%2Fa%3Ftoken%3Ds3cr3t', 'back=%2Fa%3Fb%3D1%26token%3Ds3cr3t', 'x=token=s3cr3t']
    for (const param of params) {
      const { request_url } = await logAndFind({ exception: new Error('x'), request_url: `/x?${param}` })
      expect(request_url).toBe(`/x?${param.replace('s3cr3t', '[FILTERED]')}`)
    }
    const request_url = '/x?q=%7B%22password%22%3A%22s3cr3t%22%7D&page=2'
    expect((await logAndFind({ exception: new Error('x'), request_url })).request_url).toBe(
      '/x?q=%7B%22password%22%3A[FILTERED]%7D&page=2',
    )
  })

  test.each([
    ['/c?sv=1&sig=s3cr3t', '/c?sv=1&sig=[FILTERED]'],
    ['https://hooks.slack.com/services/T0/B0/s3cr3t', 'https://hooks.slack.com/services/[FILTERED]'],
    ['/x/sk-proj-abcdefghijkl-s3cr3t', '/x/[FILTERED]'],
  ])('replaces a secret in a URL without a sensitive key: %s', async (request_url, expected) => {
    expect((await logAndFind({ exception: new Error('x'), request_url })).request_url).toBe(expected)
  })

  test('replaces secrets in thrown objects, causes and messages by key', async () => {
    const thrown = { secrets: [['a'], 's3cr3t'], order: 5 }
    expect((await logAndFind({ exception: thrown })).message).toBe('{ secrets: [FILTERED], order: 5 }')
    const cause = { inner: { token: { value: 's3cr3t' } } }
    const error = await logAndFind({ exception: new Error('x', { cause }) })
    expect(error.causes[0]?.message).toBe('{ inner: { token: [FILTERED] } }')
    const message = { pin: new Map([['a', 's3cr3t']]), order: 5 }
    const errorWithObjectMessage = await logAndFind({ exception: Object.assign(new Error('x'), { message }) })
    expect(errorWithObjectMessage.message).toBe('{ pin: [FILTERED], order: 5 }')
  })
})

describe('redaction before spooling', () => {
  const readSpool = (folder: string) =>
    readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join()

  test('replaces secrets while the database is unreachable', async () => {
    const spool_path = temporaryFolder()
    const { tracker, lines } = trackerAt(
      { url: 'postgres://anna:s3cr3t@127.0.0.1:1/shop', spool_path },
      { sensitive_data_patterns: ['salary'], enable_breadcrumbs: true },
    )
    expect(await logLeakyError(tracker)).toMatchObject({ state: 'spooled' })
    expect(await tracker.Commands.LogError.call(BROWSER_ERROR)).toMatchObject({ state: 'spooled' })
    expect(readSpool(spool_path)).toContain('login failed: password=[FILTERED]')
    expect(readSpool(spool_path)).not.toMatch(SECRET)
    expect(lines.join()).not.toMatch(SECRET)
  })
})

describe('filter_sensitive_data', () => {
  const freshStorage = () => ({ url: `sqlite:${join(temporaryFolder(), 'x.sqlite3')}`, spool_path: temporaryFolder() })

  test('stores values unchanged if filter_sensitive_data is false', async () => {
    const { tracker } = trackerAt(freshStorage(), { filter_sensitive_data: false })
    const logged = await tracker.Commands.LogError.call(leakyError())
    expect(logged?.message).toBe('login failed: password=s3cr3t')
  })

  test('drops the value and keeps the error if the filter fails', async () => {
    class Broken extends RegExp {
      override test(): boolean {
        throw new Error('no')
      }
    }
    const { tracker } = trackerAt(freshStorage(), {
      sensitive_data_patterns: [new Broken('x')],
      enable_breadcrumbs: true,
    })
    const logged = await logLeakyError(tracker)
    expect(logged).toMatchObject({ state: 'recorded', message: '[FILTERED]' })
    const error = await tracker.Queries.FindError.call({ error_id: logged?.id ?? 0 })
    expect(JSON.stringify(error)).not.toMatch(SECRET)
    const thrown = await tracker.Commands.LogError.call({ exception: { order: 's3cr3t' } })
    expect(thrown).toMatchObject({ state: 'recorded', message: '[unreadable]' })
  })
})
