import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

describe('the packed package, installed into an empty application', () => {
  const folder = mkdtempSync(join(tmpdir(), 'faultboard-packed-'))

  beforeAll(() => {
    // prepack would build, and so empty dist while other tests run from it.
    const [packed] = JSON.parse(npm(['pack', '--ignore-scripts', '--json', '--pack-destination', folder], resolve('.')))
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'empty', version: '1.2.3', private: true }))
    npm(['install', '--no-audit', '--no-fund', '--prefer-offline', `./${packed.filename}`], folder)
  }, 180_000)

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const SCRIPT = `
    Tracker.configure({ dashboard_username: 'a', dashboard_password: 'b', database: DATABASE })
    Tracker.Commands.LogError.call({ exception: new TypeError('from an empty app') })
      .then(async (logged) => {
        const [error] = await Tracker.Queries.ErrorsList.call()
        console.log(JSON.stringify({ state: logged.state, ...error }))
      })`

  test.each([
    ['ESM', 'app.mjs', "import { Tracker } from 'faultboard'"],
    ['CommonJS', 'app.cjs', "const { Tracker } = require('faultboard')"],
  ])('records an error from %s and ends by itself', (kind, file, load) => {
    writeFileSync(join(folder, file), `${load}\nconst DATABASE = 'sqlite:${kind}.sqlite3'\n${SCRIPT}`)
    const logged = JSON.parse(
      execFileSync(process.execPath, [file], {
        cwd: folder,
        encoding: 'utf8',
        timeout: 60_000,
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    )
    expect(logged).toMatchObject({
      state: 'recorded',
      error_type: 'TypeError',
      message: 'from an empty app',
      application_name: 'empty',
      app_version: '1.2.3',
      occurrence_count: 1,
    })
    expect(logged.place).toMatch(new RegExp(`^${file}:`))
  })

  test('brings its command line', () => {
    const out = execFileSync(join(folder, 'node_modules/.bin/faultboard'), ['--version'], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect(out.trim()).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version)
  })

  test('brings every file that its pages link to', () => {
    const installed = join(folder, 'node_modules/faultboard')
    const pages = readdirSync(installed, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
    const links = pages.flatMap((page) =>
      [...readFileSync(join(installed, page), 'utf8').matchAll(/\]\((?!https?:|mailto:|#)([^)#]+)/g)].map(
        ([, link = '']) => join(dirname(page), link),
      ),
    )
    expect(links.length).toBeGreaterThan(100)
    expect(links.filter((link) => !existsSync(join(installed, link)))).toEqual([])
  })

  test('gives types that a consumer can follow', () => {
    writeFileSync(
      join(folder, 'typed.mts'),
      `import { Tracker, createTracker, TrackerError, type ErrorRecord } from 'faultboard'
       import { capture, dashboard } from 'faultboard/express'
       import { withFaultboard } from 'faultboard/node'
       Tracker.configure((config) => { config.retention_days = 30; config.custom_severity_rules = new Map([[/Payment/, 'critical']]) })
       // @ts-expect-error an unknown option
       Tracker.configure({ retention_dayz: 30 })
       // @ts-expect-error a wrong type
       Tracker.configure({ retention_days: 'thirty' })
       const logged = await Tracker.Commands.LogError.call({ exception: new Error('x'), severity: 'high' })
       const count: number | null | undefined = logged?.occurrence_count
       const found: ErrorRecord = await Tracker.Queries.FindError.call({ error_id: 1 })
       const lines: readonly string[] = found.backtrace
       // @ts-expect-error no such status
       await Tracker.Commands.UpdateStatus.call({ error_id: 1, status: 3 })
       export { capture, count, createTracker, dashboard, lines, TrackerError, withFaultboard }`,
    )
    const tsc = resolve('node_modules/.bin/tsc')
    const flags = [
      '--noEmit',
      '--strict',
      '--module',
      'nodenext',
      '--target',
      'es2023',
      '--skipLibCheck',
      'false',
      '--types',
      'node',
      '--typeRoots',
      resolve('node_modules/@types'),
    ]
    expect(() =>
      execFileSync(tsc, [...flags, 'typed.mts'], { cwd: folder, encoding: 'utf8', stdio: 'pipe' }),
    ).not.toThrow()
  })
})

function npm(args: string[], cwd: string): string {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}
