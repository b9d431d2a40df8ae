import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTracker } from '../../src/index.js'
import { builtInSqlite } from '../../src/store/dialects/sqlite-library.js'
import { basicAuth, CREDENTIALS, RunningCommand, workingDirectory } from '../cli/faultboard.js'
import { packInto } from '../support/processes/installed.js'

const ADA = basicAuth('ada', 'correct horse')

describe('the packed package in an empty application', () => {
  const folder = mkdtempSync(join(tmpdir(), 'faultboard-packed-'))
  const installed = join(folder, 'node_modules/faultboard')
  let tarball: string
  /** Paths of the files in the package. */
  let paths: string[]

  /** Links only the dependencies that the package declares. without-native-code.test.ts installs it with npm. */
  beforeAll(() => {
    tarball = join(folder, packInto(folder))
    execFileSync('tar', ['-xzf', tarball, '-C', folder])
    mkdirSync(join(folder, 'node_modules'))
    renameSync(join(folder, 'package'), installed)
    const files = readdirSync(installed, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    paths = files.map(({ parentPath, name }) => relative(installed, join(parentPath, name)))
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'empty', version: '1.2.3', private: true }))
    const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
    for (const name of [...Object.keys(dependencies), ...(builtInSqlite() ? [] : ['@photostructure'])])
      symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name))
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
  ])('records an error from %s and exits without a shutdown', (kind, file, load) => {
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

  test('loads no module at startup that only some processes need', () => {
    const script = `import { Tracker } from 'faultboard'
      Tracker.configure({ dashboard_username: 'a', dashboard_password: 'b', database: 'sqlite:start.sqlite3' }).start()
      console.log(process.moduleLoadList.join('\\n'))
      await Tracker.shutdown()`
    writeFileSync(join(folder, 'start.mjs'), script)
    const loaded = execFileSync(process.execPath, ['start.mjs'], { cwd: folder, encoding: 'utf8' }).split('\n')
    const onDemand = ['http', 'https', 'dns', 'zlib', 'inspector', 'child_process'].map(
      (name) => `NativeModule ${name}`,
    )
    expect(loaded.filter((name) => onDemand.includes(name))).toEqual([])
  })

  test('limits the size of the files loaded at startup', () => {
    const sizes = sizesOfStaticImports(join(folder, 'node_modules/faultboard/dist/index.cjs'))
    expect(sizes.length).toBeGreaterThan(6)
    // Parsing them is the largest part of the time to start.
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(590_000)
    // The memory for compiling a file grows with the file.
    expect(Math.max(...sizes)).toBeLessThan(200_000)
  })

  test('triggers no optimization by V8 when it is loaded', () => {
    const optimizedBy = (script: string) =>
      execFileSync(process.execPath, ['--trace-opt', '-e', script], { cwd: folder, encoding: 'utf8' })
        .split('\n')
        .filter((line) => line.startsWith('[compiling method') && line.includes('TURBOFAN'))
        // Node.js calls this function for the path of every module.
        .filter((line) => !line.includes('<JSFunction normalizeString '))
    expect(optimizedBy('const double = (n) => 2 * n; for (let i = 0; i < 1e6; i++) double(i)')).not.toEqual([])
    expect(optimizedBy(`require('faultboard')`)).toEqual([])
  })

  test('shows pages without Intl, whose locale data takes longer to load than a page takes to render', () => {
    const script = `import { Tracker } from 'faultboard'
      import { dashboard } from 'faultboard/fetch'
      Tracker.configure({ dashboard_username: 'a', dashboard_password: 'b', database: 'sqlite:intl.sqlite3' }).start()
      const { id } = await Tracker.Commands.LogError.call(new Error('for its pages'))
      const used = new Set()
      const observe = (owner, name) => {
        owner[name] = new Proxy(owner[name], {
          apply: (...call) => (used.add(name), Reflect.apply(...call)),
          construct: (...call) => (used.add(name), Reflect.construct(...call)),
        })
      }
      for (const name of Object.getOwnPropertyNames(Intl)) observe(Intl, name)
      for (const { prototype } of [Number, Date, String]) {
        for (const name of Object.getOwnPropertyNames(prototype)) if (/locale/i.test(name)) observe(prototype, name)
      }
      const headers = { authorization: 'Basic ' + btoa('a:b') }
      const serve = dashboard()
      const statuses = []
      for (const page of ['overview', 'errors', 'errors/' + id, 'errors/analytics', 'releases', 'health']) {
        const response = await serve(new Request('http://localhost/error_dashboard/' + page, { headers }))
        const isComplete = (await response.text()).includes('</html>')
        statuses.push(isComplete ? response.status : 'incomplete')
      }
      await Tracker.shutdown()
      console.log(JSON.stringify({ statuses, used: [...used] }))
      1.5.toLocaleString()
      console.log(JSON.stringify([...used]))`
    writeFileSync(join(folder, 'intl.mjs'), script)
    const output = execFileSync(process.execPath, ['intl.mjs'], { cwd: folder, encoding: 'utf8' }).trim().split('\n')
    expect(output.slice(-2).map((line) => JSON.parse(line))).toEqual([
      { statuses: [200, 200, 200, 200, 200, 200], used: [] },
      ['toLocaleString'],
    ])
  })

  test('adds no listener to standard output, which belongs to the host', () => {
    const script = `const listeners = () => process.stdout.eventNames().map((name) => [name, process.stdout.listenerCount(name)])
      const before = listeners()
      const { Tracker } = await import('faultboard')
      Tracker.configure({ dashboard_username: 'a', dashboard_password: 'b', database: 'sqlite::memory:' }).start()
      await Tracker.ready()
      console.log(JSON.stringify([before, listeners()]))
      await Tracker.shutdown()`
    writeFileSync(join(folder, 'output.mjs'), script)
    const [before, after] = JSON.parse(
      execFileSync(process.execPath, ['output.mjs'], { cwd: folder, encoding: 'utf8' }),
    )
    expect(after).toEqual(before)
  })

  test('writes errors to the spool folder if the modules with SQL cannot be loaded', () => {
    const broken = join(folder, 'broken')
    cpSync(join(folder, 'node_modules/faultboard'), broken, { recursive: true })
    const chunks = readdirSync(join(broken, 'dist/chunks')).filter((name) => /^backend-.*\.cjs$/.test(name))
    expect(chunks).toHaveLength(1)
    for (const chunk of chunks) rmSync(join(broken, 'dist/chunks', chunk))
    const script = `import { Tracker } from './dist/index.js'
      const database = 'sqlite:lost.sqlite3'
      Tracker.configure({ dashboard_username: 'a', dashboard_password: 'b', database, enable_process_health: true }).start()
      const { state } = await Tracker.report(new Error('x'))
      const failure = await Tracker.ready().catch(({ code }) => code)
      const { status } = await Tracker.handle(new Request('http://localhost/')).catch(({ code }) => ({ status: code }))
      await Tracker.flush()
      await Tracker.shutdown()
      console.log(JSON.stringify({ state, failure, status }))`
    writeFileSync(join(broken, 'app.mjs'), script)
    const printed = execFileSync(process.execPath, ['app.mjs'], { cwd: broken, encoding: 'utf8', timeout: 60_000 })
    const unavailable = 'database_unavailable'
    expect(JSON.parse(printed)).toEqual({ state: 'spooled', failure: unavailable, status: unavailable })
    expect(readdirSync(join(broken, 'lost.sqlite3-spool'))).toHaveLength(1)
  })

  test('the packed package stays within the size limits and contains no sources, maps or images', () => {
    const sizes = paths.map((path) => statSync(join(installed, path)).size)
    expect(statSync(tarball).size).toBeLessThanOrEqual(1_250_000)
    expect(sizes.reduce((total, size) => total + size)).toBeLessThanOrEqual(5_400_000)
    expect(paths.length).toBeLessThanOrEqual(570)
    expect(paths).toContain('dist/index.d.ts')
    expect(paths.filter((path) => /^(src|test|examples)\/|\.map$|\.(png|jpe?g|gif|webp)$/.test(path))).toEqual([])
  })

  test('shows function names and readable lines in stack traces', () => {
    const script = `
      import { createTracker } from 'faultboard'
      Error.stackTraceLimit = 50
      try { createTracker({ retention_days: 'thirty' }) } catch (error) { console.log(error.stack) }
    `
    writeFileSync(join(folder, 'trace.mjs'), script)
    const stack = execFileSync(process.execPath, ['trace.mjs'], { cwd: folder, encoding: 'utf8' })
    const frames = [...stack.matchAll(/at (?:(.+) \()?(\/.*\/faultboard\/dist\/.*):(\d+):\d+\)?$/gm)]
    expect(frames.length).toBeGreaterThan(1)
    for (const [, name = '', file = '', line] of frames) {
      expect(name).toMatch(/\w{4,}/)
      const source = readFileSync(file, 'utf8').split('\n')
      expect(source[Number(line) - 1]?.length).toBeLessThan(200)
    }
  })

  test('contains no minified module', () => {
    const modules = paths.filter((path) => /^dist\/.*\.c?js$/.test(path))
    // Pages load this script, so its size counts more than its readability.
    const minified = modules.filter((path) => path !== 'dist/browser.js' && isMinified(join(installed, path)))
    expect(minified).toEqual([])
  })

  test('keeps modules as one-byte strings in memory and finds secrets in other alphabets', () => {
    const modules = paths.filter((path) => /^dist\/chunks\/.*\.(c?js|css)$/.test(path))
    const wide = modules.filter((path) => /[^\0-\xff]/.test(readFileSync(join(installed, path), 'utf8')))
    expect(wide).toEqual([])
    const script = `
      import { createTracker } from 'faultboard'
      const tracker = createTracker({ dashboard_username: 'a', dashboard_password: 'b', database: 'sqlite::memory:' })
      await tracker.Commands.LogError.call({ exception: new Error('пароль=swordfish 密码：swordfish') })
      const [error] = await tracker.Queries.ErrorsList.call()
      console.log(error.message)
    `
    writeFileSync(join(folder, 'secrets.mjs'), script)
    const message = execFileSync(process.execPath, ['secrets.mjs'], { cwd: folder, encoding: 'utf8' })
    expect(message.trim()).toBe('пароль=[FILTERED] 密码：[FILTERED]')
  })

  describe('next to packages that are too old or too new', () => {
    const versions = {
      ...{ '@nestjs/core': '10.4.1', express: '4.15.5', h3: '1.15.4', hono: '3.12.12', koa: '1.7.1', next: '14.2.35' },
      ...{
        nitropack: '2.8.1',
        bullmq: '4.18.3',
        ioredis: '4.31.0',
        mysql2: '2.3.3',
        pg: '7.18.2',
        'pg-boss': '12.1.0',
      },
    }
    let printed: { stdout: string; stderr: string }

    beforeAll(() => {
      const modules = join(folder, 'node_modules')
      for (const [name, version] of Object.entries(versions)) {
        mkdirSync(join(modules, name), { recursive: true })
        writeFileSync(join(modules, name, 'package.json'), JSON.stringify({ name, version }))
      }
      cpSync(resolve('test/packed/fixtures/unsupported-versions.mjs'), join(folder, 'unsupported-versions.mjs'))
      const options = { cwd: folder, encoding: 'utf8', timeout: 60_000 } as const
      printed = spawnSync(process.execPath, ['unsupported-versions.mjs'], options)
      for (const name of Object.keys(versions)) rmSync(join(modules, name), { recursive: true })
    }, 90_000)

    test.each([
      ['@nestjs/core', '11.0.0 and later'],
      ['bullmq', '5.0.0 and later'],
      ['express', '4.16.0 and later'],
      ['h3', '2.0.0 and later'],
      ['hono', '4.0.0 and later'],
      ['koa', '2.0.0 and later'],
      ['mysql2', '3.11.0 and later'],
      ['next', '15.0.0 and later'],
      ['nitropack', '2.9.0 and later'],
      ['pg', '8.11.0 and later'],
      ['pg-boss', '10.0.0 and later, before 11.0.0'],
    ] as const)('names the installed and the supported version of %s', (name, supported) => {
      const command = `Run npm install ${name}@${Number.parseInt(supported, 10)}`
      const message = `${name} ${versions[name]} is installed, but Faultboard supports ${name} ${supported}. ${command}`
      expect(JSON.parse(printed.stdout)).toContainEqual(expect.stringContaining(message))
    })

    test.each([
      ['ioredis', '5.11.0'],
      ['mysql2', '3.20.0'],
    ] as const)('logs that breadcrumbs of %s need a later version', (name, oldest) => {
      const message = `${name} ${versions[name]} is installed, but its breadcrumbs require ${name} ${oldest} or later.`
      expect(printed.stderr).toContain(message)
    })
  })

  test('accepts the supported version that a program loads in a monorepo', () => {
    const packages = { 'node_modules/h3': '1.15.4', 'apps/web/node_modules/h3': '2.0.8' }
    for (const [path, version] of Object.entries(packages)) {
      mkdirSync(join(folder, path), { recursive: true })
      writeFileSync(join(folder, path, 'package.json'), JSON.stringify({ name: 'h3', version }))
    }
    const script = `import { Tracker } from 'faultboard'
      import { faultboard } from 'faultboard/h3'
      Tracker.configure({ dashboard_username: 'a', dashboard_password: 'b', database: 'sqlite::memory:' })
      console.log(typeof faultboard())
      await Tracker.shutdown()`
    writeFileSync(join(folder, 'apps/web/server.mjs'), script)
    const printed = execFileSync(process.execPath, ['apps/web/server.mjs'], { cwd: folder, encoding: 'utf8' })
    for (const path of Object.keys(packages)) rmSync(join(folder, path), { recursive: true })
    expect(printed.trim()).toMatch(/^(?:function|object)$/)
  })

  test('runs the demo and serve, and shows the source of their errors', { timeout: 120_000 }, async () => {
    const program = join(folder, 'node_modules/faultboard/dist/cli/main.js')
    const options = { cwd: await workingDirectory(), env: CREDENTIALS, program }
    const sourceOf = async (address: string, type: string) => {
      for (;;) {
        const { errors } = await (await fetch(`${address}/errors.json?error_type=${type}`, ADA)).json()
        const page = errors[0] && (await (await fetch(`${address}/errors/${errors[0].id}`, ADA)).text())
        if (page?.includes('class="source')) return page.replace(/<[^>]+>/g, '')
        await new Promise((resume) => setTimeout(resume, 100))
      }
    }
    const serve = new RunningCommand(['serve', '--port', '0'], options)
    const [, served = ''] = await serve.waitForOutput(/Dashboard +(http:\S+)\n/)
    expect((await fetch(new URL('/cart', served))).status).toBe(500)
    expect(await sourceOf(served, 'TypeError')).toContain('return cart.items.reduce(')
    expect(await serve.stop()).toMatchObject({ code: 0, stderr: '' })
    expect(existsSync(join(options.cwd, 'faultboard.sqlite3'))).toBe(true)

    // A demo that finds errors of its applications does not record its history again, which takes 5 s of CPU time.
    const database = `sqlite:${join(options.cwd, 'demo.sqlite3')}`
    const earlier = createTracker({ database, application_name: 'orders-api' })
    await earlier.report(new Error('from an earlier demo'))
    await earlier.shutdown()
    const demo = new RunningCommand(['demo', '--port', '0', '--database', database], options)
    const [, shown = ''] = await demo.waitForOutput(/Dashboard +(http:\S+)\n/)
    expect(await sourceOf(shown, 'OrderNotSavedError')).toContain('throw new OrderNotSavedError(')
    expect(await demo.stop()).toMatchObject({ code: 0, stderr: '' })
  })

  test('contains every file that the packed docs link to', () => {
    const pages = readdirSync(installed, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
    const links = pages.flatMap((page) =>
      [...readFileSync(join(installed, page), 'utf8').matchAll(/\]\((?!https?:|mailto:|#)([^)#]+)/g)].map(
        ([, link = '']) => join(dirname(page), link),
      ),
    )
    expect(links.length).toBeGreaterThan(100)
    const isLeftOut = (link: string) => link === 'examples' || /^docs\/(images|decisions)(\/|$)/.test(link)
    expect(links.filter((link) => !isLeftOut(link) && !existsSync(join(installed, link)))).toEqual([])
  })

  test('contains types that a consumer can use, and that suggest the right name for a misspelled one', () => {
    writeFileSync(
      join(folder, 'typed.mts'),
      `import { Tracker, createTracker, TrackerError, type ErrorRecord } from 'faultboard'
       import { capture, dashboard } from 'faultboard/express'
       import { withFaultboard } from 'faultboard/node'
       Tracker.configure((config) => { config.retention_days = 30; config.custom_severity_rules = new Map([[/Payment/, 'critical']]) })
       Tracker.configure({ retentionDays: 30, severityThresholds: { communityChat: 'high' } })
       Tracker.configure((config) => { config.retentionDays = 30 })
       // @ts-expect-error a wrong type
       Tracker.configure({ retention_days: 'thirty' })
       // @ts-expect-error a wrong type
       Tracker.configure({ retentionDays: 'thirty' })
       const logged = await Tracker.Commands.LogError.call({ exception: new Error('x'), severity: 'high' })
       const count: number | null | undefined = logged?.occurrence_count
       const found: ErrorRecord = await Tracker.Queries.FindError.call({ error_id: 1 })
       const lines: readonly string[] = found.backtrace
       // @ts-expect-error an unknown status
       await Tracker.Commands.UpdateStatus.call({ error_id: 1, status: 3 })
       // @ts-expect-error an unknown status
       await Tracker.Commands.UpdateStatus.call({ errorId: 1, status: 'done' })
       // @ts-expect-error an unknown severity
       await Tracker.Queries.ErrorsList.call({ severity: 'hi' })
       // @ts-expect-error a missing field
       await Tracker.Commands.AssignError.call({ assignedTo: 'anna' })
       await Tracker.Commands.AssignError.call({ errorId: 1, assigned_to: 'anna' })
       await Tracker.Queries.ErrorsList.page({ perPage: 5, sortBy: 'first_seen_at', hideSnoozed: true })
       await Tracker.report(new Error('x'), { userId: 7, request: { durationMs: 3 }, context: { orderId: 7 } })
       await new Tracker.Queries.PlatformComparison({ applicationId: 1 }).errorRateByPlatform()
       export { capture, count, createTracker, dashboard, lines, TrackerError, withFaultboard }`,
    )
    const header = "import { createTracker, type Settings, Tracker } from 'faultboard'"
    writeFileSync(join(folder, 'misspelled.mts'), [header, ...Object.keys(MISSPELLED)].join('\n'))
    const messages = compilerMessages(folder, ['typed.mts', 'misspelled.mts']).split('\n')
    expect(messages.filter((text) => text.startsWith('typed.mts'))).toEqual([])
    Object.entries(MISSPELLED).forEach(([call, name], i) => {
      const message = messages.find((text) => text.startsWith(`misspelled.mts(${i + 2},`))
      expect(message, call).toMatch(new RegExp(`Did you mean (?:to write )?'${name}'`))
    })
  })
})

/** Calls with a misspelled name, and the name that the compiler suggests. */
const MISSPELLED: Record<string, string> = {
  "createTracker({ databse: 'sqlite:x' })": 'database',
  'createTracker({ retentonDays: 3 })': 'retentionDays',
  "Tracker.configure({ databse: 'sqlite:x' })": 'database',
  'Tracker.configure({ retention_dayz: 3 })': 'retention_days',
  "Tracker.configure({ severityThresholds: { comunityChat: 'low' } })": 'communityChat',
  'Tracker.configure((config) => { config.retentonDays = 3 })': 'retentionDays',
  'Tracker.report(new Error(), { userID: 7 })': 'userId',
  "Tracker.Commands.LogError.call({ message: 'x', appVerson: '1' })": 'appVersion',
  "Tracker.Queries.ErrorsList.call({ severty: 'high' })": 'severity',
  'Tracker.Queries.ErrorsList.page({ perPagee: 5 })': 'perPage',
  "Tracker.Commands.AssignError.call({ errorId: 1, asigned_to: 'x' })": 'assigned_to',
  'Tracker.Commands.UpdatePriority.call({ erorId: 1, priorityLevel: 2 })': 'errorId',
  'new Tracker.Queries.PlatformComparison({ aplicationId: 7 })': 'applicationId',
  "Tracker.addBreadcrumb({ category: 'x', message: 'y', durationMS: 3 })": 'durationMs',
  'export const settings = { enable_breadcrumb: true } satisfies Settings': 'enable_breadcrumbs',
}

const COMPILER_FLAGS =
  '--singleThreaded --noEmit --pretty false --strict --module nodenext --target es2023 --skipLibCheck --types node'

function compilerMessages(cwd: string, files: string[]): string {
  const flags = [...COMPILER_FLAGS.split(' '), '--typeRoots', resolve('node_modules/@types')]
  const { stdout } = spawnSync(resolve('node_modules/.bin/tsc'), [...flags, ...files], { cwd, encoding: 'utf8' })
  return stdout
}

/** Compiled JSX has single long lines, but minified code has only long lines. */
function isMinified(file: string): boolean {
  const source = readFileSync(file, 'utf8')
  return source.length / source.split('\n').length > 200
}

function sizesOfStaticImports(entry: string): number[] {
  const files = new Set([entry])
  const sizes = []
  for (const file of files) {
    const code = readFileSync(file, 'utf8')
    sizes.push(code.length)
    for (const [, path] of code.matchAll(/^var \w+ = require\("(\.[^"]+)"/gm))
      files.add(resolve(dirname(file), path as string))
  }
  return sizes
}
