import { execFile } from 'node:child_process'
import { realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { type BuildOptions, build } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { temporaryFolder, trackerAt } from '../support/tracker.js'

/** Handlers that fail with the same message. Each is a separate bug. */
const APP_SOURCE = `
import { EventEmitter } from 'node:events'
const app = { routes: new Map(), get: (path, handler) => app.routes.set(path, handler) }
const find = () => undefined
const pool = { query: (sql, done) => setImmediate(() => done(new Error('lost'))) }

app.get('/users', (req, res) => { res.json(find().name) }); app.get('/orders', (req, res) => { res.json(find().name) })
app.get('/carts', async (req, res) => res.json(find().name)); app.get('/prices', async (req, res) => res.json(find().name))
app.get('/taxes', async function (req, res) {
  const found = find()
  res.json(found.name)
})
app.get('/rates', async function (req, res) {
  const found = find()
  res.json(found.name)
})
const wrap = (handler) => async (req, res) => { await handler(req, res) }
app.get('/wrapped/one', wrap(async (req, res) => {
  throw new Error('same')
}))
app.get('/wrapped/two', wrap(async (req, res) => {
  throw new Error('same')
}))
app.get('/items/map', () => [1].map(() => { throw new Error('same') }))
app.get('/items/each', () => [1].forEach(() => { throw new Error('same') }))
app.get('/then/one', () => Promise.resolve().then(() => { throw new Error('same') }))
app.get('/then/two', () => Promise.resolve().then(() => { throw new Error('same') }))
app.get(
  '/below/one',
  (req) => {
    throw new Error('same')
  },
)
app.get(
  '/below/two',
  (req) => {
    throw new Error('same')
  },
)
app.get('/query/users', () => new Promise((resolve, reject) => {
  pool.query('select 1', (error, rows) => {
    reject(new Error('same'))
  })
}))
app.get('/query/orders', () => new Promise((resolve, reject) => {
  pool.query('select 1', (error, rows) => {
    reject(new Error('same'))
  })
}))
app.get('/emitter/data', () => new Promise((resolve, reject) => {
  const emitter = new EventEmitter()
  emitter.on('data', () => reject(new Error('same')))
  emitter.emit('data')
}))
app.get('/emitter/end', () => new Promise((resolve, reject) => {
  const emitter = new EventEmitter()
  emitter.on('end', () => reject(new Error('same')))
  emitter.emit('end')
}))
class Repository {
  list(fail) {
    setImmediate(() => {
      fail(new Error('same'))
    })
  }
  async other(fail) {
    setImmediate(() => {
      fail(new Error('same'))
    })
  }
}
app.get('/repository/list', () => new Promise((resolve, reject) => new Repository().list(reject)))
app.get('/repository/other', () => new Promise((resolve, reject) => new Repository().other(reject)))
export const { routes } = app
`

/** Runs every handler twice and prints the thrown errors. Vitest would transform the file. */
const RUN_SCRIPT = `
const { routes } = await import(process.argv[1])
const thrown = []
for (const [route, handler] of routes) {
  for (let i = 0; i < 2; i++) {
    try {
      await handler({}, { json: () => undefined })
    } catch ({ name, message, stack }) {
      thrown.push({ route, error: { name, message, stack } })
    }
  }
}
console.log(JSON.stringify(thrown))
`

interface ThrownError {
  route: string
  error: { name: string; message: string; stack: string }
}

/** Signatures by route. */
async function computeSignatures(root: string, file: string): Promise<Map<string, string>> {
  const { tracker } = trackerAt(
    { url: `sqlite:${join(temporaryFolder(), 'x.sqlite3')}`, spool_path: temporaryFolder() },
    { project_root: root },
  )
  const moduleUrl = pathToFileURL(join(root, file)).href
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '-e',
    RUN_SCRIPT,
    '--',
    moduleUrl,
  ])
  const signatures = new Map<string, string>()
  for (const { route, error } of JSON.parse(stdout) as ThrownError[]) {
    const logged = await tracker.Commands.LogError.call({ exception: error })
    expect(logged?.hash_signature, route).toBe(signatures.get(route) ?? logged?.hash_signature)
    signatures.set(route, logged?.hash_signature ?? '')
  }
  return signatures
}

async function buildAndSign(options: BuildOptions | null, text = APP_SOURCE): Promise<Map<string, string>> {
  const root = realpathSync(temporaryFolder())
  writeFileSync(join(root, 'app.mjs'), text)
  if (options === null) return computeSignatures(root, 'app.mjs')
  const entry = { entryPoints: [join(root, 'app.mjs')], outfile: join(root, 'dist/app.mjs') }
  await build({ ...entry, bundle: true, platform: 'node', format: 'esm', ...options })
  return computeSignatures(root, 'dist/app.mjs')
}

function sharedSignatures(signatures: ReadonlyMap<string, string>): string[][] {
  const routes = new Map<string, string[]>()
  for (const [route, signature] of signatures) routes.set(signature, [...(routes.get(signature) ?? []), route])
  return [...routes.values()].filter(({ length }) => length > 1)
}

/** Adds functions before the existing functions, which changes the names that a minifier assigns. */
const EDITED_SOURCE = APP_SOURCE.replace(
  'const find =',
  `const first = (one, two) => one + two
export const second = (one, two, three) => [one, two, three].reduce(first)
const find =`,
)

describe('anonymous callbacks with the same message', () => {
  test.each([
    ['without a build', null],
    ['bundled', {}],
    ['bundled with a source map', { sourcemap: true }],
    ['minified with a source map', { minify: true, sourcemap: true }],
    ['minified without a source map', { minify: true }],
  ])('computes a separate, stable signature per callback (%s)', async (_, options) => {
    const signatures = await buildAndSign(options)
    expect(signatures.size).toBe(20)
    expect(sharedSignatures(signatures)).toEqual([])
    expect(Object.fromEntries(await buildAndSign(options, EDITED_SOURCE))).toEqual(Object.fromEntries(signatures))
  })
})
