import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseQuery, QUERY_KEYS } from '../../../../src/model/search-query.js'
import { type Host, serveTracker, startHost } from '../../../support/host.js'

const OPEN = '/errors?unresolved=true&hide_snoozed=true'

const folder = mkdtempSync(join(tmpdir(), 'faultboard-list-'))
let host: Host

beforeAll(async () => {
  host = await startHost(`sqlite:${join(folder, 'errors.sqlite3')}`)
  const { Commands } = host.tracker
  for (let i = 0; i < 30; i++) {
    await Commands.LogError.call({
      error_type: `Kind${i}Error`,
      message: i === 7 ? 'a needle in it' : 'hay',
      severity: i % 2 === 0 ? 'high' : 'low',
      platform: i % 3 === 0 ? 'iOS' : 'Web',
      app_version: '2.0.1',
    })
  }
  const { errors } = await host.tracker.Queries.ErrorsList.page({ per_page: 4 })
  const [resolved = 0, snoozed = 0, assigned = 0] = errors.map(({ id }) => id)
  await Commands.ResolveError.call({ error_id: resolved })
  await Commands.SnoozeError.call({ error_id: snoozed, hours: 5 })
  await Commands.AssignError.call({ error_id: assigned, assigned_to: 'eve.adams@example.org' })
})

afterAll(async () => {
  await host.close()
  rmSync(folder, { recursive: true, force: true })
})

const page = async (path: string): Promise<string> => {
  const response = await host.get(path, { accept: 'text/html' })
  expect(response.status).toBe(200)
  return response.text()
}

/** Links within a part of a page by their text. The text is empty for an icon. */
const links = (html: string, part: RegExp): Record<string, string> =>
  Object.fromEntries(
    [...(part.exec(html)?.[0] ?? '').matchAll(/<a [^>]*?href="([^"]*)"[^>]*>(.*?)<\/a>/gs)].map(([, href, text]) => [
      (text ?? '').replace(/<[^>]*>/g, '').trim(),
      (href ?? '').replaceAll('&amp;', '&').replace('/error_dashboard', ''),
    ]),
  )

const TABS = /<nav class="tabs".*?<\/nav>/s
const CHIPS = /<ul class="chips".*?<\/ul>/s
const HEADS = /<thead>.*?<\/thead>/s

