import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser, layoutShift, pageWeight } from '../support/browser.js'
import { type Host, startHost } from '../support/host.js'

const HOUR = 3_600_000
const SCRIPT = [
  [true, 'with JavaScript'],
  [false, 'without JavaScript'],
] as const

describeInBrowser('error page in a browser', ({ open }) => {
  let host: Host
  let at: (id: number, query?: string) => string

  beforeAll(async () => {
    host = await startHost('sqlite::memory:', { enable_breadcrumbs: true })
    at = (id, query = '') => `${host.origin}/error_dashboard/errors/${id}${query}`
  })
  afterAll(() => host.close())

  async function logged(fields: object = {}): Promise<number> {
    const error = await host.tracker.Commands.LogError.call({
      error_type: 'CartError',
      message: 'Order 7 is empty',
      backtrace: ['at total (test/browser/detail.test.ts:3:1)', 'at next (node_modules/express/lib/router.js:1:2)'],
      request_url: 'https://shop.example/pay',
      user_id: 'eve',
      ...fields,
    })
    return error?.id ?? 0
  }

  const menu = (page: Page, name: string) => page.locator('.error-actions .menu > summary', { hasText: name }).click()
  const openMore = async (page: Page, name: string) => {
    await page.locator('#more > summary').click()
    await page.locator('.submenu > summary', { hasText: name }).click()
  }
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
  const notice = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text }).waitFor()

  test.each(SCRIPT)(
    'performs every action (%s: %s)',
    async (javaScriptEnabled) => {
      const id = await logged({ error_type: `Acted${javaScriptEnabled}Error` })
      const find = () => host.tracker.Queries.FindError.call({ error_id: id })
      const page = await open({ javaScriptEnabled })
      await page.goto(at(id))

      await menu(page, 'Assign')
      await press(page, 'Assign to me')
      await notice(page, 'Assigned to admin.')
      await page.locator('#assign > summary').click()
      await page.locator('#assign').getByLabel('Assignee').fill('zoe@shop.example')
      await press(page, 'Assign')
      await notice(page, 'Assigned to zoe@shop.example.')
      await page.locator('#assign > summary').click()
      await press(page, 'Unassign')
      await notice(page, 'Unassigned.')

      await openMore(page, 'Priority')
      await press(page, 'High')
      await notice(page, 'Priority set to high.')

      await menu(page, 'Snooze')
      await page.locator('#snooze').getByLabel('Reason (optional)').fill('the carrier is down')
      await press(page, '3 days')
      await notice(page, 'Snoozed for 72 hours.')
      expect(await find()).toMatchObject({ snoozed: true, snooze_reason: 'the carrier is down' })
      await menu(page, 'Snooze')
      await press(page, 'End snooze')
      await notice(page, 'Snooze ended.')
      await menu(page, 'Snooze')
      await page.getByLabel('Hours', { exact: true }).fill('5')
      await page.getByLabel('Hours', { exact: true }).press('Enter')
      await notice(page, 'Snoozed for 5 hours.')

      await openMore(page, 'Status')
      await page.locator('select[name=status]').selectOption('in_progress')
      await page.getByLabel('Comment (optional)').fill('found the place')
      await press(page, 'Set status')
      await notice(page, 'Status set to in progress.')

      await page.getByLabel('Comment', { exact: true }).fill('Looking at it\nhttps://git.example/issues/5')
      await press(page, 'Comment')
      await notice(page, 'Comment added.')
      expect(await page.locator('.trail-comment').textContent()).toContain('Looking at it')
      expect(await page.getByRole('link', { name: 'https://git.example/issues/5' }).count()).toBe(1)
      expect(await page.getByRole('link', { name: '1 comment' }).getAttribute('href')).toBe('#activity')

      await press(page, 'Resolve')
      await notice(page, 'Resolved.')
      expect(await find()).toMatchObject({ resolved: true, resolved_by_name: 'admin', resolution_comment: null })
      await press(page, 'Reopen')
      await notice(page, 'Status set to new.')

      await menu(page, 'Resolve')
      await page.getByLabel('Your name').first().fill('Eve')
      await page.getByLabel('Resolution note (optional)').fill('A typo')
      await page.getByLabel('Commit, PR or ticket (optional)').fill('https://git.example/pull/5')
      await page.locator('#resolve').getByRole('button', { name: 'Resolve' }).click()
      await notice(page, 'Resolved.')
      expect(await find()).toMatchObject({ resolved: true, resolved_by_name: 'Eve', resolution_comment: 'A typo' })
      await press(page, 'Reopen')
      await notice(page, 'Status set to new.')
      expect((await find()).resolved).toBe(false)
      expect(await page.locator('.trail').textContent()).toContain('changed the status from resolved to new')

      await openMore(page, 'Delete')
      expect(await page.locator('.menu[open]').textContent()).toContain('1 occurrence and 1 comment')
      await press(page, 'Delete error')
      expect(new URL(page.url()).pathname).toBe('/error_dashboard/errors')
      await notice(page, '1 error deleted')
      await expect(find()).rejects.toMatchObject({ code: 'not_found' })
    },
    90_000,
  )

  test.each(SCRIPT)('navigates between occurrences by URL (%s: %s)', async (javaScriptEnabled) => {
    let id = 0
    for (let i = 0; i < 30; i++) {
      id = await logged({
        error_type: `Walked${javaScriptEnabled}Error`,
        message: `Order ${i} is empty`,
        occurred_at: Date.now() - (30 - i) * HOUR,
      })
    }
    const page = await open({ javaScriptEnabled })
    await page.goto(at(id))
    const message = () => page.locator('h1').textContent()
    expect(await message()).toContain('Order 29')
    await page.getByRole('link', { name: 'Older', exact: true }).first().click()
    expect(await message()).toContain('Order 28')
    expect(new URL(page.url()).searchParams.get('occurrence_id')).toMatch(/^\d+$/)
    await page.goBack()
    expect(await message()).toContain('Order 29')

    await page.getByRole('navigation', { name: 'Occurrence pages' }).getByRole('link', { name: 'Older' }).click()
    await page.locator('.occurrence a').last().click()
    expect(await message()).toContain('Order 0')
    expect(new URL(page.url()).searchParams.get('page')).toBe('2')
    await page.getByRole('link', { name: 'Newest' }).click()
    expect(await message()).toContain('Order 29')

    await page.getByRole('link', { name: '24 h', exact: true }).click()
    expect(new URL(page.url()).searchParams.get('range')).toBe('24h')
    const histogram = page.getByRole('region', { name: 'Occurrences over time' })
    await histogram.getByText('Show as table').click()
    expect(await histogram.locator('.chart-data tbody tr').count()).toBe(24)
  })

  test('shows the source of in-app frames and expands collapsed library frames', async () => {
    const page = await open({ javaScriptEnabled: false })
    await page.goto(at(await logged()))
    expect(await page.locator('mark.line').textContent()).toContain("from '../support/browser.js'")
    const folded = page.locator('.library .file', { hasText: 'node_modules/express/lib/router.js:1:2' })
    expect(await folded.isVisible()).toBe(false)
    await page.getByText('1 frame in express').click()
    expect(await folded.isVisible()).toBe(true)
    // On a phone, the stack is above the chart.
    await page.setViewportSize({ width: 390, height: 800 })
    const top = async (name: string) => (await page.getByRole('region', { name }).boundingBox())?.y ?? 0
    expect(await top('Stack trace')).toBeLessThan(await top('Occurrences over time'))
  })

  test('expands a long message without JavaScript', async () => {
    const page = await open({ javaScriptEnabled: false })
    await page.goto(at(await logged({ error_type: 'LongError', message: `start ${'word '.repeat(1990)}end` })))
    expect(await page.locator('h1').textContent()).toMatch(/^start .{190,200}…$/)
    expect(await page.locator('#error-message').isVisible()).toBe(false)
    await page.getByText(/Show the whole message \([\d,]+ characters\)/).click()
    expect(await page.locator('#error-message').textContent()).toMatch(/end\s*$/)
    expect(await page.locator('#error-message').isVisible()).toBe(true)
  })

  test('copies link, stack trace, Markdown, curl and JSON, with selectable text without JavaScript', async () => {
    const id = await logged({ error_type: 'CopiedError', message: 'Copy ``` me' })
    const page = await open({ permissions: ['clipboard-read', 'clipboard-write'] })
    await page.goto(at(id))
    const clipboard = () => page.evaluate('navigator.clipboard.readText()')
    const copied = async (name: string) => {
      await page
        .getByRole('button', { name: `Copy ${name}`, exact: true })
        .first()
        .click()
      await page.getByRole('button', { name: 'Copied' }).waitFor()
      const text = await clipboard()
      await page.getByRole('button', { name: 'Copied' }).waitFor({ state: 'detached' })
      return text
    }
    expect(await copied('link')).toMatch(new RegExp(`/e/[a-z-]+-${id}$`))
    expect(await copied('stack trace')).toContain('at total (test/browser/detail.test.ts:3:1)')
    expect(await copied('as curl')).toBe("curl -g 'https://shop.example/pay'")
    await openMore(page, 'Copy as')
    expect(await copied('Markdown')).toMatch(
      new RegExp(`^## \`CopiedError\`[^]*\`\`\`\`text\nCopy \`\`\` me\n\`\`\`\`[^]*${host.origin}.*/e/[a-z-]+-${id}$`),
    )
    expect(JSON.parse(String(await copied('JSON')))).toMatchObject({ error: { id, error_type: 'CopiedError' } })

    const plain = await open({ javaScriptEnabled: false })
    await plain.goto(at(id))
    expect(await plain.getByRole('button', { name: /^Copy/ }).count()).toBe(0)
    await openMore(plain, 'Copy as')
    expect(await plain.getByLabel('Markdown').inputValue()).toContain('## `CopiedError`')
    expect(await plain.getByLabel('curl').inputValue()).toBe("curl -g 'https://shop.example/pay'")
    await plain.getByRole('link', { name: 'Open as JSON' }).click()
    expect(await plain.locator('body').textContent()).toContain('"error_type":"CopiedError"')
  })

  test('closes a menu on Esc and restores the focus', async () => {
    const page = await open()
    await page.goto(at(await logged()))
    await menu(page, 'Resolve')
    expect(await page.getByLabel('Resolution note (optional)').isVisible()).toBe(true)
    await page.keyboard.press('Escape')
    expect(await page.getByLabel('Resolution note (optional)').isVisible()).toBe(false)
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Resolve with a note')
  })

  test('shows actions without a page load, and keeps the open parts of the page usable', async () => {
    const page = await open({ permissions: ['clipboard-read', 'clipboard-write'] })
    const id = await logged({ error_type: 'InPlaceError' })
    await page.goto(at(id))
    await page.evaluate('window.marker = true')
    await page.keyboard.press('e')
    await page.getByRole('button', { name: 'Reopen' }).waitFor()
    await notice(page, 'Resolved.')
    expect(await page.locator('#announcer').textContent()).toContain('Resolved.')
    expect(await page.evaluate('window.marker')).toBe(true)
    await page.getByRole('button', { name: 'Copy link' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const shortLink = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(shortLink).toMatch(new RegExp(`/e/[a-z-]+-${id}$`))
    await page.evaluate("navigator.clipboard.writeText('')")
    await page.keyboard.press('l')
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(shortLink)
    expect(await (await page.request.get(shortLink)).text()).toContain('InPlaceError')

    await page.route('**/update_status', (route) => route.abort())
    await press(page, 'Reopen')
    await page.locator('.notice.failed', { hasText: 'No connection to the server.' }).waitFor()
    expect((await host.tracker.Queries.FindError.call({ error_id: id })).resolved).toBe(true)
  })

  test('keeps charts and local times working after an action in place', async () => {
    const page = await open({ timezoneId: 'America/New_York' })
    await page.goto(at(await logged({ error_type: 'ReplacedError' })))
    await menu(page, 'Snooze')
    await press(page, '1 day')
    await notice(page, 'Snoozed for 24 hours.')
    const time = page.locator('.trail time[data-exact]')
    expect(await time.textContent()).toMatch(/ America\/New_York$/)
    expect(await time.getAttribute('title')).toMatch(/ UTC$/)
    await page.locator('[data-chart] [data-bar]').last().hover()
    expect(await page.locator('.chart-tooltip').innerText()).toMatch(
      / America\/New_York, in progress\n\d\d:\d\d–\d\d:\d\d UTC\n1 occurrence$/,
    )
  })

  test('returns to the comment that was added', async () => {
    const page = await open({ javaScriptEnabled: false })
    await page.goto(at(await logged({ error_type: 'CommentedError' })))
    for (const text of ['first', 'second']) {
      await page.getByLabel('Comment', { exact: true }).fill(text)
      await press(page, 'Comment')
    }
    const anchor = new URL(page.url()).hash
    expect(anchor).toMatch(/^#comment-\d+$/)
    expect(await page.locator(anchor).textContent()).toContain('second')
  })

  test('announces new occurrences', async () => {
    const page = await open()
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goto(at(await logged({ error_type: 'LiveError' })))
    const stack = page.getByRole('region', { name: 'Stack trace' })
    const position = await stack.boundingBox()
    for (let i = 0; i < 3; i++) await logged({ error_type: 'LiveError' })
    const link = page.getByRole('link', { name: '3 new occurrences' })
    await link.waitFor()
    expect(await stack.boundingBox()).toEqual(position)
    await link.click()
    expect(await page.locator('.error-figures').textContent()).toContain('4 occurrences')
  })

  test('clamps breadcrumbs and stacks, and states what is not stored', async () => {
    const page = await open({ javaScriptEnabled: false, viewport: { width: 1440, height: 900 } })
    for (let i = 0; i < 300; i++)
      host.tracker.addBreadcrumb({ category: 'log', message: `${i} ${'word '.repeat(1400)}` })
    const id = await logged({
      error_type: 'LongTrailError',
      context: Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`key${i}`, i])),
      backtrace: Array.from({ length: 200 }, (_, i) => `at step${i} (test/browser/detail.test.ts:${i + 1}:1)`),
      tags: Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`tag${i}`, i])),
    })
    await page.goto(at(id))
    expect(await page.locator('.stack-note').first().textContent()).toMatch(
      /At most \d+ frames are stored \(max_backtrace_lines\)/,
    )
    const tags = page.getByRole('region', { name: 'Tags' })
    expect(await tags.textContent()).toContain('250 more not stored')
    expect(await tags.getByRole('link').count()).toBe(50)
    expect(await page.locator('.part.own[open]').count()).toBe(1)
    // Without limits, the breadcrumbs alone need 46,000 pixels.
    for (const [name, height] of [
      ['Stack trace', 900],
      ['Context', 700],
      ['Breadcrumbs', 2200],
    ] as const) {
      const part = page.getByRole('region', { name })
      expect((await part.boundingBox())?.height, name).toBeLessThan(height)
      const more = part.locator('details > summary', { hasText: /^Show \d+ / })
      await more.click()
      expect((await part.boundingBox())?.height, name).toBeGreaterThan(height)
    }
  })

  test('paints without layout shift and within 60 KB', async () => {
    const page = await open({ viewport: { width: 1440, height: 900 } })
    await page.goto(at(await logged({ error_type: 'SteadyError', context: { size: 1 } })))
    // Buttons that need a script replace reserved space.
    await page.getByRole('button', { name: 'Copy stack trace' }).waitFor()
    expect(await layoutShift(page)).toBeLessThan(0.001)
    expect(await pageWeight(page)).toBeLessThan(60_000)
  })

  test('shows the shortest range of the chart that contains the first, or at least the last occurrence', async () => {
    const page = await open({ javaScriptEnabled: false })
    const range = () =>
      page.getByRole('region', { name: 'Occurrences over time' }).locator('[aria-current]').innerText()
    await page.goto(at(await logged({ error_type: 'YoungError' })))
    expect(await range()).toBe('1 h')
    await page.goto(at(await logged({ error_type: 'OldError', occurred_at: Date.now() - 20 * 24 * HOUR })))
    expect(await range()).toBe('30 d')
    await page.goto(at(await logged({ error_type: 'QuietError', occurred_at: Date.now() - 39 * 24 * HOUR })))
    expect(await range()).toBe('90 d')
    expect(await page.locator('#histogram .chart-title').textContent()).toBe('1 occurrence')
  })

  test('limits the headline to four lines on a phone', async () => {
    const page = await open({ viewport: { width: 390, height: 844 }, javaScriptEnabled: false })
    await page.goto(at(await logged({ error_type: 'WordyError', message: `${'word '.repeat(39)}end` })))
    expect((await page.locator('h1').boundingBox())?.height).toBeLessThanOrEqual(4 * 28)
    await page.getByText('Show the whole message').click()
    expect(await page.locator('#error-message').isVisible()).toBe(true)
    // Wider screens show the whole text as the headline.
    await page.setViewportSize({ width: 1440, height: 900 })
    expect(await page.locator('#error-message').isVisible()).toBe(false)
  })

  test('shows breadcrumbs in the time zone of the viewer, with UTC on hover', async () => {
    const occurred_at = Date.parse('2026-03-02T17:04:24.500Z')
    host.tracker.addBreadcrumb({ category: 'query', message: 'select 1' })
    const id = await logged({ error_type: 'ZonedError', occurred_at })
    const page = await open({ timezoneId: 'America/New_York' })
    await page.goto(at(id))
    const time = page.locator('.crumb.end time')
    expect(await time.textContent()).toBe('12:04:24.500')
    expect(await time.getAttribute('title')).toBe('2 Mar 2026, 17:04:24 UTC')
    const plain = await open({ javaScriptEnabled: false })
    await plain.goto(at(id))
    expect(await plain.locator('.crumb.end time').textContent()).toBe('17:04:24.500')
  })

  test('shows the request near the top', async () => {
    const id = await logged({
      error_type: 'PositionError',
      backtrace: Array.from({ length: 6 }, (_, i) => `at step${i} (test/browser/detail.test.ts:${i + 20}:1)`),
      user_agent:
        'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
    })
    const page = await open()
    for (const [width, height, screens] of [
      [1440, 900, 1.5],
      [390, 844, 2.5],
    ] as const) {
      await page.setViewportSize({ width, height })
      await page.goto(at(id))
      const request = page.getByRole('region', { name: 'Request' })
      expect((await request.boundingBox())?.y).toBeLessThan(height * screens)
      expect(await request.textContent()).toMatch(/BrowserSafari 17\.5SystemiOS 17\.5DeviceApple iPhone/)
    }
  })
})
