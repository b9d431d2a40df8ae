import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { buildShop } from '../reporting/built-shop.js'
import { faultboard, faultboardProcess, recordErrors, workingDirectory } from './faultboard.js'

/** Creates a built project and a database with its schema. */
async function createProject() {
  const cwd = await workingDirectory({ 'package.json': '{"name":"shop"}' })
  const env = { FAULTBOARD_DATABASE: `sqlite:${join(cwd, 'errors.sqlite3')}`, FAULTBOARD_APPLICATION_NAME: 'shop' }
  await recordErrors(env.FAULTBOARD_DATABASE, { error_type: 'First', message: 'x' })
  const run = (...args: string[]) => faultboard(['sourcemaps', ...args], { cwd, env })
  const runProcess = (...args: string[]) => faultboardProcess(['sourcemaps', ...args], { cwd, env })
  return { cwd, run, runProcess }
}

describe('faultboard sourcemaps', () => {
  test('stores, lists and deletes the maps of a build', async () => {
    const { cwd, run, runProcess } = await createProject()
    const { script } = await buildShop(cwd)
    const uploaded = await runProcess('upload', 'dist', '--release', '1.4.0')
    expect(uploaded).toMatchObject({ code: 0, stderr: '' })
    expect(uploaded.stdout).toBe(`assets/${script}\n1 source map stored for release 1.4.0.\n`)
    const options = ['--url-prefix', 'https://cdn.example/x', '--without-sources', '--json']
    const prefixed = await run('upload', 'dist', '--release=1.5.0', ...options)
    expect(JSON.parse(prefixed.stdout)).toEqual({
      release: '1.5.0',
      without_sources: [`https://cdn.example/x/assets/${script}`],
      stored: [`https://cdn.example/x/assets/${script}`],
      refused: [],
      removed_releases: [],
    })
    const map = join(cwd, 'dist/assets', `${script}.map`)
    const { sourcesContent, ...withoutSources } = JSON.parse(readFileSync(map, 'utf8'))
    expect(sourcesContent).toHaveLength(2)
    writeFileSync(map, JSON.stringify(withoutSources))
    const without = await run('upload', 'dist', '--release', '1.4.0')
    expect(without.stdout).toContain(`No source stored for assets/${script}: the map contains none`)
    const listed = await run('list')
    expect(listed.stdout).toMatch(
      /^RELEASE +SCRIPTS +KILOBYTES +UPLOADED \(UTC\)\n1\.4\.0 +1 +\d+ .*\n1\.5\.0 +1 +\d+ .*\n$/,
    )
    expect((await run('list', '--release', '1.4.0')).stdout).toBe(`assets/${script}\n`)
    expect((await run('delete', '--release', '1.4.0')).stdout).toBe('Deleted 1 source map of release 1.4.0.\n')
    const secondDelete = await run('delete', '--release', '1.4.0')
    expect(secondDelete.code).toBe(1)
    expect(secondDelete.stderr).toContain('No source maps are stored for release 1.4.0')
  })

  test('creates a missing database and reports it', async () => {
    const cwd = await workingDirectory({ 'package.json': '{"name":"shop"}' })
    await buildShop(cwd)
    const { code, stdout, stderr } = await faultboard(['sourcemaps', 'upload', 'dist', '--release', '1'], { cwd })
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('1 source map stored for release 1.') })
    expect(stderr).toContain(`sqlite:${join(cwd, 'faultboard.sqlite3')} did not exist and was created.`)
    expect((await faultboard(['sourcemaps', 'list'], { cwd })).stdout).toMatch(/^1 +1 /m)
  })

  test.each([
    ['sourcemaps', '--help'],
    ['help', 'sourcemaps'],
  ])('sourcemaps lists its subcommands with %s %s', async (...args) => {
    const { code, stdout } = await faultboard(args, { cwd: (await createProject()).cwd })
    expect(code).toBe(0)
    for (const name of ['upload', 'list', 'delete']) expect(stdout).toContain(`  sourcemaps ${name} `)
  })

  test('prints a hint for invalid usage', async () => {
    const { cwd, run } = await createProject()
    mkdirSync(join(cwd, 'empty'))
    mkdirSync(join(cwd, 'bare'))
    writeFileSync(join(cwd, 'bare/app.js'), 'x()')
    mkdirSync(join(cwd, 'broken'))
    writeFileSync(join(cwd, 'broken/app.js.map'), 'no map')
    mkdirSync(join(cwd, 'huge'))
    writeFileSync(join(cwd, 'huge/app.js.map'), '')
    truncateSync(join(cwd, 'huge/app.js.map'), 2 ** 30)
    const cases: [string[], number, string][] = [
      [[], 2, 'faultboard sourcemaps requires a subcommand: sourcemaps upload, sourcemaps list, sourcemaps delete'],
      [['upload'], 2, 'Specify the output folder of the build: faultboard sourcemaps upload DIR --release VERSION'],
      [['upload', 'empty'], 2, '--release is missing. Use the app_version that the clients of this build report'],
      [['upload', 'broken', '--release', ''], 2, '--release needs a value: --release VERSION'],
      [['upload', 'nowhere', '--release', '1'], 1, 'does not exist'],
      [['upload', 'empty', '--release', '1'], 1, 'No scripts or maps in empty'],
      [['upload', 'bare', '--release', '1'], 1, 'bare contains a script without a map. Build with source maps'],
      [['upload', 'broken', '--release', '1'], 1, 'The map of app.js is not a valid source map.'],
      [['upload', 'huge', '--release', '1'], 1, 'The map of app.js is larger than 268435456 bytes.'],
      [['upload', 'bare', '--release', '1', '--url-prefix', '/assets'], 2, '--url-prefix must be the full URL'],
      [['delete'], 2, '--release is missing'],
      [['upload', 'bare', '--relase', '1'], 2, 'did you mean --release?'],
    ]
    const results = await Promise.all(cases.map(([args]) => run(...args)))
    for (const [i, { code, stderr }] of results.entries()) {
      expect(stderr).toContain(cases[i]?.[2])
      expect(code).toBe(cases[i]?.[1])
    }
  })

  test('prints the help of a subcommand', async () => {
    const { run } = await createProject()
    expect((await run('upload', '--help')).stdout).toContain('Usage: faultboard sourcemaps upload DIR [flags]')
  })
})
