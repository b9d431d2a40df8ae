import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { describe, expect, onTestFinished } from 'vitest'
// @ts-expect-error: the scripts have no types.
import { CHROMIUM_ARGUMENTS } from '../../scripts/services/chromium.mjs'
import { PASSWORD, USER } from './host.js'

const EXECUTABLE = process.env.FAULTBOARD_TEST_CHROMIUM
const AXE = readFileSync(
  createRequire(createRequire(import.meta.url).resolve('@axe-core/playwright')).resolve('axe-core/axe.min.js'),
  'utf8',
)

/** Long, because a page takes seconds on a busy machine. Shorter than the test, so that the report names the step that hangs. */
const STEP_TIMEOUT_MS = 30_000

/** Rows with the same markup that axe checks. Two, because the style of the first row can depend on its position. */
const CHECKED_ROWS = 2

/** Context options for a page that loads every asset again, like a first visit, or whose test sends its own requests. */
export const WITHOUT_CACHE: BrowserContextOptions = { httpCredentials: { username: USER, password: PASSWORD } }

export interface BrowserTools {
  /**
   * Opens a page with dashboard credentials and empty storage. A later test may reuse the page after its storage is
   * cleared. A test that changes the page permanently, for example its clock, closes the context.
   */
  open(options?: BrowserContextOptions): Promise<Page>
}

/** Runs tests in Chromium. Without a browser they are reported as skipped. */
export function describeInBrowser(title: string, body: (tools: BrowserTools) => void): void {
  if (!EXECUTABLE) {
    describe.skip(`${title} (skipped: FAULTBOARD_TEST_CHROMIUM is not set)`, () =>
      body({ open: () => Promise.reject(new Error('no browser')) }))
    return
  }
  describe(title, { timeout: 4 * STEP_TIMEOUT_MS }, () => body({ open }))
}

// Shared by all files of a process, because starting a browser takes one to two seconds.
let browser: Promise<Browser> | undefined
const idlePages = new Map<string, Page[]>()

async function open({ viewport, colorScheme, ...options }: BrowserContextOptions = {}): Promise<Page> {
  const kind = JSON.stringify(options)
  const page = idlePages.get(kind)?.pop() ?? (await newPage(options))
  onTestFinished(({ task }) => recyclePage(page, kind, task.result?.state === 'fail'))
  await page.setViewportSize(viewport ?? { width: 1280, height: 720 })
  await page.emulateMedia({ media: null, colorScheme: colorScheme ?? 'light' })
  return page
}

async function newPage(options: BrowserContextOptions): Promise<Page> {
  browser ??= chromium.launch({
    executablePath: EXECUTABLE ?? '',
    args: CHROMIUM_ARGUMENTS,
  })
  const context = await (await browser).newContext(options)
  context.setDefaultTimeout(STEP_TIMEOUT_MS)
  const page = await context.newPage()
  if (!options.httpCredentials) signInOnFirstVisit(page)
  return page
}

/**
 * Signs in to each dashboard once: Chromium remembers the credentials of an origin. `httpCredentials` turns off the cache
 * and intercepts every request, which takes a third of the time of a page. Downloads lack `extraHTTPHeaders`.
 */
function signInOnFirstVisit(page: Page): void {
  const goto = page.goto.bind(page)
  const origins = new Set<string>()
  page.goto = async (address, options) => {
    const { origin, pathname } = new URL(address)
    if (pathname.startsWith('/error_dashboard') && !origins.has(origin)) {
      await signIn(page.context(), origin)
      origins.add(origin)
    }
    return goto(address, options)
  }
}

/** Uses another page, because the tests listen to the messages of their page. */
async function signIn(context: BrowserContext, origin: string): Promise<void> {
  const url = new URL('/error_dashboard/assets/dashboard.css', origin)
  url.username = USER
  url.password = PASSWORD
  const page = await context.newPage()
  await page.goto(url.href)
  await page.close()
}

async function recyclePage(page: Page, kind: string, failed: boolean): Promise<void> {
  if (page.isClosed()) return
  // The page may be offline or have a fake clock.
  if (failed) return page.context().close()
  try {
    page.removeAllListeners()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    if (page.url().startsWith('http')) await page.evaluate('localStorage.clear()')
    await page.context().clearCookies()
    // Stops requests to a closed host and moves the pointer away from elements.
    await page.goto('about:blank')
    await page.mouse.move(-1, -1)
    idlePages.set(kind, [...(idlePages.get(kind) ?? []), page])
  } catch {
    // The page hangs or has crashed.
    await page.context().close()
  }
}

