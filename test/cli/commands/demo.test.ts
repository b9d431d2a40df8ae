import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { APPLICATIONS } from '../../../src/cli/demo/applications.js'
import { demoBanner } from '../../../src/cli/demo/banner.js'
import { CUSTOMER_REQUESTS } from '../../../src/cli/demo/customers.js'
import { HISTORY_DAYS, history, type PlannedOccurrence, stagingHistory } from '../../../src/cli/demo/history.js'
import { nextPause, PACES } from '../../../src/cli/demo/pace.js'
import { sampleError } from '../../../src/cli/demo/sample-error.js'
import { SeededRandom } from '../../../src/cli/demo/seeded-random.js'
import { STEPS } from '../../../src/cli/demo/triage.js'
import { describeOneDatabase } from '../../support/databases.js'
import { freshStorage, trackerAt } from '../../support/tracker.js'
import {
  basicAuth,
  CREDENTIALS,
  faultboard,
  faultboardProcess,
  RunningCommand,
  workingDirectory,
} from '../faultboard.js'

interface ListedError {
  id: number
  message: string
  error_type: string
  application_name: string
  environment: string
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

/** Writes a line to standard error for each connection to another machine. */
const CONNECTION_GUARD = `
import { Socket } from 'node:net'
const { connect } = Socket.prototype
Socket.prototype.connect = function (...args) {
  const { host = 'localhost', path } = [args[0]].flat()[0]
  if (!path && !['localhost', '127.0.0.1', '::1'].includes(host)) process.stderr.write('connects to ' + host)
  return connect.apply(this, args)
}`

test('demo generates a password and serves a shop with 90 days of errors and every diagnostic', {
  timeout: SEEDING_TIMEOUT_MS,
}, async () => {
  const cwd = await workingDirectory({ 'guard.mjs': CONNECTION_GUARD })
  const env = {
    TMPDIR: cwd,
    FAULTBOARD_DATABASE: 'sqlite:real.sqlite3',
    FAULTBOARD_SPOOL_PATH: join(cwd, 'real-spool'),
    // Passes the output of the second process on.
    FAULTBOARD_DEBUG: '1',
    NODE_OPTIONS: `--import=${pathToFileURL(join(cwd, 'guard.mjs'))}`,
  }
  const demo = new RunningCommand(['demo', '--port', '0'], { cwd, env })
  const [, address = ''] = await demo.waitForOutput(/Dashboard +(http:\S+)\n/)
  const [, user = ''] = await demo.waitForOutput(/User +(\S+)\n/)
  const [, password = ''] = await demo.waitForOutput(/Password +(\S{12,})\n/)
  const [, file = ''] = await demo.waitForOutput(/Database +sqlite:(\S+)\n/)
  const get = (path: string) => fetch(`${address}${path}`, basicAuth(user, password))
  // biome-ignore lint/suspicious/noExplicitAny: Each page has its own JSON, which the tests of the page check.
  const getJson = async (path: string): Promise<any> => (await get(path)).json()
  const eventually = async <T>(read: () => Promise<T>, isDone: (value: T) => boolean): Promise<T> => {
    for (;;) {
      const value = await read()
      if (isDone(value)) return value
      await new Promise((resume) => setTimeout(resume, 200))
    }
  }

  // The first page does not wait for the history, which a second process records.
  expect(await totalOccurrences(get)).toBeLessThan(history(1, Date.now()).length)
  expect(childProcesses(demo.pid).some((command) => command.includes('simulation.js'))).toBe(true)

  const { errors, pagination } = (await getJson('/errors.json?per_page=100')) as {
    errors: ListedError[]
    pagination: { total_count: number }
  }
  const staging = errors.filter(({ environment }) => environment === 'staging')
  expect(staging).toHaveLength(3)
  // The error of the browser has no history.
  expect(pagination.total_count).toBe(APPLICATIONS.flatMap(({ kinds }) => kinds).length + 1 + staging.length)
  expect(Math.max(...errors.map(({ id }) => id))).toBe(pagination.total_count)
  expect(new Set(errors.map((error) => error.application_name)).size).toBe(4)
  expect(new Set(errors.map((error) => error.platform))).toEqual(new Set(['Web', 'API', 'iOS', 'Android']))
  expect(new Set(errors.map((error) => error.status)).size).toBe(5)
  expect(errors.some(({ snoozed }) => snoozed)).toBe(true)
  expect(errors.some(({ assigned_to, priority_level }) => assigned_to && priority_level > 0)).toBe(true)
  expect(Math.min(...errors.map(({ first_seen_at }) => Date.parse(first_seen_at)))).toBeLessThan(Date.now() - 85 * DAY)

  expect(errors.map((error) => error.regressed_in_version).filter(Boolean)).toEqual(['5.12.0'])
  const { cascades, bursts } = (await getJson('/errors/analytics.json')) as {
    cascades: { parent: ListedError; child: ListedError }[]
    bursts: { bursts: { error: ListedError }[] }
  }
  expect(cascades.map(({ parent, child }) => [parent.error_type, child.error_type])).toContainEqual([
    'TimeoutError',
    'CheckoutError',
  ])
  expect(bursts.bursts.map(({ error }) => error.error_type)).toContain('RateLimitError')

  // Resolved in production, new in staging.
  const discount = staging.find(({ error_type }) => error_type === 'AssertionError')
  expect(discount).toMatchObject({ status: 'new', occurrence_count: 4 })
  const { error: stagingError } = await getJson(`/errors/${discount?.id}.json`)
  expect(stagingError.other_environments).toMatchObject([{ environment: 'production', status: 'resolved' }])

  // Everything that needs attention occurs in the shop, so that it has a source, variables and breadcrumbs.
  const placesOf = ({ new_errors, reopened, unattended }: Record<string, { errors: { place: string }[] }>) =>
    [new_errors, reopened, unattended].flatMap((group) => group?.errors.map(({ place }) => place) ?? [])
  const isInShop = (place: string) => /^(src|browser)\/\S+\.js:\d+ in /.test(place)
  const places = await eventually(
    async () => placesOf(await getJson('/overview.json')),
    (found) => found.every(isInShop),
  )
  expect(places.length).toBeGreaterThan(5)

  const idOf = (text: string) => errors.find(({ error_type, message }) => `${error_type} ${message}`.includes(text))?.id
  const lost = idOf('OrderNotSavedError')
  const overview = await (await get('/overview')).text()
  expect(overview).toContain(`href="/error_dashboard/errors/${lost}"`)
  expect(overview).toContain('href="/error_dashboard/releases?app_version=5.13.0')
  const hiding = await fetch(new URL('/hide-banner?to=//evil.example/x', address), { redirect: 'manual' })
  expect(hiding.headers.get('location')).toBe('/x')
  expect(await (await get('/overview')).text()).toContain('Sample data.')

  // A real error of the new release has variables, source, cause, tags, user, request and breadcrumbs.
  const newest = await eventually(
    async () => (await getJson(`/errors/${lost}.json`)).error,
    ({ occurrence }) => JSON.stringify(occurrence).includes('"local_variables"'),
  )
  expect(newest).toMatchObject({ severity: 'critical', status: 'new', first_app_version: '5.13.0' })
  expect(Date.now() - Date.parse(newest.first_seen_at)).toBeLessThan(HOUR / 2)
  const occurrence = JSON.stringify(newest.occurrence)
  for (const text of ['NOT NULL constraint failed: orders.slot', 'pickup', 'usr_1', 'insert into orders', '"slot"']) {
    expect(occurrence).toContain(text)
  }
  const page = await (await get(`/errors/${lost}`)).text()
  expect(page).toContain('src/checkout/order.js')
  expect(page.replace(/<[^>]+>/g, '')).toContain('throw new OrderNotSavedError(')
  const release = await getJson('/releases.json?app_version=5.13.0')
  expect(JSON.stringify(release.release)).toContain('OrderNotSavedError')

  const { error: browser } = await getJson(`/errors/${idOf("reading 'discount'")}.json`)
  expect(browser.place).toBe('browser/basket.js:6 in showBasket')
  expect(JSON.stringify(browser.occurrence)).toContain('click button#basket')
  expect(await (await get(`/errors/${idOf("reading 'price'")}`)).text()).toContain('Similar errors')

  const diagnostics = {
    '/errors/swallowed_exceptions': 'src/checkout/send-receipt.js',
    '/errors/n_plus_one': 'src/routes/orders.js',
    '/errors/deprecations': 'LARDER001',
    '/errors/request_guard_summary': 'sign-in',
    '/errors/diagnostic_dumps': 'After the release of 5.13.0',
    '/process_health': 'storefront',
    '/errors': 'Unresolved in 5.13.0',
  }
  for (const [path, text] of Object.entries(diagnostics)) {
    const html = await eventually(
      async () => (await get(path)).text(),
      (found) => found.includes(text),
    )
    expect(html).toContain(text)
  }
  const { deliveries } = await eventually(
    () => getJson('/notifications.json?per_page=100'),
    (log) => log.deliveries.some(({ state }: { state: string }) => state === 'held'),
  )
  const statesOf = (state: string) => deliveries.filter((delivery: { state: string }) => delivery.state === state)
  expect(statesOf('sent').length).toBeGreaterThanOrEqual(40)
  expect(statesOf('failed')).toHaveLength(2)

  // Every button of the shop fails, except the one that fails in the browser.
  const shop = await (await fetch(new URL('/', address))).text()
  const forms = [...shop.matchAll(/<form method="(\w+)" action="([^"]+)">(.*?)<button>/g)]
  expect(forms.length).toBeGreaterThan(5)
  for (const [, method = '', action = '', inputs = ''] of forms) {
    const fields = new URLSearchParams(
      [...inputs.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, k, v]) => [k, v] as [string, string]),
    )
    const url = new URL(method === 'GET' ? `${action}?${fields}` : action, address)
    const response = await fetch(url, { method, ...(method === 'POST' ? { body: fields } : {}) })
    expect({ action, status: response.status }).toEqual({ action, status: 500 })
  }
  // Only the gift card causes an error that is new.
  expect((await getJson('/errors.json')).pagination.total_count).toBe(pagination.total_count + 1)
  expect((await getJson('/errors.json?error_type=GiftCardError')).errors).toMatchObject([{ occurrence_count: 1 }])
  const injection = await fetch(new URL('/delivery/%3Cscript%3E', address))
  expect(await injection.text()).not.toContain('<script>')

