import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { SourceMap, type SourceMapPayload, type SourceMapping } from 'node:module'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ParsedMap } from '../../../src/capture/source-maps/parsed-map.js'
import { temporaryFolder } from '../../support/tracker.js'

interface PlainMap {
  version: 3
  sources: string[]
  names: string[]
  mappings: string
}
interface IndexMap {
  version: 3
  sections: { offset: { line: number; column: number }; map: PlainMap }[]
}
type Position = readonly [line: number, column: number]

function parsed(map: unknown): ParsedMap {
  const text = JSON.stringify(map)
  const result = ParsedMap.parse({ text, bytes: text.length, folder: '/' }, 20_000_000, '/')
  if (!result) throw new Error('too large')
  return result
}

/** What Node finds, where it lies on the same line; it also gives the last of an earlier line. Counted from zero. */
function byNode(map: SourceMap, [line, column]: Position) {
  const entry = map.findEntry(line, column) as Partial<SourceMapping> & { name?: string }
  const { generatedLine, generatedColumn, originalSource, originalLine = -1, originalColumn = -1, name = null } = entry
  const is_place = [originalLine, originalColumn].every((number) => number >= 0 && number < 999_999_999)
  if (generatedLine !== line || !originalSource || !is_place) return null
  const exact_name = generatedColumn === column ? name : null
  return { path: originalSource, line: originalLine + 1, column: originalColumn + 1, name: exact_name }
}

function expectSame(map: PlainMap | IndexMap, positions: Iterable<Position>): number {
  const node = new SourceMap(forNode(map))
  const ours = parsed(map)
  let found = 0
  const different: unknown[] = []
  for (const position of positions) {
    const expected = byNode(node, position)
    const actual = ours.find(position[0] + 1, position[1] + 1)
    if (JSON.stringify(actual) !== JSON.stringify(expected)) different.push({ position, actual, expected })
    if (expected) found++
  }
  expect(different.slice(0, 3)).toEqual([])
  return found
}

/** Node takes a last segment without an end for one that has a source. */
function forNode(map: PlainMap | IndexMap): SourceMapPayload {
  const ended = (plain: PlainMap) => ({ ...plain, mappings: `${plain.mappings};` })
  const payload =
    'sections' in map
      ? { ...map, sections: map.sections.map(({ offset, map }) => ({ offset, map: ended(map) })) }
      : ended(map)
  return payload as unknown as SourceMapPayload
}

/** With sources and names that are shown as they are. */
function readMap(file: string): PlainMap {
  const { sources, names, mappings } = JSON.parse(readFileSync(file, 'utf8')) as PlainMap
  const listed = (prefix: string, list: string[]) => list.map((_, i) => `${prefix}${i}`)
  return { version: 3, sources: listed('/s', sources), names: listed('n', names), mappings }
}

function* everywhere(file: string, step: number): Generator<Position> {
  for (const [line, text] of readFileSync(file, 'utf8').split('\n').entries())
    for (let column = 0; column <= text.length; column += step) yield [line, column]
}

async function expressBundle(): Promise<string> {
  const outfile = join(temporaryFolder(), 'bundle.js')
  const stdin = { contents: "import express from 'express'\nexpress().listen(0)\n", resolveDir: resolve('.') }
  await build({ stdin, outfile, bundle: true, minify: true, platform: 'node', sourcemap: 'linked' })
  return outfile
}

function compiled(): string {
  const root = temporaryFolder()
  const options = ['--rootDir', 'src', '--outDir', root, '--module', 'nodenext', '--target', 'es2022', '--noCheck']
  const tsc = resolve('node_modules/typescript/bin/tsc')
  execFileSync(process.execPath, [tsc, 'src/model/redaction/redaction.ts', ...options, '--sourceMap', '--ignoreConfig'])
  return join(root, 'model/redaction/redaction.js')
}

