import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { ErrorsPage } from '../../../../src/triage/list/errors-list.js'
import { type Host, signIn, startHost } from '../../../support/host.js'
import { temporaryFolder, withDatabase } from '../../../support/tracker.js'

let host: Host
let ids: string[]

beforeAll(async () => {
  host = await startHost('sqlite::memory:')
  for (let i = 0; i < 12; i++) await host.tracker.Commands.LogError.call({ error_type: `Kind${i}`, message: 'm' })
  ids = (await list('sort_by=error_type')).errors.map(({ id }) => String(id))
})

afterAll(() => host.close())

const list = async (query: string) => (await host.json(`/errors?${query}`)) as unknown as ErrorsPage

const act = async (form: Record<string, string | string[]>) => {
  const response = await host.post('/errors/batch_action', form, { accept: 'application/json' })
  return {
    status: response.status,
    to: response.headers.get('location')?.replace('/error_dashboard', ''),
    notice: decodeURIComponent(/faultboard_notice=([^;]*)/.exec(response.headers.get('set-cookie') ?? '')?.[1] ?? ''),
    body: response.status === 302 ? '' : await response.text(),
  }
}

describe('a bulk action', () => {
  test.each([
    [
      { action_type: 'resolve', resolved_by_name: 'Eve', resolution_reference: 'https://git.example/pull/5' },
      '2 errors resolved.',
      { resolved_by_name: 'Eve', resolution_reference: 'https://git.example/pull/5' },
    ],
    [{ action_type: 'assign', assigned_to: 'Bob' }, '2 errors assigned to Bob.', { assigned_to: 'Bob' }],
    [{ action_type: 'unassign', assigned_to: 'left in the field' }, '2 errors unassigned.', { assigned_to: null }],
    [
      { action_type: 'update_status', status: 'in_progress' },
      '2 errors set to in progress.',
      { status: 'in_progress' },
    ],
    [
      { action_type: 'update_priority', priority_level: '4' },
      '2 errors set to priority critical.',
      { priority_level: 4 },
    ],
    [
      { action_type: 'snooze', hours: '1', reason: 'later' },
      '2 errors snoozed for 1 hour.',
      { snooze_reason: 'later' },
    ],
    [
      // The whole form is sent. The value of the snooze menu must be ignored.
      { action_type: 'mute', mute_hours: '', mute_reason: 'known', hours: '24', reason: 'later' },
      '2 errors muted indefinitely.',
      { muted: true, muted_until: null, mute_reason: 'known', muted_by_name: 'admin' },
    ],
    [{ action_type: 'unmute' }, '2 errors unmuted.', { muted: false, mute_reason: null }],
  ])('%j', async (form, notice, expected) => {
    const chosen = ids.slice(0, 2)
    expect(await act({ ...form, 'error_ids[]': chosen })).toMatchObject({ status: 302, to: '/errors', notice })
    const { errors } = await list('per_page=100')
    for (const id of chosen) expect(errors.find((error) => String(error.id) === id)).toMatchObject(expected)
    const untouched = errors.find(({ id }) => String(id) === ids[5])
    expect(untouched).toMatchObject({ status: 'new', priority_level: 0, assigned_to: null, snoozed: false })
  })

  test('reports how many errors are unchanged', async () => {
    const chosen = ids.slice(6, 8)
    const form = { action_type: 'update_priority', priority_level: '3' }
    await act({ ...form, 'error_ids[]': chosen.slice(0, 1) })
    const { notice } = await act({ ...form, 'error_ids[]': chosen })
    expect(notice).toBe('1 error set to priority high, 1 unchanged.')
    expect((await act({ ...form, 'error_ids[]': [...chosen, '999999'] })).notice).toBe(
      '0 errors set to priority high, 2 unchanged, 1 not found.',
    )
  })

  test('changes all errors that match the list and existed when it was shown', async () => {
    const form = { action_type: 'assign', assigned_to: 'Eve', selection: 'matching', list_query: 'search=Kind1' }
    const before = await act({ ...form, listed_at: '2020-01-01T00:00:00Z' })
    expect(before.notice).toBe('0 errors assigned to Eve.')
    const { notice, to } = await act({ ...form, listed_at: new Date().toISOString() })
    expect([notice, to]).toEqual(['3 errors assigned to Eve.', '/errors?search=Kind1'])
    expect((await list('assigned_to=Eve')).errors.map(({ error_type }) => error_type).sort()).toEqual([
      'Kind1',
      'Kind10',
      'Kind11',
    ])
    const invalid = await act({ ...form, list_query: 'severity=extreme' })
    expect([invalid.status, invalid.body]).toEqual([422, expect.stringContaining('severity must be one of')])
  })

  test('replaces the viewer in the query of the matching errors', async () => {
    const form = { action_type: 'update_priority', priority_level: '1', selection: 'matching' }
    await act({ action_type: 'assign', assigned_to: 'admin', 'error_ids[]': ids.slice(3, 5) })
    const ownErrors = await act({ ...form, list_query: 'query=assigned:me' })
    expect(ownErrors.notice).toBe('2 errors set to priority low.')
    const otherErrors = await act({ ...form, list_query: 'query=-assigned:me+assigned:admin' })
    expect(otherErrors.notice).toBe('0 errors set to priority low.')
  })

  test('deletes errors and reports unknown ids', async () => {
    const chosen = [String(ids.pop()), '999999']
    const { notice } = await act({ action_type: 'delete', 'error_ids[]': chosen })
    expect(notice).toBe('1 error deleted, 1 not found.')
    expect((await list('')).pagination.total_count).toBe(ids.length)
  })

  test.each([
    [{ action_type: 'assign' }, 'assigned_to'],
    [{ action_type: 'update_status' }, 'status'],
    [{ action_type: 'update_priority' }, 'priority_level'],
    [{ action_type: 'snooze' }, 'hours'],
    [{ action_type: 'snooze', hours: '9000' }, 'hours'],
    [{ action_type: 'explode' }, 'action_type'],
  ])('refuses %j and names the missing field', async (form, field) => {
    const { status, body } = await act({ ...form, 'error_ids[]': ids.slice(3, 4) })
    expect(status).toBe(422)
    expect(body).toContain(field)
  })

  test('rejects an empty selection', async () => {
    expect(await act({ action_type: 'resolve' })).toMatchObject({ status: 422 })
  })

  test('redirects to the same filters and page and drops other parameters', async () => {
    const { to } = await act({
      action_type: 'resolve',
      'error_ids[]': ids.slice(4, 5),
      list_query: 'unresolved=true&search=a%26b&page=9&evil=1&__proto__=x&application_id=1',
      list_page: '3',
    })
    expect(to).toBe('/errors?unresolved=true&search=a%26b&application_id=1&page=3')
  })

  test.each(['https://evil.example/', '//evil.example', '/../x', '\r\nSet-Cookie: a=b'])(
    'does not redirect to another site for %j',
    async (list_query) => {
      const { status, to } = await act({ action_type: 'resolve', 'error_ids[]': ids.slice(4, 5), list_query })
      expect({ status, to }).toEqual({ status: 302, to: '/errors' })
    },
  )

  test('does not change errors outside the selected application', async () => {
    const { notice } = await act({ action_type: 'delete', 'error_ids[]': ids.slice(6, 8), application_id: '77' })
    expect(notice).toBe('0 errors deleted, 2 not found.')
  })

  test('redirects to the selected application, including from the error page', async () => {
    const { to } = await act({ action_type: 'delete', 'error_ids[]': ['999999'], application_id: '1' })
    expect(to).toBe('/errors?application_id=1')
  })
})

