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

function project(files: Record<string, string>): string {
  const root = temporaryFolder()
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return root
}

function logger(project_root: string) {
  const { tracker } = trackerAt(
    { url: `sqlite:${join(temporaryFolder(), 'x.sqlite3')}`, spool_path: temporaryFolder() },
    { project_root },
  )
  const log = async (input: LogErrorInput) => (await tracker.Commands.LogError.call(input))?.hash_signature
  const at = (line: string, more: LogErrorInput = {}) =>
    log({ error_type: 'TypeError', message: 'x', backtrace: [line], ...more })
  return { tracker, log, at }
}

const lineOf = (text: string, part: string, nth = 0) =>
  text
    .split('\n')
    .map((line, i) => (line.includes(part) ? i + 1 : 0))
    .filter(Boolean)[nth] ?? 0

describe('functions without a name are different places', () => {
  test('for handlers with the same line in different routes, and for callbacks of a timer', async () => {
    const root = project({ 'src/app.js': HANDLERS })
    const { at } = logger(root)
    const file = join(root, 'src/app.js')
    const signatures = [
      await at(`at ${file}:${lineOf(HANDLERS, 'user.name')}:17`),
      await at(`at async ${file}:${lineOf(HANDLERS, 'user.name', 1)}:17`),
      await at(`at ${file}:${lineOf(HANDLERS, 'charge')}:17`),
      await at(`at ${file}:${lineOf(HANDLERS, "'/one'")}:17`),
      await at(`at Timeout._onTimeout (${file}:${lineOf(HANDLERS, 'first')}:26)`),
      await at(`at Timeout._onTimeout (${file}:${lineOf(HANDLERS, 'second')}:26)`),
    ]
    expect(new Set(signatures).size).toBe(6)
  })

  test('in minified code on one line, by the statement at the column', async () => {
    const code = `${'var a=1;'.repeat(60)}app.get("/a",function(e,t){t.json(e.user.name)});app.get("/b",function(e,t){t.json(e.order.total)});`
    const root = project({ 'dist/app.js': code })
    const { at } = logger(root)
    const place = (code: string, part: string) => `at ${join(root, 'dist/app.js')}:1:${code.indexOf(part) + 1}`
    const signature = await at(place(code, 'user.name'))
    expect(await at(place(code, 'order.total'))).not.toBe(signature)
    // The next build moves everything and gives variables other names.
    const next = `var zz=5;${code.replaceAll('(e,t)', '(r,n)').replaceAll('t.json(e.', 'n.json(r.')}`
    const other = project({ 'dist/app.js': next })
    expect(await logger(other).at(`at ${join(other, 'dist/app.js')}:1:${next.indexOf('user.name') + 1}`)).toBe(
      signature,
    )
  })
})

describe('a function without a name stays the same place', () => {
  test('wherever in it a named function is called that throws', async () => {
    const root = project({ 'a.js': HANDLERS })
    const { at } = logger(root)
    const called = (line: number) => ({
      backtrace: [`at find (${join(root, 'find.js')}:1:1)`, `at ${join(root, 'a.js')}:${line}:9`],
    })
    const line = lineOf(HANDLERS, 'user.name')
    const signature = await at('', called(line))
    expect(await at('', called(line - 1))).toBe(signature)
    expect(await at('', called(lineOf(HANDLERS, 'user.name', 1)))).not.toBe(signature)
  })

  test('after a deploy to another folder, in other processes, as a file URL and as a relative path', async () => {
    const line = lineOf(HANDLERS, 'user.name')
    const roots = [project({ 'src/app.js': HANDLERS }), project({ 'src/app.js': HANDLERS })]
    const signatures = await Promise.all(
      roots.flatMap((root) => {
        const { at } = logger(root)
        return [
          at(`at ${join(root, 'src/app.js')}:${line}:17`),
          at(`at file://${join(root, 'src/app.js')}:${line}:17`),
          at(`at src/app.js:${line}:17`),
        ]
      }),
    )
    expect(new Set(signatures).size).toBe(1)
  })

  test('after edits above and below, another indentation and other quotation marks', async () => {
    const edited = `// A comment\nconst more = () => 5\n${HANDLERS.replaceAll('  ', '\t').replaceAll("'", '"')}\nexport default app\n`
    const [before, after] = [project({ 'a.js': HANDLERS }), project({ 'a.js': edited })]
    expect(await logger(after).at(`at ${join(after, 'a.js')}:${lineOf(edited, 'user.name')}:9`)).toBe(
      await logger(before).at(`at ${join(before, 'a.js')}:${lineOf(HANDLERS, 'user.name')}:17`),
    )
  })

  test('when its file is read again after it changed while the process runs', async () => {
    const root = project({ 'a.js': HANDLERS })
    const { at } = logger(root)
    const frame = `at ${join(root, 'a.js')}:${lineOf(HANDLERS, 'charge')}:17`
    const signature = await at(frame)
    writeFileSync(join(root, 'a.js'), 'something else\n'.repeat(100))
    expect(await at(frame)).toBe(signature)
  })
})

