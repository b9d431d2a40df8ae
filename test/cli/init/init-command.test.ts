import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { builtInSqlite } from '../../../src/store/dialects/sqlite-library.js'
import { faultboard, faultboardProcess, workingDirectory } from '../faultboard.js'

const SOURCE = `import express from 'express'\nconst app = express()\napp.listen(3000)\n`

/** Creates a host with these dependencies and files. */
async function createHost(
  dependencies: Record<string, string>,
  files: Record<string, string> = {},
  manifest: object = {},
): Promise<string> {
  const cwd = await workingDirectory({ 'package.json': JSON.stringify({ name: 'shop', dependencies, ...manifest }) })
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true })
    writeFileSync(join(cwd, path), text)
  }
  return cwd
}

test('init creates the configuration and the example environment and changes no other file', async () => {
  const cwd = await createHost({ express: '^5.0.0' }, { 'app.mjs': SOURCE, '.gitignore': 'node_modules\n' })
  const { code, stdout } = await faultboardProcess(['init'], { cwd })
  expect(code).toBe(0)
  expect(stdout).toContain('Found Express in app.mjs.\n')
  expect(stdout).toContain("import { capture, dashboard } from 'faultboard/express'")
  expect(stdout).toContain('app.mjs, after app is created, before the routes:\n\n  app.use(dashboard())\n')
  expect(stdout).toContain('faultboard.config.mjs: created.\n.env.example: created.\n')
  expect(stdout).toContain('Add faultboard.sqlite3* to .gitignore')
  expect(readFileSync(join(cwd, 'app.mjs'), 'utf8')).toBe(SOURCE)
  expect(readFileSync(join(cwd, '.gitignore'), 'utf8')).toBe('node_modules\n')
  expect(readFileSync(join(cwd, 'faultboard.config.mjs'), 'utf8')).toContain('application_name: "shop",\n')
  const [, password = ''] = /_PASSWORD=(\S+) node app\.mjs$/m.exec(stdout) ?? []
  expect(password.length).toBeGreaterThan(12)
  expect(readFileSync(join(cwd, '.env.example'), 'utf8')).not.toContain(password)
})

test('the command line reads the configuration that init creates', async () => {
  const cwd = await createHost({ express: '^5.0.0' })
  await faultboard(['init'], { cwd })
  const { code, stdout, stderr } = await faultboard(['migrate'], { cwd })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).not.toBe('')
  expect(existsSync(join(cwd, 'faultboard.sqlite3'))).toBe(true)
})

test('init keeps existing files and prints the lines that they need', async () => {
  const files = { '.env.example': 'PORT=3000\n', 'faultboard.config.js': 'export default {}\n' }
  const cwd = await createHost({ express: '^5.0.0' }, files)
  const { code, stdout } = await faultboard(['init'], { cwd })
  expect(code).toBe(0)
  expect(stdout).toContain('.env.example: exists, not changed.')
  expect(stdout).toContain('  FAULTBOARD_DASHBOARD_PASSWORD=\n')
  expect(readdirSync(cwd).sort()).toEqual(['.env.example', 'faultboard.config.js', 'package.json'])
  expect(readFileSync(join(cwd, '.env.example'), 'utf8')).toBe('PORT=3000\n')
})

test('init names the SQLite package if Node.js has no built-in SQLite', async () => {
  const step = 'With SQLite on Node.js before 22.16:  npm install @photostructure/sqlite'
  const isNeeded = builtInSqlite() === null
  const dependencies = { express: '^5.0.0' }
  const { stdout } = await faultboard(['init', '--dry-run'], { cwd: await createHost(dependencies) })
  expect(stdout.includes(step)).toBe(isNeeded)
  const installed = await createHost({ ...dependencies, '@photostructure/sqlite': '^1.2.1' })
  expect((await faultboard(['init', '--dry-run'], { cwd: installed })).stdout).not.toContain('@photostructure/sqlite')
})

