// npm run pictures: creates the pictures of the docs from the demo, in light and dark colors. With --quick, they are small
// and do not wait for the whole history of the demo. A last argument is the folder to write to.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { chromium } from 'playwright-core'
import { toPalettePng } from './pictures/palette-png.mjs'
import { CHROMIUM_ARGUMENTS, chromium as chromiumService } from './services/chromium.mjs'

const DESKTOP = { width: 1200, height: 780 }
const PHONE = { width: 390, height: 780 }
const MARGIN = 16

/**
 * Each name becomes NAME-light.png and NAME-dark.png. `panel` limits the picture to one element, `prepare` acts on the page
 * before the picture is taken.
 */
const PICTURES = [
  { name: 'error', path: findErrorPath },
  { name: 'errors', path: () => '/errors?unresolved=true&hide_snoozed=true' },
  { name: 'release', path: findReleasePath },
  { name: 'errors-phone', path: () => '/errors?unresolved=true&hide_snoozed=true', viewport: PHONE },
  { name: 'overview', path: () => '/overview' },
  { name: 'analytics', path: () => '/errors/analytics' },
  { name: 'search', path: () => '/errors', prepare: typeQuery },
  { name: 'commands', path: findErrorPath, prepare: openCommands },
  { name: 'notifications', path: () => '/notifications' },
  { name: 'health', path: () => '/health' },
  { name: 'settings', path: () => '/settings' },
  { name: 'access', path: createTokens },
  { name: 'audit', path: () => '/settings/audit' },
  { name: 'n-plus-one', path: () => '/errors/n_plus_one' },
  { name: 'swallowed', path: () => '/errors/swallowed_exceptions' },
  { name: 'process-health', path: () => '/process_health' },
  { name: 'variables', path: findErrorPath, panel: '[aria-labelledby=stack-title]' },
  { name: 'breadcrumbs', path: findErrorPath, panel: '[aria-labelledby=crumbs-title]' },
  { name: 'grouping', path: findErrorPath, panel: '[aria-labelledby=grouping-title]', prepare: openDetails },
]

/** Below this rate, the history of the demo is complete, and only new errors arrive. */
const MAX_LIVE_ERRORS_PER_SECOND = 20

const CREDENTIALS = { username: 'admin', password: 'pictures' }
const isQuick = process.argv.includes('--quick')
const [folder = 'docs/images'] = process.argv.slice(2).filter((argument) => argument !== '--quick')

mkdirSync(folder, { recursive: true })
const demo = await startDemo()
try {
  if (!isQuick) await waitForHistory(demo)
  await takePictures(demo)
} finally {
  await demo.stop()
}

async function startDemo() {
  const program = spawn(process.execPath, ['dist/cli/main.js', 'demo', '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      FAULTBOARD_DASHBOARD_USERNAME: CREDENTIALS.username,
      FAULTBOARD_DASHBOARD_PASSWORD: CREDENTIALS.password,
    },
  })
  const exited = once(program, 'exit')
  const stop = () => {
    program.kill()
    return exited
  }
  for await (const line of createInterface({ input: program.stdout })) {
    const [, url] = /Dashboard +(\S+)/.exec(line) ?? []
    if (url) return { url, stop }
  }
  throw new Error('The demo did not start. To build it: npm run build')
}

async function waitForHistory(demo) {
  for (let before = Number.NEGATIVE_INFINITY; ; await sleep(1000)) {
    const { errors } = await readJson(demo, '/errors.json?per_page=100')
    const count = errors.reduce((sum, { occurrence_count }) => sum + occurrence_count, 0)
    if (count - before < MAX_LIVE_ERRORS_PER_SECOND) return
    before = count
  }
}

async function takePictures(demo) {
  const browser = await chromium.launch({
    executablePath: process.env[chromiumService.variable] || chromiumService.find(),
    args: CHROMIUM_ARGUMENTS,
  })
  try {
    const page = await browser.newPage({ httpCredentials: CREDENTIALS, deviceScaleFactor: isQuick ? 1 : 2 })
    // Hides the hints of the demo.
    await page.context().addCookies([{ name: 'larder_banner', value: 'hidden', url: demo.url }])
    for (const { name, viewport = DESKTOP, path, panel, prepare } of PICTURES) {
      await page.setViewportSize(viewport)
      const url = `${demo.url}${await path(demo)}`
      for (const colorScheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme })
        const response = await page.goto(url)
        if (!response.ok()) throw new Error(`${url} returned ${response.status()}`)
        await prepare?.(page)
        const clip = panel ? await areaAround(page.locator(panel)) : undefined
        const file = join(folder, `${name}-${colorScheme}.png`)
        writeFileSync(file, toPalettePng(await page.screenshot({ clip, fullPage: panel !== undefined })))
        console.log(file)
      }
    }
  } finally {
    await browser.close()
  }
}

/** Returns the area of a panel, including a margin. */
async function areaAround(panel) {
  const { x, y, width, height } = await panel.boundingBox()
  return { x: x - MARGIN, y: y - MARGIN, width: width + 2 * MARGIN, height: height + 2 * MARGIN }
}

/** Types a query, so that the suggestions for its last word appear. */
async function typeQuery(page) {
  await page.locator('input[name=query]').pressSequentially('platform:web -is:snoozed re')
}

async function openCommands(page) {
  await page.keyboard.press('Control+k')
}

/** Opens every collapsed part of the page. */
async function openDetails(page) {
  await page.evaluate("document.querySelectorAll('details:not([name])').forEach((details) => { details.open = true })")
}

/** The critical error that the last deploy of the demo introduced. */
async function findErrorPath(demo) {
  const { errors } = await readJson(demo, '/errors.json?error_type=OrderNotSavedError')
  return `/errors/${errors[0].id}`
}

/** The release with the most kinds of changes: new, regressed, increased and gone errors. */
async function findReleasePath(demo) {
  const { releases } = await readJson(demo, '/releases.json')
  const changeKinds = ({ new_count, regressed_count, worse_count, gone_count }) =>
    [new_count, regressed_count, worse_count, gone_count].filter((count) => count > 0).length
  const [release] = releases.sort((a, b) => changeKinds(b) - changeKinds(a))
  const { app_version, application_id } = release
  return `/releases?${new URLSearchParams({ app_version, application_id })}`
}

async function createTokens(demo) {
  for (const [name, role, expires_in_days] of [
    ['deploys', 'responder', '90'],
    ['wall-display', 'viewer', '365'],
  ]) {
    await request(demo, '/settings/access', { name, role, expires_in_days })
  }
  return '/settings/access'
}

async function readJson(demo, path) {
  const response = await request(demo, path)
  return response.json()
}

async function request({ url }, path, fields) {
  const authorization = `Basic ${btoa(`${CREDENTIALS.username}:${CREDENTIALS.password}`)}`
  const form = fields && { method: 'POST', body: new URLSearchParams(fields) }
  const response = await fetch(`${url}${path}`, { ...form, headers: { authorization } })
  if (!response.ok) throw new Error(`${path} returned ${response.status}`)
  return response
}
