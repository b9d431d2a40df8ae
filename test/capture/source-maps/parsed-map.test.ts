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

function parseMap(map: unknown): ParsedMap {
  const text = JSON.stringify(map)
  const result = ParsedMap.parse({ text, bytes: text.length, folder: '/' }, 20_000_000, '/')
  if (!result) throw new Error('too large')
  return result
}

/**
 * Position found by Node.js on the same line, counted from zero. Node.js also returns the last position of an earlier
 * line.
 */
function findWithNode(map: SourceMap, [line, column]: Position) {
  const entry = map.findEntry(line, column) as Partial<SourceMapping> & { name?: string }
  const { generatedLine, generatedColumn, originalSource, originalLine = -1, originalColumn = -1, name = null } = entry
  const isValid = [originalLine, originalColumn].every((number) => number >= 0 && number < 999_999_999)
  if (generatedLine !== line || !originalSource || !isValid) return null
  const exactName = generatedColumn === column ? name : null
  return { path: originalSource, line: originalLine + 1, column: originalColumn + 1, name: exactName }
}

function expectSamePositions(map: PlainMap | IndexMap, positions: Iterable<Position>): number {
  const node = new SourceMap(toNodePayload(map))
  const parsedMap = parseMap(map)
  let found = 0
  const different: unknown[] = []
  for (const position of positions) {
    const expected = findWithNode(node, position)
    const actual = parsedMap.find(position[0] + 1, position[1] + 1)
    if (JSON.stringify(actual) !== JSON.stringify(expected)) different.push({ position, actual, expected })
    if (expected) found++
  }
  expect(different.slice(0, 3)).toEqual([])
  return found
}

/** Adds a line because Node.js treats an unterminated last segment as one with a source. */
function toNodePayload(map: PlainMap | IndexMap): SourceMapPayload {
  const withLine = (plain: PlainMap) => ({ ...plain, mappings: `${plain.mappings};` })
  const payload =
    'sections' in map
      ? { ...map, sections: map.sections.map(({ offset, map }) => ({ offset, map: withLine(map) })) }
      : withLine(map)
  return payload as unknown as SourceMapPayload
}

/** Replaces sources and names with short ones that are displayed unchanged. */
function readMap(file: string): PlainMap {
  const { sources, names, mappings } = JSON.parse(readFileSync(file, 'utf8')) as PlainMap
  const numbered = (prefix: string, list: string[]) => list.map((_, i) => `${prefix}${i}`)
  return { version: 3, sources: numbered('/s', sources), names: numbered('n', names), mappings }
}

function* allPositions(file: string, step: number): Generator<Position> {
  for (const [line, text] of readFileSync(file, 'utf8').split('\n').entries())
    for (let column = 0; column <= text.length; column += step) yield [line, column]
}

async function bundleExpress(): Promise<string> {
  const outfile = join(temporaryFolder(), 'bundle.js')
  const stdin = { contents: "import express from 'express'\nexpress().listen(0)\n", resolveDir: resolve('.') }
  await build({ stdin, outfile, bundle: true, minify: true, platform: 'node', sourcemap: 'linked' })
  return outfile
}

function compileModule(): string {
  const root = temporaryFolder()
  const options = ['--rootDir', 'src', '--outDir', root, '--module', 'nodenext', '--target', 'es2022', '--noCheck']
  const tsc = resolve('node_modules/typescript/bin/tsc')
  execFileSync(process.execPath, [tsc, 'src/model/redaction/redaction.ts', ...options, '--sourceMap', '--ignoreConfig'])
  return join(root, 'model/redaction/redaction.js')
}

