import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openHttpInbox } from '../contract/http-inbox.js'
import type { Inbox } from '../contract/inbox.js'
import { describeInBrowser, expectAccessible, expectNoOverflow } from '../support/browser.js'
import { type Host, startHost } from '../support/host.js'
import { eventually } from '../support/tracker.js'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'
/** Critical error that is new in the last release. */
const NEWEST = 'CheckoutError'

/**
 * Frequent tasks of a user, each from the overview to its result. The counts are upper bounds for later changes: a task
 * that needs another click is a regression. A select is one click, typed text is not counted.
 */
describeInBrowser('tasks of a user, counted in clicks', ({ open }) => {
  let host: Host
  let inbox: Inbox

  beforeAll(async () => {
    inbox = await openHttpInbox((webhook_url) => ({ webhook_url }))
    inbox.behavior = 'refuse'
    host = await startHost('sqlite::memory:', { ...inbox.settings, severity_thresholds: { webhook: 'critical' } })
    for (const [i, app_version] of ['5.9.0', '5.10.0', '5.11.0'].entries()) {
      const occurred_at = Date.now() - (4 - i) * DAY
      await log({ error_type: `Kind${'ABC'.charAt(i)}Error`, app_version, occurred_at })
      await log({ error_type: 'SteadyError', message: 'The carrier rejected the parcel', app_version, occurred_at })
    }
    for (let i = 0; i < 20; i++) {
      await log({ error_type: `Device${'ABCDEFGHIJKLMNOPQRST'.charAt(i)}Error`, platform: 'Android' })
    }
    await log({ error_type: 'SwipeError', platform: 'iOS', user_id: '42' })
    await log({ error_type: 'SteadyError', message: 'The carrier rejected the parcel', app_version: '5.12.0' })
    for (const user_id of ['42', '43', '44']) {
      await log({
        error_type: NEWEST,
        severity: 'critical',
        app_version: '5.12.0',
        user_id,
        request_url: 'https://shop.example/checkout',
        user_agent: IPHONE,
        backtrace: Array.from({ length: 6 }, (_, i) => `at step${i} (test/browser/tasks.test.ts:${i + 20}:1)`),
      })
    }
  })

  afterAll(async () => {
    await host?.close()
    await inbox?.close()
  })

  const log = async (fields: object) => {
    const error = await host.tracker.Commands.LogError.call({
      error_type: 'TaskError',
      message: 'The step could not be finished',
      severity: 'high',
      platform: 'Web',
      app_version: '5.11.0',
      ...fields,
    })
    return error?.id ?? 0
  }
  const find = (error_id: number) => host.tracker.Queries.FindError.call({ error_id })

  /** New, critical error at the top of the overview. Tasks that change an error have their own. */
  const newError = async (error_type: string) => find(await log({ error_type, severity: 'critical', user_id: '7' }))

  /** Opens the overview. The counts start after it. */
  const start = async (options: Parameters<typeof open>[0] = {}) => {
    const { viewport = { width: 1440, height: 900 }, ...others } = options
    const page = await open({ viewport, ...others })
    await page.goto(`${host.origin}/error_dashboard/overview`)
    return countActions(page)
  }
  const attention = (page: Page) => page.getByRole('region', { name: 'Needs attention' })
  const openError = async ({ page, click }: Actions, error_type: string) => {
    await click(attention(page).getByRole('link', { name: error_type, exact: true }))
    await page.locator('.error-type', { hasText: error_type }).waitFor()
  }
  const notice = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text }).waitFor()
  const listedTypes = (page: Page) => page.locator('[data-row-link]').allTextContents()

  test('finds a new error of the last release and its users', async () => {
    const actions = await start()
    const { page } = actions
    const row = attention(page).getByRole('listitem').filter({ hasText: NEWEST })
    expect(await row.textContent()).toContain('new since 5.12.0')
    await openError(actions, NEWEST)
    expect(await page.locator('.error-figures').textContent()).toContain('3 users')
    const users = page.getByRole('table', { name: 'Users' })
    expect(await users.getByRole('rowheader').allTextContents()).toEqual(['44', '43', '42'])
    expect(actions.counts()).toEqual({ clicks: 1, keys: 0, loads: 1 })
  })

  // detail.test.ts checks the positions on a phone.
  test('shows the failing line and the request', async () => {
    const actions = await start()
    const { page } = actions
    await openError(actions, NEWEST)
    const line = page.locator('mark.line').first()
    expect(await line.textContent()).toContain('describeInBrowser')
    expect((await line.boundingBox())?.y).toBeLessThan(900)
    const request = page.getByRole('region', { name: 'Request' })
    expect((await request.boundingBox())?.y).toBeLessThan(900 * 1.5)
    expect(await request.textContent()).toContain('https://shop.example/checkout')
    expect(actions.counts()).toEqual({ clicks: 1, keys: 0, loads: 1 })
  })

  test('resolves with a reference', async () => {
    const { id, error_type } = await newError('ResolvedTaskError')
    const actions = await start()
    const { page, click, type, press } = actions
    await openError(actions, error_type)
    await click(page.locator('#resolve > summary'))
    await page.locator('#resolve textarea:focus').waitFor()
    await type('A typo')
    await press('Tab')
    await type('https://git.example/pull/5')
    await press('Enter')
    await notice(page, 'Resolved.')
    expect(await find(id)).toMatchObject({
      resolved: true,
      resolution_comment: 'A typo',
      resolution_reference: 'https://git.example/pull/5',
    })
    expect(actions.counts()).toEqual({ clicks: 2, keys: 2, loads: 1 })
  })

  test('assigns and comments', async () => {
    const { id, error_type } = await newError('AssignedTaskError')
    const actions = await start()
    const { page, click, type, press } = actions
    await openError(actions, error_type)
    await click(page.locator('#assign > summary'))
    await click(page.getByRole('button', { name: 'Assign to me' }))
    await notice(page, 'Assigned to admin.')
    await click(page.getByLabel('Comment', { exact: true }))
    await type('Looking at it')
    await press('Control+Enter')
    await notice(page, 'Comment added.')
    expect(await find(id)).toMatchObject({ assigned_to: 'admin', comments: [{ body: 'Looking at it' }] })
    expect(actions.counts()).toEqual({ clicks: 4, keys: 1, loads: 1 })
  })

  test('snoozes for 24 hours', async () => {
    const { id, error_type } = await newError('SnoozedTaskError')
    const actions = await start()
    const { page, click } = actions
    await openError(actions, error_type)
    await click(page.locator('#snooze > summary'))
    await click(page.getByRole('button', { name: '1 day' }))
    await notice(page, 'Snoozed for 24 hours.')
    expect(await find(id)).toMatchObject({ snoozed: true })
    expect(actions.counts()).toEqual({ clicks: 3, keys: 0, loads: 1 })
  })

  test('lists all errors of a user', async () => {
    const actions = await start()
    const { page, click, type, press } = actions
    await click(page.getByRole('button', { name: 'Search or jump to' }))
    await type('user:42')
    await press('Enter')
    await page.waitForURL(/\/errors\?/)
    expect(await listedTypes(page)).toEqual([NEWEST, 'SwipeError'])
    expect(actions.counts()).toEqual({ clicks: 1, keys: 1, loads: 1 })
  })

  test('compares two releases', async () => {
    const actions = await start()
    const { page, click, choose } = actions
    await click(page.getByRole('link', { name: '5.12.0', exact: true }))
    await choose(page.getByLabel('Compare with'), '5.9.0')
    await click(page.getByRole('button', { name: 'Compare' }))
    await page.waitForURL('**/releases?app_version=5.12.0&compare_with=5.9.0')
    expect(await page.locator('#new').innerText()).toContain(NEWEST)
    expect(await page.locator('#gone').innerText()).toContain('KindAError')
    expect(await page.locator('#gone').innerText()).not.toContain('KindCError')
    expect(actions.counts()).toEqual({ clicks: 3, keys: 0, loads: 2 })
    await expectAccessible(page)
    await expectNoOverflow(page)
  })

  test('lists only iOS errors', async () => {
    const actions = await start()
    const { page, click } = actions
    await click(page.getByRole('link', { name: 'iOS', exact: true }))
    await page.waitForURL(/platform=iOS/)
    expect(await listedTypes(page)).toEqual(['SwipeError'])
    expect(actions.counts()).toEqual({ clicks: 1, keys: 0, loads: 1 })
  })

  test('mutes an error', async () => {
    const { id, error_type } = await newError('MutedTaskError')
    const actions = await start()
    const { page, click } = actions
    await openError(actions, error_type)
    await click(page.locator('#more > summary'))
    await click(page.getByRole('button', { name: 'Mute notifications' }))
    await notice(page, 'Muted indefinitely.')
    expect(await find(id)).toMatchObject({ muted: true, muted_by_name: 'admin', resolved: false })
    expect(actions.counts()).toEqual({ clicks: 3, keys: 0, loads: 1 })
  })

  test('resolves 20 errors at once', async () => {
    const actions = await start()
    const { page, click } = actions
    await click(page.getByRole('link', { name: 'Android', exact: true }))
    await click(page.getByLabel('Select all'))
    await click(page.locator('#resolve > summary'))
    await click(page.getByRole('button', { name: 'Resolve selected' }))
    await notice(page, '20 errors resolved')
    const resolved = await host.tracker.Queries.ErrorsList.call({ platform: 'Android', status: 'resolved' })
    expect(resolved).toHaveLength(20)
    expect(actions.counts()).toEqual({ clicks: 4, keys: 0, loads: 2 })
  })

  test('explains why notifications do not arrive', async () => {
    for (let i = 0; i < 3; i++) await newError(`Unsent${'ABC'.charAt(i)}Error`)
    const failed = () => host.tracker.Queries.Deliveries.call({ state: 'failed' })
    await eventually(async () => (await failed()).pagination.total_count >= 3, 'three failed messages')
    const actions = await start()
    const { page, click } = actions
    await click(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Alerts' }))
    const channel = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Webhook' }) })
    expect(await channel.textContent()).toMatch(/Failing: the last \d+ attempts failed/)
    const row = page.getByRole('row').filter({ hasText: 'UnsentCError' })
    expect(await row.textContent()).toContain('404 no_service')
    expect(actions.counts()).toEqual({ clicks: 1, keys: 0, loads: 1 })
  })

  test('searches for a text', async () => {
    const actions = await start()
    const { page, type, press } = actions
    await press('/')
    await type('rejected parcel')
    await press('Enter')
    await page.waitForURL(/\/errors\?/)
    expect(await listedTypes(page)).toEqual(['SteadyError'])
    expect(actions.counts()).toEqual({ clicks: 0, keys: 2, loads: 1 })
  })

  test('shares a link', async () => {
    const { id, error_type, message } = await newError('SharedTaskError')
    const actions = await start({ permissions: ['clipboard-read', 'clipboard-write'] })
    const { page, click } = actions
    await openError(actions, error_type)
    await click(page.getByRole('button', { name: 'Copy link' }))
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const link = String(await page.evaluate('navigator.clipboard.readText()'))
    expect(link).toMatch(new RegExp(`^${host.origin}/error_dashboard/e/[a-z-]+-${id}$`))
    expect(actions.counts()).toEqual({ clicks: 2, keys: 0, loads: 1 })
    await page.goto(link)
    expect(await page.title()).toContain(message)
  })

  test('resolves an error of the list, then an open error, by keyboard only', async () => {
    const first = await newError('FirstKeyboardError')
    const second = await newError('SecondKeyboardError')
    const actions = await start()
    const { page, press } = actions
    await press('g', 'e')
    await page.waitForURL(/\/errors\?/)
    await press('j', 'j', 'x', 'e', 'Enter')
    await notice(page, '1 error resolved')
    await page.waitForLoadState()
    expect(await find(first.id)).toMatchObject({ resolved: true })
    expect(actions.counts()).toEqual({ clicks: 0, keys: 7, loads: 2 })

    await press('j', 'Enter')
    await page.locator('.error-type', { hasText: second.error_type }).waitFor()
    await press('e')
    await notice(page, 'Resolved.')
    expect(await find(second.id)).toMatchObject({ resolved: true })
    expect(actions.counts()).toEqual({ clicks: 0, keys: 10, loads: 3 })
  })

  test('finds and resolves an error on a phone in dark mode', async () => {
    const { id, error_type } = await newError('NightError')
    const actions = await start({
      viewport: { width: 390, height: 844 },
      colorScheme: 'dark',
      isMobile: true,
      hasTouch: true,
    })
    const { page, click } = actions
    const link = attention(page).getByRole('link', { name: error_type, exact: true })
    expect((await link.boundingBox())?.y).toBeLessThan(844 / 2)
    await openError(actions, error_type)
    const resolve = page.getByRole('button', { name: 'Resolve', exact: true })
    const box = await resolve.boundingBox()
    expect(box?.y).toBeLessThan(844)
    expect(box?.height).toBeGreaterThanOrEqual(40)
    expect((await page.getByRole('region', { name: 'Stack trace' }).boundingBox())?.y).toBeLessThan(692)
    await expectNoOverflow(page)
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
    expect(await resolve.boundingBox()).toEqual(box)
    await click(resolve)
    await notice(page, 'Resolved.')
    expect(await find(id)).toMatchObject({ resolved: true })
    expect(actions.counts()).toEqual({ clicks: 2, keys: 0, loads: 1 })
  })
})

interface Counts {
  /** Includes taps. */
  clicks: number
  /** Key presses, except those of typed text. */
  keys: number
  /** Loaded pages. */
  loads: number
}

interface Actions {
  page: Page
  click(target: Locator): Promise<void>
  choose(select: Locator, option: string): Promise<void>
  press(...keys: string[]): Promise<void>
  type(text: string): Promise<void>
  counts(): Counts
}

/** Counts what a user does on the page. */
function countActions(page: Page): Actions {
  const counts: Counts = { clicks: 0, keys: 0, loads: 0 }
  page.on('request', (request) => {
    if (request.isNavigationRequest() && !request.redirectedFrom()) counts.loads++
  })
  return {
    page,
    async click(target) {
      counts.clicks++
      await target.click()
    },
    async choose(select, option) {
      counts.clicks++
      await select.selectOption(option)
    },
    async press(...keys) {
      counts.keys += keys.length
      for (const key of keys) await page.keyboard.press(key)
    },
    type: (text) => page.keyboard.type(text),
    counts: () => ({ ...counts }),
  }
}
