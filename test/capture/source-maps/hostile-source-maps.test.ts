import { execFileSync } from 'node:child_process'
import { mkdirSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { SourcePositions } from '../../../src/capture/source-maps/source-positions.js'
import { parseFrame } from '../../../src/model/stacks/backtrace.js'
import { temporaryFolder } from '../../support/tracker.js'

/** Maps line 1, column 1 of the code to line 2, column 1 of the first source. */
const MAPPINGS = 'AACA'
const sourceMap = (source: unknown, more: object = {}) => ({
  version: 3,
  sources: [source],
  names: [],
  mappings: MAPPINGS,
  ...more,
})

function writeProject(files: Record<string, string> = {}): string {
  const root = realpathSync(temporaryFolder())
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return root
}

const projectWithMap = (map: unknown) =>
  writeProject({ 'dist/x.js': code('x.js.map'), 'dist/x.js.map': JSON.stringify(map) })
const code = (url: string) => `fail()\n//# sourceMappingURL=${url}\n`

function mapLine(root: string, line = `at fail (${root}/dist/x.js:1:1)`, options: object = {}) {
  const skipped: string[] = []
  const positions = new SourcePositions({ project_root: root, onSkipped: (reason) => skipped.push(reason), ...options })
  const [result = ''] = positions.original(Object.freeze([line]))
  return { line: result, isUnchanged: result === line, frame: parseFrame(result, root), skipped, positions }
}

describe('source names', () => {
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
  ])('converts %s to %s', (source, file, in_app) => {
    expect(mapLine(projectWithMap(sourceMap(source))).frame).toMatchObject({
      file,
      in_app,
      line_number: 2,
      function_name: 'fail',
    })
  })

  test('resolves a source relative to sourceRoot', () => {
    expect(mapLine(projectWithMap(sourceMap('a.ts', { sourceRoot: '../src' }))).frame.file).toBe('src/a.ts')
  })

  test.each(['a\0.ts', 'a\nat b (c.ts:1:2)', 'a(.ts', 'eval at b (c.ts', '', null, 7, {}, `${'a/'.repeat(900)}b.ts`])(
    'does not map a line to the source %j',
    (source) => {
      expect(mapLine(projectWithMap(sourceMap(source))).isUnchanged).toBe(true)
    },
  )
})

describe('mapped lines', () => {
  test.each([
    ['at async fail (FILE:1:1)', 'fail'],
    ['at new Cart (file://FILE:1:1)', 'new Cart'],
    ['at Cart.[Symbol(x)] [as y] (FILE:1:1)', 'Cart.[Symbol(x)] [as y]'],
    ['at FILE:1:1', null],
    ['at async file://FILE?v=2:1:1', null],
    ['at eval (eval at load (FILE:1:1), <anonymous>:3:4)', 'eval'],
  ])('keeps the function name in "%s"', (shape, function_name) => {
    const root = projectWithMap(sourceMap('../src/a.ts'))
    const { frame } = mapLine(root, shape.replace('FILE', `${root}/dist/x.js`))
    expect(frame).toMatchObject({ file: 'src/a.ts', line_number: 2, column: 1, function_name })
  })

  test('does not use the name at the call site for an anonymous function', () => {
    const root = projectWithMap({ ...sourceMap('../src/a.ts', { names: ['total'] }), mappings: 'AACA;AACAA' })
    const file = `${root}/dist/x.js`
    const lines = new SourcePositions({ project_root: root }).original([`at ${file}:1:1`, `at run (${file}:2:1)`])
    expect(lines).toEqual([`at ${root}/src/a.ts:2:1`, `at run (${root}/src/a.ts:3:1)`])
  })

  test('does not change a line without a mapping', () => {
    const root = projectWithMap(sourceMap('../src/a.ts'))
    expect(mapLine(root, `at fail (${root}/dist/x.js:9:1)`).isUnchanged).toBe(true)
    const truncated = projectWithMap({ ...sourceMap('../src/a.ts'), mappings: 'AACA,K' })
    expect(mapLine(truncated, `at fail (${truncated}/dist/x.js:1:9)`).isUnchanged).toBe(true)
  })

  test('uses the matching section of an index map', () => {
    const section = (line: number, column: number, source: string) => ({
      offset: { line, column },
      map: sourceMap(source),
    })
    const root = projectWithMap({
      version: 3,
      sections: [section(0, 0, '../src/a.ts'), section(2, 4, 'webpack://s/./src/b.ts')],
    })
    expect(mapLine(root).frame.file).toBe('src/a.ts')
    expect(mapLine(root, `at fail (${root}/dist/x.js:3:6)`).frame).toMatchObject({ file: 'src/b.ts', line_number: 2 })
    expect(mapLine(root, `at fail (${root}/dist/x.js:3:2)`).isUnchanged).toBe(true)
  })
})

