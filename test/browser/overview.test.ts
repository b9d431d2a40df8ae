import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser, expectAccessible, expectNoOverflowAtEveryWidth } from '../support/browser.js'
import { type Host, startHost } from '../support/host.js'

const NOW = Date.UTC(2026, 4, 20, 12, 30)
const HOUR = 3_600_000
const DAY = 24 * HOUR
const HOSTILE = ['<script>alert(1)</script>', '"><svg onload=alert(2)>', 'مرحبا 🙈 שלום', 'x'.repeat(120)]

describeInBrowser('overview, settings and health', ({ open }) => {
  const hosts: Record<string, Host> = {}

  beforeAll(async () => {
    hosts.empty = await startHost('sqlite::memory:', {}, { now: () => NOW })
    hosts.ordinary = await ordinary()
    hosts.hostile = await hostile()
  })

  afterAll(async () => {
    for (const host of Object.values(hosts)) await host.close()
  })

  const visit = async (page: Page, name: string, path: string) => {
    const response = await page.goto(`${hosts[name]?.origin}/error_dashboard${path}`)
    expect(response?.status()).toBe(200)
  }

  test.each([
    ['/overview', 'ordinary', 'dark'],
    ['/overview', 'empty', 'light'],
    ['/overview', 'hostile', 'dark'],
    ['/settings', 'ordinary', 'light'],
    ['/settings', 'hostile', 'dark'],
    ['/health', 'ordinary', 'light'],
    ['/health', 'hostile', 'dark'],
  ] as const)('renders the %s page with %s data without overflow in %s', async (path, name, colorScheme) => {
    const page = await open({ colorScheme })
    const complaints: string[] = []
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    page.on('dialog', (dialog) => complaints.push(dialog.message()))
    await visit(page, name, path)
    await expectNoOverflowAtEveryWidth(page)
    for (const error of await page.locator('.impact-error').all()) {
      expect((await error.boundingBox())?.width).toBeGreaterThan(200)
    }
    // every-page.test.ts covers hostile data, and all data of the other pages.
    if (path === '/overview' && name !== 'hostile') await expectAccessible(page)
    expect(complaints).toEqual([])
  })

  test('shows a tooltip with the severities on hover and by keyboard, and zooms with Enter', async () => {
    const page = await open()
    await visit(page, 'ordinary', '/overview')
    const tooltip = page.locator('.chart-tooltip')
    await page.locator('[data-chart] [data-bar]').nth(5).hover()
    expect(await tooltip.innerText()).toMatch(/^Sun, 26 Apr 2026\n\d+ occurrences?\n/)
    await page.mouse.move(0, 0)
    expect(await tooltip.count()).toBe(0)

    // The newest bar is the only tab stop of the chart.
    const bar = page.getByRole('link', { name: /^Wed, 20 May 2026, in progress: 1 occurrence \(1 critical\)/ })
    await page.getByRole('link', { name: '90 d', exact: true }).focus()
    await page.keyboard.press('Tab')
    while (!(await bar.evaluate((element) => element === document.activeElement))) await page.keyboard.press('Tab')
    expect(await tooltip.innerText()).toBe('Wed, 20 May 2026, in progress\n1 occurrence\n1 critical')
    await page.keyboard.press('ArrowLeft')
    expect(await tooltip.innerText()).toMatch(/^Tue, 19 May 2026\n\d+ occurrences\n.*\d+ high/s)
    expect(await page.locator('[data-chart] [tabindex="0"]').count()).toBe(1)
    await expectAccessible(page)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Tue, 19 May 2026' }).waitFor()
    expect(await page.locator('[data-chart] [data-bar]').count()).toBe(24)
    await page.getByRole('link', { name: 'Reset zoom' }).click()
    await page.getByRole('heading', { name: 'Last 30 days' }).waitFor()
  })

  test('zooms by click from a day to an hour, and by dragging over several days', async () => {
    const page = await open()
    await visit(page, 'ordinary', '/overview')
    await page.getByRole('link', { name: /^Tue, 19 May 2026: / }).click()
    await page.getByRole('link', { name: /^Tue, 19 May 2026, 12:00–13:00 UTC: / }).click()
    await page.getByRole('heading', { name: 'Tue, 19 May 2026, 12:00–13:00' }).waitFor()
    await page.getByRole('img', { name: /^Tue, 19 May 2026, 12:30–12:35 UTC: [1-9]/ }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Tue, 19 May 2026', exact: true }).waitFor()

    await visit(page, 'ordinary', '/overview?range=30d')
    await page.locator('[data-chart]').scrollIntoViewIfNeeded()
    const chart = (await page.locator('[data-chart]').boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
    const middleOf = (bar: number) => chart.x + (chart.width * (bar + 0.5)) / 30
    await page.mouse.move(middleOf(3), chart.y + 60)
    await page.mouse.down()
    await page.mouse.move(middleOf(8), chart.y + 60)
    await page.locator('.chart-selection').waitFor()
    // Chromium focuses a bar without occurrences, and would outline it.
    expect(
      await page.locator(':focus').evaluateAll((all) => all.map((element) => getComputedStyle(element).outlineStyle)),
    ).toEqual(expect.not.arrayContaining(['auto']))
    await page.mouse.move(middleOf(13), chart.y + 60)
    await page.mouse.up()
    await page.getByRole('heading', { name: 'Fri, 24 Apr 2026 – Mon, 4 May 2026' }).waitFor()
    expect(new URL(page.url()).searchParams.get('range')).toBe('30d')
  })

  test('zooms by dragging with a finger, which scrolls the page if it moves vertically', async () => {
    const page = await open({ viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true })
    await visit(page, 'ordinary', '/overview?range=30d')
    await page.locator('[data-chart]').scrollIntoViewIfNeeded()
    const chart = (await page.locator('[data-chart]').boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
    const middleOf = (bar: number) => chart.x + (chart.width * (bar + 0.5)) / 30
    const session = await page.context().newCDPSession(page)
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...touchPoints: { x: number; y: number }[]) =>
      session.send('Input.dispatchTouchEvent', { type, touchPoints })

    const scrolled = () => page.evaluate(() => scrollY)
    const before = await scrolled()
    await touch('touchStart', { x: middleOf(3), y: chart.y + 60 })
    for (let y = 50; y > -100; y -= 10) await touch('touchMove', { x: middleOf(3), y: chart.y + y })
    await touch('touchEnd')
    expect(await scrolled()).not.toBe(before)
    expect(await page.locator('.chart-selection').count()).toBe(0)
    await page.evaluate((top) => scrollTo({ top, behavior: 'instant' }), before)

    await touch('touchStart', { x: middleOf(3), y: chart.y + 60 })
    for (let bar = 4; bar <= 13; bar++) await touch('touchMove', { x: middleOf(bar), y: chart.y + 60 })
    await page.locator('.chart-selection').waitFor()
    await touch('touchEnd')
    await page.getByRole('heading', { name: 'Fri, 24 Apr 2026 – Mon, 4 May 2026' }).waitFor()
    await page.context().close()
  })

  test('shows exact times in the time zone of the viewer with UTC, unless UTC is preferred', async () => {
    const page = await open({ timezoneId: 'America/New_York' })
    await visit(page, 'ordinary', '/overview')
    const time = page.locator('.attention time').first()
    const hovered = async () => {
      await time.hover()
      return time.getAttribute('title')
    }
    expect(await hovered()).toBe('20 May 2026, 08:30:00 America/New_York\n20 May 2026, 12:30:00 UTC')
    await visit(page, 'ordinary', '/settings')
    await page.getByRole('form', { name: 'Exact times' }).getByRole('button', { name: 'UTC' }).click()
    await page.locator('[name="times"][value="configured"][aria-pressed="true"]').waitFor()
    await visit(page, 'ordinary', '/overview')
    expect(await hovered()).toBe('20 May 2026, 12:30:00 UTC')
  })

  test('shows charts of less than a day in the time zone of the viewer with UTC, unless UTC is preferred', async () => {
    const page = await open({ timezoneId: 'Europe/Berlin' })
    await visit(page, 'ordinary', '/overview?range=24h')
    const axis = () => page.locator('.x-axis text').allTextContents()
    await page.getByText('Times in Europe/Berlin').waitFor()
    expect(await axis()).toEqual(['15:00', '18:00', '21:00', '00:00', '03:00', '06:00', '09:00', '12:00'])
    const bar = page.locator('[data-chart] > [data-bar]').last()
    await bar.hover()
    expect(await page.locator('.chart-tooltip').innerText()).toBe(
      'Wed, 20 May 2026, 14:00–15:00 Europe/Berlin, in progress\n12:00–13:00 UTC\n1 occurrence\n1 critical',
    )
    expect(await bar.getAttribute('aria-label')).toBe(
      'Wed, 20 May 2026, 14:00–15:00 Europe/Berlin, in progress: 1 occurrence (1 critical)',
    )
    await page.getByText('Show as table').click()
    await page.getByRole('rowheader', { name: 'Wed, 20 May 2026, 14:00–15:00 Europe/Berlin' }).waitFor()
    await bar.click()
    await page.getByRole('heading', { name: 'Wed, 20 May 2026, 14:00–14:35' }).waitFor()
    expect(await axis()).toEqual(['14:00', '14:05', '14:10', '14:15', '14:20', '14:25', '14:30'])

    await visit(page, 'ordinary', '/overview')
    await page.getByText('Days in UTC').waitFor()
    expect(await axis()).toEqual(['27 Apr', '4 May', '11 May', '18 May'])
    await page.context().addCookies([{ name: 'faultboard_times', value: 'configured', url: page.url() }])
    await visit(page, 'ordinary', '/overview?range=24h')
    await page.getByText('Times in UTC').waitFor()
    expect(await axis()).toEqual(['15:00', '18:00', '21:00', '00:00', '03:00', '06:00', '09:00', '12:00'])
    await page.getByRole('link', { name: /^Wed, 20 May 2026, 12:00–13:00 UTC, in progress: 1 occurrence/ }).waitFor()
  })

  test('aligns severity and time at the right edge on a tablet', async () => {
    const page = await open({ viewport: { width: 768, height: 900 } })
    await visit(page, 'ordinary', '/overview')
    const edges = await page
      .locator('.attention-side > *')
      .evaluateAll((all) => all.map((element) => Math.round(element.getBoundingClientRect().right)))
    expect(edges.length).toBeGreaterThan(4)
    expect(new Set(edges).size).toBe(1)
    const widths = await page
      .locator('.attention-side .severity-high')
      .evaluateAll((all) => all.map((element) => Math.round(element.getBoundingClientRect().width)))
    expect(new Set(widths).size).toBe(1)
  })

  test('puts each label of the axis below its bar', async () => {
    const page = await open()
    await visit(page, 'ordinary', '/overview')
    const bars = await page.locator('[data-chart] > [data-bar] > .hit').all()
    const center = async (element: Locator) => {
      const { x, width } = (await element.boundingBox()) ?? { x: 0, width: 0 }
      return x + width / 2
    }
    // The first bar is Tuesday, 21 April.
    for (const [label, index] of [
      ['27 Apr', 6],
      ['18 May', 27],
    ] as const) {
      const bar = bars[index] as Locator
      expect(await center(page.locator('.x-axis text', { hasText: label }))).toBeCloseTo(await center(bar), 0)
    }
  })

  test('links a release marker to its release', async () => {
    const page = await open()
    await visit(page, 'ordinary', '/overview')
    const marker = page.getByRole('link', { name: /^Release 2\.0\.0, first seen 6 May 2026/ })
    await marker.focus()
    expect(await page.locator('.chart-tooltip').innerText()).toContain('Release 2.0.0')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Release 2.0.0' }).waitFor()
  })

  test('shows the time of a release marker in the time zone of the viewer, with UTC', async () => {
    const page = await open({ timezoneId: 'America/New_York' })
    await visit(page, 'ordinary', '/overview')
    const marker = page.getByRole('link', { name: /^Release 2\.0\.0, first seen .* America\/New_York$/ })
    await marker.focus()
    expect(await page.locator('.chart-tooltip').innerText()).toMatch(
      /^Release 2\.0\.0, first seen \d+ May 2026, [\d:]{8} America\/New_York\n\d+ May 2026, [\d:]{8} UTC$/,
    )
  })

  test('shows a readable and navigable overview without JavaScript', async () => {
    const page = await open({ javaScriptEnabled: false })
    await visit(page, 'ordinary', '/overview')
    await page.getByText('Show as table').click()
    await page.getByRole('link', { name: 'Wed, 20 May 2026', exact: true }).waitFor()
    await page.getByRole('link', { name: /^Tue, 19 May 2026: / }).click()
    await page.getByRole('heading', { name: 'Tue, 19 May 2026' }).waitFor()
    await visit(page, 'ordinary', '/overview')
    await page
      .getByRole('region', { name: 'Needs attention' })
      .getByRole('link', { name: 'PaymentError' })
      .first()
      .click()
    await page.locator('.error-type', { hasText: 'PaymentError' }).waitFor()
    await visit(page, 'ordinary', '/overview')
    await page.getByRole('link', { name: '2.0.0', exact: true }).click()
    await page.waitForURL('**/releases?app_version=2.0.0')
    await page.getByRole('heading', { name: 'Release 2.0.0' }).waitFor()
  })

  test('applies the settings filter while typing, and on Enter without JavaScript', async () => {
    const page = await open()
    await visit(page, 'ordinary', '/settings')
    await page.getByLabel('Filter').fill('breadcrumb')
    await page.locator('#enable_breadcrumbs').waitFor()
    expect(await page.locator('#retention_days').isVisible()).toBe(false)
    await page.getByLabel('Filter').fill('no such thing')
    await page.getByText('No settings match.').waitFor()

    const plain = await open({ javaScriptEnabled: false })
    await visit(plain, 'ordinary', '/settings')
    await plain.getByLabel('Filter').fill('retention')
    await plain.keyboard.press('Enter')
    await plain.locator('#retention_days').waitFor()
    expect(await plain.locator('#enable_breadcrumbs').count()).toBe(0)
  })
})

async function ordinary(): Promise<Host> {
  let clock = NOW - 31 * DAY
  const host = await startHost('sqlite::memory:', { retention_days: 30 }, { now: () => clock })
  const types = ['PaymentError', 'TypeError', 'TimeoutError', 'ValidationError', 'SessionError', 'RangeError']
  for (let day = 30; day >= 0; day--) {
    clock = NOW - day * DAY
    for (const [i, error_type] of types.entries()) {
      for (let n = 0; n < (day * (i + 3)) % 5; n++) {
        await host.tracker.Commands.LogError.call({
          error_type,
          message: `Step ${i} could not be finished`,
          severity: (['critical', 'high', 'medium', 'low'] as const)[i % 4] ?? 'low',
          platform: ['Web', 'API', 'iOS'][n % 3] ?? 'API',
          app_version: day > 15 ? '1.9.0' : '2.0.0',
          user_id: `user-${(day * 7 + n) % 20}`,
          backtrace: [`at step${i} (/srv/shop/src/area/step-${i}.ts:${10 + i}:5)`],
        })
      }
    }
  }
  clock = NOW
  await host.tracker.Commands.LogError.call({ error_type: 'PaymentError', message: 'new today', severity: 'critical' })
  const [first] = await host.tracker.Queries.ErrorsList.call({ error_type: 'RangeError' })
  await host.tracker.Commands.ResolveError.call({ error_id: first?.id ?? 0 })
  return host
}

async function hostile(): Promise<Host> {
  const host = await startHost(
    'sqlite::memory:',
    { application_name: HOSTILE[0] ?? '', ignored_exceptions: HOSTILE },
    { now: () => NOW },
  )
  for (const text of HOSTILE) {
    await host.tracker.Commands.LogError.call({
      error_type: `${text}Error`,
      message: text.repeat(80),
      severity: 'critical',
      platform: text.slice(0, 60),
      app_version: text,
      user_id: text,
      backtrace: [`at ${text} (/srv/shop/src/${text}.ts:1:1)`],
    })
  }
  const { folder } = (await host.tracker.stats()).spool
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'batch-hostile.ndjson.failed'), '')
  return host
}