  const before = await totalOccurrences(get)
  expect(before).toBeGreaterThan(2000)
  expect(
    await eventually(
      () => totalOccurrences(get),
      (total) => total > before,
    ),
  ).toBeGreaterThan(before)

  expect(existsSync(file)).toBe(true)
  const ended = await demo.stop()
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  expect(existsSync(file)).toBe(false)
  expect(readdirSync(cwd)).toEqual(['guard.mjs'])
})

/** Command lines of the processes that a process has started. */
function childProcesses(pid: number | undefined): string[] {
  return execFileSync('ps', ['-o', 'ppid=,args=', '-A'], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith(`${pid} `))
}

async function totalOccurrences(get: (path: string) => Promise<Response>): Promise<number> {
  return Number(/"total_occurrences":(\d+)/.exec(await (await get('/overview.json')).text())?.[1])
}

describeOneDatabase('demo --database', (database) => {
  test('demo --database migrates the schema before it listens', async () => {
    const [cwd, url] = [await workingDirectory(), await database.empty()]
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const { port } = other.address() as AddressInfo
    const { code, stderr } = await faultboardProcess(['demo', '--port', String(port), '--database', url], { cwd })
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `Port ${port} on 127.0.0.1 is in use. Choose another with --port N.\n`,
    })
    expect((await faultboard(['migrate', '--status', '--database', url], { cwd })).code).toBe(0)
  })

  test('demo --database keeps configured credentials, and adds no history to the data of an earlier demo', {
    timeout: SEEDING_TIMEOUT_MS,
  }, async () => {
    const [cwd, storage] = [await workingDirectory(), await freshStorage(database)]
    const { tracker } = trackerAt(storage, { application_name: APPLICATIONS.at(-1)?.name ?? null })
    await tracker.Commands.LogError.call({ error_type: 'OfAnEarlierDemo', message: 'x' })
    await tracker.shutdown()
    const args = ['demo', '--port', '0', '--database', storage.url]
    const demo = new RunningCommand(args, { cwd, env: CREDENTIALS })
    const [, address = ''] = await demo.waitForOutput(/Dashboard +(http:\S+)\n/)
    await demo.waitForOutput(/User +ada\n +Password +the configured password\n/)
    const get = (path: string) => fetch(`${address}${path}`, basicAuth('ada', 'correct horse'))
    // The customers of the shop send their first requests at once.
    await expect.poll(() => totalOccurrences(get), { timeout: SEEDING_TIMEOUT_MS, interval: 100 }).toBeGreaterThan(5)
    expect(await totalOccurrences(get)).toBeLessThan(100)
    expect(await demo.stop()).toMatchObject({ code: 0, stderr: '' })

    const again = new RunningCommand([...args, '--json'], { cwd, env: CREDENTIALS })
    const [line] = await again.waitForOutput(/^.*\n/)
    expect(JSON.parse(line)).toMatchObject({ url: expect.stringContaining('http'), username: 'ada', password: null })
    expect((await again.stop()).code).toBe(0)
  })
})

