import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  describeInBrowser,
  expectAccessible,
  expectNoInnerScroll,
  expectNoOverflowAtEveryWidth,
} from '../support/browser.js'
import { type Host, startHost } from '../support/host.js'

const PAGES = ['/errors/analytics', '/releases', '/errors/platform_comparison', '/errors/correlation']
const NOW = Date.parse('2026-03-31T10:20:00Z')
const HOUR = 3_600_000
const HOSTILE = `<img src=x onerror="document.title='owned'">${'wide'.repeat(40)} مرحبا 🎉`

describeInBrowser('analytics page in a browser', ({ open }) => {
  let empty: Host
  let ordinary: Host
  let hostile: Host

  beforeAll(async () => {
    const start = () => startHost('sqlite::memory:', { time_zone: 'Europe/Berlin' }, { now: () => NOW })
    ;[empty, ordinary, hostile] = await Promise.all([start(), start(), start()])
    for (let i = 0; i < 400; i++) {
      await ordinary.tracker.Commands.LogError.call({
        error_type: `Kind${'ABCDEFGHIJKLM'.charAt(i % 13)}Error`,
        message: 'The step could not be finished',
        backtrace: [`at step (${process.cwd()}/src/step-${i % 3}.ts:1:1)`],
        platform: ['Web', 'iOS', 'Android', 'API'][i % 4],
        app_version: i < 200 ? '1.0.0' : '1.1.0',
        severity: (['critical', 'high', 'medium', 'low'] as const)[i % 4],
        user_id: `user-${i % 17}`,
        occurred_at: NOW - (400 - i) * 1.7 * HOUR,
      })
    }
    const [first] = await ordinary.tracker.Queries.ErrorsList.call()
    await ordinary.tracker.Commands.ResolveError.call({ error_id: first?.id ?? 0 })
    for (let i = 0; i < 30; i++) {
      await hostile.tracker.Commands.LogError.call({
        error_type: `${HOSTILE}${'ABC'.charAt(i % 3)}`,
        message: HOSTILE.repeat(30),
        platform: `${HOSTILE.slice(0, 55)}${i % 5}`,
        app_version: `${HOSTILE.slice(0, 100)}${i % 4}`,
        user_id: HOSTILE,
        occurred_at: NOW - i * HOUR,
      })
    }
  })

  afterAll(() => Promise.all([empty, ordinary, hostile].map((host) => host.close())))

  const at = (host: Host, path: string) => `${host.origin}/error_dashboard${path}`

  test('renders empty, ordinary and hostile analytics without overflow', { timeout: 120_000 }, async () => {
    const page = await open({ colorScheme: 'dark' })
    for (const host of [empty, ordinary, hostile]) {
      for (const path of PAGES) {
        await page.goto(at(host, path))
        await expectNoOverflowAtEveryWidth(page)
        // every-page.test.ts covers hostile data, and light mode. All empty pages have the same elements.
        if (host === ordinary || (host === empty && path === PAGES[0])) await expectAccessible(page)
        expect(await page.title()).not.toContain('owned')
      }
    }
  })

  test('shows all columns of tables without scrolling at any width', async () => {
    const page = await open({ javaScriptEnabled: false })
    const expectAllColumns = async () => {
      for (const width of [1440, 1024, 768, 390]) {
        await page.setViewportSize({ width, height: 900 })
        await expectNoInnerScroll(page)
      }
    }
    for (const path of PAGES) {
      await page.goto(at(ordinary, path))
      await expectAllColumns()
    }
    await page.goto(at(hostile, '/releases'))
    await expectAllColumns()
  })

  test('styles errors in tables as in the list, and uses tabular digits for numbers only', async () => {
    const page = await open({ viewport: { width: 1440, height: 900 } })
    const styleOf = (link: Element) => {
      const { color, fontWeight, textDecorationLine } = getComputedStyle(link)
      return [color, fontWeight, textDecorationLine]
    }
    await page.goto(at(ordinary, '/errors'))
    const inList = await page.locator('a.row-link').first().evaluate(styleOf)
    for (const path of ['/errors/analytics', '/errors/platform_comparison', '/releases?app_version=1.0.0']) {
      await page.goto(at(ordinary, path))
      expect([path, await page.locator('.error-link a').count()]).not.toEqual([path, 0])
      expect(await page.locator('.error-link a').first().evaluate(styleOf), path).toEqual(inList)
    }
    const digits = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((cell) => getComputedStyle(cell).fontVariantNumeric)
    expect(await digits('.data-table tbody th')).toBe('normal')
    expect(await digits('.data-table td.number')).toBe('tabular-nums')
  })

  test('shows the values of a row on one line on phones, each after its name', async () => {
    const page = await open({ viewport: { width: 390, height: 900 } })
    await page.goto(at(ordinary, '/errors/platform_comparison'))
    const row = page.locator('#platform tbody tr').first()
    const shown = row.locator('td').filter({ visible: true })
    const cells = await shown.evaluateAll((all) =>
      all.map((cell) => {
        const { top, height } = cell.getBoundingClientRect()
        return { height, middle: top + height / 2, name: getComputedStyle(cell, '::before').content }
      }),
    )
    expect(cells.map(({ name }) => name)).toEqual(['"Severity"', '"Occurrences"'])
    for (const { height } of cells) expect(height).toBeLessThan(30)
    expect(cells[1]?.middle).toBeCloseTo(cells[0]?.middle ?? 0, 0)
  })

  test('shows the next step when empty', async () => {
    const page = await open()
    for (const [path, line] of [
      ['/errors/analytics', 'LogError.call'],
      ['/releases', 'app_version'],
      ['/errors/platform_comparison', "platform: 'iOS'"],
      ['/errors/correlation', 'app_version'],
    ] as const) {
      await page.goto(at(empty, path))
      expect(await page.locator('.empty pre').textContent()).toContain(line)
    }
  })

  test.each([true, false])('changes the range by link and by URL (JavaScript %s)', async (javaScriptEnabled) => {
    const page = await open({ javaScriptEnabled })
    await page.goto(at(ordinary, '/errors/analytics?app_version=1.0.0'))
    await page.getByRole('link', { name: '7 d', exact: true }).click()
    expect(parameters(page)).toEqual({ app_version: '1.0.0', days: '7' })
    await page.goto(at(ordinary, '/errors/analytics?days=3'))
    expect(await page.getByRole('link', { name: '3 d', exact: true }).getAttribute('aria-current')).toBe('page')
    // The layout can arrive before the charts.
    await page.locator('.plot').first().waitFor()
    expect(await page.locator('.plot').first().locator('a, g').count()).toBe(3)
  })

  test('links figures to their errors', async () => {
    const page = await open({ javaScriptEnabled: false })
    await page.goto(at(ordinary, '/errors/analytics'))
    await page.getByRole('link', { name: 'KindAError' }).first().click()
    expect(parameters(page)).toEqual({ error_type: 'KindAError' })
    await page.goBack()
    await page.getByRole('link', { name: /^Tue, 31 Mar 2026, in progress/ }).click()
    await page.getByText('Tue, 31 Mar 2026 · Times in Europe/Berlin · Reset zoom').waitFor()
    await page.getByRole('link', { name: 'Reset zoom' }).click()
    await page.getByText('Show as table').first().click()
    await page.getByRole('link', { name: 'Tue, 31 Mar 2026', exact: true }).click()
    expect(parameters(page)).toEqual({ day: '2026-03-31' })
    await page.goto(at(ordinary, '/errors/platform_comparison'))
    await page.getByRole('heading', { name: 'Android' }).getByRole('link').click()
    expect(await page.getByRole('heading', { name: 'Most frequent on Android' }).count()).toBe(1)
  })

  test('exposes the heat map as a table of numbers', async () => {
    const page = await open()
    await page.goto(at(ordinary, '/errors/analytics'))
    const table = page.getByRole('table', { name: 'Occurrences by weekday and hour' })
    const cells = await table.getByRole('cell').allTextContents()
    expect(cells).toHaveLength(7 * 24)
    expect(cells.reduce((sum, text) => sum + Number(text), 0)).toBe(400)
    const shades = await page
      .locator('.heat-legend > span:empty')
      .evaluateAll((all) => all.map((element) => getComputedStyle(element).backgroundColor))
    expect(new Set(shades).size).toBe(6)
  })

  test('a collapsed panel is as high as its summary', async () => {
    const page = await open()
    await page.goto(at(ordinary, '/errors/analytics'))
    const panel = page.locator('details.insight').first()
    const height = async (element: Locator) => (await element.boundingBox())?.height ?? 0
    // Padding of 16 pixels and a line above.
    expect(await height(panel)).toBeCloseTo((await height(panel.locator('.insight-summary'))) + 17, 0)
    await panel.locator('.insight-summary').click()
    expect(await height(panel)).toBeGreaterThan(100)
  })
})

function parameters(page: Page): Record<string, string> {
  return Object.fromEntries(new URL(page.url()).searchParams)
}
