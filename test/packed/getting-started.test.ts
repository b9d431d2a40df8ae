import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { CREDENTIALS, cleanUp, dashboardAt, type HostProcess, serve } from '../adapters/host-process.js'
import { describeInBrowser } from '../support/browser.js'
import { packedFolder } from '../support/processes/installed.js'
import { type Walkthrough, walkthroughs } from './walkthrough.js'

/** Folder of examples with the files of a section, and the error that the section causes. */
const SECTIONS: Record<string, [example: string, message: string]> = {
  Express: ['express', 'The first error'],
  'Express in TypeScript': ['express-typescript', 'Could not load the order'],
  Fastify: ['fastify', 'The first error'],
  Koa: ['koa', 'The first error'],
  Hono: ['hono', 'The first error'],
  NestJS: ['nest', 'Could not load orders'],
  'Next.js': ['next', 'Could not load orders'],
  h3: ['h3', 'The first error'],
  Nitro: ['nitro', 'Could not load orders'],
  'node:http': ['node', 'Could not load orders'],
}
/** Sections that built.test.ts and next-standalone.test.ts of test/examples build and run. */
const BUILT_ELSEWHERE = ['Next.js', 'Nitro']

let root: string

beforeAll(() => {
  root = packedFolder()
}, 120_000)
afterEach(cleanUp)

/** Follows a section in an empty folder, except for its last command. */
function follow({ title, packages, files, start }: Walkthrough): {
  folder: string
  program: string[]
  env: Record<string, string>
} {
  const folder = mkdtempSync(join(root, `${title.replace(/\W/g, '-').toLowerCase()}-`))
  // `npm init` takes a second and a half of CPU time.
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'my-app', version: '1.0.0', type: 'module' }))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  expect(packages.filter((name) => !existsSync(join(folder, 'node_modules', name)))).toEqual([])
  for (const { path, text } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  for (const command of start.slice(0, -1)) {
    // Starts the program as npx does, which takes a second of CPU time itself.
    const local = command.replace(/^npx tsc$/, 'node_modules/.bin/tsc --singleThreaded')
    execFileSync('sh', ['-c', local], { cwd: folder, stdio: 'pipe' })
  }
  const [, password, flags, file] =
    /^DASHBOARD_PASSWORD=(\w+) node ((?:--[\w-]+ )*)(\S+)$/.exec(start.at(-1) ?? '') ?? []
  expect(password).toBe(CREDENTIALS.password)
  const env = { DASHBOARD_PASSWORD: password ?? '', NODE_OPTIONS: flags ?? '', NODE_ENV: '' }
  return { folder, program: [join(folder, file ?? '')], env }
}

async function started(walkthrough: Walkthrough): Promise<HostProcess> {
  const { folder, program, env } = follow(walkthrough)
  const none = { FAULTBOARD_DASHBOARD_USERNAME: '', FAULTBOARD_DASHBOARD_PASSWORD: '' }
  const host = await serve(folder, program, { ...env, ...none }, '/error_dashboard/')
  expect((await fetch(`${host.origin}${walkthrough.path}`)).status).toBe(500)
  return host
}

const all = walkthroughs()
const [express] = all

describe('docs/getting-started.md, followed literally from the packed package', () => {
  test('docs/getting-started.md has a section for every framework', () => {
    expect(all.map(({ title }) => title)).toEqual(Object.keys(SECTIONS))
  })

  const own = all.filter(({ title }) => !BUILT_ELSEWHERE.includes(title))
  test.each(own.map((walkthrough) => [walkthrough.title, walkthrough] as const))(
    '%s leads to an error on the dashboard',
    { timeout: 120_000 },
    async (_, walkthrough) => {
      const { origin, output } = await started(walkthrough)
      const found = await dashboardAt(`${origin}/error_dashboard`).waitForErrors('')
      const [, message] = SECTIONS[walkthrough.title] ?? []
      expect(found).toMatchObject([{ message, occurrence_count: 1, application_name: 'my-app' }])
      // The output contains no warnings.
      const lines = () => output().filter((line) => /warning|deprecat|faultboard/i.test(line) && !/^\s+at /.test(line))
      const hint = /Koa|Hono|h3|node:http/.test(walkthrough.title)
        ? ' (unless your application uses another port or a path prefix)'
        : ''
      const url = `${origin.replace('127.0.0.1', 'localhost')}/error_dashboard${hint}`
      await expect.poll(lines).toEqual([`[faultboard] Dashboard: ${url}`])
    },
  )

  test.each(Object.entries(SECTIONS))('%s has the files of examples/%s', (title, [example]) => {
    const { files = [] } = all.find((walkthrough) => walkthrough.title === title) ?? {}
    expect(files.length).toBeGreaterThan(0)
    for (const { path, text } of files) expect(text).toBe(readFileSync(join('examples', example, path), 'utf8'))
  })
})

describeInBrowser('docs/getting-started.md in a browser', ({ open }) => {
  test('Express shows its first error after signing in', { timeout: 120_000 }, async () => {
    if (!express) throw new Error('No section for Express')
    const { origin } = await started(express)
    await dashboardAt(`${origin}/error_dashboard`).waitForErrors('The first error')
    const page = await open({ httpCredentials: { username: CREDENTIALS.user, password: CREDENTIALS.password } })
    await page.goto(`${origin}/error_dashboard`)
    expect(await page.textContent('main')).toContain('The first error')
    await page.locator('main a[href$="/errors/1"]').first().click()
    await page.waitForURL('**/errors/1')
    expect(await page.textContent('main')).toContain('app.js:10')
  })
})