const HISTORY = history(1, NOW)

test('the demo history depends only on its seed', () => {
  // Comparing the kinds and applications themselves takes a second.
  const keys = (occurrences: readonly PlannedOccurrence[]) =>
    JSON.stringify(occurrences.map(({ kind, application, ...rest }) => [kind.key, application.name, rest]))
  expect(keys(history(1, NOW))).toBe(keys(HISTORY))
  expect(keys(history(8, NOW))).not.toBe(keys(HISTORY))
  expect(stagingHistory(7, NOW)).toEqual(stagingHistory(7, NOW))
  const [occurrence] = HISTORY
  expect(occurrence && sampleError(occurrence, NOW)).toEqual(occurrence && sampleError(occurrence, NOW))
})

test('the demo history contains bursts, a spike, a daily rhythm, cascades, versions and a regression', () => {
  const occurrences = HISTORY
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
  expect(versions('order-not-saved')).toEqual(new Set(['5.13.0']))
  expect(versions('coupon-loop')).toEqual(new Set(['5.10.0', '5.12.0']))
  const some = occurrences.filter((_, i) => i % 5 === 0)
  expect(new Set(some.map((occurrence) => sampleError(occurrence, NOW).user_id)).size).toBeGreaterThan(390)
})

test('the demo shows its hints only on the overview, the list and an error', () => {
  const on = (path: string) =>
    demoBanner(new Request(`http://localhost/error_dashboard${path}`), {
      ...{ mount_path: '/error_dashboard', newErrorId: 7, version: '5.13.0' },
    }) !== null
  expect(['', '/', '/overview', '/errors', '/errors?snoozed=true', '/errors/7'].filter((path) => !on(path))).toEqual([])
  expect(['/releases', '/settings', '/errors/analytics', '/errors/7/stack', '/no/such/page'].filter(on)).toEqual([])
})