describe('ParsedMap compared with Node.js', () => {
  test('finds every position in a file compiled by tsc', () => {
    const file = compileModule()
    expect(expectSamePositions(readMap(`${file}.map`), allPositions(file, 1))).toBeGreaterThan(1000)
  })

  test('finds every position in Express bundled and minified by esbuild', async () => {
    const file = await bundleExpress()
    expect(expectSamePositions(readMap(`${file}.map`), allPositions(file, 11))).toBeGreaterThan(10_000)
  })

  test('finds every position in an arbitrary map, even if columns are not sorted', () => {
    fc.assert(fc.property(arbitraryMap, ({ map, positions }) => void expectSamePositions(map, positions)))
  })

  test('finds every position in an arbitrary index map', () => {
    fc.assert(
      fc.property(
        arbitraryMap,
        arbitraryMap,
        fc.boolean(),
        fc.nat(3),
        ({ map, positions, end }, second, isSameLine, gap) => {
          // A section that starts before its offset overlaps another section, which is not a valid index map.
          fc.pre(!second.startsBeforeOffset)
          const offset = isSameLine ? { line: end[0], column: end[1] + gap } : { line: end[0] + 1 + gap, column: gap }
          const shifted = second.positions.map(
            ([line, column]) => [line + offset.line, line === 0 ? column + offset.column : column] as const,
          )
          const sections = [
            { offset, map: { ...second.map, sources: ['/t0', '/t1', '/t2'] } },
            { offset: { line: 0, column: 0 }, map },
          ]
          expectSamePositions({ version: 3, sections }, [...positions, ...shifted])
        },
      ),
    )
  })
})

describe('malicious maps', () => {
  test('rejects an arbitrary map or finds no position in it', () => {
    const letters = fc.constantFrom(...'AACCDEgghz09+/,,;;', '!', '\u0141', '\0')
    const text = fc.oneof(fc.string(), fc.string({ unit: letters, maxLength: 300 }))
    fc.assert(
      fc.property(text, fc.nat(5), fc.nat(50), (mappings, line, column) => {
        const map = { version: 3, sources: ['/s0'], names: [], mappings }
        let parsedMap: ParsedMap
        try {
          parsedMap = parseMap(map)
        } catch (error) {
          expect(error).toEqual(new TypeError('no mappings'))
          return
        }
        const found = parsedMap.find(line + 1, column + 1)
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
  ])('rejects a map with %s', (_, mappings) => {
    expect(() => parseMap({ version: 3, sources: ['/s0'], names: [], mappings })).toThrow('no mappings')
  })

  test('finds no position beyond the valid range', () => {
    const mappings = `AAAA,${'A+/////DAA,'.repeat(1000)}`
    const map = parseMap({ version: 3, sources: ['/s0'], names: [], mappings })
    expect(map.find(1, 1)).toBeNull()
  })
})

/** A random map, the positions to look up, and the position after its last segment. */
const arbitraryMap = fc
  .array(fc.array(arbitrarySegment(), { maxLength: 40, size: 'max' }), { minLength: 1, maxLength: 12, size: 'max' })
  .map((lines) => {
    const mappings = lines.map((segments) => segments.map(encodeSegment).join(',')).join(';')
    const columns = lines.map((segments) => {
      let column = 0
      return segments.map(([delta = 0]) => (column += delta))
    })
    const positions = columns.flatMap((lineColumns, line) =>
      [0, 5000, ...lineColumns.flatMap((column) => [column - 1, column, column + 1])]
        .filter((column) => column >= 0)
        .map((column) => [line, column] as const),
    )
    const end = [lines.length - 1, Math.max(0, ...(columns.at(-1) ?? [])) + 1] as const
    const map: PlainMap = { version: 3, sources: ['/s0', '/s1', '/s2'], names: ['a', 'b', 'c'], mappings }
    return { map, positions, end, startsBeforeOffset: columns[0]?.some((column) => column < 0) }
  })

function arbitrarySegment(): fc.Arbitrary<number[]> {
  const columnDelta = fc.oneof(
    { weight: 20, arbitrary: fc.nat(40) },
    { weight: 1, arbitrary: fc.integer({ min: -30, max: 0 }) },
  )
  const indexDelta = fc.integer({ min: -1, max: 1 })
  const positionDelta = fc.oneof(fc.integer({ min: -3, max: 9 }), fc.integer({ min: -(2 ** 30), max: 2 ** 30 }))
  return fc.oneof(
    fc.tuple(columnDelta),
    fc.tuple(columnDelta, indexDelta, positionDelta, positionDelta),
    fc.tuple(columnDelta, indexDelta, positionDelta, positionDelta, indexDelta),
  )
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

function encodeSegment(segment: number[]): string {
  return segment.map((number) => encodeDigits(number < 0 ? -number * 2 + 1 : number * 2)).join('')
}

function encodeDigits(value: number): string {
  const rest = Math.floor(value / 32)
  return `${BASE64[(value % 32) + (rest > 0 ? 32 : 0)]}${rest > 0 ? encodeDigits(rest) : ''}`
}