describe('saved views', () => {
  const send = async (path: string, form: Record<string, string>) => {
    const response = await host.post(path, form)
    return { status: response.status, to: response.headers.get('location')?.replace('/error_dashboard', '') }
  }
  const views = async (path = '/errors') => {
    const html = await (await host.get(path, { accept: 'text/html' })).text()
    return [...html.matchAll(/<li><a href="([^"]*)"([^>]*)><bdi>(.*?)<\/bdi>.*?saved_views\/(\d+)\/delete/gs)].map(
      ([, href, more, name, id]) => ({ href, is_current: more?.includes('aria-current'), name, id }),
    )
  }

  test('saved views can be saved, listed, replaced and deleted', async () => {
    const list_query = 'severity=high&page=4&evil=1'
    expect(await send('/saved_views', { name: 'Mine', list_query })).toEqual({
      status: 302,
      to: '/errors?severity=high',
    })
    expect(await views()).toMatchObject([
      { href: '/error_dashboard/errors?severity=high', is_current: false, name: 'Mine' },
    ])
    expect(await views('/errors?severity=high&page=1')).toMatchObject([{ is_current: true }])

    await send('/saved_views', { name: 'Mine', list_query: 'status=new' })
    const [savedView] = await views()
    expect(savedView?.href).toBe('/error_dashboard/errors?status=new')

    const deletion = await send(`/saved_views/${savedView?.id}/delete`, { list_query: 'status=new&evil=1' })
    expect(deletion).toEqual({ status: 302, to: '/errors?status=new' })
    expect(await views()).toEqual([])
    expect((await send(`/saved_views/${savedView?.id}/delete`, {})).status).toBe(404)
  })

  test('saved views open in their own application, or in the selected application if they have none', async () => {
    await send('/saved_views', { name: 'Here', list_query: 'status=new' })
    await send('/saved_views', { name: 'There', list_query: 'status=new&application_id=7' })
    expect(await views('/errors?application_id=1&status=new')).toMatchObject([
      { href: '/error_dashboard/errors?application_id=1&amp;status=new', is_current: true, name: 'Here' },
      { href: '/error_dashboard/errors?application_id=7&amp;status=new', is_current: false, name: 'There' },
    ])
    for (const { id } of await views()) await send(`/saved_views/${id}/delete`, {})
  })

  test('saved views accept a name of the maximum length', async () => {
    const html = await (await host.get('/errors', { accept: 'text/html' })).text()
    const longest = Number(/<input name="name"[^>]*maxlength="(\d+)"/.exec(html)?.[1])
    expect((await send('/saved_views', { name: 'n'.repeat(longest) })).status).toBe(302)
    expect((await send('/saved_views', { name: 'n'.repeat(longest + 1) })).status).toBe(422)
    for (const { id } of await views()) await send(`/saved_views/${id}/delete`, {})
  })

  test('saved views require a name and known filters', async () => {
    expect((await send('/saved_views', { name: ' ' })).status).toBe(422)
    expect((await send('/saved_views', { name: 'Wrong', list_query: 'severity=loud' })).status).toBe(422)
  })

  test('saved views render a hostile name as text', async () => {
    await send('/saved_views', { name: '<img src=x onerror=1>', list_query: 'status=new' })
    const html = await (await host.get('/errors', { accept: 'text/html' })).text()
    expect(html).not.toContain('<img')
    expect(html).toContain('&lt;img src=x onerror=1&gt;')
  })
})