describe('the head of the list', () => {
  test('shows the number of matching errors and the application in the title', async () => {
    expect(await page(OPEN)).toContain('<title>(28) Open errors · shop</title>')
  })

  test('the list has tabs with the number of matching errors', async () => {
    const tabs = links(await page('/errors?severity=high&page=2'), TABS)
    expect(Object.keys(tabs)).toEqual(['Open14', 'Mine0', 'Regressed0', 'Snoozed1', 'Resolved0', 'All15'])
    expect(tabs.Open14).toBe('/errors?severity=high&unresolved=true&hide_snoozed=true')
    expect(tabs.Mine0).toBe('/errors?severity=high&unresolved=true&hide_snoozed=true&assigned_to=admin')
    expect(tabs.Regressed0).toBe('/errors?severity=high&regressed=true')
    expect(tabs.Snoozed1).toBe('/errors?severity=high&snoozed=true')
    expect(tabs.Resolved0).toBe('/errors?severity=high&status=resolved')
    expect(tabs.All15).toBe('/errors?severity=high')
  })

  test.each([
    [OPEN, 'Open'],
    ['/errors?unresolved=true&hide_snoozed=true&assigned_to=admin', 'Mine'],
    ['/errors?regressed=true', 'Regressed'],
    ['/errors?snoozed=true', 'Snoozed'],
    ['/errors?status=resolved', 'Resolved'],
    ['/errors?status=in_progress', 'All'],
    ['/errors', 'All'],
  ])('marks the current tab of %s', async (path, name) => {
    expect(/aria-current="page">([^<]+)/.exec(TABS.exec(await page(path))?.[0] ?? '')?.[1]).toBe(name)
  })

  test('shows a chip per filter that removes the filter', async () => {
    const chips = links(
      await page(
        '/errors?unresolved=true&search=a+b&severity=&assigned_to=__unassigned__&priority_level=0&per_page=50',
      ),
      CHIPS,
    )
    expect(Object.keys(chips)).toEqual([
      'Unresolved , remove',
      'Search a b, remove',
      'Assignee Unassigned, remove',
      'Priority none, remove',
      'Clear all',
    ])
    expect(chips['Search a b, remove']).toBe(
      '/errors?per_page=50&assigned_to=__unassigned__&priority_level=0&unresolved=true',
    )
    expect(chips['Clear all']).toBe('/errors?per_page=50')
  })

  test('shows no chip for filters of the current tab, and for the query', async () => {
    expect(CHIPS.test(await page(`${OPEN}&query=needle`))).toBe(false)
    const html = await page(`${OPEN}&query=needle&severity=low`)
    expect(Object.keys(links(html, CHIPS))).toEqual(['Severity low, remove', 'Clear all'])
    expect(html).toContain('href="/error_dashboard/errors?severity=low&amp;unresolved=true&amp;hide_snoozed=true"')
  })

  test('describes each operator of the query with an example', async () => {
    const data = /data-suggestions="([^"]*)"/.exec(await page('/errors'))?.[1]?.replaceAll('&quot;', '"') ?? ''
    const keys: Record<string, { text: string; example: string; values: string[][] }> = JSON.parse(
      data.replaceAll('&#39;', "'"),
    )
    expect(Object.keys(keys)).toEqual(QUERY_KEYS)
    for (const [key, { text, example }] of Object.entries(keys)) {
      expect(text.length).toBeGreaterThan(8)
      expect(parseQuery(example)).toMatchObject([{ key }])
    }
    expect(keys.is?.values).toContainEqual(['regressed', 'Occurred again after it was resolved'])
  })

  test('keeps tab and application on submit and shows the active filters', async () => {
    const html = await page(`${OPEN}&application_id=1&severity=high&platform=Nokia&day=2026-03-09`)
    for (const hidden of ['application_id" value="1', 'unresolved" value="true', 'hide_snoozed" value="true']) {
      expect(html).toContain(`<input type="hidden" name="${hidden}"`)
    }
    expect(html).toMatch(/<option value="high" selected/)
    expect(html).toMatch(/<option value="Nokia" selected/)
    expect(html).toMatch(/type="date"[^>]*value="2026-03-09"|value="2026-03-09"[^>]*type="date"/)
    expect(html).toContain('<span class="button">2026-03-09</span>')
    expect(await page('/errors')).toContain('<span class="button">Any</span>')
  })

  test('offers recorded values in the select boxes', async () => {
    const html = await page('/errors')
    for (const value of ['iOS', 'Web', '2.0.1', 'eve.adams@example.org']) {
      expect(html).toContain(`<option value="${value}">${value}</option>`)
    }
  })

  test('exports the filtered list as CSV', async () => {
    const html = await page('/errors?search=needle&page=1')
    const address = /href="([^"]*)"[^>]*>\s*Export/.exec(html)?.[1]?.replace('/error_dashboard', '') ?? ''
    expect(address).toBe('/errors.csv?search=needle')
    const table = await (await host.get(address)).text()
    expect(table.trim().split('\r\n').length).toBe(2)
    expect(table).toContain('a needle in it')
  })
})

describe('the rows of the list', () => {
  test('rows can be sorted by column headers in both directions', async () => {
    const fresh = links(await page('/errors'), HEADS)
    expect(fresh.Occurrences).toBe('/errors?sort_by=occurrence_count&sort_direction=desc')
    expect(fresh.Error).toBe('/errors?sort_by=error_type&sort_direction=asc')
    const html = await page('/errors?sort_by=error_type&sort_direction=asc&page=2')
    expect(html).toMatch(/<th scope="col" class="what" aria-sort="ascending">/)
    expect(html.match(/aria-sort/g)?.length).toBe(1)
    expect(links(html, HEADS).Error).toBe('/errors?sort_by=error_type&sort_direction=desc')
  })

  test('rows show their data with text next to every color', async () => {
    const html = await page('/errors?assigned_to=eve.adams@example.org')
    const row = /<tr data-row.*?<\/tr>/s.exec(html)?.[0] ?? ''
    for (const text of ['Kind27Error', 'low', 'new', '1', '0</span>', 'iOS', '2.0.1', '>EA<', 'just now', '<svg']) {
      expect(row).toContain(text)
    }
    expect((await page('/errors?unresolved=true')).match(/<small>snoozed, ends /g)?.length).toBe(1)
  })

  test('rows keep page and selection in the URL without JavaScript', async () => {
    const html = await page('/errors?severity=high&per_page=5&page=2')
    expect(html).toContain('Page 2 of 3')
    expect(html).toMatch(/rel="prev" href="[^"]*page=1"/)
    expect(html).toContain('href="/error_dashboard/errors?per_page=5&amp;severity=high&amp;page=2&amp;select=page"')
    const chosen = await page('/errors?severity=high&per_page=5&page=2&select=page')
    expect(chosen.match(/name="error_ids\[\]"[^>]* checked/g)?.length).toBe(5)
  })
})

