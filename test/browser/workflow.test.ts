import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser, expectAccessible, expectNoOverflow } from '../support/browser.js'
import { type Host, startHost } from '../support/host.js'

describeInBrowser('the dashboard in a browser', ({ open }) => {
  let host: Host
  let base: string

  beforeAll(async () => {
    host = await startHost('sqlite::memory:', { enable_breadcrumbs: true })
    base = `${host.origin}/error_dashboard`
    const { Commands } = host.tracker
    for (let i = 0; i < 30; i++) {
      await Commands.LogError.call({
        error_type: `Kind${String.fromCharCode(65 + i)}Error`,
        message: `Sample ${'abc'.charAt(i % 3)}`,
        backtrace: [`at step (/srv/app/src/file-${i}.ts:1:1)`],
        user_id: `u${i}`,
        occurred_at: Date.now() - i * 60_000,
      })
    }
    for (const message of ['select * from orders where id = ?', `<img src=x onerror=1> ${'wide'.repeat(200)}`]) {
      host.tracker.addBreadcrumb({
        category: 'a-rather-long-category',
        message,
        duration_ms: 1.5,
        metadata: { message },
      })
    }
    await Commands.LogError.call({
      exception: new Error(`<img src=x onerror="document.title='owned'"> ${'long'.repeat(2400)} مرحبا 🎉`, {
        cause: new Error('<script>document.title="owned"</script>'),
      }),
      user_agent: '<svg onload="document.title=1">',
      tags: { '<b>tag</b>': 'wide'.repeat(40) },
      request: { method: 'GET', headers: { referer: `https://shop.example/${'wide'.repeat(100)}` }, duration_ms: 12 },
      request_params: { '<b>key</b>': '</script><script>document.title="owned"</script>' },
    })
  })

  afterAll(() => host.close())

  test.each([true, false])('walks an error from the list to resolved (JavaScript %s)', async (javaScriptEnabled) => {
    const page = await open({ javaScriptEnabled })
    await page.goto(`${base}/errors?unresolved=true&sort_by=error_type&sort_direction=asc`)
    const name = javaScriptEnabled ? 'KindAError' : 'KindBError'
    await page.getByRole('link', { name }).click()
    await page.getByText('Assign', { exact: true }).first().click()
    await page.getByLabel('To', { exact: true }).fill('eve@example.org')
    await page.getByRole('button', { name: 'Assign', exact: true }).click()
    expect(await page.getByRole('status').textContent()).toBe('Assigned to eve@example.org.')

    await page.getByText('Snooze', { exact: true }).first().click()
    await page.getByLabel('Hours').fill('5')
    await page.getByRole('button', { name: 'Snooze', exact: true }).click()
    expect(await page.getByRole('status').textContent()).toBe('Snoozed for 5 hours.')

    await page.getByLabel('Comment', { exact: true }).first().fill('Looking at it')
    await page.getByRole('button', { name: 'Comment', exact: true }).click()
    expect(await page.getByText('Looking at it').count()).toBe(1)

    await page.getByText('Resolve', { exact: true }).first().click()
    await page.getByLabel('What was it?').fill('A typo')
    await page.getByRole('button', { name: 'Resolve', exact: true }).click()
    expect(await page.getByRole('status').textContent()).toContain('Resolved.')
    await page.reload()
    expect(await page.getByRole('status').count()).toBe(0)
    expect(await page.getByText('A typo').count()).toBeGreaterThan(0)

    await page.goto(`${base}/errors?unresolved=true&per_page=100`)
    expect(await page.getByRole('link', { name }).count()).toBe(0)
    await page.context().close()
  })

  test('resolves a batch of chosen errors', async () => {
    const page = await open()
    await page.goto(`${base}/errors?unresolved=true&sort_by=error_type&sort_direction=asc`)
    const boxes = page.getByRole('checkbox', { name: /^Choose/ })
    await boxes.nth(0).check()
    await boxes.nth(1).check()
    await page.getByRole('button', { name: 'Resolve chosen' }).click()
    expect(await page.getByRole('status').textContent()).toBe('2 errors resolved.')
    await page.context().close()
  })

  test('asks before it deletes', async () => {
    const page = await open()
    await page.goto(`${base}/errors?sort_by=error_type&sort_direction=desc`)
    const before = (await host.tracker.Queries.ErrorsList.page()).pagination.total_count
    await page
      .getByRole('checkbox', { name: /^Choose/ })
      .nth(0)
      .check()
    page.once('dialog', (dialog) => void dialog.dismiss())
    await page.getByRole('button', { name: 'Delete chosen' }).click()
    expect((await host.tracker.Queries.ErrorsList.page()).pagination.total_count).toBe(before)
    page.once('dialog', (dialog) => void dialog.accept())
    await page.getByRole('button', { name: 'Delete chosen' }).click()
    expect(await page.getByRole('status').textContent()).toBe('1 error deleted.')
    await page.context().close()
  })

  test('keeps its filters in the address', async () => {
    const page = await open()
    await page.goto(`${base}/errors`)
    await page.getByLabel('Search').fill('SAMPLE B')
    await page.getByRole('button', { name: 'Filter' }).click()
    expect(new URL(page.url()).searchParams.get('search')).toBe('SAMPLE B')
    expect(await page.getByLabel('Search').inputValue()).toBe('SAMPLE B')
    expect(await page.getByText('Sample b').count()).toBe(10)
    expect(await page.getByText('Sample a').count()).toBe(0)
    await page.context().close()
  })

  test('shows what an attacker wrote as text, and nothing of it runs', async () => {
    const page = await open()
    const problems: string[] = []
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
    page.on('pageerror', (error) => problems.push(error.message))
    const { errors } = await host.tracker.Queries.ErrorsList.page({ search: 'onerror' })
    await page.goto(`${base}/errors/${errors[0]?.id}`)
    expect(await page.title()).not.toContain('owned')
    expect(await page.getByText('onerror=').count()).toBeGreaterThan(0)
    expect(await page.locator('main img, main svg, main script').count()).toBe(0)
    expect(problems).toEqual([])
    await page.context().close()
  })

  test.each([
    [1440, 'light'],
    [1440, 'dark'],
    [768, 'light'],
    [390, 'light'],
    [390, 'dark'],
  ] as const)(
    'is accessible and fits at %i pixels, %s',
    async (width, colorScheme) => {
      const page = await open({ viewport: { width, height: 900 }, colorScheme })
      const { errors } = await host.tracker.Queries.ErrorsList.page({ search: 'onerror' })
      for (const path of [
        '/overview',
        '/errors',
        '/errors?search=nothing+like+it',
        `/errors/${errors[0]?.id}`,
        '/settings',
        '/nope',
      ]) {
        await page.goto(`${base}${path}`)
        await expectAccessible(page)
        await expectNoOverflow(page)
      }
      await page.context().close()
    },
    60_000,
  )
})
