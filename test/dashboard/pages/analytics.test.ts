import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { HeatMap } from '../../../src/dashboard/ui/charts/heat-map.js'
import { describeOneDatabase } from '../../support/databases.js'
import { type Host, startHost } from '../../support/host.js'
import { NOON, temporaryFolder, trackerAt } from '../../support/tracker.js'

const NOW = Date.parse('2026-03-31T10:20:00Z')
const DAY = 86_400_000
const HOSTILE = '<img src=x onerror="document.title=1">'

describeOneDatabase('analytics pages', (database) => {
  let host: Host
  let application_id: number

  beforeAll(async () => {
    host = await startHost(
      await database.fresh(),
      { time_zone: 'Europe/Berlin', enable_platform_comparison: true },
      { now: () => NOW },
    )
    const log = (error_type: string, days: number, more: object = {}) =>
      host.tracker.Commands.LogError.call({
        error_type,
        message: 'could not be done',
        backtrace: [`at pay (${process.cwd()}/src/pay.ts:1:1)`],
        platform: 'Web',
        app_version: '1.0.0',
        user_id: 'ann',
        severity: 'high',
        occurred_at: NOW - days * DAY,
        ...more,
      })
    await Promise.all([
      log('PayError', 0),
      log('PayError', 1, { platform: 'iOS', app_version: '1.1.0' }),
      log('PayError', 20),
      log('MailError', 3, { severity: 'low', user_id: HOSTILE }),
      log(HOSTILE, 2, { platform: HOSTILE, app_version: HOSTILE, user_id: HOSTILE, message: HOSTILE }),
    ])
    await host.tracker.flush()
    application_id = (await host.tracker.Queries.Applications.call())[0]?.id ?? 0
  })

  afterAll(() => host.close())

  test('/releases returns HTML and JSON, filtered by days and application, with pagination', async () => {
    const response = await host.json('/releases')
    expect(response).toMatchObject({
      status: 200,
      period: { days: 30, time_zone: 'Europe/Berlin' },
      pagination: { page: 1, per_page: 20, total_count: 3, total_pages: 1 },
      release: null,
    })
    expect(response.releases).toMatchObject([
      {
        app_version: '1.1.0',
        first_seen_at: new Date(NOW - DAY).toISOString(),
        occurrences: 1,
        new_count: 0,
        before_version: HOSTILE,
      },
      { app_version: HOSTILE, occurrences: 1, new_count: 1, before_version: '1.0.0' },
      { app_version: '1.0.0', occurrences: 3, new_count: 2, gone_count: 0, before_version: null },
    ])
    expect(await host.json('/releases?days=1')).toMatchObject({ releases: [{ app_version: '1.0.0', occurrences: 1 }] })
    expect(await host.json('/releases?app_version=1.1.0')).toMatchObject({ release: { app_version: '1.1.0' } })
    expect(await host.json(`/releases?application_id=${application_id}`)).toMatchObject({
      pagination: { total_count: 3 },
    })
    expect(await host.json('/releases?application_id=99999')).toMatchObject({ status: 404 })
    expect(await host.json('/releases?days=soon')).toMatchObject({ status: 422 })
    const page = await (await host.get('/releases')).text()
    expect(page).toContain('href="/error_dashboard/errors?app_version=1.0.0"')
    expect(page).not.toContain(HOSTILE)
  })

  test('/releases leads with the share of severe occurrences and marks zeros, which a phone omits', async () => {
    const page = await (await host.get('/releases')).text()
    const [, columns = ''] = /<table class="data-table"><thead><tr>(.*?)<\/tr>/.exec(page) ?? []
    expect([...columns.matchAll(/>([^<]+)<\/th>/g)].slice(0, 3).map(([, name]) => name)).toEqual([
      'Release',
      'Critical or high',
      'First seen',
    ])
    const cells = [...page.matchAll(/<td class="number cell-chip( cell-blank)?" data-name="(\w+)">(.*?)<\/td>/g)]
    expect(cells.length).toBeGreaterThan(10)
    for (const [cell, blank, , value = ''] of cells) {
      expect([cell, /^(0|–|0 of \d+)$/.test(value.replace(/<[^>]+>/g, ''))]).toEqual([cell, blank !== undefined])
    }
  })

  test('/releases compares a release with any other in HTML and JSON', async () => {
    expect(await host.json('/releases?app_version=1.1.0')).toMatchObject({
      release: { before_version: HOSTILE, comparable_versions: [HOSTILE, '1.0.0'], new_count: 0, gone_count: 1 },
    })
    const path = '/releases?app_version=1.1.0&compare_with=1.0.0'
    expect(await host.json(path)).toMatchObject({
      release: { app_version: '1.1.0', before_version: '1.0.0', gone_errors: [{ error_type: 'MailError' }] },
    })
    expect(await host.json('/releases?compare_with=1.0.0')).toMatchObject({
      release: { app_version: '1.1.0', before_version: '1.0.0' },
    })
    const page = await (await host.get(path)).text()
    expect(page).toContain('Compared with 1.0.0.')
    expect(page).toContain('<option value="1.0.0" selected')
    expect(page).not.toContain(HOSTILE)
  })

  test.each([
    ['app_version=1.1.0&compare_with=7.7', 404, 'Cannot compare with 7.7'],
    ['app_version=1.1.0&compare_with=1.1.0', 422, 'compare_with must differ from app_version'],
  ])('/releases rejects %s with %d', async (query, status, message) => {
    expect(await host.json(`/releases?${query}`)).toEqual({ status, error: expect.stringContaining(message) })
    const response = await host.get(`/releases?${query}`)
    expect(response.status).toBe(status)
    expect(await response.text()).toContain(message)
  })

  test('/errors/analytics returns JSON with every figure, for 30 days by default', async () => {
    const response = await host.json('/errors/analytics')
    expect(response).toMatchObject({
      status: 200,
      period: { days: 30, time_zone: 'Europe/Berlin', from: '2026-03-01T23:00:00.000Z' },
      total_occurrences: 5,
      severities: { critical: 0, high: 4, medium: 0, low: 1 },
      errors_by_type: { other: { count: 0 } },
      resolution: { error_count: 3, resolved_count: 0 },
      release: { app_version: '1.1.0' },
    })
    expect(Object.keys(response).sort()).toEqual(
      [
        'above_baseline',
        'bursts',
        'cascades',
        'counted_at',
        'errors_by_platform',
        'errors_by_type',
        'errors_by_version',
        'errors_by_weekday_and_hour',
        'errors_over_time',
        'period',
        'recurring_errors',
        'release',
        'resolution',
        'severities',
        'status',
        'top_users',
        'total_occurrences',
        'user_impact',
      ].sort(),
    )
    expect(await host.json('/errors/analytics?days=2')).toMatchObject({ period: { days: 2 }, total_occurrences: 2 })
    expect(await host.json('/errors/analytics.json?days=9999')).toMatchObject({ period: { days: 365 } })
    expect(await host.json('/errors/analytics?app_version=1.0.0')).toMatchObject({
      release: { app_version: '1.0.0', before_version: null },
    })
  })

  test('/errors/platform_comparison returns JSON with all four results for 7 days', async () => {
    expect(await host.json('/errors/platform_comparison')).toMatchObject({
      status: 200,
      period: { days: 7 },
      error_rate_by_platform: expect.arrayContaining([expect.objectContaining({ platform: 'iOS', occurrences: 1 })]),
      platform_stability_scores: expect.arrayContaining([expect.objectContaining({ platform: 'iOS' })]),
      platform_health_summary: { platform: 'Web', occurrences: 2 },
      cross_platform_errors: [{ error_type: 'PayError', message: 'could not be done', count: 2 }],
    })
    expect(await host.json('/errors/platform_comparison?platform=ios')).toMatchObject({
      platform_health_summary: { platform: 'iOS', top_errors: [{ error_type: 'PayError', count: 1 }] },
    })
  })

  test('the platforms page shows the message before the location, and only states other than new', async () => {
    const html = await (await host.get('/errors/platform_comparison')).text()
    const across = html.slice(html.indexOf('Across platforms'))
    expect(across).toMatch(
      /<bdi>PayError<\/bdi><\/a> <bdi>could not be done<\/bdi><\/span><code[^>]*>src\/pay\.ts:1 in pay</,
    )
    expect(html).not.toContain('status-new')
  })

  test('/errors/correlation returns JSON with all four results for 30 days', async () => {
    expect(await host.json('/errors/correlation')).toMatchObject({
      status: 200,
      period: { days: 30 },
      errors_by_version: expect.arrayContaining([expect.objectContaining({ app_version: '1.0.0', occurrences: 3 })]),
      problematic_releases: [],
      multi_error_users: [expect.objectContaining({ user_id: HOSTILE, error_count: 2 })],
      time_correlated_errors: [],
    })
  })

  test.each(['analytics', 'platform_comparison', 'correlation'])(
    'filters errors/%s by application and rejects days that are not a number',
    async (name) => {
      const own = await host.json(`/errors/${name}?application_id=${application_id}`)
      expect(JSON.stringify(own)).toMatch(/"(?:Pay|Mail)Error"|"1\.0\.0"/)
      const other = await host.json(`/errors/${name}?application_id=${application_id + 1000}`)
      expect(JSON.stringify(other)).not.toMatch(/PayError|1\.0\.0/)
      const refused = await host.get(`/errors/${name}?days=soon`, { accept: 'application/json' })
      expect(refused.status).toBe(422)
      expect(await refused.json()).toEqual({ error: 'days must be a whole number from 1 to 365' })
    },
  )

  test.each(['analytics', 'platform_comparison', 'correlation'])(
    'renders hostile text on errors/%s as text, without inline styles or scripts',
    async (name) => {
      const page = await (await host.get(`/errors/${name}?days=30`)).text()
      expect(page).toContain('&lt;img src=x')
      expect(page).not.toContain(HOSTILE)
      expect(page).not.toMatch(/\sstyle=|\son[a-z]+="/)
    },
  )

  test('every figure explains its calculation and links to its errors', async () => {
    const page = await (await host.get('/errors/analytics?days=30')).text()
    expect(page).toContain('/error_dashboard/errors?day=2026-03-31')
    expect(page).toContain('/error_dashboard/errors?error_type=PayError')
    expect(page).toContain('/error_dashboard/errors?severity=high')
    expect(page.match(/class="description"/g)?.length).toBeGreaterThan(7)
  })

  test('charts hatch the current day and week, mark releases and name the time zone', async () => {
    const page = await (await host.get('/errors/analytics?days=30')).text()
    expect(page).toContain('Occurrences per day (Europe/Berlin)')
    expect(page).toContain('aria-label="Tue, 31 Mar 2026, in progress: 1 occurrence (1 high)"')
    expect(page).toContain('aria-label="Week of Mon, 30 Mar 2026, in progress: ')
    expect(page.match(/, in progress: /g)).toHaveLength(2)
    expect(page).toMatch(
      /<a href="[^"]*\/releases\?app_version=1\.1\.0&amp;days=30" aria-label="Release 1\.1\.0, first seen 30 Mar 2026/,
    )
  })

  test('a bar of the chart zooms into its day by hour, and an hour into five minutes', async () => {
    const zoomLink = (page: string, name: string) =>
      new RegExp(`href="/error_dashboard(/errors/analytics[^"]*)" aria-label="${name}`)
        .exec(page)?.[1]
        ?.replaceAll('&amp;', '&') ?? ''
    const days = await (await host.get('/errors/analytics?days=30')).text()
    const day = await (await host.get(zoomLink(days, 'Tue, 31 Mar 2026, in progress: 1 '))).text()
    expect(day).toContain('Tue, 31 Mar 2026 · Times in <span data-zone="true">Europe/Berlin</span>')
    expect(day).toContain('<a href="/error_dashboard/errors/analytics?days=30">Reset zoom</a>')
    const hour = await (await host.get(zoomLink(day, 'Tue, 31 Mar 2026, [^"]*: 1 occurrence'))).text()
    expect(hour).toMatch(
      /aria-label="Tue, 31 Mar 2026, \d\d:\d[05]–\d\d:\d[05] Europe\/Berlin, in progress: 1 occurrence \(1 high\)"/,
    )
  })

  test('shows the tables of users and versions in one insight only', async () => {
    const analytics = await (await host.get('/errors/analytics')).text()
    const correlation = await (await host.get('/errors/correlation')).text()
    expect(correlation).toContain('<h2>Users with several errors')
    expect(await (await host.get('/releases')).text()).toContain('<h2>Versions')
    for (const page of [analytics, correlation])
      expect(page).not.toMatch(/<h2>(Most affected users|Versions|Errors by version|Release |By platform)/)
    expect(await host.json('/errors/correlation')).toMatchObject({ errors_by_version: expect.any(Array) })
    expect(await host.json('/errors/analytics')).toMatchObject({ top_users: expect.any(Array), release: {} })
  })
})

