import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser, WITHOUT_CACHE } from '../support/browser.js'
import { type Host, startHost } from '../support/host.js'
import { eventually } from '../support/tracker.js'

describeInBrowser('list shortcuts and live updates', ({ open }) => {
  let host: Host
  let base: string

  beforeAll(async () => {
    host = await startHost('sqlite::memory:')
    base = `${host.origin}/error_dashboard`
    for (let i = 0; i < 12; i++) await record(i)
  })

  afterAll(() => host.close())

  const record = (i: number) =>
    host.tracker.Commands.LogError.call({
      error_type: `Kind${String(i).padStart(2, '0')}Error`,
      message: `Number ${i}`,
      user_id: 'eve',
      occurred_at: Date.now() - i * 60_000,
    })
  const focused = (page: Page) =>
    page.evaluate('document.activeElement.closest("[data-row]")?.querySelector("a")?.textContent')
  /** Advances the clock of the page instead of waiting. */
  const runClockUntil = (page: Page, condition: () => boolean | Promise<boolean>, description: string) =>
    eventually(async () => {
      await page.clock.runFor(250)
      return condition()
    }, description)
  const keys = async (page: Page, ...list: string[]) => {
    for (const key of list) await page.keyboard.press(key)
  }

  test('moves with j and k and opens with Enter and o', async () => {
    const page = await open()
    await page.goto(`${base}/errors`)
    await keys(page, 'k')
    expect(await focused(page)).toBe('Kind00Error')
    await keys(page, 'j', 'j', 'j', 'k')
    expect(await focused(page)).toBe('Kind02Error')
    await keys(page, 'Enter')
    await page.waitForURL(/\/errors\/3\?/)
    await page.goBack()
    await keys(page, 'j', 'o')
    await page.waitForURL(/\/errors\/\d+\?/)
    await page.context().close()
  })

  test('moves with j and k through the errors of the list from which an error was opened', async () => {
    const page = await open()
    await page.goto(`${base}/errors?query=Number&sort_by=error_type&sort_direction=asc`)
    await keys(page, 'j', 'j', 'Enter')
    const shows = (type: string) => page.locator('.error-type', { hasText: type }).waitFor()
    await shows('Kind01Error')
    await keys(page, 'j')
    await shows('Kind02Error')
    await keys(page, 'k')
    await shows('Kind01Error')
    await keys(page, 'Control+k')
    await page.keyboard.type('next error')
    await keys(page, 'Enter')
    await shows('Kind02Error')
    // The last error of the list has no next error.
    await page.goto(page.url().replace(/errors\/\d+/, 'errors/12'))
    await keys(page, 'Control+k')
    const options = page.getByRole('option').filter({ visible: true })
    expect(await options.filter({ hasText: 'Previous error in the list' }).count()).toBe(1)
    expect(await options.filter({ hasText: 'Next error in the list' }).count()).toBe(0)
    await page.context().close()
  })

  test('selects with x, resolves with e and clears with Esc', async () => {
    const page = await open()
    await page.goto(`${base}/errors`)
    await keys(page, 'e')
    expect(await page.locator('#resolve[open]').count()).toBe(0)
    await keys(page, 'j', 'x', 'j', 'x')
    expect(await page.getByText('2 selected').isVisible()).toBe(true)
    await keys(page, 'e')
    expect(
      await page.getByLabel('Resolution note (optional)').evaluate((field) => field === document.activeElement),
    ).toBe(true)
    await keys(page, 'Escape')
    expect(await page.locator('#resolve[open]').count()).toBe(0)
    expect(await page.getByText('2 selected').isVisible()).toBe(true)
    await keys(page, 'Escape')
    expect(await page.locator('[data-select-row]:checked').count()).toBe(0)
    await keys(page, 'a')
    expect(await page.locator('#assign[open]').count()).toBe(1)
    expect(await page.locator('[data-select-row]:checked').count()).toBe(1)
    await page.context().close()
  })

  test('focuses the search with / and ignores keys while typing or with modifiers', async () => {
    const page = await open()
    await page.goto(`${base}/errors`)
    await keys(page, '/')
    await page.keyboard.type('jxe?go')
    expect(await page.getByLabel('Search').inputValue()).toBe('jxe?go')
    expect(await page.locator('[data-select-row]:checked').count()).toBe(0)
    await keys(page, 'Escape', 'Control+j', 'Alt+x', 'Meta+e')
    expect(await focused(page)).toBeUndefined()
    await page.context().close()
  })

  test('navigates to other pages in the same application', async () => {
    const page = await open()
    await page.goto(`${base}/errors?application_id=1`)
    await keys(page, 'g', 'o')
    await page.waitForURL(/\/overview\?application_id=1$/)
    await keys(page, 'g', 's')
    await page.waitForURL(/\/settings/)
    await keys(page, 'j', 'x', 'e', 'g', 'e')
    await page.waitForURL(/\/errors\?/)
    await page.context().close()
  })

  test('opens the help with ? and remembers disabled shortcuts', async () => {
    const page = await open()
    await page.goto(`${base}/errors`)
    await keys(page, '?')
    expect(await page.locator('#shortcuts').isVisible()).toBe(true)
    await keys(page, 'j')
    expect(await focused(page)).toBeUndefined()
    await page.getByLabel('Enable single-key shortcuts').uncheck()
    await keys(page, 'Escape')
    expect(await page.locator('#shortcuts').isVisible()).toBe(false)
    await page.reload()
    await keys(page, 'j', '?')
    expect(await focused(page)).toBeUndefined()
    expect(await page.locator('#shortcuts').isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
    await page.getByLabel('Enable single-key shortcuts').check()
    await keys(page, 'Escape', 'j')
    expect(await focused(page)).toBe('Kind00Error')
    await page.context().close()
  })

  test('the command palette opens pages, errors by id and text, and runs actions on the current error', async () => {
    const page = await open()
    await page.goto(`${base}/errors`)
    const palette = page.getByRole('dialog', { name: 'Command palette' })
    const selected = palette.locator('[aria-selected="true"]')
    await keys(page, 'Control+k')
    expect(await palette.isVisible()).toBe(true)
    await keys(page, 'Control+k')
    expect(await palette.isVisible()).toBe(false)

    await page.getByRole('button', { name: 'Search or jump to' }).first().click()
    await page.keyboard.type('relea')
    expect(await selected.textContent()).toContain('Releases')
    await keys(page, 'Enter')
    await page.waitForURL(/\/releases/)

    await keys(page, 'Control+k')
    await page.keyboard.type('Kind07')
    await palette.getByText('Kind07Error: ').waitFor()
    expect(await selected.allTextContents()).toEqual(['Search errors for Kind07'])
    await palette.getByText('Kind07Error: ').click()
    await page.waitForURL(/\/errors\/\d+$/)
    const id = /\d+$/.exec(page.url())?.[0] ?? ''
    expect(await page.locator('main').textContent()).toContain('Kind07Error')

    await page.goto(`${base}/settings?environment=elsewhere`)
    await keys(page, 'Control+k')
    await page.keyboard.type(`#${id}`)
    expect(await selected.textContent()).toBe(`Open error ${id}`)
    await keys(page, 'ArrowDown')
    expect(await selected.textContent()).toBe(`Search errors for #${id}`)
    await keys(page, 'ArrowDown', 'Enter')
    await page.waitForURL(new RegExp(`/errors/${id}$`))

    await keys(page, 'Control+k')
    await page.keyboard.type('mute')
    await keys(page, 'Enter')
    expect(await palette.isVisible()).toBe(false)
    expect(await page.locator('#mute[open]').isVisible()).toBe(true)
    await keys(page, 'Escape', 'c')
    expect(await page.evaluate(() => document.activeElement?.closest('.comment-form') !== null)).toBe(true)
    await page.context().close()
  })

  test.each(['/overview', '/errors'])('%s waits for the first error and links to it', async (path) => {
    const empty = await startHost('sqlite::memory:')
    const page = await open()
    await page.clock.install()
    await page.goto(`${empty.origin}/error_dashboard${path}`)
    expect(await page.getByText('Waiting for the first error').isVisible()).toBe(true)
    await page.getByText('Fastify', { exact: true }).click()
    expect(await page.getByText('app.register(faultboard)').isVisible()).toBe(true)
    expect(await page.getByText('app.use(dashboard())').isVisible()).toBe(false)
    expect(await page.getByText('in any route of your application').isVisible()).toBe(true)
    expect(await page.getByRole('link', { name: 'other frameworks' }).getAttribute('href')).toMatch(/\/frameworks\.md$/)
    const card = await page.locator('.first-run').boundingBox()
    await empty.tracker.Commands.LogError.call({ error_type: 'FirstError', message: 'The first' })
    const link = page.getByRole('link', { name: '1 new error – Show' })
    await runClockUntil(page, () => link.isVisible(), 'the first error is announced')
    expect(await page.getByText('Waiting for the first error').isVisible()).toBe(false)
    expect(await page.getByRole('heading', { name: 'First error recorded' }).isVisible()).toBe(true)
    expect(await page.getByText('No errors yet').isVisible()).toBe(false)
    expect(await page.getByText('in any route of your application').isVisible()).toBe(false)
    expect(await page.getByText('Open it to see its stack trace').isVisible()).toBe(true)
    expect(await page.locator('.first-run').boundingBox()).toEqual(card)
    expect(await link.evaluate((element) => element.closest('.waiting') !== null)).toBe(true)
    await link.click()
    expect(await page.getByRole('link', { name: 'FirstError' }).count()).toBe(1)
    await page.context().close()
    await empty.close()
  })

  test.each(['by the stream', 'by polling'])(
    'updates in place without moving rows, %s',
    async (way) => {
      const page = await open({ viewport: { width: 1440, height: 900 } })
      await page.clock.install()
      if (way === 'by polling') await page.route('**/errors/live', (route) => route.fulfill({ status: 503 }))
      await page.goto(`${base}/errors?search=number`)
      const places = () =>
        page.locator('[data-row]').evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().y))
      const row = page.locator('[data-row="5"]')
      const before = await places()
      const count = Number(await row.locator('[data-field="occurrence_count"]').textContent())

      // The new bar has the scale of the page.
      const [sparkline, pageMax] = [row.locator('.sparkline'), 4 * (count + 2)]
      await sparkline.evaluate((element, max) => element.setAttribute('data-max', String(max)), pageMax)

      const fresh = way === 'by polling' ? 40 : 20
      for (let i = 0; i < 3; i++) {
        await host.tracker.Commands.LogError.call({ error_type: `Fresh${fresh + i}`, message: `Number ${i}` })
      }
      await host.tracker.Commands.LogError.call({ error_type: 'Other', message: 'does not fit the search' })
      await record(4)
      await host.tracker.Commands.LogError.call({ error_type: 'Kind04Error', message: 'Number 4', user_id: 'bob' })

      await runClockUntil(
        page,
        () => page.getByRole('link', { name: '3 new errors – Show' }).isVisible(),
        'the new errors are announced',
      )
      expect(await row.locator('[data-field="occurrence_count"]').textContent()).toBe(String(count + 2))
      expect(await row.locator('[data-field="user_count"]').textContent()).toBe('2')
      expect(await row.locator('[data-field="occurred_at"]').textContent()).toBe('just now')
      expect(await row.locator('svg title').textContent()).toContain(`, ${count + 2}`)
      expect(await sparkline.locator('path').first().getAttribute('d')).toMatch(/v-12$/)
      expect(Number(await sparkline.locator('svg').getAttribute('height'))).toBeCloseTo(12)
      expect(await page.locator('#announcer').textContent()).toBe('3 new errors')
      expect(await places()).toEqual(before)

      await page.getByRole('link', { name: '3 new errors – Show' }).click()
      expect(await page.getByRole('link', { name: `Fresh${fresh}` }).count()).toBe(1)
      expect(await page.getByText('new errors').isVisible()).toBe(false)
      await page.context().close()
    },
    90_000,
  )

  test('fetches at most once in five seconds', async () => {
    const page = await open()
    // The clock of the page stops between the steps, so that the test does not depend on the machine.
    await page.clock.install()
    await page.goto(`${base}/errors?search=burst`)
    await page.clock.pauseAt(Date.now() + 3_600_000)
    let fetchCount = 0
    let eventCount = 0
    page.on('request', (request) => request.url().includes('changes.json') && fetchCount++)
    await page.exposeFunction('countChange', () => eventCount++)
    await page.evaluate(
      "new EventSource(document.querySelector('[data-live]').dataset.live).addEventListener('changed', () => countChange())",
    )
    const burst = async () => {
      const before = eventCount
      await host.tracker.Commands.LogError.call({ error_type: `Burst${before}-${fetchCount}`, message: 'burst' })
      await eventually(() => eventCount > before, 'the stream sent a change')
    }
    const step = (ms: number) => page.clock.runFor(ms)

    await burst()
    await eventually(async () => {
      await step(1)
      return fetchCount > 0
    }, 'the page asked what changed')
    await page.getByRole('link', { name: /new errors? – Show/ }).waitFor()
    const first = fetchCount
    for (let i = 0; i < 4; i++) {
      await burst()
      await step(1_000)
    }
    expect(fetchCount).toBe(first)
    await step(1_001)
    await eventually(() => fetchCount > first, 'the page asked again')
    expect(fetchCount).toBe(first + 1)
    await page.context().close()
  }, 90_000)

  test('fetches again after a change during a pending request', async () => {
    const page = await open(WITHOUT_CACHE)
    await page.clock.install()
    let release = () => {}
    let fetchCount = 0
    await page.route('**/errors/changes.json*', async (route) => {
      const fetched = await route.fetch()
      // The first response is computed before the change and arrives after it.
      if (fetchCount++ === 0) await new Promise<void>((resume) => (release = resume))
      await route.fulfill({ response: fetched })
    })
    await page.goto(`${base}/errors?search=between`)
    await runClockUntil(page, () => fetchCount === 1, 'the page asked what changed')
    await host.tracker.Commands.LogError.call({ error_type: 'Between', message: 'between' })
    await page.evaluate(
      "new Promise((resolve) => new EventSource(document.querySelector('[data-live]').dataset.live).addEventListener('changed', resolve))",
    )
    release()
    await runClockUntil(
      page,
      () => page.getByRole('link', { name: '1 new error – Show' }).isVisible(),
      'the new errors are announced',
    )
    await page.context().close()
  }, 60_000)
})