test('JSON requests do not load data that only the HTML view needs', async () => {
  const url = `sqlite:${join(temporaryFolder(), 'errors.sqlite3')}`
  const own = await startHost(url)
  onTestFinished(() => own.close())
  await own.tracker.Commands.LogError.call({ error_type: 'A', message: 'm' })
  await withDatabase(url, ({ read }) => read.schema.dropTable('faultboard_saved_views').execute())
  expect((await own.get('/errors')).status).toBe(500)
  expect(await own.json('/errors')).toMatchObject({ status: 200, pagination: { total_count: 1 } })
})

test('an action by a user whose name is longer than its column stores the first part of the name', async () => {
  const user = 'x'.repeat(300)
  const long = await startHost('sqlite::memory:', { dashboard_username: user })
  onTestFinished(() => long.close())
  const { authorization } = signIn(user)
  const logged = await long.tracker.Commands.LogError.call({ error_type: 'Kind', message: 'm' })
  const response = await long.post(`/errors/${logged?.id}/assign`, { assigned_to: 'Bob' }, { authorization })
  expect(response.status).toBe(302)
  const { activities } = await long.tracker.Queries.FindError.call({ error_id: logged?.id ?? 0 })
  expect(activities.map(({ actor }) => actor)).toEqual([`${'x'.repeat(254)}…`])
})
