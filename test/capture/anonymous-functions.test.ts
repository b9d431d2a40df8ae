import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { transform } from 'esbuild'
import { describe, expect, test } from 'vitest'
import type { LogErrorInput } from '../../src/capture/fields.js'
import { SourceLines } from '../../src/capture/source-maps/source-lines.js'
import { parseFrame } from '../../src/model/stacks/backtrace.js'
import { temporaryFolder, trackerAt } from '../support/tracker.js'

const HANDLERS = `
import express from 'express'
const app = express()

app.get('/users/:id', (req, res) => {
  const user = find(req)
  res.json(user.name)
})
app.post('/orders', async (req, res) => {
  const user = find(req)
  res.json(user.name)
})
app.get(
  '/pay',
  (req, res) => {
    if (req.query.now) {
      res.json(charge(req).amount)
    }
  },
)
app.get('/one', (req, res) => res.json(undefined.one)); // one line
setTimeout(() => { throw new Error('first') }, 10)
setTimeout(() => { throw new Error('second') }, 10)
`

function writeProject(files: Record<string, string>): string {
  const root = temporaryFolder()
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return root
}

function createLogger(project_root: string) {
  const { tracker } = trackerAt(
    { url: `sqlite:${join(temporaryFolder(), 'x.sqlite3')}`, spool_path: temporaryFolder() },
    { project_root },
  )
  const log = async (input: LogErrorInput) => (await tracker.Commands.LogError.call(input))?.hash_signature
  const signatureAt = (line: string, fields: LogErrorInput = {}) =>
    log({ error_type: 'TypeError', message: 'x', backtrace: [line], ...fields })
  return { tracker, log, at: signatureAt }
}

const lineNumber = (text: string, part: string, nth = 0) =>
  text
    .split('\n')
    .map((line, i) => (line.includes(part) ? i + 1 : 0))
    .filter(Boolean)[nth] ?? 0

describe('different anonymous functions', () => {
  test('separates handlers of different routes and timer callbacks', async () => {
    const root = writeProject({ 'src/app.js': HANDLERS })
    const { at: signatureAt } = createLogger(root)
    const file = join(root, 'src/app.js')
    const signatures = [
      await signatureAt(`at ${file}:${lineNumber(HANDLERS, 'user.name')}:17`),
      await signatureAt(`at async ${file}:${lineNumber(HANDLERS, 'user.name', 1)}:17`),
      await signatureAt(`at ${file}:${lineNumber(HANDLERS, 'charge')}:17`),
      await signatureAt(`at ${file}:${lineNumber(HANDLERS, "'/one'")}:17`),
      await signatureAt(`at Timeout._onTimeout (${file}:${lineNumber(HANDLERS, 'first')}:26)`),
      await signatureAt(`at Timeout._onTimeout (${file}:${lineNumber(HANDLERS, 'second')}:26)`),
    ]
    expect(new Set(signatures).size).toBe(6)
  })

  test('separates functions in minified code by the statement at the column', async () => {
    const code = `${'var a=1;'.repeat(60)}app.get("/a",function(e,t){t.json(e.user.name)});app.get("/b",function(e,t){t.json(e.order.total)});`
    const root = writeProject({ 'dist/app.js': code })
    const { at: signatureAt } = createLogger(root)
    const place = (code: string, part: string) => `at ${join(root, 'dist/app.js')}:1:${code.indexOf(part) + 1}`
    const signature = await signatureAt(place(code, 'user.name'))
    expect(await signatureAt(place(code, 'order.total'))).not.toBe(signature)
    // The next build moves the code and renames variables.
    const next = `var zz=5;${code.replaceAll('(e,t)', '(r,n)').replaceAll('t.json(e.', 'n.json(r.')}`
    const other = writeProject({ 'dist/app.js': next })
    expect(await createLogger(other).at(`at ${join(other, 'dist/app.js')}:1:${next.indexOf('user.name') + 1}`)).toBe(
      signature,
    )
  })
})

describe('one anonymous function', () => {
  test('computes one signature for calls of a named function on different lines', async () => {
    const root = writeProject({ 'a.js': HANDLERS })
    const { at: signatureAt } = createLogger(root)
    const backtraceWithCaller = (line: number) => ({
      backtrace: [`at find (${join(root, 'find.js')}:1:1)`, `at ${join(root, 'a.js')}:${line}:9`],
    })
    const line = lineNumber(HANDLERS, 'user.name')
    const signature = await signatureAt('', backtraceWithCaller(line))
    expect(await signatureAt('', backtraceWithCaller(line - 1))).toBe(signature)
    expect(await signatureAt('', backtraceWithCaller(lineNumber(HANDLERS, 'user.name', 1)))).not.toBe(signature)
  })

  test('computes one signature in every folder, as a file URL and as a relative path', async () => {
    const line = lineNumber(HANDLERS, 'user.name')
    const roots = [writeProject({ 'src/app.js': HANDLERS }), writeProject({ 'src/app.js': HANDLERS })]
    const signatures = await Promise.all(
      roots.flatMap((root) => {
        const { at: signatureAt } = createLogger(root)
        return [
          signatureAt(`at ${join(root, 'src/app.js')}:${line}:17`),
          signatureAt(`at file://${join(root, 'src/app.js')}:${line}:17`),
          signatureAt(`at src/app.js:${line}:17`),
        ]
      }),
    )
    expect(new Set(signatures).size).toBe(1)
  })

  test('computes one signature after edits, indentation changes and other quotation marks', async () => {
    const edited = `// A comment\nconst more = () => 5\n${HANDLERS.replaceAll('  ', '\t').replaceAll("'", '"')}\nexport default app\n`
    const [before, after] = [writeProject({ 'a.js': HANDLERS }), writeProject({ 'a.js': edited })]
    expect(await createLogger(after).at(`at ${join(after, 'a.js')}:${lineNumber(edited, 'user.name')}:9`)).toBe(
      await createLogger(before).at(`at ${join(before, 'a.js')}:${lineNumber(HANDLERS, 'user.name')}:17`),
    )
  })

  test('computes one signature if the file changes while the process runs', async () => {
    const root = writeProject({ 'a.js': HANDLERS })
    const { at: signatureAt } = createLogger(root)
    const frame = `at ${join(root, 'a.js')}:${lineNumber(HANDLERS, 'charge')}:17`
    const signature = await signatureAt(frame)
    writeFileSync(join(root, 'a.js'), 'something else\n'.repeat(100))
    expect(await signatureAt(frame)).toBe(signature)
  })
})