describe('unread locations', () => {
  test('does not fetch a source map from a URL', async () => {
    let requests = 0
    const server = createServer((_, response) => response.end(JSON.stringify(sourceMap(`a.ts${requests++}`))))
    await new Promise<void>((resume) => server.listen(0, '127.0.0.1', resume))
    onTestFinished(() => void server.close())
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
    for (const url of [`http://${host}/x.js.map`, `//${host}/x.js.map`]) {
      const { isUnchanged, skipped } = mapLine(writeProject({ 'dist/x.js': code(url) }))
      expect({ isUnchanged, skipped }).toEqual({ isUnchanged: true, skipped: ['map_remote'] })
    }
    await new Promise((resume) => setTimeout(resume, 100))
    expect(requests).toBe(0)
  })

  test('does not read a source map outside the project, by path, link or NUL', () => {
    const outside = writeProject({ 'x.js.map': JSON.stringify(sourceMap('a.ts')), 'x.js': code('x.js.map') })
    for (const url of [`${outside}/x.js.map`, `file://${outside}/x.js.map`, '../../../../../../etc/hostname']) {
      expect(mapLine(writeProject({ 'dist/x.js': code(url) })).skipped).toEqual(['map_outside_project'])
    }
    const linked = writeProject({ 'dist/x.js': code('x.js.map') })
    symlinkSync(join(outside, 'x.js.map'), join(linked, 'dist/x.js.map'))
    expect(mapLine(linked).skipped).toEqual(['map_missing'])
    symlinkSync(outside, join(linked, 'way-out'))
    expect(mapLine(linked, `at fail (${linked}/way-out/x.js:1:1)`).isUnchanged).toBe(true)
    expect(mapLine(linked, `at fail (${outside}/x.js:1:1)`).isUnchanged).toBe(true)
    expect(mapLine(linked, `at fail (file://${linked}/dist/x.js%00:1:1)`).isUnchanged).toBe(true)
  })

  test('does not read the source map of a library', () => {
    const root = writeProject({
      'node_modules/b/x.js': code('x.js.map'),
      'node_modules/b/x.js.map': JSON.stringify(sourceMap('a.ts')),
    })
    expect(mapLine(root, `at fail (${root}/node_modules/b/x.js:1:1)`).isUnchanged).toBe(true)
  })

  test('does not read a folder or a pipe', () => {
    const root = writeProject({ 'dist/x.js': code('x.js.map'), 'dist/y.js/z': '' })
    execFileSync('mkfifo', [join(root, 'dist/x.js.map'), join(root, 'dist/z.js')])
    for (const name of ['x', 'y', 'z'])
      expect(mapLine(root, `at fail (${root}/dist/${name}.js:1:1)`).isUnchanged).toBe(true)
  })
})

describe('unusable source maps', () => {
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
  ])('ignores a malformed map: %s', (text) => {
    const root = writeProject({ 'dist/x.js': code('x.js.map'), 'dist/x.js.map': text })
    expect(mapLine(root)).toMatchObject({ isUnchanged: true, skipped: ['map_broken'] })
  })

  test.each(['AA//////////////////////D', 'AADA', 'A+/////DA+/////D'])(
    'ignores a map with the mappings %s',
    (mappings) => {
      expect(mapLine(projectWithMap({ ...sourceMap('../src/a.ts'), mappings })).isUnchanged).toBe(true)
    },
  )

  test('ignores a map with too many bytes or mappings and reports it once', () => {
    const bytes = projectWithMap(sourceMap('../src/a.ts', { sourcesContent: ['x'.repeat(5000)] }))
    const mappings = projectWithMap({ ...sourceMap('../src/a.ts'), mappings: `AACA${',CAAA'.repeat(180)}` })
    const inline = Buffer.from(JSON.stringify(sourceMap('a.ts', { sourcesContent: ['x'.repeat(5000)] }))).toString(
      'base64',
    )
    for (const root of [
      bytes,
      mappings,
      writeProject({ 'dist/x.js': code(`data:application/json;base64,${inline}`) }),
    ]) {
      const { isUnchanged, skipped, positions } = mapLine(root, undefined, { maxMapBytes: 4000 })
      positions.original([`at again (${root}/dist/x.js:1:1)`])
      expect({ isUnchanged, skipped }).toEqual({ isUnchanged: true, skipped: ['map_too_large'] })
      expect(mapLine(root).isUnchanged).toBe(false)
    }
  })

  test('ignores a source map comment inside a string', () => {
    const text = `const head = "\n//# sourceMappingURL=x.js.map\n"; fail()\n`
    expect(
      mapLine(writeProject({ 'dist/x.js': text, 'dist/x.js.map': JSON.stringify(sourceMap('../src/a.ts')) }))
        .isUnchanged,
    ).toBe(true)
  })
})

