import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser } from '../support/browser.js'
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

  const menu = (page: Page, name: string) => page.locator('.error-actions summary', { hasText: name }).click()
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
  const notice = (page: Page) => page.getByRole('status').textContent()

  test.each(SCRIPT)(
    'performs every action (%s: %s)',
    async (javaScriptEnabled) => {
      const id = await logged({ error_type: `Acted${javaScriptEnabled}Error` })
      const find = () => host.tracker.Queries.FindError.call({ error_id: id })
      const page = await open({ javaScriptEnabled })
      await page.goto(at(id))

      await menu(page, 'Assign')
      await press(page, 'Assign to me')
      expect(await notice(page)).toBe('Assigned to admin.')
      await menu(page, 'Reassign')
      await page.locator('#assign').getByLabel('Assignee').fill('zoe@shop.example')
      await press(page, 'Assign')
      expect(await notice(page)).toBe('Assigned to zoe@shop.example.')
      await menu(page, 'Reassign')
      await press(page, 'Unassign')
      expect(await notice(page)).toBe('Unassigned.')

      await menu(page, 'Priority')
      await press(page, 'High')
      expect(await notice(page)).toBe('Priority set to high.')

      await menu(page, 'Snooze')
      await page.locator('#snooze').getByLabel('Reason (optional)').fill('the carrier is down')
      await press(page, '3 days')
      expect(await notice(page)).toBe('Snoozed for 72 hours.')
      expect(await find()).toMatchObject({ snoozed: true, snooze_reason: 'the carrier is down' })
      await menu(page, 'Snooze')
      await press(page, 'End snooze')
      expect(await notice(page)).toBe('Snooze ended.')
      await menu(page, 'Snooze')
      await page.getByLabel('Hours', { exact: true }).fill('5')
      await page.getByLabel('Hours', { exact: true }).press('Enter')
      expect(await notice(page)).toBe('Snoozed for 5 hours.')

      await menu(page, 'Status')
      await page.locator('select[name=status]').selectOption('in_progress')
      await page.getByLabel('Comment (optional)').fill('found the place')
      await press(page, 'Set status')
      expect(await notice(page)).toBe('Status set to in progress.')

      await page.getByLabel('Comment', { exact: true }).fill('Looking at it\nhttps://git.example/issues/5')
      await press(page, 'Comment')
      expect(await page.locator('.trail-comment').textContent()).toContain('Looking at it')
      expect(await page.getByRole('link', { name: 'https://git.example/issues/5' }).count()).toBe(1)
      expect(await page.getByRole('link', { name: '1 comment' }).getAttribute('href')).toBe('#activity')

      await menu(page, 'Resolve')
      await page.getByLabel('Your name').first().fill('Eve')
      await page.getByLabel('Resolution note (optional)').fill('A typo')
      await page.getByLabel('Commit, PR or ticket (optional)').fill('https://git.example/pull/5')
      await press(page, 'Resolve')
      expect(await notice(page)).toContain('Resolved.')
      expect(await find()).toMatchObject({ resolved: true, resolved_by_name: 'Eve', resolution_comment: 'A typo' })
      await press(page, 'Reopen')
      expect(await notice(page)).toBe('Status set to new.')
      expect((await find()).resolved).toBe(false)
      expect(await page.locator('.trail').textContent()).toContain('changed the status from resolved to new')

      await menu(page, 'Delete')
      expect(await page.locator('.menu[open]').textContent()).toContain('1 occurrence and 1 comment')
      await press(page, 'Delete error')
      expect(new URL(page.url()).pathname).toBe('/error_dashboard/errors')
      expect(await notice(page)).toContain('1 error deleted')
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
    const message = () => page.locator('#error-message').textContent()
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

    await page.getByRole('link', { name: 'Last 24 hours' }).click()
    expect(new URL(page.url()).searchParams.get('histogram')).toBe('24h')
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
    const height = async () => (await page.locator('#error-message').boundingBox())?.height ?? 0
    const before = await height()
    await page.getByText(/Show all [\d,]+ characters/).click()
    expect(await height()).toBeGreaterThan(before * 2)
    await page.getByText('Show less').click()
    expect(await height()).toBe(before)
  })

  test('copies message, stack trace, Markdown, curl and JSON, with selectable text without JavaScript', async () => {
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
    expect(await copied('message')).toBe('Copy ``` me')
    expect(await copied('stack trace')).toContain('at total (test/browser/detail.test.ts:3:1)')
    expect(await copied('as curl')).toBe("curl -g 'https://shop.example/pay'")
    await menu(page, 'Copy as')
    expect(await copied('Markdown')).toMatch(
      new RegExp(`^## \`CopiedError\`[^]*\`\`\`\`text\nCopy \`\`\` me\n\`\`\`\`[^]*${host.origin}.*/errors/${id}$`),
    )
    expect(JSON.parse(String(await copied('JSON')))).toMatchObject({ error: { id, error_type: 'CopiedError' } })

    const plain = await open({ javaScriptEnabled: false })
    await plain.goto(at(id))
    expect(await plain.getByRole('button', { name: /^Copy/ }).count()).toBe(0)
    await menu(plain, 'Copy as')
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
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Resolve')
  })
})
