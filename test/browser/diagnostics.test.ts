import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HOSTILE, ORDINARY, storeSamples } from '../diagnostics/samples.js'
import { describeInBrowser, expectNoOverflowAtEveryWidth } from '../support/browser.js'
import { type Host, startHost } from '../support/host.js'

const SWITCHES = {
  detect_swallowed_exceptions: true,
  enable_diagnostic_dump: true,
  enable_request_guard_tracking: true,
  enable_breadcrumbs: true,
}
/** Pages of dumps are tested in processes.test.ts with more data. */
const PAGES = ['swallowed_exceptions', 'request_guard_summary']

describeInBrowser('diagnostics pages in a browser', ({ open }) => {
  let folder: string
  let host: Host

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'faultboard-diagnostics-'))
    const url = `sqlite:${join(folder, 'test.sqlite3')}`
    host = await startHost(url, SWITCHES)
    await host.tracker.Commands.LogError.call({ error_type: 'A', message: 'b' })
    await storeSamples(url, Date.now(), [...ORDINARY, ...HOSTILE])
  })

  afterAll(async () => {
    await host?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const at = (page: string) => `${host.origin}/error_dashboard/errors/${page}`

  // every-page.test.ts checks the accessibility with the same samples.
  test.each(PAGES)('renders %s without overflow', async (path) => {
    const page = await open()
    await page.goto(at(path))
    await expectNoOverflowAtEveryWidth(page)
  })

  test.each([true, false])('captures and opens a dump (JavaScript %s)', async (javaScriptEnabled) => {
    const page = await open({ javaScriptEnabled })
    await page.goto(at('diagnostic_dumps'))
    await page.getByText('Capture dump').click()
    await page.getByLabel('Note (optional)').fill(`with JavaScript ${javaScriptEnabled}`)
    await page.getByRole('button', { name: 'Capture', exact: true }).click()
    await page.waitForURL(at('diagnostic_dumps'))
    expect(await page.getByText(/Captured diagnostic dump \d+/).isVisible()).toBe(true)
    await page.getByRole('link', { name: `with JavaScript ${javaScriptEnabled}` }).click()
    expect(await page.getByRole('heading', { name: 'Event loop' }).isVisible()).toBe(true)
    expect(await page.getByText('old space').isVisible()).toBe(true)
  })

  test('selects the range by a link and keeps it in the URL', async () => {
    const page = await open()
    await page.goto(at('request_guard_summary'))
    await page.getByRole('link', { name: '7 d', exact: true }).click()
    await page.waitForURL(/days=7/)
    expect(await page.getByRole('link', { name: '7 d', exact: true }).getAttribute('aria-current')).toBe('page')
    await page.goBack()
    expect(await page.getByRole('link', { name: '30 d', exact: true }).getAttribute('aria-current')).toBe('page')
  })
})
