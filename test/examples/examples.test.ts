import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import { CREDENTIALS, cleanUp, dashboardAt, serve } from '../adapters/host-process.js'
import { describeInBrowser } from '../support/browser.js'
import { installedFolder } from '../support/processes/installed.js'
import { eventually } from '../support/tracker.js'

const root = installedFolder()
const PASSWORD = {
  DASHBOARD_PASSWORD: CREDENTIALS.password,
  FAULTBOARD_DASHBOARD_USERNAME: '',
  FAULTBOARD_DASHBOARD_PASSWORD: '',
}

afterEach(cleanUp)

/**
 * Copies an example. built.test.ts and next-standalone.test.ts cover those that must be built first, and
 * test/packed/getting-started.test.ts those whose files docs/getting-started.md contains.
 */
function copyOf(name: string): string {
  const folder = join(root, name)
  cpSync(`examples/${name}`, folder, { recursive: true })
  return folder
}

/** Installs the package below a dot folder, as pnpm does. */
function installAsPnpmDoes(folder: string): void {
  const real = join(folder, 'node_modules/.pnpm/faultboard@0.0.0/node_modules/faultboard')
  mkdirSync(real, { recursive: true })
  for (const name of ['package.json', 'dist']) cpSync(name, join(real, name), { recursive: true })
  symlinkSync(real, join(folder, 'node_modules/faultboard'))
}

/** Does not wait for the response, because a host may leave a failing request without one. */
function visit(address: string): void {
  void fetch(address, { signal: AbortSignal.timeout(5000) }).catch(() => {})
}

test('examples/fetch shows the error of the example on the dashboard', { timeout: 120_000 }, async () => {
  const folder = copyOf('fetch')
  const { origin } = await serve(folder, [join(folder, 'app.js')], PASSWORD, '/error_dashboard/')
  expect((await fetch(origin)).status).toBe(500)
  const found = await dashboardAt(`${origin}/error_dashboard`).waitForErrors('The first error')
  expect(found).toMatchObject([{ occurrence_count: 1, application_name: 'faultboard-example-fetch' }])
})

test('examples/diagnostics shows local variables without the card number, and swallowed exceptions', {
  timeout: 120_000,
}, async () => {
  const folder = copyOf('diagnostics')
  const env = {
    ...(parseEnv(readFileSync(join(folder, '.env.example'), 'utf8')) as Record<string, string>),
    FAULTBOARD_DASHBOARD_PASSWORD: CREDENTIALS.password,
    NODE_OPTIONS: '--import faultboard/register',
    FAULTBOARD_SWALLOWED_EXCEPTION_FLUSH_INTERVAL: '1',
  }
  const { origin } = await serve(folder, [join(folder, 'app.js')], env)
  const dashboard = dashboardAt(`${origin}/error_dashboard`)
  for (let i = 0; i < 3; i++) await fetch(`${origin}/prices`)
  let variables = ''
  // Repeats, because the time limit skips the variables of some errors on a busy machine.
  await eventually(async () => {
    visit(`${origin}/orders/7`)
    const [error] = await dashboard.waitForErrors('Cannot read properties of undefined')
    variables = JSON.stringify(error?.details)
    return variables.includes('A book')
  }, 'an error has its variables')
  expect(variables).not.toContain('4111')
  await eventually(async () => {
    const page = await dashboard.get('/errors/swallowed_exceptions.json')
    return (await page.text()).includes('"app.js')
  }, 'the swallowed exception is on its page')
})

const REDIS = process.env.FAULTBOARD_TEST_REDIS

describe.skipIf(!REDIS)(`examples/workers${REDIS ? '' : ' (skipped: FAULTBOARD_TEST_REDIS is not set)'}`, () => {
  test('shows failed jobs of the worker on the dashboard of the web process', { timeout: 120_000 }, async () => {
    const folder = copyOf('workers')
    const env = { ...PASSWORD, REDIS_URL: REDIS ?? '', QUEUE_NAME: `mail-${process.pid}` }
    const { origin } = await serve(folder, [join(folder, 'web.js')], { ...env, ROLE: 'web' })
    await serve(folder, [join(folder, 'worker.js')], env, null)
    expect(await (await fetch(`${origin}/orders/7`)).text()).toContain('on its way')
    const dashboard = dashboardAt(`${origin}/error_dashboard`)
    await eventually(async () => {
      const [error] = await dashboard.waitForErrors('The mail server is unavailable')
      return error?.occurrence_count === 2
    }, 'both attempts are recorded')
    expect(await dashboard.waitForErrors('The mail server is unavailable')).toMatchObject([
      {
        application_name: 'shop',
        context: { job: { data: { order_id: '7' } } },
        breadcrumbs: [{ message: 'confirmation of order 7' }],
      },
    ])
  })
})

describeInBrowser('examples/browser', ({ open }) => {
  test('shows errors of the page with their breadcrumbs', { timeout: 120_000 }, async () => {
    const folder = copyOf('browser')
    installAsPnpmDoes(folder)
    const { origin } = await serve(folder, [join(folder, 'server.js')], PASSWORD)
    const page = await open()
    await page.goto(origin)
    await page.getByRole('button', { name: 'Order' }).click()
    expect(await dashboardAt(`${origin}/error_dashboard`).waitForErrors('Could not place the order')).toMatchObject([
      {
        error_type: 'TypeError',
        platform: 'Web',
        app_version: '1.4.0',
        context: { cart: { items: 2 } },
        breadcrumbs: expect.arrayContaining([expect.objectContaining({ message: expect.stringContaining('#order') })]),
      },
    ])
  })
})