test('init --dry-run creates no file and lists every step that init does not do', async () => {
  const files = { 'app.mjs': SOURCE, '.env.example': 'PORT=3000\n', '.gitignore': 'node_modules\n' }
  const cwd = await createHost({ express: '^5.0.0' }, files)
  const { code, stdout } = await faultboard(['init', '--dry-run'], { cwd })
  expect(code).toBe(0)
  expect(stdout).toContain('faultboard.config.mjs: would be created.')
  expect(readdirSync(cwd).sort()).toEqual(['.env.example', '.gitignore', 'app.mjs', 'package.json'])
  const withoutPassword = (text: string) =>
    text.replace(/PASSWORD=\S+/, 'PASSWORD=…').replace('would be created', 'created')
  expect(stdout).toMatch(
    /Manual steps:\n {2}1\. npm install faultboard\n(?:.* @photostructure\/sqlite.*\n)?.*\. Insert the code above\.\n/,
  )
  const { stdout: printed } = await faultboard(['init'], { cwd })
  expect(withoutPassword(stdout)).toBe(withoutPassword(printed))
})

test.each([
  ['the start script', { 'bin/www': '' }, { scripts: { start: 'node ./bin/www' } }, 'npm start'],
  ['bin/www', { 'bin/www': '' }, {}, 'node bin/www'],
  ['main', { 'lib/serve.cjs': '' }, { main: 'lib/serve.cjs' }, 'node lib/serve.cjs'],
  ['no command if there is none', {}, { main: 'missing.js' }, null],
])('init prints how the application is started: %s', async (_title, files, manifest, command) => {
  const cwd = await createHost({ express: '~4.16.1' }, files, manifest)
  const { stdout } = await faultboard(['init'], { cwd })
  expect(/_PASSWORD=\S+(?: (.+))?$/m.exec(stdout)?.[1] ?? null).toBe(command)
})

test('init prints where the application of fastify-cli registers the plugin', async () => {
  const files = { 'app.js': 'module.exports = async function (fastify) {}\n' }
  const cwd = await createHost({ fastify: '^5.0.0', 'fastify-cli': '^8.0.0' }, files)
  const { stdout } = await faultboard(['init'], { cwd })
  expect(stdout).toContain('app.js, at the start of the exported plugin:\n\n  fastify.register(faultboard)\n')
})

test('init names the section about a library that handles errors itself', async () => {
  const cwd = await createHost({ express: '^5.0.0', '@trpc/server': '^11.0.0' })
  const { stdout } = await faultboard(['init'], { cwd })
  expect(stdout).toContain('tRPC needs code in its error hook: docs/frameworks.md#trpc in the package.\n')
})

