import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeEachDatabase } from '../support/databases.js'
import { type Host, startHost } from '../support/host.js'

const NOW = Date.UTC(2026, 4, 20, 12)
const HOUR = 3_600_000
const UNKNOWN_IDS = ['999999', '0', '2147483648', '9007199254740991', '9007199254740992', '99999999999999999999999']

describeEachDatabase('the dashboard endpoints', (database) => {
  let host: Host
  let clock = NOW
  const ids: Record<string, number> = {}

  beforeAll(async () => {
    host = await startHost(await database.fresh(), {}, { now: () => clock })
    for (const [name, fields] of Object.entries(SAMPLES)) {
      const logged = await host.tracker.Commands.LogError.call(fields)
      ids[name] = logged?.id ?? 0
    }
  })

  afterAll(() => host.close())

  const record = async (name: string) =>
    (await host.json(`/errors/${ids[name]}`)).error as unknown as Record<string, unknown>
  const listed = async (query: string) => {
    const { errors } = (await host.json(`/errors?${query}`)) as unknown as { errors: { id: number }[] }
    return errors.map(({ id }) => Object.keys(ids).find((name) => ids[name] === id))
  }

  describe('GET errors', () => {
    test('answers a page for people and the same list for programs', async () => {
      const page = await host.get('/errors')
      expect(page.status).toBe(200)
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(await page.text()).toContain('Cannot read properties of undefined')

      const byHeader = await host.json('/errors')
      const bySuffix = await (await host.get('/errors.json')).json()
      expect(bySuffix).toEqual({ errors: byHeader.errors, pagination: byHeader.pagination })
      expect(byHeader.pagination).toEqual({ page: 1, per_page: 25, total_count: 4, total_pages: 1 })
    })

    test.each([
      ['platform=iOS', ['crash']],
      ['error_type=TypeError', ['type']],
      ['severity=high', ['type']],
      ['severity=critical', ['memory']],
      ['search=CANNOT%20READ', ['type']],
      ['search=src/cart.ts', ['type']],
      ['search=100%25', ['timeout']],
      ['search=1_0', []],
      ['timeframe=today', ['timeout', 'type']],
      ['timeframe=yesterday', ['crash']],
      ['timeframe=last_hour', ['type']],
      ['timeframe=last_7_days', ['crash', 'timeout', 'type']],
      ['app_version=2.0', ['crash']],
      ['git_sha=abc123', ['crash']],
      ['user_id=u-1', ['timeout', 'type']],
      ['assigned_to=__unassigned__&platform=API', ['memory', 'timeout']],
    ])('%s filters', async (query, names) => {
      expect((await listed(query)).sort()).toEqual(names)
    })

    test.each([
      ['sort_by=occurred_at&sort_direction=desc', ['type', 'timeout', 'crash', 'memory']],
      ['sort_by=occurred_at&sort_direction=asc', ['memory', 'crash', 'timeout', 'type']],
      ['sort_by=severity&sort_direction=desc', ['memory', 'type', 'timeout', 'crash']],
      ['sort_by=error_type&sort_direction=asc', ['crash', 'memory', 'timeout', 'type']],
      ['sort_by=occurrence_count', ['type', 'timeout', 'crash', 'memory'].sort()],
    ])('%s sorts', async (query, names) => {
      const found = await listed(query)
      expect(query.includes('occurrence_count') ? found.sort() : found).toEqual(names)
    })

    test('pages with per_page, clamps numbers out of range and links to its neighbours', async () => {
      const response = await host.get('/errors.json?per_page=1&page=2')
      const { errors, pagination } = await response.json()
      expect(errors).toHaveLength(1)
      expect(pagination).toEqual({ page: 2, per_page: 1, total_count: 4, total_pages: 4 })
      expect(response.headers.get('link')).toContain('</error_dashboard/errors.json?per_page=1&page=3>; rel="next"')
      expect((await host.json('/errors?page=0')).pagination).toMatchObject({ page: 1 })
      expect((await host.json('/errors?page=99&per_page=2')).pagination).toMatchObject({ page: 2, total_pages: 2 })
      expect((await host.json('/errors?per_page=1000')).pagination).toMatchObject({ per_page: 100 })
      expect((await host.json('/errors?per_page=-5')).pagination).toMatchObject({ per_page: 1 })
    })

    test('the links keep .json for a client that asked by it, and only for that one', async () => {
      const bySuffix = await host.get('/errors.json?per_page=1')
      const next = /<\/error_dashboard([^>]+)>; rel="next"/.exec(bySuffix.headers.get('link') ?? '')?.[1] ?? ''
      expect((await (await host.get(next)).json()).pagination).toMatchObject({ page: 2 })
      const byHeader = await host.get('/errors?per_page=1', { accept: 'application/json' })
      expect(byHeader.headers.get('link')).not.toContain('.json')
      expect(await (await host.get('/errors?per_page=1')).text()).not.toContain('.json')
    })

    test.each([
      ['status=fixed', 'status must be one of new, investigating, in_progress, resolved, wont_fix'],
      ['severity=urgent', 'severity must be one of critical, high, medium, low'],
      ['timeframe=always', 'timeframe must be one of last_hour'],
      ['sort_by=id;drop', 'sort_by must be one of occurred_at'],
      ['sort_direction=up', 'sort_direction must be one of asc, desc'],
      ['page=two', 'page must be'],
      ['page=1e309', 'page must be'],
      ['page=NaN', 'page must be'],
      ['page[]=1&page[]=2', 'page must be'],
      ['unresolved=maybe', 'unresolved must be true or false'],
      ['application_id=-1', 'application_id must be'],
    ])('%s answers 422 and says what is allowed', async (query, sentence) => {
      const answer = await host.json(`/errors?${query}`)
      expect(answer.status).toBe(422)
      expect(answer.error).toContain(sentence)
    })
  })

  describe('GET errors/:id', () => {
    test('gives every field of the record', async () => {
      expect(await record('crash')).toMatchObject({
        id: ids.crash,
        error_type: 'AppCrash',
        message: 'SIGABRT in CheckoutView',
        backtrace: ['CheckoutView.swift:22 submit()', 'UIKit tap'],
        platform: 'iOS',
        app_version: '2.0',
        git_sha: 'abc123',
        user_id: 'u-2',
        request_url: 'https://api.example/checkout?token=[FILTERED]',
        request_params: { cart: 7, password: '[FILTERED]' },
        ip_address: '192.0.2.7',
        user_agent: 'Shop/2.0 (iPhone)',
        occurred_at: '2026-05-19T08:00:00.000Z',
        first_seen_at: '2026-05-19T08:00:00.000Z',
        occurrence_count: 1,
        severity: 'low',
        status: 'new',
        priority_level: 0,
        resolved: false,
        assigned_to: null,
        application_name: 'shop',
        comments: [],
        activities: [],
      })
      expect((await record('crash')).hash_signature).toMatch(/^[0-9a-f]{64}$/)
    })

    test.each(UNKNOWN_IDS)('an unknown id %s answers 404', async (id) => {
      expect(await host.json(`/errors/${id}`)).toEqual({
        status: 404,
        error: expect.stringContaining('There is no error with'),
      })
    })

    test.each(['abc', '-1', '1.5', '1 or 1=1'])('what is no id (%s) is an unknown path', async (id) => {
      expect((await host.get(`/errors/${encodeURIComponent(id)}`)).status).toBe(404)
    })
  })

  describe('POST actions', () => {
    test('resolve stores who, why and where, and answers 302 to the error', async () => {
      const response = await host.post(`/errors/${ids.type}/resolve`, {
        resolved_by_name: 'Ada',
        resolution_comment: 'Guarded the empty cart',
        resolution_reference: 'https://git.example/pull/7',
      })
      expect(response.status).toBe(302)
      expect(response.headers.get('location')).toBe(`/error_dashboard/errors/${ids.type}`)
      expect(await record('type')).toMatchObject({
        resolved: true,
        status: 'resolved',
        resolved_by_name: 'Ada',
        resolution_comment: 'Guarded the empty cart',
        resolution_reference: 'https://git.example/pull/7',
        resolved_at: new Date(clock).toISOString(),
      })
      expect(await listed('unresolved=true')).not.toContain('type')
      expect(await listed('unresolved=false')).toContain('type')
      expect(await listed('status=resolved')).toEqual(['type'])
    })

    test('resolve without parameters names the signed-in user', async () => {
      expect((await host.post(`/errors/${ids.memory}/resolve`)).status).toBe(302)
      expect(await record('memory')).toMatchObject({ resolved: true, resolved_by_name: 'admin' })
    })

    test('an open status reopens, with a comment in the trail', async () => {
      expect(
        (await host.post(`/errors/${ids.memory}/update_status`, { status: 'investigating', comment: 'Back again' }))
          .status,
      ).toBe(302)
      const after = await record('memory')
      expect(after).toMatchObject({ resolved: false, status: 'investigating', resolved_by_name: null })
      expect(after.activities).toMatchObject([
        { action: 'resolved', actor: 'admin' },
        {
          action: 'status_changed',
          actor: 'admin',
          from_value: 'resolved',
          to_value: 'investigating',
          comment: 'Back again',
        },
      ])
      expect(await listed('status=investigating')).toEqual(['memory'])
    })

    test('assign and unassign', async () => {
      expect((await host.post(`/errors/${ids.crash}/assign`, { assigned_to: 'eve@example.org' })).status).toBe(302)
      expect(await listed('assigned_to=eve@example.org')).toEqual(['crash'])
      expect((await record('crash')).status).toBe('new')
      expect((await host.post(`/errors/${ids.crash}/unassign`)).status).toBe(302)
      expect(await record('crash')).toMatchObject({ assigned_to: null })
      expect(await listed('assigned_to=eve@example.org')).toEqual([])
    })

    test('update_priority', async () => {
      expect((await host.post(`/errors/${ids.crash}/update_priority`, { priority_level: '4' })).status).toBe(302)
      expect(await listed('priority_level=4')).toEqual(['crash'])
    })

    test('snooze hides for the given hours, unsnooze and time bring it back', async () => {
      expect(
        (await host.post(`/errors/${ids.timeout}/snooze`, { hours: '2', reason: 'Waiting for the vendor' })).status,
      ).toBe(302)
      expect(await listed('hide_snoozed=true')).not.toContain('timeout')
      expect(await listed('hide_snoozed=false')).toContain('timeout')
      expect(await record('timeout')).toMatchObject({ snoozed: true, snooze_reason: 'Waiting for the vendor' })
      expect((await host.post(`/errors/${ids.timeout}/unsnooze`)).status).toBe(302)
      expect(await listed('hide_snoozed=true')).toContain('timeout')

      await host.post(`/errors/${ids.timeout}/snooze`, { hours: '1' })
      expect(await listed('hide_snoozed=true')).not.toContain('timeout')
      clock += HOUR
      expect(await listed('hide_snoozed=true')).toContain('timeout')
      clock = NOW
    })

    test('add_comment', async () => {
      expect(
        (await host.post(`/errors/${ids.crash}/add_comment`, { author_name: 'Bob', body: 'Seen on iOS 19 only' }))
          .status,
      ).toBe(302)
      expect((await record('crash')).comments).toMatchObject([{ author_name: 'Bob', body: 'Seen on iOS 19 only' }])
    })

    test.each([
      ['assign', {}, 'assigned_to is missing'],
      ['assign', { assigned_to: '  ' }, 'assigned_to must not be empty'],
      ['update_priority', {}, 'priority_level is missing'],
      ['update_priority', { priority_level: '5' }, 'priority_level must be a whole number from 0 to 4'],
      ['update_priority', { priority_level: '-1' }, 'priority_level must be'],
      ['update_priority', { priority_level: 'high' }, 'priority_level must be'],
      ['snooze', { reason: 'x' }, 'hours is missing'],
      ['snooze', { hours: '0' }, 'hours must be a whole number from 1 to 8760'],
      ['snooze', { hours: '8761' }, 'hours must be'],
      ['snooze', { hours: '1.5' }, 'hours must be'],
      ['update_status', {}, 'status is missing'],
      [
        'update_status',
        { status: 'done' },
        'status must be one of new, investigating, in_progress, resolved, wont_fix',
      ],
      ['add_comment', { author_name: 'Bob' }, 'body is missing'],
      ['add_comment', { body: 'x' }, 'author_name is missing'],
      [
        'add_comment',
        { author_name: 'Bob', body: 'x'.repeat(10_001) },
        'body must not be longer than 10000 characters',
      ],
      [
        'add_comment',
        { author_name: 'B'.repeat(256), body: 'x' },
        'author_name must not be longer than 255 characters',
      ],
    ])('%s answers 422 and changes nothing: $2', async (action, form, sentence) => {
      const before = await record('crash')
      const response = await host.post(`/errors/${ids.crash}/${action}`, form as Record<string, string>, {
        accept: 'application/json',
      })
      expect(response.status).toBe(422)
      expect((await response.json()).error).toContain(sentence)
      expect(await record('crash')).toEqual(before)
    })

    test.each(['resolve', 'unassign', 'unsnooze'])('%s of an unknown error answers 404', async (action) => {
      for (const id of UNKNOWN_IDS) expect((await host.post(`/errors/${id}/${action}`)).status).toBe(404)
    })

    test('the page an action leads to shows its message once', async () => {
      const response = await host.post(`/errors/${ids.crash}/assign`, { assigned_to: 'eve@example.org' })
      const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
      const page = await host.get(`/errors/${ids.crash}`, { cookie })
      expect(await page.text()).toContain('Assigned to eve@example.org.')
      expect(page.headers.get('set-cookie')).toContain('Max-Age=0')
    })
  })

  describe('POST errors/batch_action', () => {
    test('resolves several, skips unknown ids and counts them in the message', async () => {
      const response = await host.post('/errors/batch_action', {
        'error_ids[]': [String(ids.crash), String(ids.timeout), '999999'],
        action_type: 'resolve',
        resolved_by_name: 'Ada',
        resolution_comment: 'Sweep',
      })
      expect(response.status).toBe(302)
      expect(response.headers.get('location')).toBe('/error_dashboard/errors')
      expect(decodeURIComponent(response.headers.get('set-cookie') ?? '')).toContain(
        '2 errors resolved, 1 unknown skipped.',
      )
      expect(await record('crash')).toMatchObject({
        resolved: true,
        resolved_by_name: 'Ada',
        resolution_comment: 'Sweep',
      })
      expect(await record('timeout')).toMatchObject({ resolved: true })
    })

    test.each([
      [{}, 'error_ids is missing'],
      [{ 'error_ids[]': ['1'] }, 'action_type is missing'],
      [{ 'error_ids[]': ['1'], action_type: 'explode' }, 'action_type must be one of resolve, delete'],
      [{ 'error_ids[]': ['one'], action_type: 'delete' }, 'error_ids.0 must be'],
      [
        { 'error_ids[]': Array.from({ length: 1001 }, (_, i) => String(i + 1)), action_type: 'delete' },
        'must not name more than 1000 errors',
      ],
    ])('refuses what does not fit: $1', async (form, sentence) => {
      const response = await host.post('/errors/batch_action', form as unknown as Record<string, string[]>, {
        accept: 'application/json',
      })
      expect(response.status).toBe(422)
      expect((await response.json()).error).toContain(sentence)
    })

    test('deletes several with everything that hangs on them', async () => {
      const before = (await host.json('/overview')).total_occurrences as unknown as number
      await host.post('/errors/batch_action', { 'error_ids[]': [String(ids.crash)], action_type: 'delete' })
      expect((await host.get(`/errors/${ids.crash}`)).status).toBe(404)
      expect((await host.json('/overview')).total_occurrences).toBe(before - 1)
    })
  })

  test('GET overview gives the numbers of DashboardStats', async () => {
    const overview = await host.json('/overview')
    expect(overview).toMatchObject({
      total_errors: 3,
      errors_today: 2,
      resolved_count: 2,
      unresolved_count: 1,
      errors_by_platform: { API: 2, Web: 1 },
    })
    expect(overview.top_errors).toHaveLength(3)
    expect((await host.get('/overview')).status).toBe(200)
  })

  test('GET settings shows the configuration and masks secrets', async () => {
    const page = await (await host.get('/settings')).text()
    expect(page).toContain('rate_limit_per_minute')
    expect(page).not.toContain('pässword')
    expect(JSON.stringify(await host.json('/settings'))).not.toContain('pässword')
  })

  test('GET settings tells by value what is at its default, lists and mappings too', async () => {
    const { settings } = (await host.json('/settings')) as unknown as { settings: Record<string, unknown>[] }
    const changed = settings.filter(({ is_default }) => !is_default).map(({ name }) => name)
    // What the host of the tests sets, and what is found out where it is left out.
    const expected = [
      'database',
      'dashboard_username',
      'dashboard_password',
      'application_name',
      'max_event_loop_lag_ms',
    ]
    expect(
      changed
        .filter((name) => !['project_root', 'app_version', 'git_sha', 'environment'].includes(String(name)))
        .sort(),
    ).toEqual(expected.sort())
  })

  test('GET on the mount path itself leads to the overview', async () => {
    for (const path of ['', '/']) {
      const response = await host.get(path)
      expect(response.status).toBe(302)
      expect(response.headers.get('location')).toBe('/error_dashboard/overview')
    }
  })
})

const SAMPLES = {
  memory: { error_type: 'OutOfMemoryError', message: 'Heap is full', occurred_at: NOW - 40 * 24 * HOUR },
  crash: {
    error_type: 'AppCrash',
    message: 'SIGABRT in CheckoutView',
    backtrace: ['CheckoutView.swift:22 submit()', 'UIKit tap'],
    platform: 'ios',
    app_version: '2.0',
    git_sha: 'abc123',
    user_id: 'u-2',
    request_url: 'https://api.example/checkout?token=s3cret',
    request_params: { cart: 7, password: 'hunter2' },
    ip_address: '192.0.2.7',
    user_agent: 'Shop/2.0 (iPhone)',
    occurred_at: new Date(NOW - 28 * HOUR),
  },
  timeout: { error_type: 'TimeoutError', message: 'CPU at 100% in pool', user_id: 'u-1', occurred_at: NOW - 2 * HOUR },
  type: {
    error_type: 'TypeError',
    message: "Cannot read properties of undefined (reading 'total')",
    backtrace: ['at total (/srv/app/src/cart.ts:12:7)'],
    platform: 'Web',
    user_id: 'u-1',
    occurred_at: NOW - 60_000,
  },
}
