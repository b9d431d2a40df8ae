import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { APPLICATIONS } from '../../../src/cli/demo/applications.js'
import { HISTORY_DAYS, history } from '../../../src/cli/demo/history.js'
import { sampleError } from '../../../src/cli/demo/sample-error.js'
import { describeOneDatabase } from '../../support/databases.js'
import { basicAuth, CREDENTIALS, faultboard, RunningCommand, workingDirectory } from '../faultboard.js'

interface ListedError {
  error_type: string
  application_name: string
  platform: string
  status: string
  occurrence_count: number
  assigned_to: string | null
  snoozed: boolean
  priority_level: number
  first_seen_at: string
  regressed_in_version: string | null
}

const NOW = Date.UTC(2025, 5, 15, 12)
const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Generous, because a demo writes thousands of errors before its dashboard starts. */
const SEEDING_TIMEOUT_MS = 120_000

test('demo generates a password and serves a dashboard with 90 days of errors and diagnostics', {
  timeout: SEEDING_TIMEOUT_MS,
}, async () => {
  const cwd = await workingDirectory()
  const env = {
    TMPDIR: cwd,
    FAULTBOARD_DATABASE: 'sqlite:real.sqlite3',
    FAULTBOARD_SPOOL_PATH: join(cwd, 'real-spool'),
  }
  const demo = new RunningCommand(['demo', '--port', '0'], { cwd, env })
  const [, address] = await demo.waitForOutput(/Dashboard +(http:\S+)\n/)
  const [, user = ''] = await demo.waitForOutput(/User +(\S+)\n/)
  const [, password = ''] = await demo.waitForOutput(/Password +(\S{12,})\n/)
  const [, file = ''] = await demo.waitForOutput(/Database +sqlite:(\S+)\n/)
  const response = await fetch(`${address}/errors.json?per_page=100`, basicAuth(user, password))
  for (const page of ['/process_health', '/errors/diagnostic_dumps']) {
    expect((await fetch(`${address}${page}`, basicAuth(user, password))).status).toBe(200)
  }

  const { errors, pagination } = (await response.json()) as {
    errors: ListedError[]
    pagination: { total_count: number }
  }
  expect(pagination.total_count).toBe(APPLICATIONS.flatMap(({ kinds }) => kinds).length)
  expect(new Set(errors.map((error) => error.application_name)).size).toBe(4)
  expect(new Set(errors.map((error) => error.platform))).toEqual(new Set(['Web', 'API', 'iOS', 'Android']))
  expect(new Set(errors.map((error) => error.status)).size).toBe(5)
  expect(errors.some(({ snoozed }) => snoozed)).toBe(true)
  expect(errors.some(({ assigned_to, priority_level }) => assigned_to && priority_level > 0)).toBe(true)
  expect(Math.min(...errors.map(({ first_seen_at }) => Date.parse(first_seen_at)))).toBeLessThan(Date.now() - 85 * DAY)

  expect(errors.map((error) => error.regressed_in_version).filter(Boolean)).toEqual(['5.12.0'])
  const analytics = await fetch(`${address}/errors/analytics.json`, basicAuth(user, password)).then((page) =>
    page.json(),
  )
  const { cascades, bursts } = analytics as {
    cascades: { parent: ListedError; child: ListedError }[]
    bursts: { bursts: { error: ListedError }[] }
  }
  expect(cascades.map(({ parent, child }) => [parent.error_type, child.error_type])).toContainEqual([
    'TimeoutError',
    'CheckoutError',
  ])
  expect(bursts.bursts.map(({ error }) => error.error_type)).toContain('RateLimitError')

  const count = async () => {
    const stats = await fetch(`${address}/overview.json`, basicAuth(user, password)).then((overview) => overview.text())
    return Number(/"total_occurrences":(\d+)/.exec(stats)?.[1])
  }
  const before = await count()
  expect(before).toBeGreaterThan(2000)
  await new Promise((resume) => setTimeout(resume, 1000))
  expect(await count()).toBeGreaterThan(before)

  expect(existsSync(file)).toBe(true)
  const ended = await demo.stop()
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  expect(existsSync(file)).toBe(false)
  expect(existsSync(join(cwd, 'real.sqlite3'))).toBe(false)
  expect(existsSync(join(cwd, 'real-spool'))).toBe(false)
})