describe('every position is found as by Node itself', () => {
  test('in a file compiled by tsc', () => {
    const file = compiled()
    expect(expectSame(readMap(`${file}.map`), everywhere(file, 1))).toBeGreaterThan(1000)
  })

  test('in Express bundled and minified by esbuild', async () => {
    const file = await expressBundle()
    expect(expectSame(readMap(`${file}.map`), everywhere(file, 11))).toBeGreaterThan(10_000)
  })

  test('in any map, also where columns go back', () => {
    fc.assert(fc.property(anyMap, ({ map, positions }) => void expectSame(map, positions)))
  })

  test('in any index map', () => {
    fc.assert(
      fc.property(anyMap, anyMap, fc.boolean(), fc.nat(3), ({ map, positions, end }, second, same_line, gap) => {
        // What reaches back behind its own start overlaps another section, which is no index map.
        fc.pre(!second.reaches_back)
        const offset = same_line ? { line: end[0], column: end[1] + gap } : { line: end[0] + 1 + gap, column: gap }
        const moved = second.positions.map(
          ([line, column]) => [line + offset.line, line === 0 ? column + offset.column : column] as const,
        )
        const sections = [
          { offset, map: { ...second.map, sources: ['/t0', '/t1', '/t2'] } },
          { offset: { line: 0, column: 0 }, map },
        ]
        expectSame({ version: 3, sections }, [...positions, ...moved])
      }),
    )
  })
})

describe('what means harm', () => {
  test('rejects a malicious map or finds no position in it', () => {
    const letters = fc.constantFrom(...'AACCDEgghz09+/,,;;', '!', '\u0141', '\0')
    const text = fc.oneof(fc.string(), fc.string({ unit: letters, maxLength: 300 }))
    fc.assert(
      fc.property(text, fc.nat(5), fc.nat(50), (mappings, line, column) => {
        const map = { version: 3, sources: ['/s0'], names: [], mappings }
        let ours: ParsedMap
        try {
          ours = parsed(map)
        } catch (error) {
          expect(error).toEqual(new TypeError('no mappings'))
          return
        }
        const found = ours.find(line + 1, column + 1)
        if (found) expect(found).toMatchObject({ path: '/s0', name: null })
      }),
    )
  })

  test.each([
    ['a number of more than 32 bits', 'ggggggE'],
    ['a number without end', `${'g'.repeat(100_000)}A`],
    ['a number cut off', 'AAAA,g'],
    ['a letter of another alphabet', 'AAA\u0141'],
    ['much disorder', `${'gggCAAA,hggCAAA,'.repeat(20_000)}`],
  ])('is no map: %s', (_, mappings) => {
    expect(() => parsed({ version: 3, sources: ['/s0'], names: [], mappings })).toThrow('no mappings')
  })

  test('does not lead to numbers that have grown beyond all places', () => {
    const mappings = `AAAA,${'A+/////DAA,'.repeat(1000)}`
    const map = parsed({ version: 3, sources: ['/s0'], names: [], mappings })
    expect(map.find(1, 1)).toBeNull()
  })
})

/** A map made of segments, the positions worth asking for, and the position behind its last line's last segment. */
const anyMap = fc
  .array(fc.array(anySegment(), { maxLength: 40, size: 'max' }), { minLength: 1, maxLength: 12, size: 'max' })
  .map((lines) => {
    const mappings = lines.map((segments) => segments.map(encoded).join(',')).join(';')
    const columns = lines.map((segments) => {
      let column = 0
      return segments.map(([delta = 0]) => (column += delta))
    })
    const positions = columns.flatMap((of_line, line) =>
      [0, 5000, ...of_line.flatMap((column) => [column - 1, column, column + 1])]
        .filter((column) => column >= 0)
        .map((column) => [line, column] as const),
    )
    const end = [lines.length - 1, Math.max(0, ...(columns.at(-1) ?? [])) + 1] as const
    const map: PlainMap = { version: 3, sources: ['/s0', '/s1', '/s2'], names: ['a', 'b', 'c'], mappings }
    return { map, positions, end, reaches_back: columns[0]?.some((column) => column < 0) }
  })

function anySegment(): fc.Arbitrary<number[]> {
  const ahead = fc.oneof(
    { weight: 20, arbitrary: fc.nat(40) },
    { weight: 1, arbitrary: fc.integer({ min: -30, max: 0 }) },
  )
  const small = fc.integer({ min: -1, max: 1 })
  const place = fc.oneof(fc.integer({ min: -3, max: 9 }), fc.integer({ min: -(2 ** 30), max: 2 ** 30 }))
  return fc.oneof(fc.tuple(ahead), fc.tuple(ahead, small, place, place), fc.tuple(ahead, small, place, place, small))
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

function encoded(segment: number[]): string {
  return segment.map((number) => digits(number < 0 ? -number * 2 + 1 : number * 2)).join('')
}

function digits(value: number): string {
  const rest = Math.floor(value / 32)
  return `${BASE64[(value % 32) + (rest > 0 ? 32 : 0)]}${rest > 0 ? digits(rest) : ''}`
}
