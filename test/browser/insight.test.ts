import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeInBrowser, expectAccessible, expectNoOverflow } from '../support/browser.js'
import { type Host, startHost } from '../support/host.js'

const NOW = Date.UTC(2026, 4, 20, 12, 30)
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

/** Names of two related errors and their release. */
interface Names {
  first: string
  next: string
  release: string
}

const ORDINARY: Names = { first: 'PoolExhaustedError', next: 'OrderFailedError', release: '2.1.0' }
const HOSTILE: Names = {
  first: `<script>alert(1)</script>${'Wide'.repeat(50)}`,
  next: 'مرحبا 🙈 "><svg onload=alert(2)>',
  release: `3.0.0-${'wide'.repeat(30)}`,
}

describeInBrowser('cascades, patterns, bursts, spikes and regressions', ({ open }) => {
  const hosts: Record<string, Host> = {}

  beforeAll(async () => {
    hosts.nothing = await startHost('sqlite::memory:', {}, { now: () => NOW })
    await hosts.nothing.tracker.Commands.LogError.call({ error_type: 'Alone', message: 'once', severity: 'low' })
    hosts.ordinary = await startHostWithErrors(ORDINARY)
    hosts.hostile = await startHostWithErrors(HOSTILE)
  })

  afterAll(async () => {
    for (const host of Object.values(hosts)) await host.close()
  })

  const address = (name: string, path: string) => `${hosts[name]?.origin}/error_dashboard${path}`

  test.each([
    ['nothing', '/errors/1', 390, 'dark'],
    ['ordinary', '/overview', 1440, 'light'],
    ['ordinary', '/errors/1', 1440, 'light'],
    ['ordinary', '/errors/analytics', 390, 'dark'],
    ['hostile', '/overview', 390, 'dark'],
    ['hostile', '/errors/1', 390, 'dark'],
    ['hostile', '/errors', 390, 'dark'],
    ['hostile', '/errors/analytics', 1440, 'light'],
  ] as const)(
    'renders related errors without overflow (%s data, %s) at %d px in %s',
    async (name, path, width, colorScheme) => {
      const page = await open({ viewport: { width, height: 900 }, colorScheme })
      const complaints: string[] = []
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
      page.on('dialog', (dialog) => void complaints.push(dialog.message()))
      expect((await page.goto(address(name, path)))?.status()).toBe(200)
      await expectNoOverflow(page)
      // every-page.test.ts covers hostile data, and an error without related errors.
      if (name === 'ordinary') await expectAccessible(page)
      expect(complaints).toEqual([])
    },
  )

  test('links related errors without JavaScript', async () => {
    const page = await open({ javaScriptEnabled: false })
    await page.goto(address('ordinary', '/overview'))
    const spike = page.getByRole('listitem').filter({ hasText: '24 this hour' })
    await spike.getByRole('link', { name: ORDINARY.first, exact: true }).click()
    await page.waitForURL('**/errors/1')
    await page.getByText(`regression in ${ORDINARY.release}`, { exact: true }).first().waitFor()
    const more = page.getByText('More about this error')
    await more.click()
    await page.getByText(/OrderFailedError followed \d+ of \d+ times within 60 s/).waitFor()
    await page.getByRole('link', { name: ORDINARY.next, exact: true }).first().click()
    await more.click()
    await page.getByRole('heading', { name: 'Follows' }).waitFor()
    await page.getByText('Mostly at night, peaking at 2:00 and 3:00.').waitFor()
    await page.locator('section.panel', { hasText: 'Mostly at night' }).getByText('Show as table').click()
    await page.getByRole('row', { name: '3:00 to 4:00' }).waitFor()
  })
})

/** Host with two related errors. */
async function startHostWithErrors({ first, next, release }: Names): Promise<Host> {
  let clock = NOW - 10 * DAY
  const host = await startHost('sqlite::memory:', { retention_days: null }, { now: () => clock })
  const { Commands, Services } = host.tracker
  const log = (error_type: string, occurred_at: number, app_version = '2.0.0') =>
    Commands.LogError.call({
      error_type,
      message: `${error_type} could not be finished`,
      severity: 'critical',
      platform: 'API',
      app_version,
      occurred_at,
      backtrace: [`at run (/srv/shop/src/${error_type}.ts:1:1)`],
    })
  const resolved = await log(first, clock)
  await Commands.ResolveError.call({ error_id: resolved?.id ?? 0, resolved_by: 'ann' })
  const night = NOW - (NOW % DAY) + 2 * 60 * MINUTE
  const events: [string, number][] = []
  for (let day = 6; day >= 0; day--) {
    for (const minute of [5, 25, 45, 65, 85, 105]) {
      const at = night - day * DAY + minute * MINUTE
      events.push([first, at], [next, at + 12_000])
    }
  }
  for (let i = 0; i < 24; i++) events.push([first, NOW - 10 * MINUTE + i * 20_000])
  for (const [error_type, occurred_at] of events) {
    clock = occurred_at
    await log(error_type, occurred_at, release)
  }
  clock = NOW
  for (const kind of 'ABCDEFGHIJ') await log(`${kind.repeat(3)}Error`, NOW - DAY)
  await Services.CascadeDetector.call({ lookback_hours: 7 * 24 })
  await Services.BaselineCalculator.calculateAllBaselines()
  return host
}
