import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { agreed } from '../../../src/cli/init/agreed.js'
import { describeWithGit } from '../../support/repository.js'
import { faultboard, folder } from '../faultboard.js'

const SOURCE = `import express from 'express'\nconst app = express()\napp.listen(3000)\n`
const FILES = { 'package.json': JSON.stringify({ dependencies: { express: '^5.0.0' } }), 'app.mjs': SOURCE }

test.each([
  [['--dry-run'], 0, 'Nothing was written, because of --dry-run.'],
  [[], 1, 'Nothing was written.'],
])('init %j shows the diff and writes nothing where nobody can be asked', async (flags, code, sentence) => {
  const cwd = await folder(FILES)
  const ended = await faultboard(['init', ...flags], { cwd })
  expect(ended).toMatchObject({ code, stderr: code === 0 ? '' : expect.stringContaining('faultboard init --yes') })
  expect(ended.stdout).toContain('+app.use(dashboard())')
  expect(ended.stdout).toContain(sentence)
  expect(readFileSync(join(cwd, 'app.mjs'), 'utf8')).toBe(SOURCE)
  expect(existsSync(join(cwd, '.env.example'))).toBe(false)
})

test('init --yes tells what is left to do, with a password that stands in no file', async () => {
  const cwd = await folder({ ...FILES, '.gitignore': 'node_modules', '.env.example': 'PORT=3000', 'yarn.lock': '' })
  renameSync(join(cwd, 'app.mjs'), join(cwd, 'shop.mjs'))
  chmodSync(join(cwd, 'shop.mjs'), 0o750)
  symlinkSync('shop.mjs', join(cwd, 'app.mjs'))
  const { code, stdout } = await faultboard(['init', '--yes'], { cwd })
  expect(code).toBe(0)
  expect(lstatSync(join(cwd, 'app.mjs')).isSymbolicLink()).toBe(true)
  expect(statSync(join(cwd, 'shop.mjs')).mode & 0o777).toBe(0o750)
  expect(readdirSync(cwd).filter((name) => name.endsWith('.partial'))).toEqual([])
  expect(stdout).toContain('1. yarn add faultboard')
  const next = stdout.slice(stdout.indexOf('Next:'))
  const [, password = ''] = /^ +\S+_USERNAME=admin \S+_PASSWORD=(\S+) node app\.mjs$/m.exec(next) ?? []
  expect(next).toMatch(/ cp \.env\.example \.env .*\n +Start with {2}node --env-file=\.env app\.mjs\n/)
  expect(password.length).toBeGreaterThan(12)
  expect(readFileSync(join(cwd, '.env.example'), 'utf8')).toMatch(/^PORT=3000\n#.*\n.*=admin\n.*PASSWORD=$/)
  expect(readFileSync(join(cwd, '.gitignore'), 'utf8')).toBe('node_modules\nfaultboard.sqlite3*')
})

test('init goes by the package.json nearest to FILE, and names the script that starts it', async () => {
  const cwd = await folder({ 'package.json': JSON.stringify({ workspaces: ['packages/*'] }), 'pnpm-lock.yaml': '' })
  const api = join(cwd, 'packages/api')
  mkdirSync(api, { recursive: true })
  const manifest = { dependencies: { express: '^5.0.0' }, scripts: { dev: 'node --watch index.js' }, type: 'module' }
  writeFileSync(join(api, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(api, 'index.js'), SOURCE)
  const root = await faultboard(['init'], { cwd })
  expect(root).toMatchObject({ code: 1, stdout: expect.stringContaining('cd packages/api && npx faultboard init ') })
  const { code, stdout } = await faultboard(['init', 'packages/api/index.js', '--yes'], { cwd })
  expect(code).toBe(0)
  expect(stdout).toMatch(/^In packages\/api:\nFound Express in index\.js\./)
  expect(stdout).toContain('1. cd packages/api && pnpm add faultboard\n')
  expect(stdout).toMatch(/ cd packages\/api && FAULTBOARD_\S+=admin FAULTBOARD_\S+ pnpm run dev\n/)
  expect(readFileSync(join(api, 'index.js'), 'utf8')).toContain('app.use(dashboard())')
  expect(existsSync(join(cwd, '.env.example'))).toBe(false)
})

test('init tells where the Pages Router of Next.js has the dashboard', async () => {
  const packages = JSON.stringify({ dependencies: { next: '^16.0.0' } })
  const cwd = await folder({ 'package.json': packages })
  const { stdout } = await faultboard(['init', '--yes'], { cwd })
  expect(stdout).toContain('open /api/error_dashboard.')
  expect(readFileSync(join(cwd, '.env.example'), 'utf8')).toContain('# Who may open /api/error_dashboard.')
})

test.each(['\u0003', '\u0004', 'n\r'])('%j at the question is a no', async (key) => {
  const output = new PassThrough()
  const input = Object.assign(new PassThrough(), { isTTY: true })
  const answer = agreed({ input, output })
  input.write(key)
  expect(await answer).toBe(false)
})

test('init writes all of its files or none, and says why', async () => {
  const packages = JSON.stringify({ dependencies: { next: '^16.0.0' } })
  const cwd = await folder({ 'package.json': packages })
  mkdirSync(join(cwd, 'app'))
  writeFileSync(join(cwd, 'app/error_dashboard'), 'a file where a folder should be')
  const { code, stderr } = await faultboard(['init', '--yes'], { cwd })
  expect(code).toBe(1)
  expect(stderr).toMatch(/^Nothing was written: .*error_dashboard.* may this user write there\?\n$/)
  expect(readdirSync(cwd).sort()).toEqual(['app', 'package.json'])
})

test('what is not understood ends with 1 and the lines to add by hand', async () => {
  const cwd = await folder({ ...FILES, 'app.mjs': 'export function createApp() {}' })
  const { code, stdout } = await faultboard(['init', '--yes'], { cwd })
  expect(code).toBe(1)
  expect(stdout).toContain("  import { capture, dashboard } from 'faultboard/express'\n")
  expect(existsSync(join(cwd, '.env.example'))).toBe(false)
})

describeWithGit('in a repository', () => {
  test('init warns of changes that are not committed', async () => {
    const cwd = await folder(FILES)
    execFileSync('git', ['init', '--quiet'], { cwd, stdio: 'pipe' })
    const { code, stderr } = await faultboard(['init', '--dry-run'], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'Beware: app.mjs has changes that are not committed yet.\n' })
  })
})
