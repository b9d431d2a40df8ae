import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser } from '../support/browser.js'
import { type Host, startHost } from '../support/host.js'
import { ALL_PAGES_ON, logHostileErrors } from '../support/hostile.js'
import { PAGES } from '../support/routes.js'

const CONTROLS = ['\u202A', '\u202B', '\u202C', '\u202D', '\u202E', '\u2066', '\u2067', '\u2068', '\u2069']
const SPOOFED = `invoice\u202Efdp.exe${CONTROLS.join('')}`

describeInBrowser('bidirectional text', ({ open }) => {
  let host: Host

  beforeAll(async () => {
    host = await startHost('sqlite::memory:', { application_name: SPOOFED, enable_breadcrumbs: true, ...ALL_PAGES_ON })
    await logHostileErrors(host, SPOOFED)
  })
  afterAll(() => host.close())

  test('shows direction marks on every page, in its title and in its attributes', { timeout: 120_000 }, async () => {
    for (const { path } of PAGES) {
      const html = await (await host.get(path.replace(/:\w+\{[^}]+\}/, '1'))).text()
      expect(html).toContain('invoice[U+202E]fdp.exe')
      expect([path, CONTROLS.filter((control) => html.includes(control))]).toEqual([path, []])
      expect(html).not.toMatch(/&#(x20[26]|82)/i)
    }
    const page = await open()
    await page.goto(`${host.origin}/error_dashboard/errors/1`)
    expect(await page.locator('h1').textContent()).toContain('invoice[U+202E]fdp.exe')
    expect(await page.title()).toContain('invoice[U+202E]fdp.exe')
  })

  test('prevents direction marks from reordering text', async () => {
    const page = await open()
    await page.goto(`${host.origin}/error_dashboard/errors/1`)
    const lefts = await page.locator('h1').evaluate(POSITIONS)
    expect(lefts).toEqual([...lefts].sort((a, b) => a - b))
    expect(lefts.length).toBe('invoice[U+202E]fdp.exe'.length)
  })

  test('keeps text next to right-to-left text in place', async () => {
    const arabic = await host.tracker.Commands.LogError.call({
      error_type: '\u0645\u0631\u062D\u0628\u0627',
      message: '\u200F\u0645\u0631\u062D\u0628\u0627 123',
    })
    const page = await open()
    await page.goto(`${host.origin}/error_dashboard/errors`)
    const row = page.locator(`a[href*="/errors/${arabic?.id}"]`).first()
    expect(await row.evaluate((link) => getComputedStyle(link).unicodeBidi)).toBe('isolate')
    expect(await row.textContent()).toContain('\u0645\u0631\u062D\u0628\u0627')
  })

  test('aligns a right-to-left title and user with the left-to-right text around them', async () => {
    const arabic = await host.tracker.Commands.LogError.call({
      error_type: 'RightToLeftError',
      message: '\u0641\u0634\u0644 \u0627\u0644\u0637\u0644\u0628',
      user_id: '\u0645\u0631\u062D\u0628\u0627',
      request_url: 'https://shop.example/pay',
    })
    const page = await open()
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 })
      await page.goto(`${host.origin}/error_dashboard/errors/${arabic?.id}`)
      const left = (selector: string, hasText = /./) => page.locator(selector, { hasText }).first().evaluate(TEXT_LEFT)
      expect(await left('h1')).toBeCloseTo(await left('.error-kind'), 0)
      const request = '[aria-labelledby="request-title"] .facts dd'
      const user = await left(request, /\u0645/)
      expect(user).toBeCloseTo(
        await page.locator(request, { hasText: /\u0645/ }).evaluate((dd) => dd.getBoundingClientRect().left),
        0,
      )
      expect(user).toBeLessThan(width / 2)
    }
  })
})

/** Left edge of the text in an element, which can be narrower than the element. */
function TEXT_LEFT(element: Element): number {
  const range = document.createRange()
  range.selectNodeContents(element)
  return Math.min(...[...range.getClientRects()].map(({ left }) => left))
}

/** Left edge of each letter of the spoofed name. */
function POSITIONS(element: Element): number[] {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const start = node.textContent?.indexOf('invoice') ?? -1
    if (start < 0) continue
    return Array.from({ length: 'invoice[U+202E]fdp.exe'.length }, (_, i) => {
      const range = document.createRange()
      range.setStart(node, start + i)
      range.setEnd(node, start + i + 1)
      return range.getBoundingClientRect().left
    })
  }
  return []
}
