import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeEachDatabase } from '../support/databases.js'
import { type SpecHost, specHost, UNKNOWN_IDS } from './spec-host.js'

describeEachDatabase('GET errors', (database) => {
  let host: SpecHost

  beforeAll(async () => {
    host = await specHost(database)
    await host.post(`/errors/${host.ids.crash}/assign`, { assigned_to: 'eve@example.org' })
    await host.post(`/errors/${host.ids.crash}/update_priority`, { priority_level: '4' })
    await host.post(`/errors/${host.ids.memory}/resolve`)
    await host.post(`/errors/${host.ids.timeout}/snooze`, { hours: '2' })
    await host.tracker.Commands.LogError.call({ error_type: 'TypeError', message: 'Another', platform: 'Web' })
    await host.tracker.Commands.BatchDeleteErrors.call({
      error_ids: [(await host.tracker.Queries.ErrorsList.call({ search: 'Another' }))[0]?.id ?? 0],
    })
  })

  afterAll(() => host?.close())

  test('returns the list as HTML and JSON', async () => {
    const page = await host.get('/errors')
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(await page.text()).toContain('Cannot read properties of undefined')

    const { status, ...byHeader } = await host.read('/errors')
    const bySuffix = await (await host.get('/errors.json')).json()
    expect(status).toBe(200)
    expect(bySuffix).toEqual(byHeader)
    expect(Object.keys(byHeader).sort()).toEqual(['errors', 'pagination'])
  })

  test('returns page 1 with 25 items by default', async () => {
    const { pagination } = await host.read('/errors')
    expect(pagination).toEqual({ page: 1, per_page: 25, total_count: 4, total_pages: 1 })
  })

  test('pages with per_page, clamps numbers out of range and links to adjacent pages', async () => {
    const response = await host.get('/errors.json?per_page=1&page=2')
    const { errors, pagination } = await response.json()
    expect(errors).toHaveLength(1)
    expect(pagination).toEqual({ page: 2, per_page: 1, total_count: 4, total_pages: 4 })
    expect(response.headers.get('link')).toContain('</error_dashboard/errors.json?per_page=1&page=3>; rel="next"')
    expect((await host.read('/errors?page=0')).pagination).toMatchObject({ page: 1 })
    expect((await host.read('/errors?page=99&per_page=2')).pagination).toMatchObject({ page: 2, total_pages: 2 })
    expect((await host.read('/errors?per_page=1000')).pagination).toMatchObject({ per_page: 100 })
    expect((await host.read('/errors?per_page=-5')).pagination).toMatchObject({ per_page: 1 })
  })

  test('returns every error on exactly one page', async () => {
    const pages = await Promise.all([1, 2, 3, 4].map((page) => host.listed(`per_page=1&page=${page}`)))
    expect(pages.flat()).toEqual(await host.listed(''))
  })

  test('keeps .json in links only for a request with .json', async () => {
    const bySuffix = await host.get('/errors.json?per_page=1')
    const next = /<\/error_dashboard([^>]+)>; rel="next"/.exec(bySuffix.headers.get('link') ?? '')?.[1] ?? ''
    expect((await (await host.get(next)).json()).pagination).toMatchObject({ page: 2 })
    const byHeader = await host.get('/errors?per_page=1', { accept: 'application/json' })
    expect(byHeader.headers.get('link')).not.toContain('.json')
    expect(await (await host.get('/errors?per_page=1')).text()).not.toContain('.json?per_page=1&amp;page=2')
  })

  test.each([
    ['platform', 'filter by platform', 'platform=iOS', ['crash']],
    ['platform', 'clients may also send lowercase forms', 'platform=ios', ['crash']],
    ['platform', 'free text: an unknown one fits nothing', 'platform=Toaster', []],
    ['error_type', 'filter by error type', 'error_type=TypeError', ['type']],
    ['severity', 'filter by severity', 'severity=high', ['type']],
    ['severity', 'filter by severity', 'severity=critical', ['memory']],
    ['status', 'filter by status', 'status=resolved', ['memory']],
    ['status', 'filter by status', 'status=new', ['crash', 'timeout', 'type']],
    ['assigned_to', 'filter by assignee', 'assigned_to=eve@example.org', ['crash']],
    ['assigned_to', 'unassigned errors', 'assigned_to=__unassigned__', ['memory', 'timeout', 'type']],
    ['priority_level', 'filter by priority, 0 to 4', 'priority_level=4', ['crash']],
    ['priority_level', 'filter by priority, 0 to 4', 'priority_level=0', ['memory', 'timeout', 'type']],
    ['unresolved', 'only unresolved', 'unresolved=true', ['crash', 'timeout', 'type']],
    ['unresolved', 'false shows all', 'unresolved=false', ['crash', 'memory', 'timeout', 'type']],
    ['unresolved', 'on and 1 mean true', 'unresolved=on&hide_snoozed=1', ['crash', 'type']],
    ['hide_snoozed', 'hide snoozed errors', 'hide_snoozed=true', ['crash', 'memory', 'type']],
    [
      'hide_snoozed',
      'off, 0 and empty mean false',
      'hide_snoozed=&unresolved=off',
      ['crash', 'memory', 'timeout', 'type'],
    ],
    ['search', 'searched in message, in any letter case', 'search=CANNOT%20READ', ['type']],
    ['search', 'searched in backtrace', 'search=src/cart.ts', ['type']],
    ['search', 'literal: % means itself', 'search=100%25', ['timeout']],
    ['search', 'literal: _ means itself', 'search=1_0', []],
    ['timeframe', 'today', 'timeframe=today', ['timeout', 'type']],
    ['timeframe', 'yesterday', 'timeframe=yesterday', ['crash']],
    ['timeframe', 'last_hour', 'timeframe=last_hour', ['type']],
    ['timeframe', 'last_7_days', 'timeframe=last_7_days', ['crash', 'timeout', 'type']],
    ['timeframe', 'last_30_days', 'timeframe=last_30_days', ['crash', 'timeout', 'type']],
    ['timeframe', 'last_90_days', 'timeframe=last_90_days', ['crash', 'memory', 'timeout', 'type']],
    ['app_version', 'filter by version', 'app_version=2.0', ['crash']],
    ['git_sha', 'filter by commit', 'git_sha=abc123', ['crash']],
    ['user_id', 'filter by affected user', 'user_id=u-1', ['timeout', 'type']],
    ['several', 'all filters must match', 'assigned_to=__unassigned__&platform=API', ['memory', 'timeout']],
  ])('filters by %s: %s (%s)', async (_parameter, _meaning, query, names) => {
    expect((await host.listed(query)).sort()).toEqual(names)
  })

  test.each([
    ['', ['type', 'timeout', 'crash', 'memory']],
    ['sort_by=occurred_at&sort_direction=desc', ['type', 'timeout', 'crash', 'memory']],
    ['sort_by=occurred_at&sort_direction=asc', ['memory', 'crash', 'timeout', 'type']],
    ['sort_by=first_seen_at&sort_direction=asc', ['memory', 'crash', 'timeout', 'type']],
    ['sort_by=severity&sort_direction=desc', ['memory', 'type', 'timeout', 'crash']],
    ['sort_by=error_type&sort_direction=asc', ['crash', 'memory', 'timeout', 'type']],
    ['sort_by=priority_level&sort_direction=desc', ['crash', 'type', 'timeout', 'memory']],
    ['sort_by=status&sort_direction=desc', ['memory', 'type', 'timeout', 'crash']],
    ['sort_by=platform&sort_direction=asc', ['memory', 'timeout', 'type', 'crash']],
    ['sort_by=app_version&sort_direction=desc', null],
    ['sort_by=occurrence_count', null],
  ])('sorts by sort_by and sort_direction (%s)', async (query, names) => {
    const found = await host.listed(query)
    // Errors with equal sort values may have any order, but none may be missing.
    if (names === null) expect(found.sort()).toEqual(['crash', 'memory', 'timeout', 'type'])
    else expect(found).toEqual(names)
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
  ])('returns 422 for %s and names the allowed values', async (query, sentence) => {
    const { status, error } = await host.read(`/errors?${query}`)
    expect(status).toBe(422)
    expect(error).toContain(sentence)
  })

  describe('GET errors/:id', () => {
    test('returns the error as HTML and JSON', async () => {
      const page = await host.get(`/errors/${host.ids.crash}`)
      expect(page.status).toBe(200)
      expect(await page.text()).toContain('SIGABRT in CheckoutView')
      expect(await (await host.get(`/errors/${host.ids.crash}.json`)).json()).toMatchObject({
        error: { id: host.ids.crash, error_type: 'AppCrash', comments: [] },
      })
    })

    test.each(UNKNOWN_IDS)('returns 404 for an unknown id %s', async (id) => {
      expect(await host.read(`/errors/${id}`)).toEqual({
        status: 404,
        error: expect.stringContaining('No error with '),
      })
    })

    test.each(['abc', '-1', '1.5', '1 or 1=1'])('returns 404 for the path %s, which is not an id', async (id) => {
      expect((await host.get(`/errors/${encodeURIComponent(id)}`)).status).toBe(404)
    })
  })
})
