import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeOneDatabase } from '../support/databases.js'
import { type Host, startHost } from '../support/host.js'
import { HOSTILE_COUNTED, ORDINARY_COUNTED, storeCounted } from './hourly-samples.js'
import { EVIL } from './samples.js'

const SWITCHES = { enable_breadcrumbs: true, detect_n_plus_one_queries: true, enable_deprecation_tracking: true }

describeOneDatabase('the pages of hourly counts', (database) => {
  let host: Host
  let url: string

  beforeAll(async () => {
    url = await database.fresh()
    host = await startHost(url, SWITCHES)
    for (const times of [4, 12]) {
      await host.tracker.withScope(async () => {
        for (let i = 0; i < times; i++) host.tracker.addBreadcrumb({ category: 'sql', message: 'select * from a' })
        const error = { error_type: `Ran ${times}`, message: 'b', app_version: '3.2.1' }
        await host.tracker.Commands.LogError.call(error)
      })
    }
    await host.tracker.flush()
    await storeCounted(url, Date.now(), [...ORDINARY_COUNTED, ...HOSTILE_COUNTED])
  })

  afterAll(() => host?.close())

  test('pages of hourly counts return JSON', async () => {
    const queries = await host.json('/errors/n_plus_one?days=7')
    expect(queries).toMatchObject({ status: 200, days: 7, threshold: 5, total_count: 8 })
    expect(queries.statements).toContainEqual(
      expect.objectContaining({ statement: ORDINARY_COUNTED[0]?.statement, request_count: 120, worst_count: 31 }),
    )
    const warnings = await host.json('/errors/deprecations?days=90')
    expect(warnings).toMatchObject({ status: 200, days: 90, total_count: 7 })
    expect(warnings.deprecations).toContainEqual(
      expect.objectContaining({ code: 'DEP0169', count: 15, app_versions: ['2.14.0'] }),
    )
    expect(await host.json('/errors/n_plus_one?days=8')).toMatchObject({ status: 422 })
    expect(await host.json('/errors/deprecations?application_id=999')).toMatchObject({ status: 404 })
  })

  test('pages of hourly counts show stored values as text, not markup', async () => {
    for (const path of ['n_plus_one', 'deprecations']) {
      const text = await (await host.get(`/errors/${path}`)).text()
      expect(text).not.toContain('<script>alert')
      expect(text).not.toContain('<img src=x')
      expect(text).toContain('&lt;script&gt;alert(1)')
      expect(text).toMatch(/class="x-axis"[^>]*><text [^>]*>\d+ [A-Z][a-z]+<\/text>/)
    }
    expect(EVIL).toContain('<script>')
  })

  test('charts of hourly counts hatch the current day, mark releases and name the time zone', async () => {
    for (const [path, title] of [
      ['n_plus_one', 'Repeated statements per day'],
      ['deprecations', 'Warnings per day'],
    ]) {
      const text = await (await host.get(`/errors/${path}`)).text()
      expect(text).toContain(`${title} (UTC)`)
      expect(text.match(/ \d{4}, in progress: /g)).toHaveLength(1)
      expect(text).toMatch(/aria-label="Release 3\.2\.1, first seen /)
    }
  })

  test('charts of hourly counts mark only releases of applications with counts', async () => {
    const other = await startHost(url, { ...SWITCHES, application_name: 'idle' })
    try {
      await other.tracker.Commands.LogError.call({ error_type: 'Other', message: 'b', app_version: '9.9.9' })
      const page = await (await other.get('/errors/n_plus_one')).text()
      expect(page).toContain('aria-label="Release 3.2.1 of ')
      expect(page).not.toContain('Release 9.9.9')
      expect(await (await other.get('/errors/analytics')).text()).toContain('aria-label="Release 9.9.9 of idle')
    } finally {
      await other.close()
    }
  })

  test('a bar zooms into its day by hour', async () => {
    for (const [path, title, unit] of [
      ['n_plus_one', 'Repeated statements', 'repeated statements?'],
      ['deprecations', 'Warnings', 'warnings?'],
    ]) {
      const counts = (text: string) =>
        [...text.matchAll(new RegExp(`: ([\\d,]+) ${unit}"`, 'g'))].map(([, count = '']) =>
          Number(count.replace(',', '')),
        )
      const page = await (await host.get(`/errors/${path}`)).text()
      const [, link = '', count] = /href="[^"]*(\?from=\d+&amp;to=\d+)" aria-label="[^"]*: ([\d,]+) /.exec(page) ?? []
      const zoomed = await (await host.get(`/errors/${path}${link.replace('&amp;', '&')}`)).text()
      expect(zoomed).toContain(`<span class="chart-title">${title}</span>`)
      expect(zoomed).toMatch(
        /<p class="meta">[A-Z][a-z]{2}, \d+ [A-Z][a-z]{2} \d{4} · Times in <span data-zone="true">UTC/,
      )
      expect(counts(zoomed).reduce((sum, value) => sum + value, 0)).toBe(Number(count?.replace(',', '')))
      expect(zoomed).toContain(`<a href="/error_dashboard/errors/${path}">Reset zoom</a>`)
      expect(zoomed.match(/<a href="[^"]*from=[^"]*" aria-label/g)).toBeNull()
    }
    expect((await host.get('/errors/n_plus_one?from=200&to=100')).status).toBe(422)
  })

  test('warns on the error page about repeated statements of its request', async () => {
    const { errors } = (await host.json('/errors')) as unknown as { errors: { id: number; error_type: string }[] }
    const pageOf = async (type: string) => {
      const { id } = errors.find(({ error_type }) => error_type === type) ?? { id: 0 }
      return (await host.get(`/errors/${id}`)).text()
    }
    expect(await pageOf('Ran 12')).toMatch(/This request ran <code>select \* from a<\/code> 12 times/)
    expect(await pageOf('Ran 4')).not.toContain('This request ran')
  })

  test('pages of hourly counts return 404 while disabled and show the next step when empty', async () => {
    const off = await startHost(await database.fresh(), { enable_breadcrumbs: true })
    const empty = await startHost(await database.fresh(), { ...SWITCHES, enable_request_guard_tracking: true })
    try {
      for (const path of ['n_plus_one', 'deprecations']) {
        expect((await off.get(`/errors/${path}`)).status).toBe((await off.get('/errors/request_guard_summary')).status)
        expect((await off.get(`/errors/${path}`)).status).not.toBe(200)
      }
      expect(await (await empty.get('/errors/n_plus_one')).text()).toContain('instrumentPg(pg)')
      expect(await (await empty.get('/errors/deprecations')).text()).toContain('--import faultboard/register')
      expect(await (await empty.get('/errors/request_guard_summary')).text()).toContain('Tracker.requestGuard.record')
    } finally {
      await off.close()
      await empty.close()
    }
  })
})
