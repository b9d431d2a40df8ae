import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Counts, Figures } from '../../../src/cli/prove/figures.js'
import { hostEnvironment, hostSettings } from '../../../src/cli/prove/host-settings.js'
import type { Report } from '../../../src/cli/prove/report.js'
import { checkFigures } from '../../../src/cli/prove/verdict.js'
import { describeOneDatabase } from '../../support/databases.js'
import { faultboard, faultboardProcess, RunningCommand, recordErrors, workingDirectory } from '../faultboard.js'

/** The smallest scale. The tests ignore the limits, because response times depend on the machine. */
const TINY = ['--errors', '100']
const TIMEOUT_MS = 180_000

describe('prove', { timeout: TIMEOUT_MS }, () => {
  test('prints a Markdown table, counts every error and does not change the data of the application', async () => {
    const cwd = await workingDirectory({
      'faultboard.config.mjs':
        "export default { database: 'postgres://app:secret@127.0.0.1:1/app', spool_path: 'real-spool', webhook_url: 'http://127.0.0.1:1/', job_engine: 'bullmq', redis_url: 'redis://127.0.0.1:1', before_log_callback: () => false }",
    })
    const env = { TMPDIR: cwd }
    const { code, stdout, stderr } = await faultboardProcess(['prove', ...TINY, '--scenario', 'storm'], { cwd, env })

    expect([0, 1]).toContain(code)
    expect(stderr).toContain('the configured database postgres://app:***@127.0.0.1:1/app must not be changed')
    expect(stderr).toContain('100 errors, the same message, 5,000/s: with Faultboard\n')
    const lines = stdout.split('\n')
    expect(lines[0]).toBe(`### Host impact of Faultboard: ${code === 0 ? 'passed ✅' : 'failed ❌'}`)
    expect(lines[2]).toMatch(
      /^Faultboard \S+, Node\.js v\S+, .+ cores, load \S+, temporary SQLite file; `npx faultboard prove --errors 100 --scenario storm`$/,
    )
    const [head = '', , ...rows] = lines.filter((line) => line.startsWith('|'))
    expect(rows).toHaveLength(2)
    for (const row of rows) expect(row.split(' | ')).toHaveLength(head.split(' | ').length)
    const [, thrown, recorded] = /\| (\d+) thrown, (\d+) recorded \|/.exec(rows[1] ?? '') ?? []
    expect(Number(thrown)).toBeGreaterThanOrEqual(200)
    expect(recorded).toBe(thrown)
    expect(await readdir(cwd)).toEqual(['faultboard.config.mjs'])
  })

  test('prints JSON and accounts for every error that a full disk did not store', async () => {
    const cwd = await workingDirectory()
    const args = ['prove', ...TINY, '--scenario', 'full_disk', '--json']
    const { code, stdout } = await faultboardProcess(args, { cwd, env: { TMPDIR: cwd } })
    const { passed, scenarios } = JSON.parse(stdout) as Report
    const [fullDisk] = scenarios
    expect(passed).toBe(code === 0)
    if (fullDisk?.skipped) return expect(fullDisk.skipped).toContain('prlimit')
    expect(fullDisk).toMatchObject({ name: 'full_disk', skipped: null })
    expect(fullDisk?.bare).toHaveLength(2)
    expect(fullDisk?.faultboard?.during.requests).toBeGreaterThan(5)
    expect(fullDisk?.checks.find(({ name }) => name === 'errors not accounted for')).toMatchObject({ value: 0 })
    expect(Object.keys(fullDisk?.counts?.dropped ?? {}).filter((reason) => !reason.startsWith('spool_'))).toEqual([])
  })

  test('prove stops its processes and removes its folder on SIGINT', async () => {
    const cwd = await workingDirectory()
    const prove = new RunningCommand(['prove', '--scenario', 'storm'], { cwd, env: { TMPDIR: cwd } })
    while (!prove.stderr.includes('without Faultboard')) await new Promise((resume) => setTimeout(resume, 20))
    const { code, stdout, stderr } = await prove.stop('SIGINT')
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' })
    expect(stderr).toMatch(/Stopped\.\n$/)
    expect(await readdir(cwd)).toEqual([])
  })

  test.each([
    [['--scenario', 'flood'], '--scenario must be one of storm, unique, hang, full_disk, viewers'],
    [['--errors', '5'], '--errors must be a whole number from 100 to 1000000'],
    [['--database', 'sqlite::memory:'], '--database must be a file or a server'],
  ])('rejects %j before it starts a host', async (flags, message) => {
    const cwd = await workingDirectory()
    const { code, stdout, stderr } = await faultboard(['prove', ...flags], { cwd })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
  })
})

