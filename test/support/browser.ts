import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { describe, expect, onTestFinished } from 'vitest'
import { PASSWORD, USER } from './host.js'

const EXECUTABLE = process.env.FAULTBOARD_TEST_CHROMIUM
const AXE = readFileSync(
  createRequire(createRequire(import.meta.url).resolve('@axe-core/playwright')).resolve('axe-core/axe.min.js'),
  'utf8',
)

export interface BrowserTools {
  /**
   * A page of a visitor who is signed in and was never here. The next test may be given the same page, without what was
   * stored; one that is changed for good, as by a clock, closes its context.
   */
  open(options?: BrowserContextOptions): Promise<Page>
}

/** Tests in a real Chromium; skipped, and counted aloud, where there is none. */
export function describeInBrowser(title: string, body: (tools: BrowserTools) => void): void {
  if (!EXECUTABLE) {
    describe.skip(`${title} (skipped: FAULTBOARD_TEST_CHROMIUM is not set)`, () =>
      body({ open: () => Promise.reject(new Error('no browser')) }))
    return
  }
  describe(title, () => body({ open }))
}

// One for all files of a process: a browser, and the first page of a context, take a second or two of a core to start.
let browser: Promise<Browser> | undefined
const idle = new Map<string, Page[]>()

async function open({ viewport, colorScheme, ...options }: BrowserContextOptions = {}): Promise<Page> {
  const kind = JSON.stringify(options)
  const page = idle.get(kind)?.pop() ?? (await newPage(options))
  onTestFinished(({ task }) => takeBack(page, kind, task.result?.state === 'fail'))
  await page.setViewportSize(viewport ?? { width: 1280, height: 720 })
  await page.emulateMedia({ colorScheme: colorScheme ?? 'light' })
  return page
}

async function newPage(options: BrowserContextOptions): Promise<Page> {
  browser ??= chromium.launch({
    executablePath: EXECUTABLE ?? '',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
  const context = await (await browser).newContext({
    httpCredentials: { username: USER, password: PASSWORD },
    ...options,
  })
  // Shorter than a test may take, so that a step that hangs says which it was.
  context.setDefaultTimeout(10_000)
  return context.newPage()
}

async function takeBack(page: Page, kind: string, failed: boolean): Promise<void> {
  if (page.isClosed()) return
  // It may be off line, or have a clock that stands still.
  if (failed) return page.context().close()
  try {
    page.removeAllListeners()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    if (page.url().startsWith('http')) await page.evaluate('localStorage.clear()')
    await page.context().clearCookies()
    // Nothing is to be asked of a host that is closed, and nothing to lie under the mouse.
    await page.goto('about:blank')
    await page.mouse.move(-1, -1)
    idle.set(kind, [...(idle.get(kind) ?? []), page])
  } catch {
    // It hangs, or has crashed.
    await page.context().close()
  }
}

/** Fails on any violation of WCAG 2.2 AA that axe can see, contrast included. */
export async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page, axeSource: AXE })
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
  const wider = [...document.querySelectorAll('body *')]
    .filter((element) => element.getBoundingClientRect().right > clientWidth + 1)
    .map((element) => element.tagName + '.' + (element.getAttribute('class') ?? '')).slice(0, 8)
  // Text may leave an element that itself keeps to the page.
  return wider.length > 0 ? wider : ['text, by ' + (scrollWidth - clientWidth) + ' px']
})()`
