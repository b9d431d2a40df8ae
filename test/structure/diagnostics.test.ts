import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { DIAGNOSTICS } from '../../src/diagnostics/diagnostics.js'

/** Generic code that must not refer to a specific diagnostic. */
const GENERIC = [
  'src/tracker.ts',
  'src/backend.ts',
  'src/lazy-backend.ts',
  'src/runtime.ts',
  'src/operations.ts',
  'src/operation.ts',
  'src/context.ts',
  'src/jobs',
  'src/triage/commands/cleanup-errors.ts',
  'src/capture',
  'src/dashboard/routes.ts',
  'src/dashboard/handler.ts',
  'src/dashboard/define.ts',
  'src/dashboard/openapi',
  'src/dashboard/ui/layout',
  'src/config',
]

/** Files outside src/diagnostics that import a specific diagnostic, with the reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'src/register.ts': 'instruments modules of the host before the first of them is loaded',
  'src/index.ts': 'exports the type of the request-guard event',
  'src/subscribers/rate-limiter-flexible.ts': 'reports to the request guard',
  'src/cli/demo/shop.ts': 'instruments modules of the sample shop before the first of them is loaded',
  'src/cli/commands/dump.ts': 'is the command line of diagnostic dumps',
  'src/dashboard/pages/error/': 'shows the data that diagnostics add to an occurrence, and its source code',
  'src/dashboard/ui/values/source-code.tsx': 'shows source lines on several pages',
  'src/dashboard/ui/stored-range.tsx': 'has the ranges of hourly counts',
}

const LIST = /^src\/diagnostics\//
/** Matches static imports, imports of types and `import()`. */
const SPECIFIC_IMPORT = /(?:from|import\(?)\s*'[^']*diagnostics\/[\w-]+\/[^']*'/

test('only listed files import a specific diagnostic', () => {
  const importing = sourceFiles('src').filter(
    (file) => !LIST.test(file) && SPECIFIC_IMPORT.test(readFileSync(file, 'utf8')),
  )
  expect(importing.filter((file) => !Object.keys(EXCEPTIONS).some((known) => file.startsWith(known)))).toEqual([])
})

test('generic code does not contain an option of a diagnostic', () => {
  const names = DIAGNOSTICS.flatMap(({ options }) => Object.keys(options))
  expect(names.length).toBeGreaterThan(20)
  const files = GENERIC.flatMap((path) => (/\.tsx?$/.test(path) ? [path] : sourceFiles(path)))
  const found = files.flatMap((file) => {
    const text = readFileSync(file, 'utf8')
    return names.filter((name) => new RegExp(`\\b${name}\\b`).test(text)).map((name) => `${file}: ${name}`)
  })
  expect(found).toEqual([])
})

test('every folder of a diagnostic has its definition in diagnostic.ts', () => {
  const folders = readdirSync('src/diagnostics', { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'hourly')
    .map(({ name }) => name)
  const defined = sourceFiles('src/diagnostics').filter((file) => file.endsWith('/diagnostic.ts'))
  expect(defined.map((file) => relative('src/diagnostics', file)).sort()).toEqual(
    folders.map((folder) => join(folder, 'diagnostic.ts')).sort(),
  )
  expect(DIAGNOSTICS.length).toBe(folders.length)
})

test('the store defines hourly tables only for counts that no diagnostic collects', () => {
  const defining = sourceFiles('src').filter((file) => /= defineHourTable\(/.test(readFileSync(file, 'utf8')))
  expect(defining.filter((file) => !/^src\/diagnostics\/[\w-]+\/hours\.ts$/.test(file))).toEqual([
    'src/store/counters/rejections.ts',
  ])
  expect(defining.length).toBeGreaterThan(1)
})

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name))
}
