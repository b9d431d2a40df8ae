import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser, expectAccessible, expectNoOverflow } from '../support/browser.js'
import { type Host, startHost } from '../support/host.js'

describeInBrowser('page layout', ({ open }) => {
  let host: Host
  let base: string

  beforeAll(async () => {
    host = await startHost('sqlite::memory:')
    base = `${host.origin}/error_dashboard`
    await host.tracker.Commands.LogError.call({ error_type: 'ShopError', message: 'of the shop' })
  })

  afterAll(() => host.close())

  const background = async (page: Page) => {
    await page.waitForLoadState('load')
    return page.evaluate('getComputedStyle(document.body).backgroundColor')
  }

  test('follows the system theme unless a switch overrides it without JavaScript', async () => {
    const page = await open({ colorScheme: 'light', javaScriptEnabled: false })
    await page.goto(`${base}/errors?status=new`)
    expect(await page.getAttribute('html', 'data-theme')).toBeNull()
    await page.getByRole('button', { name: 'Dark' }).click()
    expect(page.url()).toBe(`${base}/errors?status=new`)
    expect(await page.getAttribute('html', 'data-theme')).toBe('dark')
    expect(await page.getByRole('button', { name: 'Dark' }).getAttribute('aria-pressed')).toBe('true')
    await page.getByRole('button', { name: 'Auto' }).click()
    expect(await page.getAttribute('html', 'data-theme')).toBeNull()
  })

  test('applies dark and light themes consistently', async () => {
    const page = await open({ colorScheme: 'dark' })
    await page.goto(`${base}/overview`)
    const dark = await background(page)
    await page.getByRole('button', { name: 'Light' }).click()
    const light = await background(page)
    expect(light).not.toBe(dark)
    await page.getByRole('button', { name: 'Dark', exact: true }).click()
    expect(await background(page)).toBe(dark)
    await expectAccessible(page)
  })

  test('collapses the sidebar to icons that keep their names', async () => {
    const page = await open()
    await page.goto(`${base}/overview`)
    await page.getByRole('button', { name: 'Collapse sidebar' }).click()
    const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Errors' })
    expect(((await link.boundingBox())?.width ?? 999) < 60).toBe(true)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Expand sidebar' }).click()
    expect(await link.getByText('Errors').isVisible()).toBe(true)
  })

  test.each(['light', 'dark'] as const)('wraps the long name of an unknown environment in %s', async (colorScheme) => {
    const page = await open({ viewport: { width: 390, height: 800 }, colorScheme })
    await page.goto(`${base}/errors?environment=${'n'.repeat(64)}`)
    expect(await page.getByText('No errors in the environment').isVisible()).toBe(true)
    await expectNoOverflow(page)
    await page.goto(`${base}/errors?query=environment:${'n'.repeat(64)}`)
    expect(await page.getByText('Known environments:').isVisible()).toBe(true)
    await expectNoOverflow(page)
  })

  test.each([390, 768])('shows the banner on one line at %i pixels', async (width) => {
    const banner = {
      text: 'Sample data. Try:',
      links: ['Why are paid orders lost?', 'What did 5.13.0 change?', 'Break something yourself'].map((label) => ({
        ...{ label, url: '/' },
      })),
      dismiss_url: '/hide',
    }
    const other = await startHost('sqlite::memory:', {}, { banner: () => banner })
    try {
      const page = await open({ viewport: { width, height: 800 } })
      await page.goto(`${other.origin}/error_dashboard/overview`)
      expect((await page.locator('.banner').boundingBox())?.height).toBeLessThan(48)
      const last = page.getByRole('link', { name: 'Break something yourself' })
      await last.focus()
      const box = await last.boundingBox()
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThan(width)
      await expectNoOverflow(page)
      if (width === 390) await expectAccessible(page)
    } finally {
      await other.close()
    }
  })

  test('shows the sidebar as a popover on a phone without JavaScript', async () => {
    const page = await open({ viewport: { width: 390, height: 800 }, javaScriptEnabled: false })
    await page.goto(`${base}/overview`)
    const settings = page.getByRole('link', { name: 'Settings' })
    expect(await settings.isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Menu' }).click()
    expect(await settings.isVisible()).toBe(true)
    await page.keyboard.press('Escape')
    expect(await settings.isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Menu' }).click()
    await settings.click()
    expect(page.url()).toBe(`${base}/settings`)
    await expectNoOverflow(page)
  })

  test('shows icons on a tablet and opens the labels without JavaScript', async () => {
    const page = await open({ viewport: { width: 900, height: 800 }, javaScriptEnabled: false })
    await page.goto(`${base}/overview`)
    const rail = page.getByRole('navigation', { name: 'Main' })
    expect((await rail.boundingBox())?.width).toBeLessThan(60)
    await rail.getByRole('button', { name: 'Menu' }).click()
    const label = rail.getByText('Insights')
    expect(await label.isVisible()).toBe(true)
    await label.click()
    expect(page.url()).toBe(`${base}/errors/analytics`)
    await expectNoOverflow(page)
  })

  test('prints pages in their full width without navigation', async () => {
    const page = await open({ viewport: { width: 1100, height: 900 } })
    await page.goto(`${base}/errors`)
    await page.emulateMedia({ media: 'print' })
    expect((await page.locator('main').boundingBox())?.width).toBe(1100)
    expect(await page.locator('.rail').isVisible()).toBe(false)
  })

  test('opens each section with its shortcut', async () => {
    const page = await open()
    await page.goto(`${base}/overview`)
    for (const [key, path] of Object.entries({ r: '/releases', t: '/runtime', h: '/health', o: '/overview' })) {
      await page.keyboard.press('g')
      await page.keyboard.press(key)
      await page.waitForURL(`${base}${path}`)
    }
  })

  test('links from Runtime to a disabled diagnostic', async () => {
    const page = await open()
    await page.goto(`${base}/overview`)
    await page.getByRole('link', { name: 'Runtime' }).click()
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Dumps' }).click()
    expect(await page.getByRole('main').innerText()).toContain('enable_diagnostic_dump')
    await expectAccessible(page)
  })

  test('shows the version and labels a degraded tracker in the sidebar', async () => {
    const page = await open()
    await page.goto(`${base}/overview`)
    const rail = page.getByRole('navigation', { name: 'Main' })
    await rail.getByText(/^v\d+\.\d+\.\d+/).waitFor()
    expect(await rail.getByRole('link', { name: 'Health', exact: true }).count()).toBe(1)
    let broken = false
    const now = () => {
      // Pages read the time while loading and the handler reads it earlier. Only the load must fail.
      if (broken && new Error().stack?.includes('errors-list')) throw new Error('a bug')
      return Date.now()
    }
    const unwell = await startHost('sqlite::memory:', {}, { now })
    broken = true
    expect((await page.goto(`${unwell.origin}/error_dashboard/errors?timeframe=today`))?.status()).toBe(500)
    await page.goto(`${unwell.origin}/error_dashboard/overview`)
    const health = rail.getByRole('link', { name: 'Health: degraded' })
    expect(await health.getAttribute('title')).toBe('Health: degraded')
    await page.getByRole('button', { name: 'Collapse sidebar' }).click()
    await health.locator('.rail-dot').waitFor()
    await expectAccessible(page)
    await unwell.close()
  })

  test('reaches the skip link with the first Tab press', async () => {
    const page = await open()
    await page.goto(`${base}/overview`)
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent.trim()')).toBe('Skip to content')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.id')).toBe('content')
  })

  test('opens and closes the shortcuts help without JavaScript', async () => {
    const page = await open({ javaScriptEnabled: false })
    await page.goto(`${base}/overview`)
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    expect(await dialog.isVisible()).toBe(true)
    await dialog.getByRole('button', { name: 'Close' }).click()
    expect(await dialog.isVisible()).toBe(false)
  })
})
