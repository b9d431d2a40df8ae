import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Host, startHost } from '../../../support/host.js'

let host: Host

beforeAll(async () => {
  host = await startHost('sqlite::memory:')
  const { Commands } = host.tracker
  await Commands.LogError.call({
    error_type: 'PaymentDeclinedError',
    message: 'Card declined: insufficient funds',
    request_url: '/checkout/5',
    user_id: 42,
  })
  await Commands.LogError.call({ error_type: 'TypeError', message: 'x is undefined', user_id: 42 })
})

afterAll(() => host.close())

const encoded = (query: string) => `query=${encodeURIComponent(query)}`

describe('the parameter query', () => {
  test('filters JSON, CSV and live updates', async () => {
    const path = encoded('PaymentDeclined insufficient user:42 url:/checkout')
    expect(await host.json(`/errors?${path}`)).toMatchObject({
      errors: [{ error_type: 'PaymentDeclinedError' }],
      pagination: { total_count: 1 },
    })
    const csv = await (await host.get(`/errors.csv?${path}`)).text()
    expect(csv.split('\r\n')).toHaveLength(3)
    const since = new Date(Date.now() - 60_000).toISOString()
    expect(await host.json(`/errors/changes?${path}&since=${since}`)).toMatchObject({ new_count: 1 })
    expect(await host.json(`/errors/changes?${encoded('-user:42')}&since=${since}`)).toMatchObject({ new_count: 0 })
    expect(await host.json('/errors?query=%20')).toMatchObject({ pagination: { total_count: 2 } })
  })

  test('returns 422 if the name of the user makes a query with assigned:me too long', async () => {
    const name = '\\'.repeat(255)
    const named = await startHost('sqlite::memory:', { authenticate: () => ({ name, role: 'admin' as const }) })
    onTestFinished(() => named.close())
    const path = (length: number) => `/errors.json?${encoded(`${'x'.repeat(length)} assigned:me`)}`
    expect((await named.get(path(478))).status).toBe(200)
    const response = await named.get(path(479))
    expect([response.status, await response.json()]).toEqual([
      422,
      {
        error:
          'query is too long with your name instead of assigned:me at character 481. Shorten the query by 1 character.',
        position: 481,
      },
    ])
    const list_query = encoded(`${'x'.repeat(479)} assigned:me`)
    const action = await named.post('/errors/batch_action', {
      selection: 'matching',
      action_type: 'resolve',
      list_query,
    })
    expect(action.status).toBe(422)
    expect(await action.text()).toContain('too long with your name')
  })

  test('finds the errors of the signed-in user with assigned:me, in lists and batches', async () => {
    const [error] = await host.tracker.Queries.ErrorsList.call({ query: 'type:TypeError' })
    await host.tracker.Commands.AssignError.call({ error_id: error?.id ?? 0, assigned_to: 'admin' })
    expect(await host.json(`/errors?${encoded('assigned:me')}`)).toMatchObject({
      errors: [{ error_type: 'TypeError' }],
      pagination: { total_count: 1 },
    })
    const html = await (await host.get(`/errors?${encoded('assigned:me')}`, { accept: 'text/html' })).text()
    expect(html).toContain('name="list_query" value="query=assigned%3A%22admin%22"')
  })

  test('returns 422 with the position for a malformed query, in every format', async () => {
    const path = encoded('declined "insufficient')
    const message =
      'query has an unclosed quote at character 10. Add a closing quote, or write \\" for a quote and \\\\ for a backslash in a phrase.'
    for (const url of [`/errors.json?${path}`, `/errors.csv?${path}`, `/errors/changes?${path}&since=2026-01-01`]) {
      const response = await host.get(url, { accept: 'application/json' })
      expect(response.status, url).toBe(422)
      if (!url.includes('.csv')) expect(await response.json()).toEqual({ error: message, position: 10 })
    }
  })

  test('shows a malformed query and its problem in the list page', async () => {
    const response = await host.get(`/errors?${encoded('<b> "x')}&search=x`, { accept: 'text/html' })
    expect(response.status).toBe(422)
    const html = await response.text()
    expect(html).toContain('Your search has an unclosed quote at character 5')
    expect(html).toContain('value="&lt;b&gt; &quot;x"')
    // Another invalid parameter shows the general error page.
    expect((await host.get(`/errors?${encoded('"x')}&severity=dire`, { accept: 'text/html' })).status).toBe(422)
  })

  test('keeps the older parameter as a chip next to the search box', async () => {
    const html = await (await host.get('/errors?search=declined&query=user:42', { accept: 'text/html' })).text()
    expect(html).toContain('<input type="hidden" name="search" value="declined"')
    expect(html).toMatch(/name="query"[^>]*value="user:42"/)
    expect(html).toMatch(/<span class="chip-label">Search <\/span><bdi>declined<\/bdi>/)
  })

  test('explains an unknown operator in an empty list, with a link to the corrected query', async () => {
    const empty = async (query: string) => {
      const html = await (await host.get(`/errors?unresolved=true&${encoded(query)}`, { accept: 'text/html' })).text()
      return /<span class="empty-line hint">.*?<\/span>/s.exec(html)?.[0] ?? ''
    }
    const hint = await empty('usr:42 nothing')
    expect(hint.replace(/<[^>]*>/g, '')).toBe(
      'usr: is not an operator, so it was searched as text. Did you mean user:42?',
    )
    expect(hint).toMatch(/href="[^"]*\/errors\?unresolved=true&amp;query=user%3A42\+nothing"/)
    expect((await empty('<b>:x foo:<i>')).replace(/<[^>]*>/g, '')).toBe(
      'foo: is not an operator, so it was searched as text. To find a tag, search for tag:foo=&lt;i&gt;.',
    )
    expect(await empty('nothing')).toBe('')
  })

  test('marks the searched words in a row, and names those that the row does not show', async () => {
    const row = async (query: string) => {
      const html = await (await host.get(`/errors?${encoded(query)}`, { accept: 'text/html' })).text()
      return /<tr data-row.*?<\/tr>/s.exec(html)?.[0] ?? ''
    }
    const html = await row('DECLINED card -secretly')
    expect(html).toContain('<bdi>Payment<mark>Declined</mark>Error</bdi>')
    expect(html).toContain('<mark>Card</mark> <mark>declined</mark>: insufficient funds</bdi>')
    expect(html).not.toContain('in the details')
    expect(await row('declined "/checkout"')).toMatch(/<small title="[^"]*">“\/checkout” in the details<\/small>/)
    expect(await row('type:PaymentDeclinedError')).not.toContain('<mark>')
    // Characters with a meaning in patterns.
    for (const query of ['a+b (', '\\ ^$ [x', '*', '-('])
      expect((await host.get(`/errors?${encoded(query)}`)).status).toBe(200)
  })

  test('shows the part of a long message that contains a searched word', async () => {
    const long = await startHost('sqlite::memory:')
    onTestFinished(() => long.close())
    await long.tracker.Commands.LogError.call({ error_type: 'LongError', message: `${'x'.repeat(500)} findable y` })
    const html = await (await long.get('/errors?query=findable', { accept: 'text/html' })).text()
    expect(html).toMatch(/<bdi class="message">…x{23} <mark>findable<\/mark> y<\/bdi>/)
  })

  test('rejects hostile queries quickly', async () => {
    for (const query of [
      'x'.repeat(10_000),
      '"'.repeat(5000),
      '-'.repeat(5000),
      '*'.repeat(1001),
      'is:'.repeat(2000),
    ]) {
      const response = await host.get(`/errors.json?${encoded(query)}`)
      expect(response.status).toBe(422)
      expect(await response.json()).toMatchObject({ position: 1001 })
    }
    for (const query of [
      '\0',
      '\uD800',
      '%',
      '_',
      "' or 1=1 --",
      `type:${'*'.repeat(900)}`,
      `url:${'/*'.repeat(400)}x`,
    ]) {
      const response = await host.get(`/errors.json?${encoded(query.toWellFormed())}`)
      expect(response.status, query).toBe(200)
    }
  })

  test('saved views keep a query and reject a malformed query', async () => {
    const list_query = encoded('user:42 -declined')
    const saved = await host.post('/saved_views', { name: 'User 42', list_query })
    expect(saved.headers.get('location')).toContain('query=user%3A42+-declined')
    const rejected = await host.post('/saved_views', { name: 'Broken', list_query: encoded('"x') })
    expect(rejected.status).toBe(422)
  })

  test('shows an error without neighbors if the link to it contains a malformed query', async () => {
    const { errors } = await host.tracker.Queries.ErrorsList.page({})
    const response = await host.get(
      `/errors/${errors[0]?.id}?list_page=1&list_query=${encodeURIComponent(encoded('"x'))}`,
    )
    expect(response.status).toBe(200)
  })
})
