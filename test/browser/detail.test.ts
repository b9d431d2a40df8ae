import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser, layoutShift, pageWeight, WITHOUT_CACHE } from '../support/browser.js'
import { type Host, signIn, startHost } from '../support/host.js'
import { temporaryFolder, withDatabase } from '../support/tracker.js'

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
      backtrace: ['at total (test/browser/detail.test.ts:4:1)', 'at next (node_modules/express/lib/router.js:1:2)'],
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
      await press(page, '3 days')
      await notice(page, 'Snoozed for 72 hours.')
      await menu(page, 'Snooze')
      await press(page, 'End snooze')
      await notice(page, 'Snooze ended.')
      await menu(page, 'Snooze')
      await page.locator('#snooze').getByText('Custom…').click()
      await page.locator('#snooze').getByLabel('Reason (optional)').fill('the carrier is down')
      await page.getByLabel('Hours', { exact: true }).fill('5')
      await page.getByLabel('Hours', { exact: true }).press('Enter')
      await notice(page, 'Snoozed for 5 hours.')
      expect(await find()).toMatchObject({ snoozed: true, snooze_reason: 'the carrier is down' })

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
      await press(page, 'Undo')
      await notice(page, 'Status set to in progress.')
      expect(await find()).toMatchObject({ resolved: false, status: 'in_progress' })
      expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0)

      await menu(page, 'Resolve')
      await page.locator('#resolve').getByText('as admin · change').click()
      await page.locator('#resolve').getByLabel('Your name').fill('Eve')
      await page.getByLabel('Resolution note (optional)').fill('A typo')
      await page.getByLabel('Commit, PR or ticket (optional)').fill('https://git.example/pull/5')
      await page.locator('#resolve').getByRole('button', { name: 'Resolve' }).click()
      await notice(page, 'Resolved.')
      expect(await find()).toMatchObject({ resolved: true, resolved_by_name: 'Eve', resolution_comment: 'A typo' })
      expect(await page.locator('.comment-form').getByText('as Eve · change').isVisible()).toBe(true)
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

    const pages = page.getByRole('navigation', { name: 'Occurrence pages' })
    expect(await pages.isVisible()).toBe(false)
    await page.getByText('Show 15 more').click()
    await pages.getByRole('link', { name: 'Older' }).click()
    expect(await page.locator('.occurrence').count()).toBe(5)
    await pages.getByRole('link', { name: 'Newer' }).click()
    await pages.getByRole('link', { name: 'Older' }).click()
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
    expect(await copied('stack trace')).toContain('at total (test/browser/detail.test.ts:4:1)')
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

  test('keeps the draft of a note when its menu is opened again', async () => {
    const page = await open()
    await page.goto(at(await logged()))
    await menu(page, 'Resolve')
    const note = page.getByLabel('Resolution note (optional)')
    await note.fill('Restarted')
    await page.keyboard.press('Escape')
    await menu(page, 'Resolve')
    await page.keyboard.type('!')
    expect(await note.inputValue()).toMatch(/^!?Restarted!?$/)
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
    expect(await (await page.request.get(shortLink, { headers: signIn() })).text()).toContain('InPlaceError')

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

  test('collapses long breadcrumbs and stacks, and states what is not stored', async () => {
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
    const markers = await page.locator('details:not(.menu, .clamped-text) > summary').evaluateAll((all) =>
      all.map((summary) => {
        const { width, borderRightWidth, rotate, content } = getComputedStyle(summary, '::before')
        return [width, borderRightWidth, rotate, content, getComputedStyle(summary).listStyleType].join(' ')
      }),
    )
    expect(markers.length).toBeGreaterThan(5)
    expect(new Set(markers).size).toBe(1)
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
    const page = await open({ ...WITHOUT_CACHE, viewport: { width: 1440, height: 900 } })
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

  test('keeps the menu of all actions on the screen of a phone if the assignee has a long name', async () => {
    const id = await logged({ error_type: 'AssignedError' })
    await host.tracker.Commands.AssignError.call({
      error_id: id,
      assigned_to: 'maximiliane.featherstonehaugh@shop.example',
    })
    for (const width of [390, 360]) {
      const page = await open({ viewport: { width, height: 844 }, javaScriptEnabled: false })
      await page.goto(at(id))
      const last = await page.locator('.error-actions > :last-child').boundingBox()
      expect((last?.x ?? 0) + (last?.width ?? 0)).toBeLessThanOrEqual(width)
    }
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

  test('shows when a user was last seen in the time zone of the viewer, with UTC', async () => {
    const occurred_at = Date.parse('2026-03-02T17:04:24.500Z')
    let id = 0
    for (const user_id of ['ann', 'ann', 'bob']) {
      id = await logged({ error_type: 'SeenError', occurred_at, user_id })
    }
    const page = await open({ timezoneId: 'America/New_York' })
    await page.goto(at(id))
    const title = await page.locator('bdi[title]', { hasText: 'ann' }).first().getAttribute('title')
    expect(title).toBe('last seen 2 Mar 2026, 12:04:24 America/New_York\n2 Mar 2026, 17:04:24 UTC')
  })

  test('shows the breadcrumbs before the trend, and further details last, on narrow screens', async () => {
    let id = 0
    host.tracker.addBreadcrumb({ category: 'sql', message: 'select 1' })
    for (let i = 0; i < 14; i++) id = await logged({ error_type: 'OrderedError', user_id: `user-${i}` })
    const page = await open({ javaScriptEnabled: false })
    await page.goto(at(id))
    const top = async (name: string) => (await page.getByRole('region', { name, exact: true }).boundingBox())?.y ?? 0
    const parts = ['Stack trace', 'Request', 'Breadcrumbs', 'Occurrences over time', 'Occurrences']
    const more = page.locator('summary', { hasText: 'More about this error' })
    for (const width of [768, 390]) {
      await page.setViewportSize({ width, height: 844 })
      const tops = await Promise.all(parts.map(top))
      tops.push((await more.boundingBox())?.y ?? 0)
      expect(tops).toEqual([...tops].sort((a, b) => a - b))
    }
    // Screen readers follow the order of the document.
    await page.setViewportSize({ width: 1440, height: 900 })
    const names = await page
      .getByRole('region')
      .evaluateAll((regions) =>
        regions.map((region) =>
          document.getElementById(region.getAttribute('aria-labelledby') ?? '')?.innerText.trim(),
        ),
      )
    expect(names.filter((name) => parts.includes(name ?? ''))).toEqual(parts)
    expect(await top('Occurrences over time')).toBeLessThan((await top('Stack trace')) + 100)

    const rows = page.locator('.occurrence').filter({ visible: true })
    expect(await rows.count()).toBe(10)
    await page.getByRole('region', { name: 'Occurrences', exact: true }).getByText('Show 4 more').click()
    expect(await rows.count()).toBe(14)
  })

  test('shows a column beside a short error without a gap', async () => {
    const page = await open({ viewport: { width: 1440, height: 900 } })
    await page.goto(at(await logged({ error_type: 'ShortError', backtrace: [], user_id: null, request_url: null })))
    const bottom = (box: { y: number; height: number } | null) => (box?.y ?? 0) + (box?.height ?? 0)
    const cause = bottom(await page.locator('.error-cause').boundingBox())
    expect((await page.locator('.error-history').boundingBox())?.y).toBe(cause)
  })

  test('keeps the end of a long path in two lines on a phone', async () => {
    const file = `/srv/${'folder/'.repeat(90)}cart.ts`
    const page = await open({ viewport: { width: 390, height: 844 }, javaScriptEnabled: false })
    const id = await logged({ error_type: 'DeepError', backtrace: [`at total (${file}:12:5)`] })
    await page.goto(at(id))
    const place = page.locator('.error-kind code')
    expect(await place.innerText()).toMatch(/folder\/cart\.ts:12 in total$/)
    expect((await place.boundingBox())?.height).toBeLessThan(2.5 * 19)
    await page.goto(`${host.origin}/error_dashboard/errors?error_type=DeepError`)
    expect(await page.locator('.place-path').innerText()).toMatch(/cart\.ts:12$/)
  })

  test('shows the tools of a frame with the pointer or the focus in it, and always on a touch screen', async () => {
    const id = await logged({ error_type: 'ToolsError' })
    const tools = (page: Page) => page.locator('.frame-tools').first()
    const opacity = (page: Page) => tools(page).evaluate((element) => getComputedStyle(element).opacity)
    const page = await open({ viewport: { width: 1440, height: 900 } })
    await page.goto(at(id))
    expect(await opacity(page)).toBe('0')
    await page.locator('mark.line').hover()
    expect(await opacity(page)).toBe('1')
    await page.mouse.move(0, 0)
    await tools(page).getByRole('button', { name: 'Copy path' }).focus()
    expect(await opacity(page)).toBe('1')
    const phone = await open({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })
    await phone.goto(at(id))
    expect(await opacity(phone)).toBe('1')
  })

  test('aligns all entries of the menu', async () => {
    const page = await open()
    await page.goto(at(await logged({ error_type: 'AlignedError' })))
    await page.locator('#more > summary').click()
    const lefts = await page.locator('#more .submenu > summary, #more .submenu.menu-list button').evaluateAll((all) =>
      all.map((entry) => {
        const range = document.createRange()
        range.selectNodeContents(entry)
        return range.getBoundingClientRect().left
      }),
    )
    expect(lefts.length).toBeGreaterThan(4)
    expect(new Set(lefts).size).toBe(1)
  })

  test('shows copy buttons inside the box of their text', async () => {
    const page = await open()
    await page.goto(at(await logged({ error_type: 'BoxedError', message: `start ${'word '.repeat(100)}` })))
    await page.getByText(/Show the whole message/).click()
    await expectCopyInside(page, 'Copy message')
    const empty = await startHost('sqlite::memory:')
    for (const [path, name] of [
      ['/errors', 'Copy code'],
      ['/notifications', 'Copy'],
      ['/errors/diagnostic_dumps', 'Copy'],
    ] as const) {
      await page.goto(`${empty.origin}/error_dashboard${path}`)
      await expectCopyInside(page, name)
    }
    await empty.close()
  })

  /** The box has the border, and the text and the button are inside. */
  async function expectCopyInside(page: Page, name: string): Promise<void> {
    const button = page.getByRole('button', { name, exact: true }).filter({ visible: true }).first()
    const box = await button.locator('xpath=ancestor::div[@class="code-box"]').boundingBox()
    const inner = await button.boundingBox()
    if (!box || !inner) throw new Error(`${page.url()} has no box with ${name}`)
    expect(inner.y).toBeGreaterThan(box.y)
    expect(inner.y + inner.height).toBeLessThan(box.y + box.height)
    expect(inner.x + inner.width).toBeLessThan(box.x + box.width)
  }

  test('shows the request near the top, below variables and a cause', async () => {
    const database = `sqlite:${join(temporaryFolder(), 'errors.sqlite3')}`
    const own = await startHost(database, { enable_local_variables: true })
    const stack = (name: string, from: number) =>
      Array.from({ length: 3 }, (_, i) => `    at ${name}${i} (test/browser/detail.test.ts:${from + i}:1)`).join('\n')
    const thrown = (message: string, name: string, from: number, more: object = {}) =>
      Object.assign(new Error(message, more), { stack: `Error: ${message}\n${stack(name, from)}` })
    const cause = thrown('NOT NULL constraint failed: orders.slot', 'query', 40)
    const logged = await own.tracker.Commands.LogError.call({
      exception: thrown('Order 7 is paid, but could not be saved', 'save', 20, { cause }),
      request_url: 'https://shop.example/checkout/confirm',
      user_id: 'eve',
      user_agent:
        'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
    })
    const variables = {
      ...{ cause: 'Error: NOT NULL constraint failed', order: { id: 7, user_id: 'eve', total: 43.5, slot: null } },
      ...{ database: { open: true, path: 'shop.sqlite3' }, id: 7, user_id: 'eve', total: 43.5, slot: null },
    }
    const frame = { function: 'save0', file: 'test/browser/detail.test.ts', line_number: 20, variables }
    const context = JSON.stringify({ local_variables: [frame] })
    await withDatabase(database, (db) =>
      db.write((trx) => trx.updateTable('faultboard_occurrences').set({ context }).execute()),
    )
    const page = await open()
    for (const [width, height, screens] of [
      [1440, 900, 1.5],
      [390, 844, 2.5],
    ] as const) {
      await page.setViewportSize({ width, height })
      await page.goto(`${own.origin}/error_dashboard/errors/${logged?.id}`)
      expect(await page.locator('.variables').count()).toBe(1)
      expect(await page.locator('.cause').count()).toBe(1)
      const request = page.getByRole('region', { name: 'Request' })
      expect((await request.boundingBox())?.y).toBeLessThan(height * screens)
      expect(await request.textContent()).toMatch(/BrowserSafari 17\.5SystemiOS 17\.5DeviceApple iPhone/)
    }
    await own.close()
  })
})
