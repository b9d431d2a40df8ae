import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser, expectAccessible, expectNoOverflow, expectNoOverflowOnTablet } from '../support/browser.js'
import { type Host, startHost } from '../support/host.js'
import { ALL_PAGES_ON, HOSTILE_MARKUP, logHostileErrors } from '../support/hostile.js'
import { PAGES } from '../support/routes.js'

const ADDRESSES = [...PAGES.map(({ path }) => path.replace(/:\w+\{[^}]+\}/, '1')), '/no/such/page', '/errors?status=x']

describeInBrowser('every page with hostile and very large content', ({ open }) => {
  let host: Host

  beforeAll(async () => {
    host = await startHost('sqlite::memory:', { application_name: HOSTILE_MARKUP, ...ALL_PAGES_ON })
    await logHostileErrors(host)
    await logHostileErrors(host, `${'wide'.repeat(2000)} مرحبا 🎉 ${'line\n'.repeat(50)}`)
  })

  afterAll(() => host.close())

  test.each([
    [1440, 'light'],
    [390, 'dark'],
  ] as const)(
    'runs no hostile content, does not overflow and is accessible at %i pixels in %s',
    async (width, colorScheme) => {
      const page = await open({ viewport: { width, height: 900 }, colorScheme })
      const problems: string[] = []
      page.on('console', (message) => message.type() === 'error' && problems.push(`${page.url()}: ${message.text()}`))
      page.on('pageerror', (error) => problems.push(`${page.url()}: ${error.message}`))
      page.on('dialog', (dialog) => problems.push(`${page.url()}: ${dialog.message()}`))
      for (const address of ADDRESSES) {
        await page.goto(`${host.origin}/error_dashboard${address}`)
        expect(await page.title()).not.toBe('owned')
        await expectNoOverflow(page)
        await expectAccessible(page)
        if (width === 1440) {
          await expectNoOverflowOnTablet(page)
          await page.setViewportSize({ width, height: 900 })
        }
      }
      // The browser logs responses with an error status.
      expect(problems.filter((problem) => !problem.includes('Failed to load resource'))).toEqual([])
    },
    240_000,
  )
})
