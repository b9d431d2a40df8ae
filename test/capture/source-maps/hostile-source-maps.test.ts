import { execFileSync } from 'node:child_process'
import { mkdirSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { SourcePositions } from '../../../src/capture/source-maps/source-positions.js'
import { parseFrame } from '../../../src/model/stacks/backtrace.js'
import { temporaryFolder } from '../../support/tracker.js'

/** Line 1, column 1 of the code is line 2, column 1 of the first source. */
const MAPPINGS = 'AACA'
const plain = (source: unknown, more: object = {}) => ({
  version: 3,
  sources: [source],
  names: [],
  mappings: MAPPINGS,
  ...more,
})

function project(files: Record<string, string> = {}): string {
  const root = realpathSync(temporaryFolder())
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return root
}

const withMap = (map: unknown) => project({ 'dist/x.js': code('x.js.map'), 'dist/x.js.map': JSON.stringify(map) })
const code = (url: string) => `fail()\n//# sourceMappingURL=${url}\n`

function mapped(root: string, line = `at fail (${root}/dist/x.js:1:1)`, options: object = {}) {
  const skipped: string[] = []
  const positions = new SourcePositions({ project_root: root, onSkipped: (reason) => skipped.push(reason), ...options })
  const [result = ''] = positions.original(Object.freeze([line]))
  return { line: result, same: result === line, frame: parseFrame(result, root), skipped, positions }
}

describe('the name of a source', () => {
  test.each([
    ['../src/a.ts', 'src/a.ts', true],
    ['webpack://shop/./src/a.ts', 'src/a.ts', true],
    ['webpack://@acme/shop/./src/a.ts?1f2e', 'src/a.ts', true],
    ['webpack:///src/a.ts', 'src/a.ts', true],
    ['webpack://shop/./node_modules/b/a.js', 'node_modules/b/a.js', false],
    ['webpack://shop/webpack/bootstrap', 'node_modules/webpack/bootstrap', false],
    ['turbopack:///[project]/src/a.ts', 'src/a.ts', true],
    ['../../node_modules/b/a.js', 'node_modules/b/a.js', false],
    ['file:///build/src/a%20b.ts', '/build/src/a b.ts', true],
    ['/build/src/a.ts', '/build/src/a.ts', true],
    ['../app/(shop)/page (1).tsx', 'app/(shop)/page (1).tsx', true],
    ['https://cdn.example/a.ts', 'https://cdn.example/a.ts', true],
  ])('%s is shown as %s', (source, file, in_app) => {
    expect(mapped(withMap(plain(source))).frame).toMatchObject({ file, in_app, line_number: 2, function_name: 'fail' })
  })

  test('starts from sourceRoot', () => {
    expect(mapped(withMap(plain('a.ts', { sourceRoot: '../src' }))).frame.file).toBe('src/a.ts')
  })

  test.each(['a\0.ts', 'a\nat b (c.ts:1:2)', 'a(.ts', 'eval at b (c.ts', '', null, 7, {}, `${'a/'.repeat(900)}b.ts`])(
    'leaves the line alone where it is %j',
    (source) => {
      expect(mapped(withMap(plain(source))).same).toBe(true)
    },
  )
})

describe('a line', () => {
  test.each([
    ['at async fail (FILE:1:1)', 'fail'],
    ['at new Cart (file://FILE:1:1)', 'new Cart'],
    ['at Cart.[Symbol(x)] [as y] (FILE:1:1)', 'Cart.[Symbol(x)] [as y]'],
    ['at FILE:1:1', null],
    ['at async file://FILE?v=2:1:1', null],
    ['at eval (eval at load (FILE:1:1), <anonymous>:3:4)', 'eval'],
  ])('%s keeps its name', (shape, function_name) => {
    const root = withMap(plain('../src/a.ts'))
    const { frame } = mapped(root, shape.replace('FILE', `${root}/dist/x.js`))
    expect(frame).toMatchObject({ file: 'src/a.ts', line_number: 2, column: 1, function_name })
  })

  test('without a name does not take the one that its caller uses', () => {
    const root = withMap({ ...plain('../src/a.ts', { names: ['total'] }), mappings: 'AACA;AACAA' })
    const file = `${root}/dist/x.js`
    const lines = new SourcePositions({ project_root: root }).original([`at ${file}:1:1`, `at run (${file}:2:1)`])
    expect(lines).toEqual([`at ${root}/src/a.ts:2:1`, `at run (${root}/src/a.ts:3:1)`])
  })

  test('of a part without mapping stays', () => {
    const root = withMap(plain('../src/a.ts'))
    expect(mapped(root, `at fail (${root}/dist/x.js:9:1)`).same).toBe(true)
    const cut = withMap({ ...plain('../src/a.ts'), mappings: 'AACA,K' })
    expect(mapped(cut, `at fail (${cut}/dist/x.js:1:9)`).same).toBe(true)
  })

  test('is found in the section of an index map that holds it', () => {
    const section = (line: number, column: number, source: string) => ({ offset: { line, column }, map: plain(source) })
    const root = withMap({
      version: 3,
      sections: [section(0, 0, '../src/a.ts'), section(2, 4, 'webpack://s/./src/b.ts')],
    })
    expect(mapped(root).frame.file).toBe('src/a.ts')
    expect(mapped(root, `at fail (${root}/dist/x.js:3:6)`).frame).toMatchObject({ file: 'src/b.ts', line_number: 2 })
    expect(mapped(root, `at fail (${root}/dist/x.js:3:2)`).same).toBe(true)
  })
})

describe('nothing is read', () => {
  test('from an address', async () => {
    let requests = 0
    const server = createServer((_, response) => response.end(JSON.stringify(plain(`a.ts${requests++}`))))
    await new Promise<void>((resume) => server.listen(0, '127.0.0.1', resume))
    onTestFinished(() => void server.close())
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
    for (const url of [`http://${host}/x.js.map`, `//${host}/x.js.map`]) {
      const { same, skipped } = mapped(project({ 'dist/x.js': code(url) }))
      expect({ same, skipped }).toEqual({ same: true, skipped: ['map_remote'] })
    }
    await new Promise((resume) => setTimeout(resume, 100))
    expect(requests).toBe(0)
  })

  test('outside the project, by path, by link or by NUL', () => {
    const outside = project({ 'x.js.map': JSON.stringify(plain('a.ts')), 'x.js': code('x.js.map') })
    for (const url of [`${outside}/x.js.map`, `file://${outside}/x.js.map`, '../../../../../../etc/hostname']) {
      expect(mapped(project({ 'dist/x.js': code(url) })).skipped).toEqual(['map_outside_project'])
    }
    const linked = project({ 'dist/x.js': code('x.js.map') })
    symlinkSync(join(outside, 'x.js.map'), join(linked, 'dist/x.js.map'))
    expect(mapped(linked).skipped).toEqual(['map_missing'])
    symlinkSync(outside, join(linked, 'way-out'))
    expect(mapped(linked, `at fail (${linked}/way-out/x.js:1:1)`).same).toBe(true)
    expect(mapped(linked, `at fail (${outside}/x.js:1:1)`).same).toBe(true)
    expect(mapped(linked, `at fail (file://${linked}/dist/x.js%00:1:1)`).same).toBe(true)
  })

  test('of a library', () => {
    const root = project({
      'node_modules/b/x.js': code('x.js.map'),
      'node_modules/b/x.js.map': JSON.stringify(plain('a.ts')),
    })
    expect(mapped(root, `at fail (${root}/node_modules/b/x.js:1:1)`).same).toBe(true)
  })

  test('from a folder or a pipe, which would wait for its writer', () => {
    const root = project({ 'dist/x.js': code('x.js.map'), 'dist/y.js/z': '' })
    execFileSync('mkfifo', [join(root, 'dist/x.js.map'), join(root, 'dist/z.js')])
    for (const name of ['x', 'y', 'z']) expect(mapped(root, `at fail (${root}/dist/${name}.js:1:1)`).same).toBe(true)
  })
})

describe('a map that cannot be used leaves the line alone', () => {
  test.each([
    '{',
    '[]',
    'null',
    '7',
    '{}',
    '{"mappings":5,"sources":[]}',
    '{"mappings":"A!","sources":[""]}',
    '{"sections":[{}]}',
    '{"sections":[null]}',
  ])('broken: %s', (text) => {
    const root = project({ 'dist/x.js': code('x.js.map'), 'dist/x.js.map': text })
    expect(mapped(root)).toMatchObject({ same: true, skipped: ['map_broken'] })
  })

  test.each(['AA//////////////////////D', 'AADA', 'A+/////DA+/////D'])('with the mappings %s', (mappings) => {
    expect(mapped(withMap({ ...plain('../src/a.ts'), mappings })).same).toBe(true)
  })

  test('too large, by its bytes or by its mappings, and says so once', () => {
    const bytes = withMap(plain('../src/a.ts', { sourcesContent: ['x'.repeat(5000)] }))
    const mappings = withMap({ ...plain('../src/a.ts'), mappings: `AACA${',CAAA'.repeat(180)}` })
    const inline = Buffer.from(JSON.stringify(plain('a.ts', { sourcesContent: ['x'.repeat(5000)] }))).toString('base64')
    for (const root of [bytes, mappings, project({ 'dist/x.js': code(`data:application/json;base64,${inline}`) })]) {
      const { same, skipped, positions } = mapped(root, undefined, { maxMapBytes: 4000 })
      positions.original([`at again (${root}/dist/x.js:1:1)`])
      expect({ same, skipped }).toEqual({ same: true, skipped: ['map_too_large'] })
      expect(mapped(root).same).toBe(false)
    }
  })

  test('named in a string of the code rather than in its last comment', () => {
    const text = `const head = "\n//# sourceMappingURL=x.js.map\n"; fail()\n`
    expect(mapped(project({ 'dist/x.js': text, 'dist/x.js.map': JSON.stringify(plain('../src/a.ts')) })).same).toBe(
      true,
    )
  })
})

describe('the contents of sources', () => {
  test('may be many times as long as the rest', () => {
    const sourcesContent = Array.from({ length: 150 }, () => 'const price = "1\\u20ac"\n'.repeat(4000))
    const root = withMap(plain('../src/a.ts', { sourcesContent }))
    expect(statSync(join(root, 'dist/x.js.map')).size).toBeGreaterThan(15_000_000)
    expect(mapped(root)).toMatchObject({ same: false, skipped: [] })
  })

  test.each([
    ['a string that ends the array', ['"],"mappings":"', 'x\\', '\\"]', ']', '[']],
    ['the key itself', ['{"sourcesContent":["x"]}', '"sourcesContent":[', 'sourcesContent']],
    ['nothing', []],
    ['null at last', ['x', null]],
  ])('may hold %s', (_, sourcesContent) => {
    const parts = { sourcesContent, ...plain('../src/a.ts', { names: ['sourcesContent', 'total'] }), mappings: 'AACAC' }
    for (const map of [parts, { version: 3, sections: [{ offset: { line: 0, column: 0 }, map: parts }] }]) {
      const root = project({ 'dist/x.js': code('x.js.map'), 'dist/x.js.map': JSON.stringify(map, null, 1) })
      const file = `${root}/dist/x.js`
      const lines = new SourcePositions({ project_root: root }).original([`at ${file}:1:9`, `at run (${file}:1:1)`])
      expect(lines).toEqual([`at ${root}/src/a.ts:2:1`, `at run (${root}/src/a.ts:2:1)`])
    }
  })

  test.each([
    '{"sourcesContent":["',
    '{"sourcesContent":[',
    '{"sourcesContent":[[1],[2]]}',
    '{"sourcesContent":["\\"]}',
  ])('may be broken: %s', (text) => {
    const root = project({ 'dist/x.js': code('x.js.map'), 'dist/x.js.map': text })
    expect(mapped(root)).toMatchObject({ same: true, skipped: ['map_broken'] })
  })
})

test('an inline map may be plain text, and other comments may follow it', () => {
  const map = encodeURIComponent(JSON.stringify(plain('../src/a.ts')))
  const root = project({ 'dist/x.js': `${code(`data:application/json,${map}`)}//# debugId=7\n` })
  expect(mapped(root).frame.file).toBe('src/a.ts')
})

test('for one stack only so much is read, whatever is remembered', () => {
  const names = ['a', 'b', 'c', 'd', 'e']
  const map = JSON.stringify({ ...plain('../src/a.ts'), mappings: `AACA${',CAAA'.repeat(90)}` })
  const files = names.flatMap((name) => [
    [`dist/${name}.js`, code(`${name}.js.map`)],
    [`dist/${name}.js.map`, map],
  ])
  const root = project(Object.fromEntries(files))
  const { positions } = mapped(root, 'at x', { maxMapBytes: 4000 })
  const stack = () => names.map((name) => `at fail (${root}/dist/${name}.js:1:1)`)
  const first = positions.original(stack())
  expect(first.map((line) => line.includes('/src/'))).toEqual([true, true, false, false, false])
  positions.original(stack().reverse())
  expect(positions.original(stack())).toEqual(first)
})

test('a file that was written anew is read anew, and what was looked up is not read again', () => {
  const root = withMap(plain('../src/a.ts'))
  const line = `at fail (${root}/dist/x.js:1:1)`
  const { positions } = mapped(root)
  rmSync(join(root, 'dist/x.js.map'))
  expect(positions.original([line])).toEqual([`at fail (${root}/src/a.ts:2:1)`])
  writeFileSync(join(root, 'dist/x.js'), 'fail(); fail()\n')
  expect(positions.original([line])).toEqual([line])
})
