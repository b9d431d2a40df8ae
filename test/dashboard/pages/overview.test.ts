import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Overview } from '../../../src/analytics/overview/overview.js'
import { type Host, startHost } from '../../support/host.js'
import { temporaryFolder } from '../../support/tracker.js'

const NOW = Date.UTC(2026, 4, 20, 12, 30)
const HOUR = 3_600_000
const DAY = 24 * HOUR
const MARKUP = '<img src=x onerror=alert(1)>'

const startAt = async (settings = {}, now = NOW): Promise<Host> =>
  startHost('sqlite::memory:', settings, { now: () => now })

describe('the overview', () => {
  let host: Host
  let clock = NOW
  let page = ''

  beforeAll(async () => {
    host = await startHost('sqlite::memory:', { time_zone: 'Europe/Berlin' }, { now: () => clock })
    const log = (error_type: string, occurred_at: number, more = {}) =>
      host.tracker.Commands.LogError.call({ error_type, message: 'm', occurred_at, ...more })
    await log('CheckoutError', NOW - 3 * HOUR, {
      severity: 'critical',
      user_id: 'u-1',
      platform: 'Web',
      app_version: '2.0',
    })
    await log('CheckoutError', NOW - 2 * HOUR, {
      severity: 'critical',
      user_id: 'u-2',
      platform: 'Web',
      app_version: '2.0',
    })
    await log('OldError', NOW - 10 * DAY, { severity: 'low', platform: 'iOS', app_version: '1.0' })
    await log(`${MARKUP}Type`, NOW - 4 * DAY, {
      message: MARKUP,
      severity: 'high',
      platform: MARKUP,
      app_version: MARKUP,
      user_id: MARKUP,
    })
    const back = await log('BackError', NOW - 5 * DAY, { severity: 'low' })
    await host.tracker.Commands.ResolveError.call({ error_id: back?.id ?? 0 })
    clock = NOW + HOUR
    await log('BackError', clock, { severity: 'low' })
    page = await (await host.get('/overview')).text()
  })

  afterAll(() => host.close())

  const json = async (path: string) => (await host.json(path)) as unknown as Overview

  test('links each day of the chart to its hours, and each row of the table to the errors of that day', () => {
    const [from, to] = [Date.parse('2026-05-19T22:00Z') / 1000, Date.parse('2026-05-20T22:00Z') / 1000]
    expect(page).toContain(
      `<a href="/error_dashboard/overview?from=${from}&amp;to=${to}#period" aria-label="Wed, 20 May 2026, in progress: 3 occurrences (`,
    )
    expect(page.match(/errors\?day=2026-/g)).toHaveLength(30)
    expect(page).toContain('<a href="/error_dashboard/errors?day=2026-05-10">')
  })

  test('lists what needs attention first, critical errors at the top, each error once with all reasons', () => {
    const rows = section(page, 'needs-attention')
      .split('<li>')
      .slice(1)
      .map((row) => [
        ...[...row.matchAll(/<bdi>([^<]*)</g)].map(([, reason]) => reason),
        /errors\/\d+">([^<]*)</.exec(row)?.[1],
      ])
    expect(rows).toEqual([
      ['new since 2.0', 'critical, unassigned', 'CheckoutError'],
      ['regressed', 'BackError'],
      ['high, unassigned', '&lt;img src=x onerror=alert(1)&gt;Type'],
    ])
    // A regression also shows its last occurrence, with a label, instead of the time when it was reopened.
    for (const row of section(page, 'needs-attention').split('<li>').slice(1))
      expect(row).toMatch(/>last seen <\/span>\s*<time datetime="/)
    expect(page).toMatch(
      /<a href="[^"]*errors\?regressed=true">1 regressed<\/a>, <a href="[^"]*first_seen_at">1 new<\/a>, <a href="[^"]*__unassigned__[^"]*">2 unassigned<\/a>/,
    )
    expect(page.indexOf('id="needs-attention"')).toBeLessThan(page.indexOf('class="figures"'))
  })

  test('shows every figure for one period, without a percentage of fewer than 20 samples', () => {
    expect(page.match(/Last 30 days/g)).toHaveLength(1)
    expect(page).not.toMatch(/last \d+ days|All errors|Cascades|Errors by platform/)
    expect(figures(page)).toEqual({
      Occurrences: '6 no previous period to compare with',
      'Unresolved errors': '4 of 4 · 4 opened, 0 closed',
      'Affected users': '3 no previous period to compare with',
      'Time to resolve': '– none resolved',
    })
    expect(section(page, 'top-errors')).not.toMatch(/\d%/)
  })

  test('applies the selected range to all figures, the chart and the rankings', async () => {
    const day = await (await host.get('/overview?range=24h')).text()
    expect(day).toContain('<h2>Last 24 hours</h2>')
    expect(figures(day)).toMatchObject({
      Occurrences: '3 ↑ up by 3 0 in the previous period',
      'Affected users': '2 ↑ up by 2 0 in the previous period',
      'Unresolved errors': '4 ↑ up by 1 of 4 · 1 opened, 0 closed',
    })
    expect(day).toContain(', 24 bars"')
    expect(section(day, 'top-errors')).not.toContain('OldError')
    expect(day).not.toContain('errors?platform=iOS')
    expect(await (await host.get('/overview?range=7d')).text()).toContain(', 27 bars"')
    expect(await (await host.get('/overview?range=90d')).text()).toContain(', 90 bars"')
  })

  test('shows the last hour in bars of five minutes', async () => {
    const { bars, occurrences, period } = await json('/overview?range=1h')
    expect(period.range).toBe('1h')
    expect(bars).toHaveLength(12)
    expect(bars.at(-1)).toMatchObject({ starts_at: '2026-05-20T13:30:00.000Z', total: 1, low: 1 })
    expect(occurrences).toEqual({ count: 1, before: 0 })
  })

  test('zooms into a day by hour, and into an hour by five minutes, with a way back', async () => {
    const day = `from=2026-05-19T22:00Z&to=2026-05-20T22:00Z`
    const html = await (await host.get(`/overview?range=90d&${day}`)).text()
    expect(html).toContain('<h2>Wed, 20 May 2026</h2>')
    expect(html).toContain('<a href="/error_dashboard/overview?range=90d#period">Reset zoom</a>')
    expect(html).toContain('aria-label="Wed, 20 May 2026, 11:00–12:00 Europe/Berlin: 1 occurrence (1 critical)"')
    const hour = await json(`/overview?from=2026-05-20T09:00Z&to=2026-05-20T10:00Z`)
    expect(hour.bars.filter(({ total }) => total > 0)).toMatchObject([
      { starts_at: '2026-05-20T09:30:00.000Z', total: 1, critical: 1 },
    ])
    expect(hour.platforms).toEqual([{ name: 'Web', total: 1 }])
  })

  test.each([
    ['range=2d', 'range must be one of 1h, 24h, 7d, 30d, 90d'],
    ['from=yesterday', 'from must be a time'],
    ['from=2026-05-20&to=2026-05-20', 'from must be before to'],
    ['from=2027-05-20&to=2027-05-21', 'in the past'],
    ['from=2020-05-20&to=2026-05-21', 'at most 366 days before to'],
  ])('returns 422 for %s', async (query, message) => {
    for (const path of ['/overview', '/errors/1']) {
      expect(await host.json(`${path}?${query}`)).toMatchObject({
        status: 422,
        error: expect.stringContaining(message),
      })
    }
  })

  test('marks releases on the chart and links them', async () => {
    const { release_markers } = await json('/overview')
    expect(release_markers.map(({ app_version }) => app_version)).toEqual(['1.0', '0.4.0', MARKUP, '2.0'])
    expect(page).toMatch(
      /<a href="[^"]*\/releases\?app_version=2\.0" aria-label="Release 2\.0, first seen 20 May 2026, /,
    )
    expect((await json('/overview?range=24h')).release_markers).toMatchObject([{ app_version: '2.0' }])
  })

  test('ranks open errors by impact', () => {
    const rows = [...section(page, 'top-errors').matchAll(/errors\/\d+">([^<]*)</g)].map(([, type]) => type)
    expect(rows[0]).toBe('CheckoutError')
    expect(section(page, 'top-errors')).toMatch(/CheckoutError.*class="badge severity-/s)
  })

  test('renders hostile content as text', () => {
    expect(page).not.toContain('<img')
    expect(page).toContain('&lt;img src=x onerror=alert(1)&gt;Type')
    expect(page).toContain(
      `platform=${encodeURIComponent(MARKUP).replaceAll('%20', '+').replace('(', '%28').replace(')', '%29')}`,
    )
  })

  test('returns DashboardStats at the top level of the JSON with the other figures', async () => {
    const { status, ...json } = await host.json('/overview')
    expect(status).toBe(200)
    expect(json).toMatchObject(await host.tracker.Queries.DashboardStats.call())
    expect(json).toMatchObject({ affected_users: { count: 3 }, occurrences: { count: 6 }, spiking: null })
  })

  test('counts errors as new since the last visit in the cookie', async () => {
    const before = clock - 12 * DAY
    const cookie = `faultboard_visits=${clock - DAY}.${before}`
    const response = await host.get('/overview.json', { cookie })
    const { new_since, new_errors } = await response.json()
    expect(Date.parse(new_since)).toBe(clock - DAY)
    expect(new_errors.count).toBe(1)
    const long = await (await host.get('/overview', { cookie: `faultboard_visits=${clock - 11 * DAY}.` })).text()
    expect(section(long, 'needs-attention')).toMatch(/new since your last visit.*OldError/s)
  })

  test('filters by application and rejects an invalid id', async () => {
    expect((await host.get('/overview?application_id=1')).status).toBe(200)
    expect(await host.json('/overview?application_id=77')).toMatchObject({
      status: 404,
      error: 'No application with id 77.',
    })
    expect((await host.get('/overview?application_id=shop')).status).toBe(422)
  })

  test('shows the message next to the type, then application and location, and a status only if it is not new', async () => {
    const rows = section(page, 'top-errors')
    expect(rows).toMatch(/CheckoutError<\/a><span class="named-error-message"> m<\/span>/)
    expect(rows).not.toContain('status-new')
    expect(rows).toContain('unassigned')
    await host.tracker.Commands.UpdateStatus.call({ error_id: 1, status: 'investigating' })
    await host.tracker.Commands.AssignError.call({ error_id: 1, assigned_to: 'Ada' })
    const changed = section(await (await host.get('/overview?from=2026-05-18&to=2026-05-21')).text(), 'top-errors')
    expect(changed).toMatch(/status-investigating">investigating<\/span> <small>Ada<\/small>/)
  })
})

test('shows the code that captures the first error', async () => {
  const host = await startAt()
  onTestFinished(() => host.close())
  const page = await (await host.get('/overview')).text()
  expect(page).toContain('app.use(dashboard())')
  expect(page).toContain('app.use(capture())')
  expect(page).toContain('Tracker.report(new Error(&#39;The first error&#39;))')
  expect(page).not.toContain('class="figures"')
})

test('names the selected application in the empty state', async () => {
  const database = `sqlite:${join(temporaryFolder(), 'errors.sqlite3')}`
  const other = await startHost(database, { application_name: 'warehouse' })
  const logged = await other.tracker.Commands.LogError.call({ error_type: 'StockError', message: 'none left' })
  await other.tracker.Commands.BatchDeleteErrors.call({ error_ids: [logged?.id ?? 0] })
  await other.close()
  const host = await startHost(database)
  onTestFinished(() => host.close())
  const [warehouse] = await host.tracker.Queries.Applications.call()
  const page = await (await host.get(`/overview?application_id=${warehouse?.id}`)).text()
  expect(page).toMatch(/Throw an error in any route of <strong>warehouse<\/strong>, and it\s+appears here\./)
})

test('shows an all-clear message when nothing needs attention', async () => {
  const host = await startAt()
  onTestFinished(() => host.close())
  await host.tracker.Commands.LogError.call({
    error_type: 'Quiet',
    message: 'x',
    severity: 'low',
    occurred_at: NOW - 40 * DAY,
  })
  const page = await (await host.get('/overview')).text()
  expect(section(page, 'needs-attention')).toContain('All clear.')
  expect(page).toContain('<p class="muted">All clear</p>')
  expect(section(page, 'top-errors')).toContain('No open errors in this period.')
})

/** Text of each key figure by its label. */
function figures(page: string): Record<string, string> {
  return Object.fromEntries(
    [...page.matchAll(/<dt>([^<]*)<\/dt><dd>(.*?)<\/dd>/gs)].map(([, label, html = '']) => [
      label,
      html
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim(),
    ]),
  )
}

/** Section labeled by the heading with this id. */
function section(page: string, id: string): string {
  return (
    new RegExp(`aria-labelledby="${id}".*?(?=<section class="card"|<div class="columns"|</main>)`, 's').exec(
      page,
    )?.[0] ?? ''
  )
}