test('init prints the docs sections and the manual steps for frameworks that only the docs cover', async () => {
  const sections = {
    '@sveltejs/kit': 'sveltekit',
    astro: 'astro',
    '@react-router/node': 'react-router',
    elysia: 'elysia',
    'graphql-yoga': 'graphql-yoga',
    '@apollo/server': 'apollo-server',
  }
  const cwd = await createHost(Object.fromEntries(Object.keys(sections).map((name) => [name, '*'])))
  const { code, stdout } = await faultboard(['init'], { cwd })
  expect(code).toBe(1)
  expect([...stdout.matchAll(/docs\/frameworks\.md#(\S+)/g)].map(([, section]) => section)).toEqual(
    Object.values(sections),
  )
  expect(stdout).toContain('  1. npm install faultboard\n')
  const docs = readFileSync('docs/frameworks.md', 'utf8')
  for (const section of Object.values(sections)) expect(docs).toContain(`(#${section})`)
})

test('init prints require for a CommonJS application', async () => {
  const cwd = await createHost({ fastify: '^5.0.0' }, { 'index.js': "const app = require('fastify')()\n" })
  const { stdout } = await faultboard(['init'], { cwd })
  expect(stdout).toContain("  const { faultboard } = require('faultboard/fastify')\n")
})

test('init finds the source of a compiled entry file', async () => {
  const files = { 'src/web/http.ts': SOURCE, 'tsconfig.json': '{}' }
  const cwd = await createHost({ express: '^5.0.0' }, files, { scripts: { start: 'node dist/web/http.js' } })
  const { stdout } = await faultboard(['init'], { cwd })
  expect(stdout).toContain('Found Express in src/web/http.ts.')
  expect(stdout).toContain('faultboard.config.ts: created.')
})

test.each([
  ['^16.0.0', ['src/app/page.tsx'], 'src/app/error_dashboard/[[...path]]/route.js', 'open /error_dashboard.', false],
  ['^15.1.0', ['pages/index.jsx'], 'pages/api/error_dashboard/[[...path]].js', 'open /api/error_dashboard.', true],
])('init prints the files of Next.js %s with %j', async (range, pages, route, dashboard, needsMaps) => {
  const cwd = await createHost({ next: range }, Object.fromEntries(pages.map((page) => [page, ''])))
  const { code, stdout } = await faultboard(['init'], { cwd })
  expect(code).toBe(0)
  expect(stdout).toContain(`\n${route}, a new file:\n`)
  expect(stdout).toContain("serverExternalPackages: ['faultboard'],")
  expect(stdout.includes('serverSourceMaps')).toBe(needsMaps)
  expect(stdout).toContain(dashboard)
  expect(existsSync(join(cwd, route))).toBe(false)
})

test.each([
  ['nuxt', '^4.0.0', 'server/plugins/faultboard.js'],
  ['nitropack', '^2.9.0', 'plugins/faultboard.js'],
])('init prints the plug-in of %s', async (name, range, file) => {
  const cwd = await createHost({ [name]: range })
  const { stdout } = await faultboard(['init'], { cwd })
  expect(stdout).toContain(`\n${file}, a new file:\n\n  export { default } from 'faultboard/nitro'\n`)
  expect(stdout).toContain('docs/frameworks.md#nitro-and-nuxt')
})

test.each([
  [{ koa: '^1.7.0' }, 'Koa ^1.7.0 is not supported. Upgrade to Koa 2.0.0 or later.\n'],
  [{ hono: '^4.0.0', wrangler: '^4.0.0' }, 'Faultboard needs Node.js, and wrangler deploys to Cloudflare Workers.\n'],
])('init refuses %j and creates no file', async (dependencies, message) => {
  const cwd = await createHost(dependencies as Record<string, string>)
  const { code, stderr } = await faultboard(['init'], { cwd })
  expect({ code, stderr }).toEqual({ code: 1, stderr: message })
  expect(readdirSync(cwd)).toEqual(['package.json'])
})

test.each([
  ['', "No package.json in this folder. Run faultboard init in your application's folder.\n"],
  ['[', expect.stringMatching(/^Cannot parse package\.json: /)],
  ['null', 'Cannot parse package.json: it does not contain an object. Correct it and run init again.\n'],
])('init reports the package.json %j', async (text, message) => {
  const cwd = await workingDirectory(text === '' ? {} : { 'package.json': text })
  expect(await faultboard(['init'], { cwd })).toMatchObject({ code: 1, stderr: message })
})

test('init lists the applications of a monorepo and uses the package manager of its root', async () => {
  const api = { dependencies: { express: '^5.0.0' }, scripts: { dev: 'node --watch index.js' }, type: 'module' }
  const files = {
    'pnpm-lock.yaml': '',
    'pnpm-workspace.yaml': 'packages:\n  - packages/*\n',
    'packages/api/package.json': JSON.stringify(api),
    'packages/api/index.js': SOURCE,
    'packages/library/package.json': '{}',
  }
  const cwd = await createHost({}, files)
  const root = await faultboard(['init'], { cwd })
  expect(root.code).toBe(1)
  expect(root.stdout).toMatch(/\n {2}cd packages\/api && npx faultboard init {3}# Express\n$/)
  const { code, stdout } = await faultboard(['init'], { cwd: join(cwd, 'packages/api') })
  expect(code).toBe(0)
  expect(stdout).toContain('1. pnpm add faultboard\n')
  expect(stdout).toMatch(/FAULTBOARD_\S+=admin FAULTBOARD_\S+ pnpm run dev\n/)
})

test('init prints manual steps if it finds no framework', async () => {
  const cwd = await createHost({ lodash: '^4.0.0' })
  const { code, stdout } = await faultboard(['init'], { cwd })
  expect(code).toBe(1)
  expect(stdout).toContain('No supported framework found.\n')
  expect(stdout).toContain('  1. npm install faultboard\n')
  expect(stdout).toContain('Tracker.report(error)')
  expect(readdirSync(cwd)).toEqual(['package.json'])
})