describe('where the source cannot be read', () => {
  const unreadable: [string, (root: string) => string][] = [
    ['missing', (root) => join(root, 'gone.js')],
    ['outside of the project', () => '/elsewhere/app.js'],
    ['named with a path that leads out of the project', () => '../../../../../../etc/passwd.js'],
    [
      'a link out of the project',
      (root) => {
        const outside = project({ 'secret.js': 'one\ntwo\nthree\nfour\n' })
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
  test.each(unreadable)('(%s) the line number tells places apart, and no digest is made', async (_, make) => {
    const root = project({})
    const { at } = logger(root)
    const file = make(root)
    expect(
      new SourceLines({ project_root: root, positions: undefined }).digest(parseFrame(`at ${file}:2:1`, root)),
    ).toBe(null)
    expect(await at(`at ${file}:2:1`)).toBe(await at(`at ${file}:2:9`))
    expect(await at(`at ${file}:2:1`)).not.toBe(await at(`at ${file}:3:1`))
  })

  test('the route of the request comes before the line number', async () => {
    const { at } = logger(project({}))
    const request = (route: string) => ({ request: { method: 'GET', route } })
    const signature = await at('at /gone/app.js:2:1', request('/users/:id'))
    expect(await at('at /gone/app.js:80:1', request('/users/:id'))).toBe(signature)
    expect(await at('at /gone/app.js:80:1', request('/orders/:id'))).not.toBe(signature)
  })

  test('callers without a name count by their file alone, so that an edit above them makes no new group', async () => {
    const { at } = logger(project({}))
    const lines = (line: number) => ({ backtrace: ['at total (/gone/cart.js:1:1)', `at /gone/app.js:${line}:1`] })
    expect(await at('', lines(5))).toBe(await at('', lines(50)))
  })

  test('a file that this process may not read takes the same fallback', async () => {
    if (process.getuid?.() === 0) return expect(process.getuid()).toBe(0)
    const root = project({ 'a.js': HANDLERS })
    chmodSync(join(root, 'a.js'), 0)
    const { at } = logger(root)
    expect(await at(`at ${join(root, 'a.js')}:2:1`)).not.toBe(await at(`at ${join(root, 'a.js')}:3:1`))
  })
})

test('files that a client names are never read: their content makes no difference', async () => {
  const signatures = await Promise.all(
    [HANDLERS, 'other();\n'.repeat(50)].map(async (text) => {
      const { tracker } = logger(project({ 'src/app.js': text }))
      const outcome = await tracker.inlet.record({
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

test('an original source that exists in a source map only identifies the function as the file itself would', async () => {
  const source = HANDLERS.replace("import express from 'express'\n", '')
  const { code, map } = await transform(source, {
    loader: 'ts',
    minify: true,
    sourcemap: 'external',
    sourcefile: '../src/app.ts',
  })
  const bundled = `${code.trimEnd()}\n//# sourceMappingURL=app.js.map\n`
  const inMap = project({ 'dist/app.js': bundled, 'dist/app.js.map': map })
  const onDisk = project({ 'dist/app.js': bundled, 'dist/app.js.map': map, 'src/app.ts': source })
  const thrown = (root: string, part: string) => {
    const column = code.indexOf(part) + 1
    expect(column).toBeGreaterThan(0)
    return Object.assign(new TypeError('x'), {
      stack: `TypeError: x\n    at ${join(root, 'dist/app.js')}:1:${column}`,
    })
  }
  const signature = await logger(inMap).log({ exception: thrown(inMap, 'charge(') })
  expect(await logger(onDisk).log({ exception: thrown(onDisk, 'charge(') })).toBe(signature)
  expect(await logger(onDisk).at(`at ${join(onDisk, 'src/app.ts')}:${lineOf(source, 'charge')}:16`)).toBe(signature)
  expect(await logger(inMap).log({ exception: thrown(inMap, '.one') })).not.toBe(signature)
})