describeOneDatabase('prove --database', (database) => {
  test('survives a hanging database, and can use the same scratch database again', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const [cwd, url] = [await workingDirectory(), await database.empty()]
    const args = ['prove', ...TINY, '--json', '--database', url, '--scenario']
    const hang = JSON.parse((await faultboardProcess([...args, 'hang'], { cwd })).stdout) as Report
    expect(hang.scenarios[0]?.counts).toMatchObject({ dropped: {} })
    expect(hang.scenarios[0]?.counts?.recorded).toBe(hang.scenarios[0]?.counts?.thrown)
    const viewers = JSON.parse((await faultboardProcess([...args, 'viewers'], { cwd })).stdout) as Report
    expect(viewers.scenarios[0]?.counts?.recorded).toBe(viewers.scenarios[0]?.counts?.thrown)
  })

  test('refuses a database with errors of an application', async () => {
    const [cwd, url] = [await workingDirectory(), await database.fresh()]
    await recordErrors(url, { error_type: 'PaymentDeclined', message: 'The card was declined' })
    const { code, stdout, stderr } = await faultboard(['prove', '--database', url], { cwd, env: { TMPDIR: cwd } })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('contains errors of the application shop')
    expect(stderr).toContain('create an empty database and pass its URL as --database')
    expect(existsSync(join(cwd, 'faultboard.sqlite3'))).toBe(false)
    expect(await readdir(cwd)).toEqual([])
  })
})

describe('the limits', () => {
  const phase = { p50: 1, p99: 2, stall: 5, requests: 100, failures: 0 }
  const resources = (descriptors: number | null, memory_mb = 50) => ({ descriptors, memory_mb })
  const usual: Figures = {
    ...{ before: phase, during: phase, after: phase },
    resources: { before: resources(20), after: resources(20) },
  }
  const counts: Counts = { thrown: 10, recorded: 8, dropped: { spool_full: 2 } }
  const missed = (figures: Partial<Figures>, counted = counts, bare = [usual, usual]) =>
    checkFigures(bare, { ...usual, ...figures }, counted)
      .filter(({ passed }) => !passed)
      .map(({ name }) => name)

  test('the limits accept the figures of the host without Faultboard', () => {
    expect(missed({})).toEqual([])
  })

  test('the limits depend on the slower run without Faultboard', () => {
    const during = { ...phase, p50: 3.1, p99: 13, stall: 26 }
    expect(missed({ during })).toEqual(['p50 during', 'p99 during', 'stall during'])
    expect(missed({ during }, counts, [usual, { ...usual, during: { ...phase, p50: 2, p99: 5, stall: 10 } }])).toEqual(
      [],
    )
  })

  test('the limits apply to failed requests', () => {
    expect(missed({ after: { ...phase, failures: 1 } })).toEqual(['failures after'])
  })

  test('the limits apply to memory, descriptors and counts', () => {
    const grown = { before: resources(20), after: resources(21, 71) }
    expect(missed({ resources: grown })).toEqual(['memory growth', 'descriptors'])
    expect(missed({ resources: { before: resources(null), after: resources(null) } })).toEqual([])
    expect(missed({}, { ...counts, recorded: 7 })).toEqual(['errors not accounted for'])
    expect(missed({}, { ...counts, recorded: 9 })).toEqual(['errors not accounted for'])
  })
})

describe('the measured host', () => {
  const isolated = { database: 'sqlite:x', spool_path: 'x', dashboard_username: 'a', dashboard_password: 'b' }

  test('uses the capture options of the configuration, without channels, job engine and callbacks', () => {
    const settings = {
      ...{ max_backtrace_lines: 7, enable_breadcrumbs: true, database: 'postgres://localhost/app' },
      ...{ webhook_url: 'https://shop.example/', job_engine: 'bullmq' as const, user_callback: () => 1 },
    }
    expect(hostSettings(settings, isolated)).toEqual({
      ...{ max_backtrace_lines: 7, enable_breadcrumbs: true, application_name: 'faultboard prove' },
      ...isolated,
    })
  })

  test('ignores the environment variables of these options', () => {
    const env = {
      FAULTBOARD_DATABASE: 'x',
      FAULTBOARD_CHAT_WEBHOOK_URL: 'x',
      FAULTBOARD_SAMPLING_RATE: '0.5',
      PATH: '/',
    }
    expect(hostEnvironment(env)).toEqual({ FAULTBOARD_SAMPLING_RATE: '0.5', PATH: '/' })
  })
})
