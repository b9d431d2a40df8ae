import { readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { errorsListInput } from '../../../src/triage/list/errors-list.js'
import { trackerAt } from '../../support/tracker.js'
import { faultboard, faultboardProcess, recordErrors, workingDirectory } from '../faultboard.js'

const CLEAR_SCREEN = '\u001b[2J\u001b]0;owned\u0007'
const CSI = '\u009b31m'
const REVERSED = '\u202egnp.exe'

let cwd = ''

beforeAll(async () => {
  cwd = await workingDirectory()
  await faultboard(['migrate'], { cwd })
  await recordErrors(
    `sqlite:${join(cwd, 'faultboard.sqlite3')}`,
    {
      error_type: 'TypeError',
      message: 'x is undefined',
      platform: 'Web',
      user_id: 'u1',
      app_version: '1.0.0',
      tags: { a: 1, b: 2 },
    },
    { error_type: 'TimeoutError', message: '100% of the_time', platform: 'iOS', app_version: '2.0.0', tags: { b: 2 } },
    { error_type: 'OutOfMemoryError', message: 'heap', platform: 'Android' },
    { error_type: 'Hostile', message: `${CLEAR_SCREEN} two\r\nlines ${CSI}${REVERSED} 日本語 ${'long '.repeat(100)}` },
  )
})

describe('errors', () => {
  test('lists errors in aligned columns, newest first', async () => {
    const { code, stdout, stderr } = await faultboardProcess(['errors'], { cwd })
    const [heading = '', ...lines] = stdout.split('\n')
    expect(code).toBe(0)
    expect(heading).toMatch(
      /^ID +SEVERITY +STATUS +COUNT +LAST SEEN \(UTC\) +APPLICATION +PLATFORM +ASSIGNED TO +ERROR$/,
    )
    expect(lines[0]?.slice(heading.indexOf('ERROR'))).toMatch(/^Hostile: /)
    expect(lines[3]?.slice(heading.indexOf('ERROR'))).toBe('TypeError: x is undefined')
    expect(lines[3]?.slice(heading.indexOf('SEVERITY'))).toMatch(/^high /)
    expect(stdout).toContain('4 errors, page 1 of 1.')
    expect(stderr).toMatch(/^Read from sqlite:\/.*\.\n$/)
  })

  test('leaves the spool folder to the application', async () => {
    const spool_path = join(cwd, 'faultboard.sqlite3-spool')
    const { tracker } = trackerAt({ url: 'postgres://127.0.0.1:1/nowhere', spool_path })
    expect(await tracker.Commands.LogError.call({ error_type: 'Waits', message: 'x' })).toMatchObject({
      state: 'spooled',
    })
    await tracker.shutdown()
    const { stdout } = await faultboard(['errors', '--json'], { cwd })
    expect(JSON.parse(stdout).pagination.total_count).toBe(4)
    expect(readdirSync(spool_path)).toHaveLength(1)
    await rm(spool_path, { recursive: true })
  })

  test('shows the environment if there are several and none is selected', async () => {
    const cwd = await workingDirectory()
    await faultboard(['migrate'], { cwd })
    const error = { error_type: 'A', message: 'x' }
    const database = `sqlite:${join(cwd, 'faultboard.sqlite3')}`
    await recordErrors(database, { ...error, environment: 'production' }, { ...error, environment: 'staging' })
    const list = async (...args: string[]) => (await faultboard(['errors', ...args], { cwd })).stdout
    expect(await list()).toMatch(/ APPLICATION +ENVIRONMENT +PLATFORM .*\n.* staging .*\n.* production /)
    // The other error may be on another page.
    expect(await list('--per-page', '1')).toContain('ENVIRONMENT')
    expect(await list('--environment', 'staging')).not.toContain('ENVIRONMENT')
  })

  test('escapes control sequences of untrusted text', async () => {
    for (const args of [['errors'], ['errors', '--json']]) {
      const { stdout } = await faultboard(args, { cwd })
      expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    }
    const { stdout } = await faultboard(['errors', '--error-type', 'Hostile'], { cwd })
    expect(stdout).toContain('Hostile: \\x1b[2J\\x1b]0;owned\\x07 two lines \\x9b31m\\u{202e}gnp.exe 日本語')
    const { errors } = JSON.parse((await faultboard(['errors', '--error-type', 'Hostile', '--json'], { cwd })).stdout)
    expect(errors[0].message).toContain(CLEAR_SCREEN)
    expect(errors[0].message).toContain(REVERSED)
  })

  test.each([40, 80, 140])('fits lines to a terminal of %d columns', async (columns) => {
    const { stdout } = await faultboard(['errors'], { cwd, env: { COLUMNS: String(columns) } })
    const widths = stdout.split('\n').map((line) => line.replace(/[^\0-\u2fff]/gu, 'xx').length)
    expect(Math.max(...widths)).toBeLessThanOrEqual(columns)
    expect(stdout).toMatch(/Hostile: .*…/)
  })

  test('--json prints the same JSON as the dashboard', async () => {
    const { stdout } = await faultboard(['errors', '--json', '--per-page', '2', '--page', '2'], { cwd })
    const { errors, pagination } = JSON.parse(stdout)
    expect(pagination).toEqual({ page: 2, per_page: 2, total_count: 4, total_pages: 2 })
    expect(errors.map(({ error_type }: { error_type: string }) => error_type)).toEqual(['TimeoutError', 'TypeError'])
    expect(errors[1]).toMatchObject({ application_name: 'shop', occurrence_count: 1, user_count: 1 })
  })

  test('has a flag for every filter of the HTTP list', async () => {
    const { stdout } = await faultboard(['errors', '--help'], { cwd })
    for (const name of Object.keys(errorsListInput.entries)) expect(stdout).toContain(`--${name.replaceAll('_', '-')}`)
  })

  test('filters by severity, platform, search, version, user, state, application and order', async () => {
    const types = async (...args: string[]) => {
      const { stdout, stderr } = await faultboard(['errors', '--json', ...args], { cwd })
      if (stdout === '') throw new Error(stderr)
      return JSON.parse(stdout).errors.map(({ error_type }: { error_type: string }) => error_type)
    }
    expect(await types('--severity', 'critical')).toEqual(['OutOfMemoryError'])
    expect(await types('--platform', 'iOS', '--search', '100% OF the_')).toEqual(['TimeoutError'])
    expect(await types('--app-version', '1.0.0', '--user-id', 'u1')).toEqual(['TypeError'])
    expect(await types('--status', 'resolved')).toEqual([])
    expect(await types('--tag', 'a:1', '--tag', 'b:2')).toEqual(['TypeError'])
    expect(await types('--query', 'user:u1 type:Type* -heap undefined')).toEqual(['TypeError'])
    expect(
      await types('--application-name', 'shop', '--unresolved', '--sort-by', 'error_type', '--sort-direction', 'asc'),
    ).toEqual(['Hostile', 'OutOfMemoryError', 'TimeoutError', 'TypeError'])
  })

  test('rejects a malformed query with its position', async () => {
    const { code, stderr } = await faultboard(['errors', '--query', 'a "b'], { cwd })
    expect(code).toBe(2)
    expect(stderr).toContain('query has an unclosed quote at character 3. Add a closing quote')
  })

  test('suggests the closest name for an unknown application', async () => {
    const { code, stderr } = await faultboard(['errors', '--application-name', 'shp'], { cwd })
    expect(code).toBe(2)
    expect(stderr).toContain('No application "shp" has recorded an error here; did you mean shop?')
  })

  test('names the known environments for an unknown environment', async () => {
    const { code, stderr } = await faultboard(['errors', '--environment', 'stagin'], { cwd })
    expect(code).toBe(2)
    expect(stderr).toMatch(/No error has the environment "stagin"\. Known environments: "\w+"/)
    const exported = await faultboard(['export', '-', '--environment', 'stagin', '--json'], { cwd })
    expect(exported).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('Known environments: "') })
  })

  test('reports that nothing matches and how to see the next page', async () => {
    expect(await faultboard(['errors', '--search', 'nowhere'], { cwd })).toMatchObject({
      code: 0,
      stdout: 'No errors match.\n',
    })
    expect((await faultboard(['errors', '--per-page', '3'], { cwd })).stdout).toContain('Use --page 2 for more.')
  })
})