test('the team of the demo resolves an error 1 to 9 days after its first occurrence', () => {
  const days = STEPS.filter(({ command }) => command === 'ResolveError').map(({ error, days_ago }) => {
    const first = HISTORY.findLast(({ kind }) => kind.key === error)
    return [error, (NOW - days_ago * DAY - (first?.occurred_at ?? 0)) / DAY] as const
  })
  expect(days.length).toBeGreaterThan(8)
  expect(days.filter(([, age]) => age < 1 || age > 9)).toEqual([])
})

test('the error of the newest release continues every one to three minutes', () => {
  const random = new SeededRandom(1)
  const pauses = Array.from({ length: 1000 }, () => nextPause(PACES.newError, HOUR, random))
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(60_000)
  expect(Math.max(...pauses)).toBeLessThanOrEqual(180_000)
})

test('the demo continues at two to three times the rate of its history', () => {
  const hourlyRate = HISTORY.length / (HISTORY_DAYS * 24)
  const random = new SeededRandom(1)
  const pausesAt = (elapsed: number) =>
    [PACES.customers, PACES.otherApplications].map(
      (pace) => Array.from({ length: 1000 }, () => nextPause(pace, elapsed, random)).reduce((a, b) => a + b) / 1000,
    )
  const weights = CUSTOMER_REQUESTS.map(({ weight }) => weight).reduce((a, b) => a + b)
  const failing = CUSTOMER_REQUESTS.map(({ kind, weight }) => (kind ? weight : 0)).reduce((a, b) => a + b) / weights
  const [customers = 0, otherApplications = 0] = pausesAt(HOUR)
  const errorsPerHour = (HOUR / customers) * failing + HOUR / otherApplications
  expect(errorsPerHour / hourlyRate).toBeGreaterThan(2)
  expect(errorsPerHour / hourlyRate).toBeLessThan(3)
  // A visitor sees the first errors within seconds.
  expect(Math.max(...pausesAt(0))).toBeLessThan(15_000)
})
