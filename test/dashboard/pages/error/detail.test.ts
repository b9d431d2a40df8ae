import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ErrorRecord } from '../../../../src/triage/queries/error-record.js'
import { describeOneDatabase } from '../../../support/databases.js'
import { type Host, startHost } from '../../../support/host.js'
import { temporaryFolder, withDatabase } from '../../../support/tracker.js'

const HOUR = 3_600_000

interface DetailJson {
  error: ErrorRecord & {
    history: { hours: { count: number }[]; days: { count: number }[]; platforms: unknown[] }
    top_users: { users: unknown[]; scope: string }
    grouping: { by: string }
  }
}

describeOneDatabase('the page of one error', (database) => {
  let host: Host
  let id: number

  beforeAll(async () => {
    host = await startHost(await database.fresh())
    for (let i = 0; i < 30; i++) {
      const logged = await host.tracker.Commands.LogError.call({
        error_type: 'CartError',
        message: `Order ${i} is empty`,
        backtrace: [`at total (src/cart.ts:${i + 1}:2)`],
        occurred_at: Date.now() - (30 - i) * HOUR,
        user_id: `user-${i % 3}`,
        request_url: 'https://shop.example/pay',
      })
      id = logged?.id ?? 0
    }
  })
  afterAll(() => host.close())

  const page = async (query = '') => {
    const response = await host.get(`/errors/${id}${query}`)
    expect(response.status).toBe(200)
    return response.text()
  }
  const json = async (query = '') => ((await host.json(`/errors/${id}${query}`)) as unknown as DetailJson).error

  test('returns JSON with everything that the page shows', async () => {
    const error = await json()
    expect(error).toMatchObject({
      error_type: 'CartError',
      occurrence_count: 30,
      comments: [],
      activities: [],
      occurrence: { position: 1, next_id: null, message: 'Order 29 is empty' },
      occurrences_pagination: { page: 1, per_page: 25, total_count: 30, total_pages: 2 },
      grouping: { grouped_by: 'parts', message: 'Order <number> is empty', place: ['src/cart.ts#total'] },
      top_users: { scope: 'all' },
    })
    expect(error.occurrences).toHaveLength(25)
    expect(error.history.days).toHaveLength(30)
    expect(error.history.hours.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThanOrEqual(22)
    expect(error.top_users.users).toHaveLength(3)
  })

  test('pages through the occurrences', async () => {
    expect((await json('?page=2')).occurrences).toHaveLength(5)
    expect(await page('?page=2')).toContain('Page 2 of 2')
    expect(await page()).toMatch(/30 in total, latest 30 stored/)
  })

  test('shows the selected occurrence with links to its neighbors', async () => {
    const [, second] = (await json()).occurrences
    const text = await page(`?occurrence_id=${second?.id}`)
    expect(text).toContain('Occurrence 2 of 30 stored')
    expect(text).toContain('<h1><bdi>Order 28 is empty</bdi>')
    expect(text).toContain('src/cart.ts:29:2')
    const { occurrence: shown, ...selected } = await json(`?occurrence_id=${second?.id}`)
    expect(selected).toMatchObject({ message: 'Order 28 is empty', place: 'src/cart.ts:29 in total' })
    expect(text).toContain('<span class="muted"><code title="src/cart.ts:29 in total">')
    expect(text).toContain('<title>Order 28 is empty · ')
    expect(text).toContain(`occurrence_id=${shown?.previous_id}`)
    expect(text).toContain(`occurrence_id=${shown?.next_id}`)
  })

  test('returns 404 for an unknown occurrence and 422 for an invalid id', async () => {
    expect((await host.get(`/errors/${id}?occurrence_id=999999`)).status).toBe(404)
    const response = await host.get(`/errors/${id}?occurrence_id=first`)
    expect(response.status).toBe(422)
    expect(await response.text()).toContain('occurrence_id')
    expect((await host.get(`/errors/${id}?range=year`)).status).toBe(422)
  })

  test('returns 404 when another application is selected', async () => {
    const { application_id } = await json()
    expect((await host.get(`/errors/${id}?application_id=${application_id}`)).status).toBe(200)
    expect((await host.get(`/errors/${id}?application_id=${application_id + 1}`)).status).toBe(404)
    const other = { application_id: String(application_id + 1), assigned_to: 'eve' }
    expect((await host.post(`/errors/${id}/assign`, other)).status).toBe(404)
    expect((await json()).assigned_to).toBeNull()
  })

  test('redirects every action to the same application and occurrence', async () => {
    const { application_id, occurrence } = await json()
    const response = await host.post(`/errors/${id}/update_priority`, {
      priority_level: '2',
      application_id: String(application_id),
      occurrence_id: String(occurrence?.id),
    })
    expect(response.status).toBe(302)
    expect(response.headers.get('location')).toBe(
      `/error_dashboard/errors/${id}?application_id=${application_id}&occurrence_id=${occurrence?.id}`,
    )
    expect((await json()).priority_level).toBe(2)
  })
})

test('renders an error without message, stack trace or stored occurrences', async () => {
  const database = `sqlite:${join(temporaryFolder(), 'errors.sqlite3')}`
  const host = await startHost(database)
  const logged = await host.tracker.Commands.LogError.call({ error_type: 'Bare', message: '', backtrace: [] })
  const bare = await (await host.get(`/errors/${logged?.id}`)).text()
  expect(bare).toContain('(no message)')
  expect(bare).toContain('No stack trace.')
  await withDatabase(database, (db) => db.write((trx) => trx.deleteFrom('faultboard_occurrences').execute()))
  const { error } = (await host.json(`/errors/${logged?.id}`)) as unknown as DetailJson
  expect(error).toMatchObject({ occurrence: null, occurrences: [], occurrence_count: 1, breadcrumbs: [] })
  expect((await host.get(`/errors/${logged?.id}`)).status).toBe(200)
  await host.close()
})

describe('hostile content', () => {
  let host: Host
  let text: string

  const EVIL = '</textarea></script><img src=x onerror=alert(1)>'

  beforeAll(async () => {
    host = await startHost('sqlite::memory:', { enable_breadcrumbs: true })
    const { tracker } = host
    tracker.addBreadcrumb({ category: EVIL, message: EVIL, metadata: { [EVIL]: EVIL } })
    const logged = await tracker.Commands.LogError.call({
      error_type: EVIL,
      message: `${EVIL}\n${'long '.repeat(2000)}`,
      backtrace: Array.from({ length: 200 }, (_, i) => `at ${EVIL} (/srv/${EVIL}/file-${i}.ts:${i + 1}:1)`),
      request_url: `https://shop.example/?q=${EVIL}`,
      request: { method: EVIL, route: EVIL, headers: { referer: EVIL } },
      request_params: JSON.parse(
        `{"__proto__":{"polluted":"${EVIL}"},"constructor":"x","<b>key</b>":[{"a":{"b":"c"}}]}`,
      ),
      user_agent: EVIL,
      user_id: EVIL,
      ip_address: EVIL,
      platform: EVIL,
      app_version: EVIL,
      tags: { [EVIL]: EVIL },
      context: { nested: { [EVIL]: { deeper: EVIL } } },
    })
    const error_id = logged?.id ?? 0
    const actor = EVIL
    await tracker.Commands.AssignError.call({ error_id, assigned_to: EVIL, actor })
    await tracker.Commands.AddComment.call({ error_id, author_name: EVIL, body: `${EVIL}\njavascript:alert(1)` })
    await tracker.Commands.SnoozeError.call({ error_id, hours: 1, reason: EVIL, actor })
    await tracker.Commands.ResolveError.call({
      error_id,
      resolved_by: EVIL,
      resolution_comment: EVIL,
      resolution_reference: 'javascript:alert(1)',
    })
    text = await (await host.get(`/errors/${error_id}`)).text()
  })
  afterAll(() => host.close())

  test('hostile content is rendered as text everywhere', () => {
    expect(text).toContain('&lt;/textarea&gt;&lt;/script&gt;&lt;img')
    expect(text).not.toContain('<img')
    expect(text).not.toMatch(/<b>key/)
    expect(text.match(/<textarea\b/g)).toHaveLength(text.match(/<\/textarea>/g)?.length ?? 0)
  })

  test('hostile content becomes a link only for http and https URLs', () => {
    expect(text).toContain('javascript:alert(1)')
    expect(text).not.toMatch(/href="\s*javascript:/i)
    for (const [, href = ''] of text.matchAll(/href="([^"]*)"/g))
      expect(href).toMatch(/^(?:\/error_dashboard|#|data:image\/svg)/)
  })

  test('does not pollute prototypes', () => {
    expect(text).toContain('__proto__.polluted')
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  test('hostile content is collapsed when it is long', () => {
    expect(text).toMatch(/<summary>Show the whole message \([\d,]+ characters\)/)
    expect(text).toMatch(/\d+ more frames/)
  })
})