test('the heat map keeps shades distinguishable despite one extreme hour', () => {
  const counts = Array.from({ length: 7 }, () => Array.from({ length: 24 }, (_, hour) => hour))
  const shades = (of: number[][]) => String(HeatMap({ title: 'Week', counts: of })).match(/heat-\d/g)
  const outage = counts.map((day, i) => (i === 5 ? day.with(23, 5000) : day))
  expect(shades(outage)).toEqual(shades(counts))
})

test('shows neither gone errors nor a stability score for a release with little data', async () => {
  const clock = { now: NOW }
  const host = await startHost('sqlite::memory:', {}, { now: () => clock.now })
  const log = (error_type: string, app_version: string, occurred_at: number) =>
    host.tracker.Commands.LogError.call({ error_type, message: 'm', app_version, occurred_at })
  await log('OldError', '1.0.0', NOW - 9 * DAY)
  await log('NewError', '2.0.0', NOW - 60_000)
  const page = async () => (await host.get('/releases?app_version=2.0.0')).text()
  expect(await page()).toMatch(
    /<h1>Release 2\.0\.0<\/h1>.*<h3 class="section-title">Not seen yet <span class="count">1</s,
  )
  expect(await page()).toContain('title="Available one day after the first occurrence of the release"')
  expect(await page()).not.toContain('title="Stability ')
  clock.now = NOW + 2 * DAY
  expect(await page()).toMatch(/<h3 class="section-title">Gone <span class="count">1</)
  await host.close()
})