describeOneDatabase('demo --database', (database) => {
  test('migrates the schema, keeps configured credentials and seeds only once', {
    timeout: SEEDING_TIMEOUT_MS,
  }, async () => {
    const [cwd, url] = [await workingDirectory(), await database.empty()]
    const total = async () => {
      const { stdout } = await faultboard(['errors', '--json', '--per-page', '100', '--database', url], { cwd })
      const { errors } = JSON.parse(stdout) as { errors: ListedError[] }
      return errors.reduce((sum, { occurrence_count }) => sum + occurrence_count, 0)
    }
    const args = ['demo', '--port', '0', '--database', url]
    const demo = new RunningCommand(args, { cwd, env: CREDENTIALS })
    const [, address] = await demo.waitForOutput(/Dashboard +(http:\S+)\n/)
    await demo.waitForOutput(/User +ada\n +Password +the configured password\n/)
    expect((await fetch(`${address}/overview.json`, basicAuth('ada', 'correct horse'))).status).toBe(200)
    expect(await demo.stop()).toMatchObject({ code: 0, stderr: '' })
    const first = await total()
    expect(first).toBeGreaterThan(2000)

    const again = new RunningCommand([...args, '--json'], { cwd, env: CREDENTIALS })
    const [line] = await again.waitForOutput(/^.*\n/)
    expect(JSON.parse(line)).toMatchObject({ url: expect.stringContaining('http'), username: 'ada', password: null })
    await again.stop()
    expect((await total()) - first).toBeLessThan(50)
  })
})

test('the demo history depends only on its seed', () => {
  expect(history(7, NOW)).toEqual(history(7, NOW))
  expect(history(8, NOW)).not.toEqual(history(7, NOW))
  const [occurrence] = history(7, NOW)
  expect(occurrence && sampleError(occurrence, NOW)).toEqual(occurrence && sampleError(occurrence, NOW))
})

test('the demo history contains bursts, a spike, a daily rhythm, cascades, versions and a regression', () => {
  const occurrences = history(1, NOW)
  expect(occurrences.every(({ occurred_at }) => occurred_at < NOW && occurred_at >= NOW - HISTORY_DAYS * DAY)).toBe(
    true,
  )
  const occurrencesOf = (key: string) => occurrences.filter(({ kind }) => kind.key === key)
  const busiest = (key: string) => {
    const hours = new Map<number, number>()
    for (const { occurred_at } of occurrencesOf(key)) {
      const hour = Math.floor(occurred_at / 3_600_000)
      hours.set(hour, (hours.get(hour) ?? 0) + 1)
    }
    return Math.max(...hours.values())
  }
  expect(busiest('search-down')).toBeGreaterThan(150)
  expect(busiest('pool-exhausted')).toBeGreaterThan(80)

  expect(busiest('rate-limited')).toBeGreaterThan(40)
  const this_hour = history(1, NOW + HOUR / 2).filter(({ occurred_at }) => occurred_at >= NOW)
  expect(this_hour.filter(({ kind }) => kind.key === 'order-state').length).toBeGreaterThan(20)

  const nightly = occurrencesOf('dunning-date').filter(({ occurred_at }) => new Date(occurred_at).getUTCHours() < 5)
  expect(nightly.length / occurrencesOf('dunning-date').length).toBeGreaterThan(0.8)

  const children = occurrencesOf('reservation-lost').map(({ occurred_at }) => occurred_at)
  const followed = occurrencesOf('pool-exhausted').filter(({ occurred_at }) =>
    children.some((child) => child > occurred_at && child <= occurred_at + 60_000),
  )
  expect(followed.length / occurrencesOf('pool-exhausted').length).toBeGreaterThan(0.6)

  const versions = (key: string) =>
    new Set(occurrencesOf(key).map((occurrence) => sampleError(occurrence, NOW).app_version))
  expect(versions('locale-import')).toEqual(new Set(['5.12.0']))
  expect(versions('discount-nan')).toEqual(new Set(['2.33.0']))
  expect(versions('product-missing').size).toBe(6)
  expect(versions('coupon-loop')).toEqual(new Set(['5.9.0', '5.10.0', '5.10.1', '5.12.0']))
  const users = new Set(occurrences.map((occurrence) => sampleError(occurrence, NOW).user_id))
  expect(users.size).toBeGreaterThan(390)
})
