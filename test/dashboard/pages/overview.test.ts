import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
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

  test('links each day of the chart to the errors of that day in the configured time zone', () => {
    expect(page).toContain('href="/error_dashboard/errors?day=2026-05-20"')
    expect(page).toContain('aria-label="Wed, 20 May 2026: 3 occurrences (')
    expect(page).toContain('href="/error_dashboard/errors?day=2026-05-10"')
    expect(page.match(/errors\?day=/g)?.length).toBeGreaterThan(30)
  })

  test('lists new, regressed and unassigned errors', () => {
    expect(section(page, 'needs-attention')).toMatch(/New <span class="count">1<.*CheckoutError/s)
    expect(section(page, 'needs-attention')).toMatch(/Regressed <span class="count">1<.*BackError/s)
    expect(section(page, 'needs-attention')).toMatch(/BackError.*<small>regressed <time /s)
    expect(section(page, 'needs-attention')).toMatch(/Unassigned <span class="count">2<.*CheckoutError/s)
    expect(section(page, 'needs-attention')).not.toContain('OldError')
    expect(page).toContain('<a href="#needs-attention">1 new, 1 regressed, 2 unassigned</a>')
  })

  test('ranks open errors by impact over 7 days', () => {
    const rows = [...section(page, 'top-errors').matchAll(/errors\/\d+">([^<]*)</g)].map(([, type]) => type)
    expect(rows[0]).toBe('CheckoutError')
    expect(rows).not.toContain('OldError')
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
    expect(json).toMatchObject({ affected_users: { count: 3 }, today: { occurrences: 3 }, spiking: null })
  })

  test('counts errors as new since the last visit in the cookie', async () => {
    const before = clock - 12 * DAY
    const cookie = `faultboard_visits=${clock - DAY}.${before}`
    const response = await host.get('/overview.json', { cookie })
    const { new_since, new_errors } = await response.json()
    expect(Date.parse(new_since)).toBe(clock - DAY)
    expect(new_errors.count).toBe(1)
    const long = await (await host.get('/overview', { cookie: `faultboard_visits=${clock - 11 * DAY}.` })).text()
    expect(section(long, 'needs-attention')).toMatch(/since your last visit.*OldError/s)
  })

  test('filters by application and rejects an invalid id', async () => {
    expect((await host.get('/overview?application_id=1')).status).toBe(200)
    expect(await host.json('/overview?application_id=77')).toMatchObject({
      status: 404,
      error: 'No application with id 77.',
    })
    expect((await host.get('/overview?application_id=shop')).status).toBe(422)
  })
})

test('shows the code that captures the first error', async () => {
  const host = await startAt()
  onTestFinished(() => host.close())
  const page = await (await host.get('/overview')).text()
  expect(page).toContain('app.use(dashboard())')
  expect(page).toContain('app.use(capture())')
  expect(page).toContain('Tracker.Commands.LogError.call({ exception: error')
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
  expect(page).toMatch(/high-impact errors of\s+warehouse\./)
})

test('shows an all-clear message when nothing needs attention', async () => {
  const host = await startAt()
  onTestFinished(() => host.close())
  await host.tracker.Commands.LogError.call({
    error_type: 'Quiet',
    message: 'x',
    severity: 'low',
    occurred_at: NOW - 20 * DAY,
  })
  const page = await (await host.get('/overview')).text()
  expect(section(page, 'needs-attention')).toContain('All clear.')
  expect(page).toContain('<p class="muted">All clear · ')
  expect(section(page, 'top-errors')).toContain('No open errors in the last 7 days.')
})

/** Section labeled by the heading with this id. */
function section(page: string, id: string): string {
  return (
    new RegExp(`aria-labelledby="${id}".*?(?=<section class="card"|<div class="columns"|</main>)`, 's').exec(
      page,
    )?.[0] ?? ''
  )
}