describe('sourcesContent', () => {
  test('accepts source content of 15 MB', () => {
    const sourcesContent = Array.from({ length: 150 }, () => 'const price = "1\\u20ac"\n'.repeat(4000))
    const root = projectWithMap(sourceMap('../src/a.ts', { sourcesContent }))
    expect(statSync(join(root, 'dist/x.js.map')).size).toBeGreaterThan(15_000_000)
    expect(mapLine(root)).toMatchObject({ isUnchanged: false, skipped: [] })
  })

  test.each([
    ['a string that ends the array', ['"],"mappings":"', 'x\\', '\\"]', ']', '[']],
    ['the key itself', ['{"sourcesContent":["x"]}', '"sourcesContent":[', 'sourcesContent']],
    ['nothing', []],
    ['null at last', ['x', null]],
  ])('accepts %s in the source content', (_, sourcesContent) => {
    const parts = {
      sourcesContent,
      ...sourceMap('../src/a.ts', { names: ['sourcesContent', 'total'] }),
      mappings: 'AACAC',
    }
    for (const map of [parts, { version: 3, sections: [{ offset: { line: 0, column: 0 }, map: parts }] }]) {
      const root = writeProject({ 'dist/x.js': code('x.js.map'), 'dist/x.js.map': JSON.stringify(map, null, 1) })
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
  ])('ignores malformed source content: %s', (text) => {
    const root = writeProject({ 'dist/x.js': code('x.js.map'), 'dist/x.js.map': text })
    expect(mapLine(root)).toMatchObject({ isUnchanged: true, skipped: ['map_broken'] })
  })
})

test('accepts an inline map in plain text before other comments', () => {
  const map = encodeURIComponent(JSON.stringify(sourceMap('../src/a.ts')))
  const root = writeProject({ 'dist/x.js': `${code(`data:application/json,${map}`)}//# debugId=7\n` })
  expect(mapLine(root).frame.file).toBe('src/a.ts')
})

test('limits the source maps read for one stack, regardless of the cache', () => {
  const names = ['a', 'b', 'c', 'd', 'e']
  const map = JSON.stringify({ ...sourceMap('../src/a.ts'), mappings: `AACA${',CAAA'.repeat(90)}` })
  const files = names.flatMap((name) => [
    [`dist/${name}.js`, code(`${name}.js.map`)],
    [`dist/${name}.js.map`, map],
  ])
  const root = writeProject(Object.fromEntries(files))
  const { positions } = mapLine(root, 'at x', { maxMapBytes: 4000 })
  const stack = () => names.map((name) => `at fail (${root}/dist/${name}.js:1:1)`)
  const first = positions.original(stack())
  expect(first.map((line) => line.includes('/src/'))).toEqual([true, true, false, false, false])
  positions.original(stack().reverse())
  expect(positions.original(stack())).toEqual(first)
})

test('reads a file again only after it changed', () => {
  const root = projectWithMap(sourceMap('../src/a.ts'))
  const line = `at fail (${root}/dist/x.js:1:1)`
  const { positions } = mapLine(root)
  rmSync(join(root, 'dist/x.js.map'))
  expect(positions.original([line])).toEqual([`at fail (${root}/src/a.ts:2:1)`])
  writeFileSync(join(root, 'dist/x.js'), 'fail(); fail()\n')
  expect(positions.original([line])).toEqual([line])
})
