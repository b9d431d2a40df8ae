import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { QUERY_KEYS } from '../../src/model/search-query.js'
import {
  describeInBrowser,
  expectAccessible,
  expectNoOverflow,
  layoutShift,
  pageWeight,
  WITHOUT_CACHE,
} from '../support/browser.js'
import { type Host, startHost } from '../support/host.js'

const HOSTILE = [
  `<script>document.title='owned'</script> ${'x'.repeat(10_000)}`,
  'مرحبا بالعالم، فشل الطلب',
  '👩‍👩‍👧‍👦🎉'.repeat(100),
  '\u202Ebackwards',
  '__proto__',
  'one\ntwo\n\nthree',
]

describeInBrowser('list page in a browser', ({ open }) => {
  let host: Host
  let base: string

  beforeAll(async () => {
    host = await startHost('sqlite::memory:')
    base = `${host.origin}/error_dashboard`
    const { Commands } = host.tracker
    const now = Date.now()
    for (let i = 0; i < 200; i++) {
      await Commands.LogError.call({
        error_type: `Kind${String(i).padStart(3, '0')}Error`,
        message: `Sample ${'abc'.charAt(i % 3)}, which is long enough for a line of a row at any width of a screen`,
        backtrace: [`at step (${process.cwd()}/src/some/folder/file-${i}.ts:1:1)`],
        platform: i % 2 === 0 ? 'iOS' : 'Web',
        severity: i % 4 === 0 ? 'critical' : 'low',
        user_id: `u${i}`,
        occurred_at: now - (i + 10) * 60_000,
      })
    }
    for (const [i, message] of HOSTILE.entries()) {
      await Commands.LogError.call({
        error_type: i === 0 ? 'VeryLongName'.repeat(20) : HOSTILE[HOSTILE.length - i],
        message,
        platform: i === 0 ? 'P'.repeat(64) : 'Web',
        app_version: i === 0 ? 'v'.repeat(128) : '1.0.0-rc.12',
        occurred_at: now - i * 1000,
      })
    }
    const { errors } = await host.tracker.Queries.ErrorsList.page({ per_page: 12 })
    const [first, second, third] = errors.map(({ id }) => ({ error_id: id }))
    if (!first || !second || !third) throw new Error('too few errors')
    await Commands.AssignError.call({ ...first, assigned_to: `<b>eve</b>${'n'.repeat(200)}` })
    await Commands.SnoozeError.call({ ...second, hours: 3 })
    await Commands.UpdatePriority.call({ ...third, priority_level: 4 })
  })

  afterAll(() => host.close())

  const rows = (page: Page) => page.locator('[data-row]')
  const terms = (page: Page) => page.locator('.suggestions .suggested-term').allTextContents()
  /** Position of the element, even if another element covers it. */
  const pressAt = async (page: Page, place: string) => {
    const box = await page.locator(place).boundingBox()
    await page.mouse.click((box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + (box?.height ?? 0) / 2)
  }
  const notice = (page: Page) => page.locator('.notice').textContent()

  test.each([
    [1440, 'light'],
    [768, 'light'],
    [390, 'dark'],
  ] as const)(
    'renders the list without overflow at %i pixels in %s',
    async (width, colorScheme) => {
      const expectGood = async () => {
        await expectNoOverflow(page)
        // every-page.test.ts covers light mode.
        if (width === 390) await expectAccessible(page)
      }
      const page = await open({ viewport: { width, height: 900 }, colorScheme })
      await page.goto(`${base}/errors?unresolved=true&search=e&severity=low&per_page=10`)
      await expectNoOverflow(page)
      // Three lines on narrow screens.
      for (const row of await rows(page).all()) expect((await row.boundingBox())?.height).toBeLessThan(92)
      await rows(page).first().locator('[data-select-row]').check()
      await page.locator('#snooze > summary').click()
      await expectGood()
      if (width < 1100) await page.getByText('Filters (2)', { exact: true }).click()
      await page.getByText('More', { exact: true }).click()
      await expectGood()
      await page.getByText('Views', { exact: true }).click()
      await expectNoOverflow(page)
      await page.goto(`${base}/errors?search=nothing+like+it`)
      await expectNoOverflow(page)
    },
    60_000,
  )

  test.each(['light', 'dark'] as const)('keeps badges of a selected row distinguishable in %s', async (colorScheme) => {
    const page = await open({ colorScheme })
    await page.goto(`${base}/errors?severity=low`)
    await rows(page).first().locator('[data-select-row]').check()
    const colours = await rows(page)
      .first()
      .evaluate((row) =>
        [row, ...row.querySelectorAll('.badge')].map((element) => getComputedStyle(element).backgroundColor),
      )
    const [tint, severity, status] = colours.map((colour) => (colour.match(/\d+/g) ?? []).map(Number))
    for (const badge of [severity, status])
      expect(Math.max(...(badge ?? []).map((value, i) => Math.abs(value - (tint?.[i] ?? 0))))).toBeGreaterThan(12)
  })

  test('shows 25 rows of two lines each at 1440 pixels, even with long content', async () => {
    const page = await open({ viewport: { width: 1440, height: 900 } })
    await page.goto(`${base}/errors`)
    const heights = await rows(page).evaluateAll((all) =>
      all.map((row) => Math.round(row.getBoundingClientRect().height)),
    )
    expect(heights.length).toBe(25)
    expect(new Set(heights).size).toBe(1)
    expect(heights[0]).toBeLessThan(60)
  })

  test('shows the scale of the trend, separated notes and whole search terms on a tablet', async () => {
    const page = await open({ viewport: { width: 768, height: 900 } })
    const [error] = await host.tracker.Queries.ErrorsList.call({ query: 'type:Kind010Error' })
    await host.tracker.Commands.UpdatePriority.call({ error_id: error?.id ?? 0, priority_level: 3 })
    await page.goto(`${base}/errors`)
    const trend = rows(page).nth(20).locator('.trend')
    expect(await trend.innerText()).toBe('max 1')
    const note = page.locator('tr:has(.place-path) .row-notes:has(.priority)')
    const separator = () => note.evaluate((element) => getComputedStyle(element, '::before').content)
    expect(await separator()).toBe('"· "')
    await page.locator('.search .menu > summary').click()
    const heights = await page
      .locator('.search-help code')
      .evaluateAll((terms) => terms.map((term) => term.getClientRects().length))
    expect(new Set(heights)).toEqual(new Set([1]))
  })

  test('stays within 60 KB on every page of the navigation, without layout shift on the list', async () => {
    const page = await open({ ...WITHOUT_CACHE, viewport: { width: 1440, height: 900 } })
    const links = (selector: string) =>
      page.locator(selector).evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href))
    await page.goto(`${base}/errors`)
    expect(await layoutShift(page)).toBeLessThan(0.001)
    const sections = await links('.rail-links a')
    expect(sections.length).toBeGreaterThanOrEqual(7)
    const visited = new Map<string, number>()
    for (const section of sections) {
      await page.goto(section)
      visited.set(page.url(), await pageWeight(page))
      for (const tab of await links('.section-tabs a')) {
        if (visited.has(tab)) continue
        await page.goto(tab)
        visited.set(tab, await pageWeight(page))
      }
    }
    expect(Math.min(...visited.values())).toBeGreaterThan(10_000)
    expect([...visited].filter(([, weight]) => weight > 60_000)).toEqual([])
  }, 120_000)

  test('renders hostile content as text in a page of 100 rows', async () => {
    const page = await open({ viewport: { width: 390, height: 900 } })
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
    await page.goto(`${base}/errors?per_page=100`)
    expect(await rows(page).count()).toBe(100)
    expect(await page.title()).toBe('(206) All errors · shop')
    expect(await page.getByText("<script>document.title='owned'</script>").count()).toBe(1)
    expect(await page.locator('main script, main img').count()).toBe(0)
    await expectNoOverflow(page)
    expect(problems).toEqual([])
  })

  test.each([true, false])(
    'shows the current tab on a phone and covers no other tab (JavaScript %s)',
    async (script) => {
      const page = await open({ javaScriptEnabled: script, viewport: { width: 390, height: 900 } })
      for (const [address, chosen] of [
        ['/errors?snoozed=true', 'Snoozed'],
        ['/errors', 'All'],
      ] as const) {
        await page.goto(`${base}${address}`)
        const row = page.locator('nav[aria-label="Lists"]')
        const current = row.locator('[aria-current]')
        expect(await current.textContent()).toContain(chosen)
        const box = await current.boundingBox()
        expect(box?.x).toBeGreaterThanOrEqual(0)
        expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390)
        const edges = await row.locator('a').evaluateAll((tabs) =>
          tabs.map((tab) => {
            const { left, right } = tab.getBoundingClientRect()
            return [left, right] as const
          }),
        )
        for (const [i, [left]] of edges.entries()) expect(left).toBeGreaterThanOrEqual(edges[i - 1]?.[1] ?? left)
        expect(await page.evaluate(() => window.scrollY)).toBe(0)
      }
    },
  )

  test('suggests keys and values of a query, and finds errors by all words', async () => {
    await host.tracker.Commands.LogError.call({
      error_type: 'PaymentDeclinedError',
      message: 'Card declined: insufficient funds',
    })
    const page = await open({ viewport: { width: 1440, height: 900 } })
    await page.goto(`${base}/errors`)
    const field = page.getByRole('combobox', { name: 'Search' })
    const options = page.getByRole('option')
    await field.pressSequentially('PaymentDeclined insufficient i')
    expect(await terms(page)).toEqual(['is:'])
    expect(await options.filter({ visible: true }).first().innerText()).toMatch(/^is:\s+In this state\s+is:unresolved$/)
    await field.press('ArrowDown')
    await field.press('Enter')
    expect(await field.inputValue()).toBe('PaymentDeclined insufficient is:')
    await field.pressSequentially('un')
    expect(await terms(page)).toEqual(['is:unresolved', 'is:unassigned'])
    await field.press('ArrowDown')
    expect(await field.getAttribute('aria-activedescendant')).toBe('suggestion-0')
    await expectAccessible(page)
    await field.press('Enter')
    expect(await field.inputValue()).toBe('PaymentDeclined insufficient is:unresolved ')
    expect(await field.getAttribute('aria-expanded')).toBe('false')
    await field.pressSequentially('-platf')
    await options.getByText('platform:', { exact: true }).click()
    expect(await field.inputValue()).toBe('PaymentDeclined insufficient is:unresolved -platform:')
    // Esc closes the suggestions first.
    await field.press('Escape')
    expect(await field.evaluate((element) => element === document.activeElement)).toBe(true)
    await field.pressSequentially('iOS')
    await field.press('Enter')
    await page.waitForURL(/query=PaymentDeclined/)
    expect(await rows(page).count()).toBe(1)
    expect(await rows(page).first().textContent()).toContain('insufficient funds')
  })

  test.each([true, false])('shows a malformed query with its problem (JavaScript %s)', async (script) => {
    const page = await open({ javaScriptEnabled: script, viewport: { width: 390, height: 844 } })
    const response = await page.goto(`${base}/errors?severity=low&query=${encodeURIComponent('declined "x')}`)
    expect(response?.status()).toBe(422)
    const field = page.getByLabel('Search')
    expect(await field.inputValue()).toBe('declined "x')
    expect(await page.getByRole('alert').textContent()).toContain('unclosed quote at character 10. Add a closing quote')
    expect(await page.locator('select[name=severity]').inputValue()).toBe('low')
    await expectNoOverflow(page)
    if (script) await expectAccessible(page)
    await page.locator('.search summary').click()
    expect(await page.getByText('tag:city=Berlin').isVisible()).toBe(true)
    await field.fill('declined')
    await field.press('Enter')
    await page.waitForURL(/query=declined/)
  })

  test('offers all operators in an empty search box, recent users with their errors, and the syntax', async () => {
    const page = await open({ viewport: { width: 1440, height: 900 } })
    await page.goto(`${base}/errors`)
    const field = page.getByRole('combobox', { name: 'Search' })
    const options = page.getByRole('option').filter({ visible: true })
    await field.click()
    expect(await terms(page)).toHaveLength(QUERY_KEYS.length)
    await options.getByText('user:', { exact: true }).click()
    expect(await field.inputValue()).toBe('user:')
    expect(await options.allInnerTexts()).toContainEqual(expect.stringMatching(/^user:u199\s+1 recent error$/))
    await field.press('Escape')
    expect(await options.count()).toBe(0)
    await field.press('ArrowUp')
    await field.press('Enter')
    expect(await options.count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Full search syntax' }).isVisible()).toBe(true)
  })

  test('suggests values of all keys for a word, which Tab inserts', async () => {
    const page = await open({ viewport: { width: 390, height: 844 } })
    await page.goto(`${base}/errors`)
    const field = page.getByRole('combobox', { name: 'Search' })
    await field.pressSequentially('hay hi')
    expect(await terms(page)).toEqual(['severity:high', 'priority:high'])
    await expectNoOverflow(page)
    await field.press('ArrowDown')
    await field.press('Tab')
    expect(await field.inputValue()).toBe('hay severity:high ')
    expect(await field.evaluate((element) => element === document.activeElement)).toBe(true)
    await field.pressSequentially('re')
    expect(await terms(page)).toEqual(['release:', 'is:resolved', 'is:regressed'])
  })

  test('selects a malformed query from the position of the problem to the end', async () => {
    const page = await open()
    await page.goto(`${base}/errors?query=${encodeURIComponent('😀 declined "x')}`)
    const selection = await page.getByLabel('Search').evaluate((input) => {
      const { value, selectionStart, selectionEnd } = input as HTMLInputElement
      return [value.slice(selectionStart ?? 0, selectionEnd ?? 0), input === document.activeElement]
    })
    expect(selection).toEqual(['"x', true])
  })

  test.each([true, false])('clears the search but keeps the filters (JavaScript %s)', async (script) => {
    const page = await open({ javaScriptEnabled: script })
    await page.goto(`${base}/errors?query=Kind003Error&severity=critical`)
    expect(await page.locator('.chips').innerText()).not.toContain('Kind003Error')
    await page.getByRole('link', { name: 'Clear search' }).click()
    expect(new URL(page.url()).search).toBe('?severity=critical')
    expect(await page.getByRole('link', { name: 'Clear search' }).count()).toBe(0)
  })

  test('keeps the filters of a phone in one line and the bulk actions in two', async () => {
    const page = await open({ viewport: { width: 390, height: 844 } })
    await page.goto(`${base}/errors?unresolved=true&hide_snoozed=true&severity=critical`)
    const button = await page.getByText('Filters (1)', { exact: true }).boundingBox()
    const field = page.getByLabel('Search')
    expect(button?.y).toBe((await field.boundingBox())?.y)
    // The placeholder shows at least one operator.
    expect(
      await field.evaluate((input) => {
        const { clientWidth } = input as HTMLInputElement
        const context = document.createElement('canvas').getContext('2d')
        if (!context) return 0
        context.font = getComputedStyle(input).font
        return clientWidth - context.measureText('Search text, user:').width
      }),
    ).toBeGreaterThan(30)
    await rows(page).first().locator('[data-select-row]').check()
    const box = await page.locator('.batch').boundingBox()
    expect(box?.height).toBeLessThan(100)
    // Does not touch the end of the screen.
    expect(844 - (box?.y ?? 0) - (box?.height ?? 0)).toBeGreaterThanOrEqual(12)
    const bar = page.getByRole('group', { name: 'Bulk actions' })
    expect(await bar.locator('details.menu > summary').allInnerTexts()).toEqual([
      'Resolve',
      'Assign',
      'Snooze',
      expect.stringContaining('⋯'),
    ])
    const buttons = await bar.locator('details.menu > summary').evaluateAll((all) =>
      all.map((button) => {
        const { y, width } = button.getBoundingClientRect()
        return `${y} ${Math.round(width)}`
      }),
    )
    expect(new Set(buttons).size).toBe(1)
    await bar.locator('summary', { hasText: 'More actions' }).click()
    await bar.getByText('Priority', { exact: true }).first().click()
    await bar.getByLabel('Priority').selectOption('High')
    await expectAccessible(page)
    await bar.getByRole('button', { name: 'Set priority' }).click()
    expect(await notice(page)).toBe('1 error set to priority high.')
    const heights = await rows(page).evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height))
    expect(Math.max(...heights)).toBeLessThan(92)
  })

  test('gives every severity an accessible name, but shows text only for the two highest', async () => {
    const page = await open({ viewport: { width: 1440, height: 900 } })
    for (const [severity, isTextVisible] of [
      ['critical', true],
      ['low', false],
    ] as const) {
      await page.goto(`${base}/errors?search=Kind&severity=${severity}`)
      const mark = rows(page).first().locator('.row-severity')
      expect(await mark.getAttribute('title')).toBe(`Severity: ${severity}`)
      expect(await rows(page).first().ariaSnapshot()).toContain(severity)
      expect(((await mark.boundingBox())?.width ?? 0) > 30).toBe(isTextVisible)
    }
  })

  test('opens an error by a click anywhere in its row', async () => {
    const page = await open({ viewport: { width: 1440, height: 900 } })
    for (const place of ['.message', '.occurrence-count', '.sparkline', '.seen time >> nth=0']) {
      await page.goto(`${base}/errors?search=Kind003`)
      await pressAt(page, `[data-row] ${place}`)
      await page.waitForURL(/\/errors\/\d+\?/)
    }
  })

  test.each([true, false])('keeps filters in the URL as removable chips (JavaScript %s)', async (script) => {
    const page = await open({ javaScriptEnabled: script })
    await page.goto(`${base}/errors?unresolved=true&hide_snoozed=true`)
    await page.getByLabel('Search').fill('"SAMPLE B"')
    await page.getByLabel('Search').press('Enter')
    await page.waitForURL(/SAMPLE/)
    await page.locator('select[name=severity]').selectOption('critical')
    if (!script) await page.getByRole('button', { name: 'Filter' }).click()
    await page.waitForURL(/severity=critical/)
    expect(await page.title()).toBe('(17) Open errors, "SAMPLE B", severity critical · shop')
    if (script) {
      expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
        unresolved: 'true',
        hide_snoozed: 'true',
        query: '"SAMPLE B"',
        severity: 'critical',
      })
    }
    const chip = page.getByRole('link', { name: 'Severity critical' })
    expect(await chip.isVisible()).toBe(false)
    // The selects are hidden on a narrow screen.
    await page.setViewportSize({ width: 768, height: 900 })
    await chip.click()
    await page.setViewportSize({ width: 1440, height: 900 })
    expect(await page.title()).toBe('(67) Open errors, "SAMPLE B" · shop')
    await page.getByText('More', { exact: true }).click()
    await page.getByLabel('Type', { exact: true }).fill('Kind004Error')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.waitForURL(/Kind004Error/)
    expect(await page.title()).toBe('(1) Open errors, "SAMPLE B", type Kind004Error · shop')
    await page.getByRole('link', { name: 'Clear all' }).click()
    expect(new URL(page.url()).search).toBe('?unresolved=true&hide_snoozed=true')
  })

  test('waits for Enter when a filter is changed by keyboard', async () => {
    const page = await open()
    await page.goto(`${base}/errors`)
    await page.locator('select[name=severity]').focus()
    await page.keyboard.press('c')
    expect(await page.locator('select[name=severity]').inputValue()).toBe('critical')
    expect(new URL(page.url()).search).toBe('')
    expect(await page.getByRole('button', { name: 'Filter' }).isVisible()).toBe(true)
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.waitForURL(/severity=critical/)
  })

  test('sorts by column headers', async () => {
    const page = await open({ viewport: { width: 1440, height: 900 } })
    await page.goto(`${base}/errors?search=Kind`)
    await page.getByRole('link', { name: 'Error', exact: true }).click()
    await page.waitForURL(/sort_by=error_type/)
    expect(await page.getByRole('columnheader', { name: 'Error', exact: true }).getAttribute('aria-sort')).toBe(
      'ascending',
    )
    expect(await rows(page).first().textContent()).toContain('Kind000Error')
  })

  test.each([true, false])('performs bulk actions and returns to the same list (JavaScript %s)', async (script) => {
    const page = await open({ javaScriptEnabled: script, viewport: { width: 1440, height: 900 } })
    const search = `file-${script ? '10' : '11'}`
    const list = `${base}/errors?unresolved=true&search=${search}&sort_by=error_type`
    await page.goto(list)
    expect(await rows(page).count()).toBe(11)
    await rows(page).nth(0).locator('[data-select-row]').check()
    await rows(page).nth(1).locator('[data-select-row]').check()
    if (script) expect(await page.getByText('2 selected').isVisible()).toBe(true)
    else await page.getByText('Bulk actions').first().click()
    await page.locator('#resolve > summary').click()
    await page.getByText('as admin · change').click()
    await page.getByLabel('Your name').fill('Eve')
    await page.getByLabel('Resolution note (optional)').fill('A typo')
    await page.getByRole('button', { name: 'Resolve selected' }).click()
    expect(await notice(page)).toBe('2 errors resolved.')
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      unresolved: 'true',
      search,
      sort_by: 'error_type',
    })
    expect(await rows(page).count()).toBe(9)

    if (script) await page.getByLabel('Select all on this page').check()
    else {
      await page.getByText('Bulk actions').first().click()
      await page.getByRole('link', { name: 'Select all on this page' }).click()
      await page.getByText('Bulk actions').first().click()
    }
    await page.locator('.batch summary', { hasText: 'More actions' }).click()
    await page.locator('summary', { hasText: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete selected' }).click()
    expect(await notice(page)).toBe('9 errors deleted.')
    expect(await page.getByText('No errors match your filters.').count()).toBe(1)
  })

  test.each([true, false])('resolves all matching errors of several pages (JavaScript %s)', async (script) => {
    const page = await open({ javaScriptEnabled: script, viewport: { width: 1440, height: 900 } })
    const search = `file-${script ? '13' : '14'}`
    await page.goto(`${base}/errors?unresolved=true&search=${search}&per_page=5`)
    const matching = page.getByLabel('Select all 11 matching')
    if (script) {
      await rows(page).nth(0).locator('[data-select-row]').check()
      expect(await matching.isVisible()).toBe(false)
      await page.getByLabel('Select all on this page').check()
    } else await page.getByText('Bulk actions').first().click()
    await matching.check()
    if (script) {
      expect(await page.getByText('All matching errors selected').isVisible()).toBe(true)
      await rows(page).nth(0).locator('[data-select-row]').uncheck()
      expect(await page.getByText('4 selected').isVisible()).toBe(true)
      await page.getByLabel('Select all on this page').check()
      expect(await matching.isChecked()).toBe(false)
      await matching.check()
    }
    await page.locator('#resolve > summary').click()
    await page.getByRole('button', { name: 'Resolve selected' }).click()
    expect(await notice(page)).toBe('11 errors resolved.')
    expect(await page.getByText('No errors match your filters.').count()).toBe(1)
  })

  test('submits the current menu on Enter, and nothing without JavaScript', async () => {
    const page = await open({ viewport: { width: 1440, height: 900 } })
    await page.goto(`${base}/errors?search=Kind12`)
    await rows(page).first().locator('[data-select-row]').click()
    await rows(page)
      .nth(3)
      .locator('[data-select-row]')
      .click({ modifiers: ['Shift'] })
    expect(await page.getByText('4 selected').isVisible()).toBe(true)
    await page.locator('#assign > summary').click()
    await page.locator('#assign').getByLabel('Assignee').fill('Bob')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.notice')
    expect(await notice(page)).toBe('4 errors assigned to Bob.')

    const plain = await open({ javaScriptEnabled: false })
    await plain.goto(`${base}/errors?search=Kind12&select=page`)
    await plain.getByText('Bulk actions').first().click()
    await plain.locator('#assign > summary').click()
    await plain.locator('#assign').getByLabel('Assignee').fill('Carl')
    await plain.keyboard.press('Enter')
    expect(plain.url()).toContain('select=page')
    await plain.getByRole('button', { name: 'Assign', exact: true }).click()
    expect(await notice(plain)).toBe('10 errors assigned to Carl.')
  })

  test.each([true, false])('saves, opens and deletes a view (JavaScript %s)', async (script) => {
    const page = await open({ javaScriptEnabled: script, viewport: { width: 390, height: 900 } })
    await page.goto(`${base}/errors?severity=critical`)
    await page.getByText('Views', { exact: true }).click()
    await page.getByLabel('Name', { exact: true }).fill('Burning <b>')
    await page.getByRole('button', { name: 'Save view' }).click()
    expect(await notice(page)).toBe('Saved as Burning <b>.')
    await page.goto(`${base}/errors`)
    await page.getByText('Views', { exact: true }).click()
    await page.getByRole('link', { name: 'Burning <b>' }).click()
    await page.waitForURL(/severity=critical/)
    await page.locator('.views summary').click()
    await page.getByRole('button', { name: 'Delete view Burning <b>' }).click()
    expect(await notice(page)).toBe('View deleted.')
    expect(new URL(page.url()).search).toBe('?severity=critical')
  })
})
