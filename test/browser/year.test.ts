import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser, expectAccessible, expectNoOverflowAtEveryWidth } from '../support/browser.js'
import { type Host, startHost } from '../support/host.js'

/** Two days after daylight saving time started in Berlin. It had ended in October. */
const NOW = Date.parse('2026-03-31T10:20:00Z')
const HOUR = 3_600_000
const DAY = 24 * HOUR
const DAYS = 365
const PER_DAY = 4
const DAYS_PER_RELEASE = 15
/** Start of the last release, five days ago. */
const RELEASES = 25

const PAGES = [
  '/releases?days=365',
  '/releases?days=365&app_version=3.3.0',
  '/errors/analytics?days=365',
  '/errors/platform_comparison?days=365',
  '/errors/correlation?days=365',
]

describeInBrowser('analytics over a year', ({ open }) => {
  let host: Host

  beforeAll(async () => {
    host = await startHost('sqlite::memory:', { time_zone: 'Europe/Berlin', retention_days: null }, { now: () => NOW })
    const all = []
    for (let day = 0; day < DAYS; day++) {
      for (let i = 0; i < PER_DAY; i++) all.push(host.tracker.Commands.LogError.call(errorOf(day, i)))
    }
    await Promise.all(all)
  })

  afterAll(() => host.close())

  const at = (path: string) => `${host.origin}/error_dashboard${path}`

  test('renders a year of errors without overflow on every analytics page', { timeout: 120_000 }, async () => {
    const page = await open({ colorScheme: 'dark' })
    for (const path of PAGES) {
      expect((await page.goto(at(path)))?.status()).toBe(200)
      await expectNoOverflowAtEveryWidth(page)
      // The other pages are tested with fewer days.
      if (path.includes('app_version')) await expectAccessible(page)
    }
  })

  test('shows a bar for each local day across clock changes', async () => {
    const page = await open({ javaScriptEnabled: false })
    await page.goto(at('/errors/analytics?days=365'))
    const chart = page.locator('.chart', { hasText: 'Occurrences per day' })
    expect(await chart.locator('svg[data-chart] > a').count()).toBe(DAYS)
    for (const day of ['Sun, 26 Oct 2025', 'Sun, 29 Mar 2026']) {
      expect(await chart.locator(`a[aria-label^="${day}: ${PER_DAY} occurrences"]`).count()).toBe(1)
    }
    const cells = await page
      .getByRole('table', { name: 'Occurrences by weekday and hour' })
      .getByRole('cell')
      .allTextContents()
    expect(cells.reduce((sum, text) => sum + Number(text), 0)).toBe(DAYS * PER_DAY)
  })

  test('links from problematic releases to all releases, in pages', async () => {
    const page = await open({ javaScriptEnabled: false })
    await page.goto(at('/errors/correlation?days=365'))
    await page.getByRole('link', { name: 'All releases' }).click()
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/error_dashboard/releases?days=365')
    expect(await versions(page)).toEqual(Array.from({ length: 20 }, (_, i) => versionOf(RELEASES - 1 - i)))
    await page.getByRole('link', { name: 'Next' }).click()
    expect(await versions(page)).toEqual(['1.4.0', '1.3.0', '1.2.0', '1.1.0', '1.0.0'])
  })

  test('shows the figures of a release with links to their errors', async () => {
    const page = await open({ javaScriptEnabled: false })
    await page.goto(at('/releases?days=365'))
    const row = page.getByRole('row', { name: /^3\.3\.0/ })
    const figures = await row.getByRole('cell').allTextContents()
    expect(figures.map((text) => text.trim())).toEqual([
      '50%',
      '19 days ago',
      `${DAYS_PER_RELEASE * PER_DAY} 4.1%`,
      expect.any(String),
      '1',
      '0',
      '0',
      '1',
    ])
    await row.getByRole('link', { name: '1', exact: true }).first().click()
    expect(page.url()).toMatch(/app_version=3\.3\.0.*#new$/)
    expect(await page.title()).toContain('Release 3.3.0')
    expect(await page.locator('#new').getByRole('link').allTextContents()).toEqual(['Only23Error'])
    expect(await page.locator('#gone').getByRole('link').allTextContents()).toEqual(['Only22Error'])
    await page.locator('#new').getByRole('link').click()
    expect(await page.locator('.error-type').textContent()).toBe('Only23Error')
    await page.goto(at('/releases?days=365&app_version=9.9.9'))
    await page.getByText('No errors with this version in the last year.').waitFor()
  })
})

function versionOf(release: number): string {
  return `${1 + Math.floor(release / 10)}.${release % 10}.0`
}

/** One error per release and three errors in all releases, at all hours of the day. */
function errorOf(day: number, i: number) {
  const release = Math.floor(day / DAYS_PER_RELEASE)
  return {
    error_type: i === 0 ? `Only${release}Error` : `Kind${'XABC'.charAt(i)}Error`,
    message: 'The step could not be finished',
    backtrace: [`at step (${process.cwd()}/src/step-${i}.ts:1:1)`],
    platform: ['Web', 'iOS', 'Android', 'API'][i],
    app_version: versionOf(release),
    severity: (['critical', 'high', 'medium', 'low'] as const)[i],
    user_id: `user-${day % 17}`,
    occurred_at: Date.parse(`${localDate(day)}T${String((day * 5 + i * 2) % 10).padStart(2, '0')}:00:00Z`),
  }
}

function localDate(day: number): string {
  return new Date(NOW - (DAYS - 1 - day) * DAY).toISOString().slice(0, 10)
}

async function versions(page: Page): Promise<string[]> {
  const rows = page.getByRole('table').first().locator('tbody th')
  return (await rows.allTextContents()).map((text) => text.trim())
}
