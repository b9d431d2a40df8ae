import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ORDINARY, type SampleWords, storeSamples } from '../diagnostics/samples.js'
import { describeInBrowser, expectAccessible, expectNoOverflow } from '../support/browser.js'
import { type Host, startHost } from '../support/host.js'

/** Newest sample, thrown in a file that exists. */
const SHOWN = { ...(ORDINARY[0] as SampleWords), handler: 'src/register.ts:13:3' }

describeInBrowser('swallowed exceptions', ({ open }) => {
  let folder: string
  let host: Host

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'faultboard-swallowed-'))
    const url = `sqlite:${join(folder, 'test.sqlite3')}`
    host = await startHost(url, { detect_swallowed_exceptions: true })
    await host.tracker.Commands.LogError.call({ error_type: 'A', message: 'b' })
    await storeSamples(url, Date.now(), [SHOWN, ...ORDINARY.slice(1)])
  })

  afterAll(async () => {
    await host?.close()
    await rm(folder, { recursive: true, force: true })
  })

  test.each([
    [1440, 'light', true],
    [390, 'dark', false],
  ] as const)(
    'opens the code of a handler at %i pixels in %s (JavaScript %s)',
    async (width, colorScheme, javaScriptEnabled) => {
      const page = await open({ viewport: { width, height: 900 }, colorScheme, javaScriptEnabled })
      await page.goto(`${host.origin}/error_dashboard/errors/swallowed_exceptions`)
      const code = page.locator('.handler-source mark')
      expect(await code.isVisible()).toBe(false)
      await page.getByText('Show handler').click()
      expect(await code.isVisible()).toBe(true)
      await expectNoOverflow(page)
      if (javaScriptEnabled) await expectAccessible(page)
    },
  )

  test('links a location to errors with its file in the stack trace', async () => {
    const page = await open()
    await page.goto(`${host.origin}/error_dashboard/errors/swallowed_exceptions?days=7`)
    await page.getByRole('link', { name: 'src/cart/total.ts:42:11' }).click()
    await page.waitForURL(/search=src%2Fcart%2Ftotal\.ts/)
    await page.goBack()
    await page.waitForURL(/days=7/)
  })
})
