import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { changedText } from '../../../src/cli/init/file-change.js'
import { readHost } from '../../../src/cli/init/host.js'
import { packageManager } from '../../../src/cli/init/package-manager.js'
import { planFor } from '../../../src/cli/init/recognise.js'
import { temporaryFolder } from '../../support/tracker.js'

/** What init would make of these files. */
function planned(packages: Record<string, string>, files: Record<string, string | Buffer>, more: object = {}) {
  const folder = hostWith({ ...files, 'package.json': JSON.stringify({ dependencies: packages, ...more }) })
  const plan = planFor(readHost(folder, undefined))
  return { ...plan, written: Object.fromEntries(plan.changes.map((change) => [change.path, changedText(change)])) }
}

function hostWith(files: Record<string, string | Buffer>): string {
  const folder = temporaryFolder()
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

const MADE = `import express from 'express'\nconst app = express()\n`
const HTTP = `import http from 'node:http'\n`
const EXPRESS = { express: '^5.0.0' }
const LINES = ["import { capture, dashboard } from 'faultboard/express'", 'app.use(dashboard())', 'app.use(capture())']

const AS_TEXT = expect.any(String)

describe('what init does not understand it leaves alone', () => {
  test.each([
    [
      'an application that a function makes',
      `import express from 'express'\nexport function createApp() {\n  const app = express()\n  return app\n}\ncreateApp().listen(1)`,
    ],
    [
      'two applications',
      `import express from 'express'\nconst app = express()\nconst admin = express()\napp.listen(1)`,
    ],
    ['two statements in a line', `const express = require('express'); const app = express(); app.listen(1)`],
    [
      'routes that come after listen',
      `import express from 'express'\nconst app = express()\napp.listen(1)\napp.get('/', home)`,
    ],
    [
      'routes and listen in one function',
      `import express from 'express'\nconst app = express()\nasync function start() {\n  app.use(routes)\n  app.listen(1)\n}\nstart()`,
    ],
    [
      'routes that are added elsewhere after listen',
      `import express from 'express'\nconst app = express()\nconst server = app.listen(1)\naddRoutes(app, server)`,
    ],
    ['an application that never ends', `import express from 'express'\nconst app = express()\napp.get('/', home)`],
    [
      'brackets that do not match',
      `import express from 'express'\nconst app = express()\napp.get('/', () => {\napp.listen(1)`,
    ],
    ['another package of seven letters', `const app = require('experts')()\napp.listen(1)`],
    ['a call that goes on in the next line', `${MADE}[1, 2].forEach(String)\napp.listen(1)`],
    ['an application that a server of Node.js answers for', `${HTTP}${MADE}http.createServer(wrap(app)).listen(1)`],
    ['routes that get the application in an object after listen', `${MADE}app.listen(1)\nroutes({ app })`],
    [
      'routes of a function that is called after listen',
      `${MADE}function add() {\n  app.use(r)\n}\napp.listen(1)\nadd()`,
    ],
    ['what may be a router or an error handler', `${MADE}app.use('/api', errorPages)\napp.listen(1)`],
    ['an error handler among others', `${MADE}app.use(json(), (e, q, s, next) => s.end())\napp.listen(1)`],
    [
      'an environment that a function reads',
      `import dotenv from 'dotenv'\n${MADE}async function main() {\n  dotenv.config()\n  app.listen(1)\n}\nmain()`,
    ],
    ['an environment that is read after the routes', `${MADE}app.use(r)\nprocess.loadEnvFile()\napp.listen(1)`],
    ['a comment that goes on below the application', `${MADE.trimEnd()} /* the\nshop */\napp.listen(1)`],
    ['a comment that goes on below a route', `${MADE}app.get('/', home) /* the\nshop */\napp.listen(1)`],
    [
      'a comment that goes on below an import',
      `import express from 'express' /* a\nb */\n${MADE.slice(30)}app.listen(1)`,
    ],
    ['what is no JavaScript', `${MADE}const const = 1\napp.listen(1)`],
    [
      'an application that is replaced',
      `import express from 'express'\nlet app = express()\napp = wrap(app)\napp.listen(1)`,
    ],
    ['a file that is not UTF-8', Buffer.from(`// caf\xe9\n${MADE}app.listen(1)`, 'latin1')],
    ['a byte order mark that would not stay first', `\uFEFFconst app = require('express')()\napp.listen(1)`],
  ])('%s', (_, source) => {
    const { changes, by_hand } = planned(EXPRESS, { 'app.js': source }, { type: 'module' })
    expect(changes).toEqual([])
    expect(by_hand).toMatchObject([{ reason: expect.stringContaining('app.js'), lines: [LINES[0], AS_TEXT, AS_TEXT] }])
  })

  test.each([
    [
      'export const app = express()\napp.use(express.json())\n',
      "import { app } from './web.js'\nimport './routes.js'\n",
    ],
    [
      'const app = express()\nexport default app\n',
      "import app from './web.js'\nimport routes from './routes.js'\nroutes(app)\n",
    ],
    ['const app = express()\nexport default app\n', "import app from './web'\napp.post('/', home)\n"],
  ])('an application that gets its routes in another file: %j %j', (made, entry) => {
    const files = {
      'index.js': `${entry}app.listen(1)\n`,
      'routes.js': "import { app } from './web.js'\napp.get('/', home)\n",
      'web.js': `import express from 'express'\n${made}`,
    }
    expect(planned(EXPRESS, files).changes).toEqual([])
    const whole = {
      ...files,
      'index.js': "import app from './web.js'\napp.set('port', 1)\napp.listen(1)\n",
      'routes.js': '',
    }
    expect(planned(EXPRESS, whole).changes).toMatchObject([{ path: 'web.js' }])
  })

  test('an application that is not the one that is started', () => {
    const started = "import { make } from './lib/shop.js'\nmake().listen(1)\n"
    const shop = `import express from 'express'\nexport function make() {\n  return express()\n}\n`
    const files = { 'bin/run.js': started, 'bin/lib/shop.js': shop, 'index.js': `${MADE}app.listen(2)\n` }
    expect(planned(EXPRESS, files, { scripts: { start: 'node bin/run.js' } }).changes).toEqual([])
  })

  test('an application that is a part of another one', () => {
    const api = `import { Hono } from 'hono'\nconst api = new Hono()\nexport default api\n`
    const index = `import make from '@acme/hono'\nimport api from './api.js'\nconst app = make()\napp.route('/api', api)\n`
    expect(planned({ hono: '^4.0.0' }, { 'index.js': index, 'api.js': api }).changes).toEqual([])
  })

  test('an application for Cloudflare Workers, where it does not run', () => {
    const files = { 'src/index.ts': `import { Hono } from 'hono'\nconst app = new Hono()\nexport default app\n` }
    const { changes, by_hand } = planned({ hono: '^4.0.0', wrangler: '^4.0.0' }, files)
    expect({ changes, reason: by_hand[0]?.reason }).toEqual({
      changes: [],
      reason: expect.stringContaining('wrangler in package.json'),
    })
  })

  test.each([
    [
      'routes before what catches errors',
      'app.use(router.routes())\napp.use(async (ctx, next) => {\n  try {\n    await next()\n  } catch {}\n})\n',
    ],
    ['a router that is called after errors', 'app.use(errorRouter.routes())\napp.use(handleErrors)\n'],
  ])('Koa with %s', (_, uses) => {
    const source = `import Koa from 'koa'\nconst app = new Koa()\n${uses}app.listen(1)\n`
    expect(planned({ koa: '^3.0.0' }, { 'app.js': source }).changes).toEqual([])
  })

  test.each(['.catch(stop)', '\n    .then(prepare)', '!.app'])('NestJS of which goes on: %j', (rest) => {
    const source = `import { NestFactory } from '@nestjs/core'\nasync function start() {\n  const app = await NestFactory.create(Shop)${rest}\n}\n`
    expect(planned({ '@nestjs/core': '^11.0.0' }, { 'src/main.ts': source }).changes).toEqual([])
  })

  test.each([
    ['koa', '^2.15.0', 'Koa ^2.15.0 is older than what there is an adapter for, Koa 3'],
    ['fastify', '~4.2.0', 'Fastify ~4.2.0 is older than what there is an adapter for, Fastify 5'],
    ['h3', '^1.15.0', 'h3 ^1.15.0 is older than what there is an adapter for, h3 2'],
  ])('%s %s', (name, range, reason) => {
    const source = `import X, { H3 } from '${name}'\nconst app = new X()\napp.listen(1)`
    expect(planned({ [name]: range }, { 'app.js': source })).toMatchObject({ changes: [], by_hand: [{ reason }] })
  })

  test.each([
    ['options before the listener', `import { createServer } from 'node:http'\ncreateServer({}, listener).listen(1)`],
    [
      'a listener that comes later',
      `import { createServer } from 'node:http'\ncreateServer().on('request', f).listen(1)`,
    ],
    ['options of TLS', `import { createServer } from 'node:https'\nconst server = createServer(options)`],
    [
      'a listener from elsewhere',
      `import { createServer } from 'http'\nimport f from './f.js'\ncreateServer(f).listen(1)`,
    ],
    ['two servers', `import { createServer } from 'http'\ncreateServer(a).listen(1)\ncreateServer(b).listen(2)`],
    ['a chain of routes', `import { Hono } from 'hono'\nconst app = new Hono().get('/', home)\nexport default app`],
  ])('%s', (_, source) => {
    const packages = source.includes('hono') ? { hono: '^4.0.0' } : {}
    const { changes, by_hand } = planned(packages, { 'server.mjs': source })
    expect(changes).toEqual([])
    expect(by_hand).toMatchObject([{ reason: expect.stringContaining('server.mjs') }])
  })

  test.each([
    [{ koa: '^2.15.0' }, 'Koa', "const Koa = require('koa')\nconst app = new Koa()\nconst answer = app.callback()"],
    [{ express: '^5.0.0' }, 'Express', "const app = make(require('express'))\nfunction answer() {}"],
  ])('%o behind a server of Node.js, which would see none of its errors', (packages, name, source) => {
    const files = { 'app.js': `const http = require('http')\n${source}\nhttp.createServer(answer).listen(1)` }
    const { changes, found } = planned(packages, files)
    expect({ changes, found }).toEqual({ changes: [], found: `${name} in package.json` })
  })

  test('and tells the lines as the application would write them', () => {
    const [hand] = planned(EXPRESS, { 'app.js': `exports.createApp = () => require('express')()` }).by_hand
    expect(hand?.lines[0]).toBe("const { capture, dashboard } = require('faultboard/express')")
  })

  test('and tells the lines with the name that the application has where a function makes it', () => {
    const source = `import fastify from 'fastify'\nexport function buildApp(options) {\n  const server = fastify(options)\n  return server\n}\n`
    const files = { 'index.js': `import { buildApp } from './build.js'\nbuildApp({}).listen()\n`, 'build.js': source }
    const { by_hand } = planned({ fastify: '^5.0.0' }, files, { type: 'module' })
    expect(by_hand).toEqual([
      {
        reason: 'it is not sure where they belong in build.js, in which the application is called server',
        lines: ["import { faultboard } from 'faultboard/fastify'", 'server.register(faultboard) // first of all'],
      },
    ])
  })

  test.each([
    [{ workspaces: ['apps/*', 'tools'] }, {}],
    [{ workspaces: { packages: ['apps/*', 'tools'] } }, {}],
    [{}, { 'pnpm-workspace.yaml': "packages:\n  - 'apps/*'\n  - tools\n" }],
  ])('the root of several packages, of which it names those with a framework: %j', (more, files) => {
    const web = JSON.stringify({ dependencies: { next: '^16.0.0' } })
    const api = JSON.stringify({ dependencies: { koa: '^3.0.0' } })
    const below = { 'apps/web/package.json': web, 'apps/api/package.json': api, 'tools/package.json': '{' }
    expect(planned({}, { ...files, ...below }, more).by_hand[0]?.lines).toEqual([
      'cd apps/api && npx faultboard init   # Koa',
      'cd apps/web && npx faultboard init   # Next.js',
    ])
  })

  test('a folder without an application', () => {
    const reason = 'nothing that starts an application was found here'
    expect(planned({}, {})).toMatchObject({ changes: [], by_hand: [{ reason }] })
  })

  test('a folder without package.json says so', () => {
    expect(() => readHost(temporaryFolder(), undefined)).toThrow('There is no package.json in this folder')
  })

  test('a package.json that holds something else', () => {
    const read = (text: string) => readHost(hostWith({ 'package.json': text }), undefined)
    expect(() => read('null')).toThrow('package.json cannot be read: it holds no object')
    const odd = {
      main: 7,
      type: [],
      scripts: { start: 5, dev: 'node a.js' },
      dependencies: { express: {}, koa: '^3.0.0' },
    }
    expect(read(`\uFEFF${JSON.stringify(odd)}`)).toMatchObject({ packages: { koa: '^3.0.0' }, start_script: 'dev' })
  })
})

describe('what init writes', () => {
  test('has the semicolons, quotes and line ends of the file', () => {
    const source = 'import express from "express";\r\nconst app = express();\r\napp.listen(1);\r\n'
    expect(planned(EXPRESS, { 'index.js': source }).written['index.js']).toBe(
      'import express from "express";\r\nimport { capture, dashboard } from "faultboard/express";\r\nconst app = express();\r\napp.use(dashboard());\r\napp.use(capture());\r\napp.listen(1);\r\n',
    )
  })

  test('does not end up in comments, texts and templates that look like code', () => {
    const source = [
      "import express from 'express'",
      '/*',
      'const app = express()',
      '*/',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source of a template
      "const text = `\nconst app = express()\n${`app.listen(${'}'})`}`",
      'const app = express()',
      'app.get(/[/](listen)["\']/, (request, response) => response.send(text))',
      "// app.listen('later')",
      'app.listen(1)',
      '',
    ].join('\n')
    const { written } = planned(EXPRESS, { 'app.js': source })
    expect(written['app.js']?.split('\n').filter((line) => !source.split('\n').includes(line))).toEqual(LINES)
    expect(written['app.js']).toContain(
      "]/, (request, response) => response.send(text))\napp.use(capture())\n// app.listen('later')\napp.listen(1)\n",
    )
  })

  test('comes after what reads the environment from a file', () => {
    const source = `import dotenv from 'dotenv'\nimport express from 'express'\nconst app = express()\ndotenv.config()\napp.listen(1)\n`
    expect(planned(EXPRESS, { 'app.js': source }).written['app.js']).toContain(
      'dotenv.config()\napp.use(dashboard())\n',
    )
  })

  test.each([
    ['if without braces', 'app.use(r)\n', 'if (require.main === module)\n  app.listen(1)\n'],
    ['for without braces', 'app.use(r)\n', 'for (const port of [1, 2])\n  app.listen(port)\n'],
    ['if with a brace of its own line', 'app.use(r)\n', 'if (f(1))\n{\n  app.listen(1)\n}\n'],
    ['else in a line of its own', 'app.use(r)\n', 'if (a) {\n  b()\n}\nelse {\n  app.listen(1)\n}\n'],
    ['else without braces', 'app.use(r)\n', 'if (a)\n  b()\nelse\n  app.listen(1)\n'],
    ['catch in a line of its own', 'app.use(r)\n', 'try {\n  a()\n}\ncatch (e) {\n  app.listen(1)\n}\n'],
    ['await at the end of a line', 'app.use(r)\n', 'const server = await\n  app.listen(1)\n'],
    ['a function with a brace of its own line', 'app.use(r)\n', 'function main()\n{\n  app.listen(1)\n}\nmain()\n'],
    ['a server made before the routes', 'const s = createServer(app)\napp.use(r)\n', 's.listen(1)\n'],
    ['a port that is a setting', "app.set('port', 1)\n", "app.listen(app.get('port'))\n"],
    ['an error handler below a path', 'app.use(r)\n', "app.use('/api', (e, q, s, next) => s.end())\napp.listen(1)\n"],
  ])('stands after the routes and before the whole of what listens: %s', (_, routes, end) => {
    const { written } = planned(EXPRESS, { 'app.js': `${MADE}${routes}${end}` })
    expect(written['app.js']).toContain(`${routes}app.use(capture())\n${end}`)
  })

  test('has a semicolon where the next line would be taken for a part of it, and where most statements have one', () => {
    const functions = ['a', 'b', 'c', 'd'].map((name) => `function ${name}() {}\n`).join('')
    const ended = `${MADE.replaceAll('\n', ';\n')}app.listen(1);\n${functions}`
    expect(planned(EXPRESS, { 'app.js': ended }).written['app.js']).toContain('app.use(capture());\napp.listen')
    const bare = `${MADE}a()\nb();\n(async () => app.listen(1))()\n`
    expect(planned(EXPRESS, { 'app.js': bare }).written['app.js']).toContain('b();\napp.use(capture());\n(async')
  })

  test.each([
    ["require('dotenv').config()", ''],
    ['config()', "import { config } from 'dotenv'\n"],
    ["if (isLocal) {\n  require('dotenv/config')\n}", ''],
    ['Tracker.configure({ before_log_callback: () => true })', "import { Tracker } from 'faultboard'\n"],
  ])('comes after %j', (preparation, imports) => {
    const source = `${imports}${MADE}${preparation}\napp.listen(1)\n`
    expect(planned(EXPRESS, { 'app.js': source }).written['app.js']).toContain(
      `const app = express()\n${preparation}\napp.use(dashboard())\n`,
    )
  })

  test('has names that the file does not use', () => {
    const source = `import { Hono } from 'hono'\nconst app = new Hono()\nconst faultboard = 1\nconst errorTracker = 2\n`
    expect(planned({ hono: '^4.0.0' }, { 'app.js': source }).written['app.js']).toContain(
      "import { faultboard as faultboardFaultboard } from 'faultboard/hono'\nconst app = new Hono()\napp.use(faultboardFaultboard())\n",
    )
  })

  test('stands below an import whose attributes have a line of their own', () => {
    const imports = "import express from 'express'\nimport prices from './prices.json'\n  with { type: 'json' }\n"
    const { written } = planned(EXPRESS, { 'app.js': `${imports}const app = express()\napp.listen(1)\n` })
    expect(written['app.js']).toContain(`${imports}${LINES[0]}\n`)
  })

  test('stands behind what catches around the rest in Koa, and before a page that catches for itself', () => {
    const head = "import Koa from 'koa'\n"
    const around = 'app.use(async (ctx, next) => {\n  try {\n    await next()\n  } catch {}\n})\n'
    const page =
      'app.use(router.routes())\napp.use(async (ctx) => {\n  try {\n    ctx.body = a()\n  } catch {}\n})\napp.listen(1)\n'
    const { written } = planned({ koa: '^3.0.0' }, { 'app.js': `${head}const app = new Koa()\n${around}${page}` })
    expect(written['app.js']).toContain(`${around}app.use(faultboard())\n${page}`)
  })

  test('stands behind a router that is called after errors', () => {
    const { written } = planned(EXPRESS, { 'app.js': `${MADE}app.use(errorRoutes)\napp.listen(1)\n` })
    expect(written['app.js']).toContain('app.use(errorRoutes)\napp.use(capture())\n')
  })

  test.each([
    ['pnpm-lock.yaml', 'pnpm'],
    ['bun.lock', 'bun'],
    ['package.json', 'npm'],
  ])('is told with the program that has made the lock file of all packages: %s', (lock, manager) => {
    const folder = hostWith({
      'yarn.lock': '',
      'shop/.git/HEAD': '',
      [`shop/${lock}`]: '{}',
      'shop/apps/api/app.js': '',
    })
    expect(packageManager(join(folder, 'shop/apps/api'))).toBe(manager)
  })

  test('is not there already because a comment or the tracker alone is', () => {
    const source = `// see 'faultboard/express'\nimport { Tracker } from 'faultboard'\n${MADE}app.listen(1)\n`
    expect(planned(EXPRESS, { 'app.js': source })).toMatchObject({ present: [], changes: [{ path: 'app.js' }] })
  })

  test('stays below a line for the shell and a directive, also behind a byte order mark', () => {
    const head = "\uFEFF#!/usr/bin/env node\n'use strict'\n"
    const source = `${head}const app = require('express')()\napp.listen(1)\n`
    expect(planned(EXPRESS, { 'app.js': source }).written['app.js']).toMatch(new RegExp(`^${head}const { capture`))
  })

  test('goes into a file that is named by its whole path', () => {
    const folder = hostWith({
      'package.json': JSON.stringify({ dependencies: EXPRESS }),
      'web.js': `${MADE}app.listen(1)`,
    })
    expect(planFor(readHost(folder, join(folder, 'web.js'))).found).toBe('Express in web.js')
  })

  test.each([
    ['{ "compilerOptions": { "module": "commonjs" } }', 'does not let TypeScript read the exports of packages'],
    ['{ "compilerOptions": { "module": "esnext", "moduleResolution": "node" } }', 'the exports of packages'],
    ['{ /* "module": "nodenext" */ "extends": "./base" }', 'with "module": "node16" in tsconfig.json'],
    ['{ "extends": "./base", "compilerOptions": { "module": "nodenext", }, }', null],
    ['{ "compilerOptions": { "module": "esnext", "moduleResolution": "bundler" } }', null],
  ])('comes with what is to change in tsconfig.json for TypeScript to find it: %s', (tsconfig, reason) => {
    const base = '{ "compilerOptions": { "module": "node16" } }'
    const files = { 'app.ts': `${MADE}app.listen(1)\n`, 'tsconfig.json': tsconfig, 'base.json': base }
    const { changes, by_hand } = planned({ ...EXPRESS, typescript: '^5.9.0' }, files)
    expect(changes).toHaveLength(1)
    const hand = {
      reason: expect.stringContaining(reason ?? ''),
      lines: expect.arrayContaining(['"module": "nodenext"']),
    }
    expect(by_hand).toEqual(reason === null ? [] : [hand])
  })

  test('stands before an error handler that is known by its name alone', () => {
    const source = `import express from 'express'\nimport { handleErrors } from './x.js'\nimport e from './errors.js'\nconst app = express()\napp.use(e.errorHandler)\napp.listen(1)\n`
    expect(planned(EXPRESS, { 'app.js': source }).written['app.js']).toContain(
      'app.use(capture())\napp.use(e.errorHandler)\n',
    )
  })

  test('goes into the file that a script of package.json starts, not into one that only looks like it', () => {
    const source = `import express from 'express'\nconst app = express()\napp.listen(1)\n`
    const files = { 'app.js': source, 'src/web/api.ts': source }
    const { found } = planned(EXPRESS, files, { scripts: { start: 'node --enable-source-maps dist/web/api.js' } })
    expect(found).toBe('Express in src/web/api.ts')
  })
})

describe('frameworks that are files', () => {
  test('Next.js gets the three files of examples/next, with its options left to the environment', () => {
    const folder = temporaryFolder()
    cpSync('examples/next', folder, { recursive: true })
    const own = ['next.config.mjs', 'app/error_dashboard/[[...path]]/route.js']
    for (const path of [...own, 'instrumentation.js']) rmSync(join(folder, path))
    const { changes } = planFor(readHost(folder, undefined))
    const written = Object.fromEntries(changes.map((change) => [change.path, changedText(change)]))
    expect(Object.keys(written).sort()).toEqual([...own, 'instrumentation.js'].sort())
    const route = 'app/error_dashboard/[[...path]]/route.js'
    expect(written[route]).toBe(readFileSync(join('examples/next', route), 'utf8'))
    expect(written['instrumentation.js']).toBe("export { onRequestError, register } from 'faultboard/next'\n")
  })

  test.each([
    ['^15.1.0', '', '  experimental: { serverSourceMaps: true },\n'],
    ['^15.1.0', '  experimental: { ppr: true },\n', ''],
    ['^16.0.0', '', ''],
  ])(
    'Next.js %s is told to write source maps where it does not by itself, and has no such part: %j',
    (next, own, maps) => {
      const { written } = planned({ next }, { 'next.config.mjs': `export default {\n${own}}\n`, 'app/page.jsx': '' })
      expect(written['next.config.mjs']).toBe(
        `export default {\n  serverExternalPackages: ['faultboard'],\n${maps}${own}}\n`,
      )
    },
  )

  test('Next.js in TypeScript below src, with a configuration of its own', () => {
    const config = `import type { NextConfig } from "next";\n\nconst nextConfig: NextConfig = {\n  reactStrictMode: true,\n};\n\nexport default nextConfig;\n`
    const files = { 'tsconfig.json': '{}', 'next.config.ts': config, 'src/app/page.tsx': '' }
    const { written, by_hand } = planned({ next: '^16.0.0' }, files)
    expect(by_hand).toEqual([])
    expect(written['next.config.ts']).toBe(
      config.replace('  react', "  serverExternalPackages: ['faultboard'],\n  react"),
    )
    expect(Object.keys(written)).toContain('src/instrumentation.ts')
    expect(Object.keys(written)).toContain('src/app/error_dashboard/[[...path]]/route.ts')
  })

  test.each([
    ['const headers = {\n  a: 1,\n}\nconst mine = {\n', '  b: 1,\n}\nmodule.exports = mine\n'],
    ['/*\nexport default {\n  old: 1\n}\n*/\nexport default {\n', '  b: 1,\n} satisfies NextConfig\n'],
    ['const mine = {\n', '  b: 1,\n}\nmodule.exports = withPlugins(mine)\n', 'by hand'],
    ['const mine = {\n', '  b: 1,\n}\nexport default () => mine\n', 'by hand'],
    ['export default { /* all\n', 'of it */\n  b: 1,\n}\n', 'by hand'],
  ])('Next.js has its configuration changed in what it exports alone: %j %j', (above, below, by_hand = '') => {
    const { written } = planned({ next: '^16.0.0' }, { 'next.config.js': `${above}${below}` })
    const changed = `${above}  serverExternalPackages: ['faultboard'],\n${below}`
    expect(written['next.config.js']).toBe(by_hand ? undefined : changed)
  })

  test('Next.js keeps a route that is not in TypeScript, and tells where the Pages Router has the dashboard', () => {
    const route = 'app/error_dashboard/[[...path]]/route.js'
    const { present, dashboard_path } = planned({ next: '^16.0.0' }, { 'tsconfig.json': '{}', [route]: '' })
    expect({ present, dashboard_path }).toEqual({ present: [route] })
    expect(planned({ next: '^16.0.0' }, { 'pages/index.js': '' }).dashboard_path).toBe('/api/error_dashboard')
  })

  test('an instrumentation and a configuration that Next.js has already are told of, not touched', () => {
    const files = {
      'instrumentation.js': 'export function register() {}',
      'next.config.js': 'module.exports = withPlugins({})',
      'pages/index.js': '',
    }
    const { written, by_hand } = planned({ next: '^15.0.0' }, files)
    expect(Object.keys(written)).toEqual(['pages/api/error_dashboard/[[...path]].js'])
    expect(by_hand.map(({ reason }) => reason.split(' ').slice(0, 4).join(' '))).toEqual([
      'next.config.js is written in',
      'there is a instrumentation.js',
    ])
    const typed = planned({ next: '^16.0.0' }, { 'next.config.mts': 'export default withPlugins({})' })
    expect(Object.keys(typed.written)).not.toContain('next.config.mjs')
  })

  test('Nitro gets the two files of examples/nitro, with its options left to the environment', () => {
    const { written, by_hand } = planned({ nitropack: '^2.13.0' }, {})
    expect(by_hand).toEqual([])
    expect(written['plugins/faultboard.js']).toBe("export { default } from 'faultboard/nitro'\n")
    const example = readFileSync('examples/nitro/nitro.config.mjs', 'utf8')
    const own = written['nitro.config.mjs']?.split('\n') ?? []
    expect(own.length).toBeGreaterThan(6)
    expect(own.join()).toContain("['glibc', 'musl']")
    expect(own.filter((line) => !example.includes(line))).toEqual([])
  })

  test('Nuxt gets its plugin, and its operator the lines for the build', () => {
    const { written, by_hand } = planned(
      { nuxt: '^4.0.0' },
      { 'nuxt.config.ts': 'export default {}', 'tsconfig.json': '{}' },
    )
    expect(written).toEqual({ 'server/plugins/faultboard.ts': "export { default } from 'faultboard/nitro'\n" })
    expect(by_hand).toMatchObject([{ reason: expect.stringContaining('nuxt.config.ts') }])
    const moved = planned({ nuxt: '^3.0.0' }, { 'nuxt.config.ts': "export default { srcDir: 'client/' }" })
    expect(moved).toMatchObject({ changes: [], by_hand: [{ reason: expect.stringContaining('folders of its own') }] })
  })
})