/** Fails on any violation of WCAG 2.2 AA that axe detects, including contrast. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(MARK_REPEATED_ROWS)
  const { violations } = await new AxeBuilder({ page, axeSource: AXE })
    // Limits the check to this page and these rules: the pages contain no frames.
    .setLegacyMode()
    .options({ resultTypes: ['violations'] })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
    .exclude('[data-repeated-row]')
    .analyze()
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([])
}

/** Marks rows and bars with the same markup as earlier rows. Checking the contrast of hundreds would take too long. */
const MARK_REPEATED_ROWS = `(() => {
  const STYLED = /^(class|style|role|type|aria-(checked|current|disabled|expanded|pressed|selected))$/
  const describeElement = ({ tagName, attributes, childNodes }) => [
    tagName,
    [...childNodes].some(({ nodeType, data }) => nodeType === Node.TEXT_NODE && data.trim() !== ''),
    ...[...attributes].map(({ name, value }) => STYLED.test(name) ? name + '=' + value : name),
  ].join(' ')
  for (const row of document.querySelectorAll('[data-repeated-row]')) row.removeAttribute('data-repeated-row')
  const counts = new Map()
  for (const row of document.querySelectorAll('tbody > tr, li, dl > div, dl > dt, dl > dd, svg > a, svg > g')) {
    const markup = [row.parentElement, row, ...row.querySelectorAll('*')].map(describeElement).join()
    counts.set(markup, (counts.get(markup) ?? 0) + 1)
    row.toggleAttribute('data-repeated-row', counts.get(markup) > ${CHECKED_ROWS})
  }
})()`

/** Sum of the layout shifts since the page was opened. */
export async function layoutShift(page: Page): Promise<number> {
  await page.waitForLoadState()
  return page.evaluate<number>(`new Promise((resolve) => {
    let sum = 0
    const observer = new PerformanceObserver((list) => {
      for (const { value } of list.getEntries()) sum += value
    })
    observer.observe({ type: 'layout-shift', buffered: true })
    // Two frames later, all shifts of the load have been reported.
    requestAnimationFrame(() => requestAnimationFrame(() => {
      for (const { value } of observer.takeRecords()) sum += value
      resolve(sum)
    }))
  })`)
}

/** Compressed size of the page with its styles and scripts, without the font, which is cached forever. */
export async function pageWeight(page: Page): Promise<number> {
  await page.waitForLoadState()
  return page.evaluate<number>(`performance.getEntries()
    .filter(({ name }) => !name.endsWith('.woff2'))
    .reduce((sum, { encodedBodySize = 0 }) => sum + encodedBodySize, 0)`)
}

/** Fails if the page scrolls horizontally and lists the elements that overflow. */
export async function expectNoOverflow(page: Page): Promise<void> {
  // A click returns when the navigation starts, before the styles are loaded.
  await page.waitForLoadState()
  expect(await page.evaluate(FIND_OVERFLOWING_ELEMENTS), page.url()).toEqual([])
}

/** Widths of a desktop, a tablet and a phone. */
const WIDTHS = [1440, 768, 390]

/**
 * Fails if the page scrolls horizontally at any width. No script reads the width of the page, so a resize is equivalent to
 * a reload. The colors do not change the layout. The page keeps the width of a phone.
 */
export async function expectNoOverflowAtEveryWidth(page: Page): Promise<void> {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 })
    await expectNoOverflow(page)
  }
}

/** Fails if a table is wider than its container, so that some columns require horizontal scrolling. */
export async function expectNoInnerScroll(page: Page): Promise<void> {
  await page.waitForLoadState()
  const wide = await page.locator('.scroll').evaluateAll((containers) =>
    containers.flatMap((container) => {
      const excess = container.scrollWidth - container.clientWidth
      return excess > 1 ? [`${container.getAttribute('aria-label')}, by ${excess} px`] : []
    }),
  )
  expect(wide, page.url()).toEqual([])
}

const FIND_OVERFLOWING_ELEMENTS = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement
  if (scrollWidth <= clientWidth) return []
  const wider = [...document.querySelectorAll('body *')]
    .filter((element) => element.getBoundingClientRect().right > clientWidth + 1)
    .map((element) => element.tagName + '.' + (element.getAttribute('class') ?? '')).slice(0, 8)
  // Text may overflow an element that is not wider than the page.
  return wider.length > 0 ? wider : ['text, by ' + (scrollWidth - clientWidth) + ' px']
})()`
