import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ORDINARY, storeSamples } from '../diagnostics/samples.js'
import { describeInBrowser, expectAccessible, expectNoOverflow } from '../support/browser.js'
import { type Host, startHost } from '../support/host.js'

/** Newest samples, thrown in a file that exists. The first handler is empty. */
const SHOWN = ORDINARY.slice(0, 2).map((words) => ({ ...words, handler: 'src/register.ts:13:3' }))

describeInBrowser('swallowed exceptions', ({ open }) => {
  let folder: string
  let host: Host

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'faultboard-swallowed-'))
    const url = `sqlite:${join(folder, 'test.sqlite3')}`
    host = await startHost(url, { detect_swallowed_exceptions: true })
    await host.tracker.Commands.LogError.call({ error_type: 'A', message: 'b' })
    await storeSamples(url, Date.now(), [...SHOWN, ...ORDINARY.slice(2)])
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
      // Only the first empty handler is open.
      const handlers = page.locator('.handler-source')
      expect(await handlers.count()).toBe(2)
      const code = handlers.nth(1).locator('mark')
      expect(await handlers.nth(0).locator('mark').isVisible()).toBe(true)
      expect(await code.isVisible()).toBe(false)
      await handlers.nth(1).getByText('Show handler').click()
      expect(await code.isVisible()).toBe(true)
      const headings = await page
        .locator('.swallowed-figures')
        .first()
        .locator('dt')
        .evaluateAll((all) =>
          all.map((heading) => {
            const range = document.createRange()
            range.selectNodeContents(heading)
            const { left, right, top } = range.getBoundingClientRect()
            return { left, right, top }
          }),
        )
      for (const [i, { left, top }] of headings.entries()) {
        const before = headings[i - 1]
        if (before && before.top === top) expect(left - before.right).toBeGreaterThan(7)
      }
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
