import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HOSTILE_COUNTED, ORDINARY_COUNTED, storeAttack, storeCounted } from '../diagnostics/hourly-samples.js'
import { ORDINARY, storeSamples } from '../diagnostics/samples.js'
import { describeInBrowser, expectAccessible, expectNoOverflowAtEveryWidth } from '../support/browser.js'
import { type Host, startHost } from '../support/host.js'

const SWITCHES = {
  enable_breadcrumbs: true,
  enable_request_guard_tracking: true,
  detect_n_plus_one_queries: true,
  enable_deprecation_tracking: true,
}
const PAGES = ['n_plus_one', 'deprecations', 'request_guard_summary', '1']

describeInBrowser('counter pages in a browser', ({ open }) => {
  let folder: string
  let host: Host

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'faultboard-counted-'))
    const url = `sqlite:${join(folder, 'test.sqlite3')}`
    host = await startHost(url, SWITCHES)
    await host.tracker.withScope(async () => {
      const step = { category: 'sql', message: 'select * from users where id = ?', duration_ms: 1.5 }
      for (let i = 0; i < 31; i++) host.tracker.addBreadcrumb(step)
      const backtrace = ['at loadLines (src/orders/load-lines.ts:42:3)']
      await host.tracker.Commands.LogError.call({ error_type: 'A', message: 'b', backtrace })
    })
    await storeSamples(url, Date.now(), ORDINARY)
    await storeAttack(url, Date.now())
    await storeCounted(url, Date.now(), [...ORDINARY_COUNTED, ...HOSTILE_COUNTED])
  })

  afterAll(async () => {
    await host?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const at = (page: string) => `${host.origin}/error_dashboard/errors/${page}`

  test.each(PAGES)('renders %s without overflow', async (path) => {
    const page = await open({ colorScheme: 'dark' })
    await page.goto(at(path))
    await expectNoOverflowAtEveryWidth(page)
    // every-page.test.ts covers light mode, and the other pages with the same counts.
    if (path === '1') await expectAccessible(page)
  })

  test('links a statement to the open errors of its calling file', async () => {
    const page = await open({ javaScriptEnabled: false })
    await page.goto(at('1'))
    expect(await page.getByText('31 times').isVisible()).toBe(true)
    await page.getByRole('link', { name: 'All N+1 queries' }).click()
    await page.getByRole('link', { name: 'src/orders/load-lines.ts:42 in loadLines' }).first().click()
    await page.waitForURL(/search=src%2Forders%2Fload-lines\.ts/)
    expect(await page.getByRole('link', { name: 'A', exact: true }).first().isVisible()).toBe(true)
  })

  test('shows the most frequent addresses of an attack, more on demand and the combined rest', async () => {
    const page = await open({ javaScriptEnabled: false })
    await page.goto(at('request_guard_summary'))
    expect(await page.getByText('Other (combined): 99,512,345').isVisible()).toBe(true)
    const rare = page.getByText('2001:db8:20::1', { exact: true })
    expect(await rare.isVisible()).toBe(false)
    await page.getByText(/\d+ more/).click()
    expect(await rare.isVisible()).toBe(true)
  })
})