describe('functions without readable source', () => {
  const unreadable: [string, (root: string) => string][] = [
    ['missing', (root) => join(root, 'gone.js')],
    ['outside of the project', () => '/elsewhere/app.js'],
    ['named with a path that leads out of the project', () => '../../../../../../etc/passwd.js'],
    [
      'a link out of the project',
      (root) => {
        const outside = writeProject({ 'secret.js': 'one\ntwo\nthree\nfour\n' })
        symlinkSync(join(outside, 'secret.js'), join(root, 'link.js'))
        return join(root, 'link.js')
      },
    ],
    [
      'a folder',
      (root) => {
        mkdirSync(join(root, 'folder.js'))
        return join(root, 'folder.js')
      },
    ],
    [
      'no source code',
      (root) => {
        writeFileSync(join(root, '.env'), 'A=1\nB=2\nC=3\n')
        return join(root, '.env')
      },
    ],
  ]
  test.each(unreadable)('distinguishes functions by line number if the file is %s', async (_, createFile) => {
    const root = writeProject({})
    const { at: signatureAt } = createLogger(root)
    const file = createFile(root)
    expect(
      new SourceLines({ project_root: root, positions: undefined }).digest(parseFrame(`at ${file}:2:1`, root)),
    ).toBe(null)
    expect(await signatureAt(`at ${file}:2:1`)).toBe(await signatureAt(`at ${file}:2:9`))
    expect(await signatureAt(`at ${file}:2:1`)).not.toBe(await signatureAt(`at ${file}:3:1`))
  })

  test('prefers the route of the request to the line number', async () => {
    const { at: signatureAt } = createLogger(writeProject({}))
    const request = (route: string) => ({ request: { method: 'GET', route } })
    const signature = await signatureAt('at /gone/app.js:2:1', request('/users/:id'))
    expect(await signatureAt('at /gone/app.js:80:1', request('/users/:id'))).toBe(signature)
    expect(await signatureAt('at /gone/app.js:80:1', request('/orders/:id'))).not.toBe(signature)
  })

  test('identifies anonymous callers by their file alone', async () => {
    const { at: signatureAt } = createLogger(writeProject({}))
    const backtraceAt = (line: number) => ({ backtrace: ['at total (/gone/cart.js:1:1)', `at /gone/app.js:${line}:1`] })
    expect(await signatureAt('', backtraceAt(5))).toBe(await signatureAt('', backtraceAt(50)))
  })

  test('falls back to the line number if the file is not readable', async () => {
    if (process.getuid?.() === 0) return expect(process.getuid()).toBe(0)
    const root = writeProject({ 'a.js': HANDLERS })
    chmodSync(join(root, 'a.js'), 0)
    const { at: signatureAt } = createLogger(root)
    expect(await signatureAt(`at ${join(root, 'a.js')}:2:1`)).not.toBe(
      await signatureAt(`at ${join(root, 'a.js')}:3:1`),
    )
  })
})

test('never reads a file that a client names', async () => {
  const signatures = await Promise.all(
    [HANDLERS, 'other();\n'.repeat(50)].map(async (text) => {
      const { tracker } = createLogger(writeProject({ 'src/app.js': text }))
      const outcome = await tracker.intake.record({
        source: 'reporting',
        error_type: 'TypeError',
        message: 'x',
        backtrace: ['at src/app.js:7:1'],
      })
      return (outcome as { hash_signature: string }).hash_signature
    }),
  )
  expect(new Set(signatures).size).toBe(1)
})

test('computes the same signature from a source map as from the original file', async () => {
  const source = HANDLERS.replace("import express from 'express'\n", '')
  const { code, map } = await transform(source, {
    loader: 'ts',
    minify: true,
    sourcemap: 'external',
    sourcefile: '../src/app.ts',
  })
  const bundled = `${code.trimEnd()}\n//# sourceMappingURL=app.js.map\n`
  const inMap = writeProject({ 'dist/app.js': bundled, 'dist/app.js.map': map })
  const onDisk = writeProject({ 'dist/app.js': bundled, 'dist/app.js.map': map, 'src/app.ts': source })
  const thrown = (root: string, part: string) => {
    const column = code.indexOf(part) + 1
    expect(column).toBeGreaterThan(0)
    return Object.assign(new TypeError('x'), {
      stack: `TypeError: x\n    at ${join(root, 'dist/app.js')}:1:${column}`,
    })
  }
  const signature = await createLogger(inMap).log({ exception: thrown(inMap, 'charge(') })
  expect(await createLogger(onDisk).log({ exception: thrown(onDisk, 'charge(') })).toBe(signature)
  expect(await createLogger(onDisk).at(`at ${join(onDisk, 'src/app.ts')}:${lineNumber(source, 'charge')}:16`)).toBe(
    signature,
  )
  expect(await createLogger(inMap).log({ exception: thrown(inMap, '.one') })).not.toBe(signature)
})
