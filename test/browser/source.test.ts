// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are code

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser, expectAccessible, expectNoOverflowAtEveryWidth, WITHOUT_CACHE } from '../support/browser.js'
import { type Host, startHost } from '../support/host.js'
import { describeWithGit, freshRepository } from '../support/repository.js'
import { eventually } from '../support/tracker.js'

const CART = [
  "import { sum } from './sum.js'",
  '',
  '/**',
  ' * What the cart costs, in cents.',
  ' */',
  'export function total(items: readonly Item[], currency = "EUR"): number {',
  '  if (items.length === 0) throw new CartError(`the ${currency} cart is empty`)',
  '  return Math.round(sum(items, 0.5)) // never a fraction',
  '}',
  ...Array.from({ length: 90 }, (_, i) => `export const rate${i} = ${i} / 100`),
]
const HOSTILE = [
  'const a = `</pre><script>document.title = "owned"</script>',
  "<img src=x onerror=\"document.title='owned'\"> ${'x'}",
  '`',
  `const wide = '${'wide'.repeat(150)}'`,
  'boom(/[`"\']/) // \u202E مرحبا 🎉',
]

describeWithGit('source in a browser', () => {
  describeInBrowser('the source of frames', ({ open }) => {
    const folder = mkdtempSync(join(tmpdir(), 'faultboard-test-'))
    let host: Host
    let first = ''
    let page: Page

    beforeAll(async () => {
      const { write, commit, git, folder: project_root } = freshRepository(folder)
      write('src/cart.ts', CART.join('\n'))
      first = commit('Count the cart', { author: 'Ada Lovelace <ada@shop.example>', at: '2026-01-10T12:00:00Z' })
      write('src/cart.ts', ['// moved', ...CART].join('\n'))
      write('src/hostile.ts', HOSTILE.join('\n'))
      commit(`<script>document.title='owned'</script> \u202E ${'wide'.repeat(500)}`, {
        author: `"onmouseover="document.title=1" ${'wide'.repeat(100)} <e@shop.example>`,
      })
      write('src/new.ts', 'export const fresh = true\n')
      git('remote', 'add', 'origin', 'https://ada:secret@github.com/shop/api.git')
      host = await startHost('sqlite::memory:', { project_root, enable_git_blame: true })
      // The first visit loads the highlighter and the Git history. No page waits long for them.
      const path = new URL(await logged()).pathname.replace('/error_dashboard', '')
      const isWhole = (html: string) =>
        html.includes('Open in repository') &&
        html.includes('frame-4-author') &&
        html.includes('code-keyword') &&
        !html.includes('data-pending')
      await eventually(async () => isWhole(await (await host.get(path)).text()), 'everything is known')
    })
    afterAll(async () => {
      await host?.close()
      rmSync(folder, { recursive: true, force: true })
    })

    const logged = async (fields: object = {}) => {
      const error = await host.tracker.Commands.LogError.call({
        error_type: 'CartError',
        message: 'the cart is empty',
        git_sha: first,
        backtrace: [
          'at total (src/cart.ts:7:35)',
          'at pay (src/hostile.ts:2:1)',
          'at boom (src/hostile.ts:5:1)',
          'at fresh (src/new.ts:1:14)',
          'at next (node_modules/express/lib/router.js:1:2)',
        ],
        ...fields,
      })
      return `${host.origin}/error_dashboard/errors/${error?.id}`
    }
    const visited = async (address: string, options: Parameters<typeof open>[0] = {}) => {
      page = await open(options)
      await page.goto(address)
      return page
    }
    const bar = (number: number) => page.locator(`#frame-${number}-author`)

    test('highlights the source and shows the last change as of the commit of the occurrence', async () => {
      await visited(await logged())
      await page.locator('#frame-1-author:not([data-pending])', { hasText: 'Ada Lovelace' }).waitFor()
      expect(await bar(1).textContent()).toMatch(/^Ada Lovelace, .+ ago · Count the cart · as of [\da-f]{7}$/)
      expect(await bar(1).locator('span[title]').first().getAttribute('title')).toBe(first)
      expect(await page.locator('#frame-1 mark.line').textContent()).toContain('throw new CartError')
      expect(await page.locator('#frame-1 .code-keyword').allTextContents()).toContain('throw')
      expect(await page.locator('#frame-1 .code-comment').first().textContent()).toContain('/**')
      const link = page.locator('.frame-bar', { has: bar(1) }).getByRole('link', { name: 'Open in repository' })
      expect(await link.getAttribute('href')).toBe(`https://github.com/shop/api/blob/${first}/src/cart.ts#L7`)
      expect(await page.content()).not.toContain('secret@')
      await page
        .locator('#frame-4-author', { hasText: 'This file is not in the repository.' })
        .waitFor({ state: 'attached' })
    })

    test('copies the path of a frame', async () => {
      await visited(await logged(), { permissions: ['clipboard-read', 'clipboard-write'] })
      await page.getByRole('button', { name: 'Copy path' }).first().click()
      await page.getByRole('button', { name: 'Copied' }).waitFor()
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe('src/cart.ts:7')
    })

    test.each([true, false])('expands and collapses source lines (JavaScript %s)', async (javaScriptEnabled) => {
      await visited(await logged(), { javaScriptEnabled })
      const lines = () => page.locator('#frame-1 .line').count()
      expect(await lines()).toBe(11)
      const more = page.locator('.frame-bar', { has: bar(1) }).locator('.frame-more')
      await more.click()
      await page.locator('#frame-1 .line').nth(56).waitFor()
      expect(await lines()).toBe(57)
      expect(await page.locator('#frame-2 .line').count()).toBe(5)
      expect(page.url().includes('wide_frame')).toBe(!javaScriptEnabled)
      await more.filter({ hasText: 'Show fewer lines' }).click()
      await page.locator('#frame-1 .line').nth(11).waitFor({ state: 'detached' })
      expect(await lines()).toBe(11)
    })

    test('does not execute hostile content from files and commits', async () => {
      await visited(await logged())
      const problems: string[] = []
      page.on('pageerror', (error) => problems.push(error.message))
      page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
      await page.reload()
      await page.getByText('pay', { exact: true }).first().click()
      await page.locator('#frame-2-author:not([data-pending])', { hasText: 'onmouseover' }).waitFor()
      await bar(2).hover()
      expect(await page.title()).toContain('the cart is empty')
      expect(await page.locator('main img, main script').count()).toBe(0)
      expect(await page.locator('#frame-2').textContent()).toContain('</pre><script>document.title = "owned"</script>')
      expect((await bar(2).textContent())?.length).toBeLessThan(350)
      expect(problems).toEqual([])
    })

    test('renders source code without overflow', async () => {
      await visited(await logged(), { colorScheme: 'dark' })
      for (const name of ['pay', 'boom', 'fresh']) await page.getByText(name, { exact: true }).first().click()
      await page.locator('#frame-2-author:not([data-pending])').waitFor()
      await expectNoOverflowAtEveryWidth(page)
      // every-page.test.ts covers light mode.
      await expectAccessible(page)
    }, 60_000)

    test('shows the working copy for an unknown commit by the next visit', async () => {
      const address = await logged({ git_sha: '0123456789', backtrace: ['at rate (src/cart.ts:20:1)'] })
      await visited(address, { javaScriptEnabled: false })
      await eventually(async () => {
        await page.reload()
        return (await bar(1).textContent())?.includes('in the working copy') ?? false
      }, 'git has answered')
    })

    test('shows Git history that loads late without a page reload', async () => {
      const address = await logged()
      page = await open(WITHOUT_CACHE)
      // Renders the page before the Git history is loaded. Later requests reach the real host.
      await page.route(
        address,
        async (route) => {
          const pageResponse = await route.fetch()
          const waiting = '<p class="frame-author" id="frame-1-author" data-pending="">Loading Git history.</p>'
          const body = (await pageResponse.text())
            .replace(/<p class="frame-author" id="frame-1-author".*?<\/p>/s, waiting)
            .replace(/<a class="frame-link".*?<\/a>/s, '')
          await route.fulfill({ response: pageResponse, body })
        },
        { times: 1 },
      )
      const pageResponse = await page.goto(address)
      expect(await pageResponse?.text()).toContain('Loading Git history.')
      await page.locator('#frame-1-author', { hasText: 'Count the cart' }).waitFor()
      expect(await page.locator('[data-pending]').count()).toBe(0)
      const tools = page.locator('.frame-bar', { has: bar(1) }).locator('.frame-tools')
      expect(await tools.getByRole('link').allTextContents()).toEqual(['Show more lines', 'Open in repository'])
    })
  })
})
