import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'

interface Row {
  what: string
  /** Files to write, where `x` is the new name. */
  files: string[]
  /** Functions that the new file calls. */
  functions: string[]
  /** The files that list all things of this kind, and their constants. */
  tables: string[]
  constants: string[]
}

const text = readFileSync('CONTRIBUTING.md', 'utf8')
const section = text.slice(text.indexOf('## To add something'), text.indexOf('## Rules'))
const ROWS = section
  .split('\n')
  .filter((line) => /^\| (a|an) /.test(line))
  .map(readRow)

describe('the table "To add something" in CONTRIBUTING', () => {
  test('the table in CONTRIBUTING has a row for every kind of addition', () => {
    expect(ROWS.length).toBeGreaterThan(20)
  })

  test.each(ROWS)('names existing files for $what', ({ files, tables }) => {
    const paths = [...files, ...tables]
    expect(paths.length).toBeGreaterThan(0)
    expect(paths.filter((path) => matchingFiles(path).length === 0)).toEqual([])
  })

  test.each(ROWS.filter(({ functions }) => functions.length > 0))('names the function that defines $what', (row) => {
    const sources = row.files.flatMap(matchingFiles).map((file) => readFileSync(file, 'utf8'))
    expect(row.functions.filter((name) => !sources.some((source) => source.includes(`${name}(`)))).toEqual([])
  })

  test.each(ROWS.filter(({ tables }) => tables.length > 0))('names the table of $what', (row) => {
    const { tables, constants, files } = row
    const sources = new Map(tables.map((table) => [table, readFileSync(table, 'utf8')]))
    const isListed = (file: string) => [...sources].some(([table, source]) => lists(table, source, file))
    expect(constants.filter((name) => ![...sources.values()].some((source) => source.includes(name)))).toEqual([])
    const added = files.filter((path) => PLACEHOLDER.test(path))
    expect(added.filter((path) => !matchingFiles(path).some(isListed))).toEqual([])
  })
})

const PLACEHOLDER = /(?<=\/)(NNNN-)?x(?=[./])/

function readRow(line: string): Row {
  const [, addition = '', write = '', add = ''] = line.split('|').map((cell) => cell.trim())
  const [written, listed] = [codeIn(write), codeIn(add)]
  return {
    what: addition,
    files: written.filter(isPath),
    functions: written.filter((name) => !isPath(name)),
    tables: listed.filter(isPath),
    constants: listed.filter((name) => !isPath(name)),
  }
}

function codeIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '')
}

function isPath(name: string): boolean {
  return /\.\w+$/.test(name)
}

/** The existing files that a path with a placeholder describes, or the path itself if it exists. */
function matchingFiles(path: string): string[] {
  const place = PLACEHOLDER.exec(path)
  if (!place) return existsSync(path) ? [path] : []
  const folder = path.slice(0, place.index)
  const [name = '', ...below] = path.slice(place.index).split('/')
  const pattern = new RegExp(`^${name.replace('.', '\\.').replace('NNNN', '\\d{4}').replace('x', '[\\w-]+')}$`)
  return readdirSync(folder)
    .filter((entry) => pattern.test(entry))
    .map((entry) => join(folder, entry, ...below))
    .filter((file) => existsSync(file))
}

/**
 * Returns true if a table imports a file, contains its compiled path, or contains its name or the name of its folder.
 */
function lists(table: string, source: string, file: string): boolean {
  const imported = relative(dirname(table), file).replace(/\.tsx?$/, '.js')
  const names = [basename(file).replace(/\.\w+$/, ''), basename(dirname(file))]
  return [imported, file.replace(/^src(.*)\.ts$/, 'dist$1.js'), ...names.map((name) => `'${name}'`)].some((reference) =>
    source.includes(reference),
  )
}
