import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createApplication,
  GENEROUS_LIMITS,
  parseOutput,
  run,
  settingsFor,
} from '../capture/variables/fixtures/hosts.js'
import { describeInBrowser, expectAccessible, expectNoOverflowAtEveryWidth } from '../support/browser.js'
import { type Host, startHost } from '../support/host.js'
import { withDatabase } from '../support/tracker.js'

const WORD = 'unbroken'.repeat(20)

describeInBrowser('local variables in a browser', ({ open }) => {
  const { root, shops } = createApplication('compiled TypeScript')
  const database = `sqlite:${join(root, 'errors.sqlite3')}`
  let host: Host
  let at: (message: string) => Promise<string>

  // A real host threw and recorded all of them in its own process.
  beforeAll(async () => {
    const settings = settingsFor(root, { ...GENEROUS_LIMITS, enable_instance_variables: true })
    parseOutput(await run('drive.mjs', { shops, settings }, { root }))
    host = await startHost(database, { project_root: root, enable_local_variables: true })
    const errors = await host.tracker.Queries.ErrorsList.call({ per_page: 100 })
    at = async (message) => {
      const found = errors.find((error) => error.message.includes(message))
      if (!found) throw new Error(`${message} was not recorded`)
      return `${host.origin}/error_dashboard/errors/${found.id}`
    }
  }, 60_000)

  afterAll(async () => {
    await host?.close()
    rmSync(root, { recursive: true, force: true })
  })

  test('shows variables below the source of their frame and expands them without JavaScript', async () => {
    const page = await open({ javaScriptEnabled: false })
    await page.goto(await at('a discount of 250'))
    const frame = page.locator('.part.own').first()
    expect(await frame.locator('.source mark').textContent()).toContain('throw new RangeError')
    const variables = frame.locator('.variables')
    expect(await variables.locator('summary').first().textContent()).toMatch(/^Variables \d+$/)
    expect(await variables.getByText('discount').first().isVisible()).toBe(true)
    expect(await variables.getByText('250').first().isVisible()).toBe(true)
    expect(await variables.locator('.variables-of-this').textContent()).toBe('this Cart')
    expect(await variables.textContent()).not.toContain('hunter2')
    await variables.locator('summary').first().click()
    expect(await variables.getByText('discount').first().isVisible()).toBe(false)
  })

  test('explains next to the stack trace why no variables were captured', async () => {
    const page = await open()
    await page.goto(await at('only made'))
    const stack = page.getByRole('region', { name: 'Stack trace' })
    expect(await stack.textContent()).toContain('No variables captured for this occurrence')
    expect(await page.getByRole('region', { name: 'Variables' }).count()).toBe(0)
  })

  test('renders readable variables at every width in light and dark', { timeout: 60_000 }, async () => {
    const page = await open()
    await page.goto(await at('a discount of 250'))
    await expectNoOverflowAtEveryWidth(page)
    await expectAccessible(page)
    await page.emulateMedia({ colorScheme: 'dark' })
    await expectAccessible(page)
  })

  test('renders variables of any length, depth and number without overflow', async () => {
    await withDatabase(database, async (db) => {
      const many = Object.fromEntries(
        Array.from({ length: 30 }, (_, i) => [`${WORD}_${i}`, { [WORD]: [WORD.repeat(5)] }]),
      )
      const frame = {
        function: WORD,
        file: `src/${WORD}.ts`,
        line_number: 1,
        variables: many,
        instance_variables: many,
      }
      const context = JSON.stringify({ local_variables: [{ ...frame, function: 'json', file: 'src/shop.ts' }, frame] })
      await db.write((trx) =>
        trx.updateTable('faultboard_occurrences').set({ context }).where('request_url', 'like', '%/json').execute(),
      )
    })
    const page = await open()
    await page.goto(await at('JSON'))
    expect(await page.locator('.variable-values').count()).toBe(2)
    await expectNoOverflowAtEveryWidth(page)
  }, 60_000)
})
