import { afterAll, beforeAll, expect, test } from 'vitest'
import { HOSTILE_COUNTED, ORDINARY_COUNTED, storeAttack, storeCounted } from '../diagnostics/hourly-samples.js'
import { HOSTILE, ORDINARY, storeSamples } from '../diagnostics/samples.js'
import { describeInBrowser, expectAccessible, expectNoOverflowAtEveryWidth } from '../support/browser.js'
import type { CreatedDatabase } from '../support/databases/database-servers.js'
import { migratedSqlite } from '../support/databases.js'
import { type Host, startHost } from '../support/host.js'
import { ALL_PAGES_ON, HOSTILE_MARKUP, logHostileErrors } from '../support/hostile.js'
import { PAGES } from '../support/routes.js'

const ADDRESSES = [...PAGES.map(({ path }) => path.replace(/:\w+\{[^}]+\}/, '1')), '/no/such/page', '/errors?status=x']

describeInBrowser('every page with hostile and very large content', ({ open }) => {
  let database: CreatedDatabase
  let host: Host

  beforeAll(async () => {
    database = await migratedSqlite()
    host = await startHost(database.url, { application_name: HOSTILE_MARKUP, ...ALL_PAGES_ON })
    await logHostileErrors(host)
    await logHostileErrors(host, `${'wide'.repeat(2000)} مرحبا 🎉 ${'line\n'.repeat(50)}`)
    await storeSamples(database.url, Date.now(), [...ORDINARY, ...HOSTILE])
    await storeAttack(database.url, Date.now())
    await storeCounted(database.url, Date.now(), [...ORDINARY_COUNTED, ...HOSTILE_COUNTED])
  })

  afterAll(async () => {
    await host?.close()
    await database?.remove()
  })

  test('runs no hostile content, does not overflow and is accessible in light and dark', {
    timeout: 240_000,
  }, async () => {
    const page = await open()
    const problems: string[] = []
    page.on('console', (message) => message.type() === 'error' && problems.push(`${page.url()}: ${message.text()}`))
    page.on('pageerror', (error) => problems.push(`${page.url()}: ${error.message}`))
    page.on('dialog', (dialog) => problems.push(`${page.url()}: ${dialog.message()}`))
    for (const address of ADDRESSES) {
      await page.setViewportSize({ width: 1440, height: 900 })
      await page.emulateMedia({ colorScheme: 'light' })
      await page.goto(`${host.origin}/error_dashboard${address}`)
      expect(await page.title()).not.toBe('owned')
      await expectAccessible(page)
      await expectNoOverflowAtEveryWidth(page)
      await page.emulateMedia({ colorScheme: 'dark' })
      await expectAccessible(page)
    }
    // The browser logs responses with an error status.
    expect(problems.filter((problem) => !problem.includes('Failed to load resource'))).toEqual([])
  })
})
