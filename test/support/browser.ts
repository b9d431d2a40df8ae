import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { PASSWORD, USER } from './host.js'

const EXECUTABLE = process.env.FAULTBOARD_TEST_CHROMIUM

export interface BrowserTools {
  /** A page of a visitor who is signed in, in a session of its own. */
  open(options?: BrowserContextOptions): Promise<Page>
}

/** Tests in a real Chromium; skipped, and counted aloud, where there is none. */
export function describeInBrowser(title: string, body: (tools: BrowserTools) => void): void {
  if (!EXECUTABLE) {
    describe.skip(`${title} (skipped: FAULTBOARD_TEST_CHROMIUM is not set)`, () =>
      body({ open: () => Promise.reject(new Error('no browser')) }))
    return
  }
  describe(title, () => {
    let browser: Browser

    beforeAll(async () => {
      browser = await chromium.launch({
        executablePath: EXECUTABLE,
        args: [
          '--no-sandbox',
          '--disable-gpu',
          '--disable-background-networking',
          '--disable-component-update',
          '--disable-sync',
        ],
      })
    })

    afterAll(() => browser?.close())

    body({
      async open(options = {}) {
        const context = await browser.newContext({
          httpCredentials: { username: USER, password: PASSWORD },
          ...options,
        })
        // Shorter than a test may take, so that a step that hangs says which it was.
        context.setDefaultTimeout(10_000)
        return context.newPage()
      },
    })
  })
}

/** Fails on any violation of WCAG 2.2 AA that axe can see, contrast included. */
export async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page })
    // Only what is asked for here, and in this page: our pages hold no frames, for which axe would open another one.
    .setLegacyMode()
    .options({ resultTypes: ['violations'] })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
    .analyze()
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([])
}

/** Fails when the page can be scrolled sideways, and names what stands out. */
export async function expectNoOverflow(page: Page): Promise<void> {
  expect(await page.evaluate(WIDER_THAN_THE_PAGE), page.url()).toEqual([])
}

const WIDER_THAN_THE_PAGE = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement
  if (scrollWidth <= clientWidth) return []
  return [...document.querySelectorAll('body *')]
    .filter((element) => element.getBoundingClientRect().right > clientWidth + 1)
    .map((element) => element.tagName + '.' + (element.getAttribute('class') ?? '')).slice(0, 8)
})()`
