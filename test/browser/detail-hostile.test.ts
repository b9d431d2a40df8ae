import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  describeInBrowser,
  expectAccessible,
  expectNoOverflow,
  expectNoOverflowAtEveryWidth,
} from '../support/browser.js'
import { type Host, startHost } from '../support/host.js'

describeInBrowser('error page with hostile content', ({ open }) => {
  let host: Host
  const paths: string[] = []

  beforeAll(async () => {
    host = await startHost('sqlite::memory:', { enable_breadcrumbs: true })
    const { tracker } = host
    const show = (logged: { id: number | null } | null) => paths.push(`/error_dashboard/errors/${logged?.id}`)
    tracker.addBreadcrumb({ category: 'a-rather-long-category', message: `<img src=x> ${'wide'.repeat(200)}` })
    const hostile = await tracker.Commands.LogError.call({
      error_type: "<script>document.title='owned'</script>مرحبا 🎉",
      message: `</script><img src=x onerror="document.title='owned'"> ${'long'.repeat(2400)} مرحبا \u202E`,
      backtrace: Array.from({ length: 200 }, (_, i) =>
        i % 4 === 3
          ? `at next${i} (node_modules/express/${'deep/'.repeat(30)}x.js:1:${i})`
          : `at <img src=x onerror=alert(${i})> (/srv/${'wide'.repeat(60)}/file-${i}.ts:${i}:1)`,
      ),
      request_url: 'javascript:document.title=1',
      request_params: JSON.parse(
        '{"__proto__":{"polluted":true},"<b>key</b>":"</textarea><script>1</script>","a":{"b":[1]}}',
      ),
      user_agent: '<svg onload="document.title=1">',
      user_id: `"><script>${'w'.repeat(200)}`,
      app_version: 'v'.repeat(120),
      tags: { ['wide'.repeat(40)]: 'wide'.repeat(40) },
      context: { deep: { a: { b: { c: 'wide'.repeat(100) } } } },
      request: { method: '<b>', headers: { referer: `https://shop.example/${'wide'.repeat(100)}` } },
    })
    const error_id = hostile?.id ?? 0
    await tracker.Commands.AddComment.call({
      error_id,
      author_name: '<b>eve</b>',
      body: `javascript:document.title=1\n${'wide'.repeat(500)}`,
    })
    show(hostile)
    const chain = (depth: number): Error => new Error(`level ${depth}`, depth > 0 ? { cause: chain(depth - 1) } : {})
    const many = new AggregateError(
      Array.from({ length: 50 }, (_, i) => new TypeError(`number ${i}`)),
      'all failed',
      { cause: chain(5) },
    )
    show(await tracker.report(many))
    show(await tracker.Commands.LogError.call({ error_type: 'Bare', message: '', backtrace: [] }))
  })
  afterAll(() => host.close())

  test('runs no hostile content, raises no script error and does not overflow', async () => {
    const page = await open()
    const problems: string[] = []
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('dialog', (dialog) => void problems.push(dialog.message()))
    for (const path of paths) {
      await page.goto(`${host.origin}${path}`)
      expect(await page.title()).not.toBe('owned')
      expect(await page.locator('main img, main script, main iframe').count()).toBe(0)
      expect(await page.locator('main a[href^="javascript" i]').count()).toBe(0)
      await expectNoOverflowAtEveryWidth(page)
    }
    expect(problems).toEqual([])
  })

  test('shows nested causes', async () => {
    const page = await open({ javaScriptEnabled: false })
    await page.goto(`${host.origin}${paths[1]}`)
    expect(await page.locator('.cause .cause .cause .cause .cause').first().textContent()).toContain('level 1')
    expect(await page.getByText('Aggregated').count()).toBeGreaterThan(3)
  })

  test('opens the menus of a hostile error page without overflow', { timeout: 90_000 }, async () => {
    const page = await open({ colorScheme: 'dark' })
    await page.goto(`${host.origin}${paths.at(-1)}`)
    for (const width of [1440, 768, 390]) {
      await page.setViewportSize({ width, height: 900 })
      for (const id of ['resolve', 'snooze', 'more']) {
        await page.locator(`#${id} > summary`).click()
        for (const submenu of await page.locator(`#${id} .submenu > summary`).all()) {
          await submenu.click()
          await expectNoOverflow(page)
        }
        await expectNoOverflow(page)
        await page.keyboard.press('Escape')
      }
    }
    await page.goto(`${host.origin}${paths[0]}`)
    // every-page.test.ts covers light mode.
    await expectAccessible(page)
  })
})
