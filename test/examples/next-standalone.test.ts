import { cpSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  CREDENTIALS,
  cleanUp,
  createApplication,
  dashboardAt,
  isInstalled,
  run,
  serve,
} from '../adapters/host-process.js'
import { describeEachRuntime } from '../support/processes/runtimes.js'

/** Clears the FAULTBOARD_… credentials, so that those in the code of the example are used. */
const ENV = {
  DASHBOARD_PASSWORD: CREDENTIALS.password,
  FAULTBOARD_DASHBOARD_USERNAME: '',
  FAULTBOARD_DASHBOARD_PASSWORD: '',
}
/** Skips the cache of the next build. Keeps minification, which the build of test/hosts/next skips. */
const QUICK_CONFIGURATION = `
  import documented from './documented.config.mjs'
  const experimental = { turbopackFileSystemCacheForBuild: false, cpus: 1 }
  export default { ...documented, experimental }`
/** Links of the output are relative. */
const COPY = { recursive: true, verbatimSymlinks: true }

const missing = isInstalled('next') ? '' : ' (skipped: next is not installed in test/hosts)'

describe.skipIf(missing !== '')(`examples/next${missing}`, () => {
  /** Outside of this repository, so that only packages of the output resolve. */
  const target = realpathSync(mkdtempSync(join(tmpdir(), 'faultboard-standalone-')))
  /** Path of the program in the output. */
  let program: string

  beforeAll(async () => {
    const folder = createApplication('examples/next')
    cpSync(resolve('node_modules/@photostructure'), join(folder, 'node_modules/@photostructure'), COPY)
    writeFileSync(join(folder, 'documented.config.mjs'), standaloneConfiguration())
    writeFileSync(join(folder, 'next.config.mjs'), QUICK_CONFIGURATION)
    await run(folder, ['next/dist/bin/next', 'build'], ENV)
    const output = join(folder, '.next/standalone')
    const files = readdirSync(output, { recursive: true, encoding: 'utf8' })
    program = files.find((file) => /(?:^|\/)server\.js$/.test(file) && !file.includes('node_modules')) ?? ''
    cpSync(output, join(target, 'output'), COPY)
    await cleanUp()
  }, 240_000)
  afterAll(async () => {
    await cleanUp()
    rmSync(target, { recursive: true, force: true, maxRetries: 5 })
  })

  describeEachRuntime('the standalone output with SQLite', ({ major, path }) => {
    test('shows the error of the example on the dashboard, where forms work', { timeout: 60_000 }, async () => {
      const copy = join(target, String(major))
      cpSync(join(target, 'output'), copy, COPY)
      const server = join(copy, program)
      const { origin, output } = await serve(dirname(server), [server], ENV, '/error_dashboard/', path)
      await fetch(`${origin}/nowhere`)
      expect((await fetch(`${origin}/orders`)).status).toBe(500)
      const dashboard = dashboardAt(`${origin}/error_dashboard`)
      const found = await dashboard.waitForErrors('')
      const application_name = 'faultboard-example-next'
      expect(found).toMatchObject([{ message: 'Could not load orders', occurrence_count: 1, application_name }])
      const form = {
        method: 'POST',
        headers: { origin },
        body: new URLSearchParams({ assigned_to: 'eve@example.org' }),
      }
      expect((await dashboard.get(`/errors/${found[0]?.id}/assign`, form)).status).toBe(302)
      const url = `${origin.replace('127.0.0.1', 'localhost')}/error_dashboard`
      await expect
        .poll(() => output().filter((line) => /faultboard|warning/i.test(line)))
        .toEqual([`[faultboard] Dashboard: ${url} (unless your application uses another port or a path prefix)`])
    })
  })
})

/** Configuration in docs/frameworks.md. */
function standaloneConfiguration(): string {
  const samples = readFileSync('docs/frameworks.md', 'utf8').matchAll(/^```js\n(.*?)^```/gms)
  return [...samples].map(([, code = '']) => code).find((code) => code.includes("output: 'standalone'")) ?? ''
}