test('returns 404 for the platform comparison page and empty results for its operation while the feature is off', async () => {
  const host = await startHost('sqlite::memory:', { enable_platform_comparison: false })
  const response = await host.get('/errors/platform_comparison', { accept: 'application/json' })
  expect(response.status).toBe(404)
  expect(JSON.stringify(await response.json())).toContain('enable_platform_comparison')
  await host.tracker.Commands.LogError.call({ error_type: 'PayError', message: 'm', platform: 'Web' })
  const comparison = new host.tracker.Queries.PlatformComparison()
  expect(await comparison.errorRateByPlatform()).toEqual([])
  expect(await (await host.get('/errors/analytics')).text()).toContain('<h2>By platform')
  expect(await comparison.platformStabilityScores()).toEqual([])
  expect(await comparison.crossPlatformErrors()).toEqual([])
  expect(await comparison.platformHealthSummary('Web')).toMatchObject({
    occurrences: 0,
    status: 'quiet',
    top_errors: [],
  })
  await host.close()
})

test('a link to a release keeps all applications selected', async () => {
  const folder = temporaryFolder()
  const storage = { url: `sqlite:${folder}/errors.sqlite3`, spool_path: temporaryFolder() }
  const other = trackerAt(storage, { application_name: 'warehouse' })
  await other.tracker.Commands.LogError.call({ error_type: 'A', message: 'x', app_version: '1.0.0' })
  await other.tracker.shutdown()
  const host = await startHost(storage.url, {}, { now: () => NOON })
  onTestFinished(() => host.close())
  await host.tracker.Commands.LogError.call({ error_type: 'B', message: 'x', app_version: '1.0.0' })
  const page = await (await host.get('/releases')).text()
  const links = [...page.matchAll(/href="([^"]*release_application_id=[^"#]*)"/g)].map(([, link = '']) =>
    link.replaceAll('&amp;', '&'),
  )
  expect(new Set(links).size).toBe(2)
  for (const link of links) {
    expect(link).not.toContain('?application_id=')
    expect(link).not.toContain('&application_id=')
    const release = await host.json(link.replace('/error_dashboard', ''))
    const id = Number(new URL(link, 'http://shop.example').searchParams.get('release_application_id'))
    expect(release).toMatchObject({ status: 200, release: { app_version: '1.0.0', application_id: id } })
  }
})