describe('a list without rows', () => {
  test.each([
    ['/errors?unresolved=true&hide_snoozed=true', 'Open errors', ''],
    ['/errors?regressed=true', 'Regressed errors', ''],
    ['/errors?status=resolved', 'Resolved errors', ''],
    ['/errors?unresolved=true', 'Errors', ', unresolved'],
    ['/errors?severity=low&tag=city:Berlin', 'All errors', ', severity low, tag city:Berlin'],
    [`/errors?search=${'long'.repeat(60)}`, 'All errors', `, search ${'long'.repeat(20)}…`],
  ])('names the tab and the filters of %s in its title', async (path, heading, filters) => {
    const html = await page(path)
    expect(html).toContain(`<h1>${heading}</h1>`)
    expect(html).toContain(`) ${heading}${filters} · shop</title>`)
  })

  test('offers to clear filters without a match', async () => {
    const html = await page('/errors?search=nothing+like+it')
    expect(html).toContain('No errors match your filters.')
    expect(html).toMatch(/href="\/error_dashboard\/errors"[^>]*>Clear filters/)
  })

  test('offers the matches of the other tabs, and of all applications', async () => {
    expect(await page('/errors?status=resolved&query=needle')).toMatch(
      /No errors match your filters.*<a href="\/error_dashboard\/errors\?query=needle">Show 1 matching error in All<\/a> · <a/s,
    )
    expect(await page('/errors?query=nothing&application_id=1&severity=low')).toMatch(
      /No errors match your filters.*<a href="\/error_dashboard\/errors\?severity=low&amp;query=nothing">Search everywhere<\/a> · <a/s,
    )
  })

  test('offers to remove one term of a query with several terms', async () => {
    const html = await page('/errors?query=needle+is:resolved&severity=low')
    expect(html).toMatch(
      /All terms must match. Search without <a href="[^"]*severity=low&amp;query=is%3Aresolved"><code dir="auto">needle</,
    )
    expect(html).toMatch(/ or <a href="[^"]*severity=low&amp;query=needle"><code dir="auto">is:resolved</)
    expect(await page('/errors?query=nothing')).not.toContain('Search without')
  })

  test('offers all errors when a tab has none', async () => {
    expect(await page('/errors?regressed=true')).toMatch(/No errors have regressed.*Show all 30/s)
  })

  test('shows the code that sends the first error', async () => {
    const empty = await startHost('sqlite::memory:')
    const html = await (await empty.get(OPEN, { accept: 'text/html' })).text()
    expect(html).toContain('No errors yet')
    expect(html).toContain('Tracker.report(new Error(&#39;The first error&#39;))')
    expect(html).toContain('Waiting for the first error')
    await empty.close()
  })
})

describe('changes of the list', () => {
  test('changes of the list are returned as JSON', async () => {
    const { errors } = await host.tracker.Queries.ErrorsList.page({ search: 'needle' })
    const changes = await host.json(
      `/errors/changes.json?since=${Date.now() - 3_600_000}&search=hay&ids=${errors[0]?.id}`,
    )
    expect(changes).toMatchObject({ status: 200, new_count: 29, updated: [{ id: errors[0]?.id, occurrence_count: 1 }] })
    expect((await host.json('/errors/changes.json')).status).toBe(422)
  })
})

describe('the mixed view', () => {
  test('names the application of each row until an application is selected', async () => {
    const other = await serveTracker({
      database: `sqlite:${join(folder, 'errors.sqlite3')}`,
      application_name: 'warehouse',
    })
    await other.tracker.Commands.LogError.call({ error_type: 'StockError', message: 'none left' })
    await other.close()
    const { application_id } =
      (await host.tracker.Queries.ErrorsList.page({ error_type: 'StockError' })).errors[0] ?? {}
    expect(await page('/errors?error_type=StockError')).toContain('<span class="application">warehouse</span>')
    expect(await page('/errors')).toContain('[&quot;2.0.1&quot;,&quot;shop&quot;]')
    // The page of an error names its own application.
    expect(await page('/errors/31')).toContain('<title>none left · warehouse</title>')
    expect(await page('/overview')).toContain('<title>Overview · All applications</title>')
    const own = await page(`/errors?application_id=${application_id}`)
    expect(own).toContain('<title>(1) All errors · warehouse</title>')
    expect(own).not.toContain('class="application"')
    expect(own).toContain('[&quot;StockError&quot;]')
    expect(own).toContain(`href="/error_dashboard/errors/31?application_id=${application_id}&amp;list_page=1"`)
  })
})
