import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { isInstalled } from '../adapters/host-process.js'
import { installedFolder } from '../support/processes/installed.js'
import { readSamples, type Sample } from './samples.js'

/** Languages of blocks that no test checks, with the reason. */
const UNCHECKED_LANGUAGES: Record<string, string> = {
  dockerfile: 'test/packed/recipes.test.ts executes it',
  html: 'examples.test.ts opens a page of examples/browser with the same tags',
  ini: 'test/packed/recipes.test.ts executes it',
  mermaid: 'a diagram',
  sql: 'requires a database user who may create schemas',
  text: 'not a program',
}

/** Programs that are not executed here, with the reason. The compiler checks their types. */
const NOT_EXECUTED: Record<string, string> = {
  'docs/browser.md > React': 'requires a page; test/browser-client/react.test.ts covers both exports',
  'docs/deployment.md > PM2 and cluster': 'test/packed/pm2.test.ts executes it',
  'docs/deployment.md > Serverless functions': 'test/packed/deployment.test.ts executes it',
  'docs/diagnostics.md > Stack overflows': 'aborts the process, as the page explains',
  'docs/extending.md > Test an extension': 'test/packed/testing.test.ts executes the contracts',
  'docs/subscribers.md > BullMQ': 'requires Redis; test/subscribers/bullmq.test.ts covers both functions',
  'docs/testing.md > Testing': 'test/packed/testing.test.ts executes it',
}

/** Excerpts of files in this repository, which the compiler checks. */
const EXCERPTS: Record<string, string> = {
  'docs/extending.md > Change Faultboard itself': 'src/diagnostics/n-plus-one/diagnostic.ts',
  'docs/frameworks.md > React Router (4)': 'examples/react-router/app/entry.server.jsx',
}

/** Names of fixtures/given.js that a sample uses under another name. */
const RENAMED: Record<string, Record<string, string>> = {
  'README.md > Other frameworks': { app: 'fastify' },
  'docs/diagnostics.md > Request guard (3)': { app: 'fastify' },
}

/** Files that a sample imports and its page does not show. */
const COMPANIONS: Record<string, Record<string, string>> = {
  'docs/extending.md > Test an extension': {
    'app.js': "import express from 'express'\nexport const createApp = (_tracker) => express()",
  },
  'docs/frameworks.md > NestJS': { 'src/app.module.ts': readFileSync('examples/nest/src/app.module.ts', 'utf8') },
}

/** Compiler messages about JavaScript samples whose parameters have no declared types. */
const UNTYPED_PARAMETERS = [
  /error TS18046: '(error|request)' is of type 'unknown'/,
  /-Stack-overflows\/.*parameter of type 'never'/,
  /-Fetch-handlers\/.*incoming/,
  /-tRPC\/.*incoming/,
]

const samples = readSamples()
const inLanguage = (...languages: string[]) => samples.filter(({ language }) => languages.includes(language))
const programs = inLanguage('js', 'jsx', 'ts').filter(({ name }) => !EXCERPTS[name])
const examples = new Set(filesBelow('examples').map((file) => readFileSync(file, 'utf8')))
const executed = programs.filter(({ name, text }) => !examples.has(text) && !NOT_EXECUTED[name])

test('every code block of the README and the docs has a language that is checked', () => {
  const checked = ['js', 'json', 'jsx', 'sh', 'ts', 'yaml', ...Object.keys(UNCHECKED_LANGUAGES)]
  expect(samples.filter(({ language }) => !checked.includes(language)).map(({ name }) => name)).toEqual([])
  const exceptions = [NOT_EXECUTED, EXCERPTS, RENAMED, COMPANIONS].flatMap(Object.keys)
  expect(exceptions.filter((exception) => !samples.some(({ name }) => name === exception))).toEqual([])
})

test.each(Object.entries(EXCERPTS))('%s is an excerpt of %s', (name, file) => {
  expect(readFileSync(file, 'utf8')).toContain(samples.find((sample) => sample.name === name)?.text)
})

test('JSON and YAML blocks of the docs can be parsed', () => {
  for (const { name, text } of inLanguage('json')) expect(() => JSON.parse(text), name).not.toThrow()
  for (const { name, text } of inLanguage('yaml')) expect(() => parse(text), name).not.toThrow()
})

/** test/structure/references.test.ts checks the commands of faultboard and their flags. */
describe('shell blocks of the docs', () => {
  const lines = inLanguage('sh').flatMap(({ name, text }) =>
    text
      .replaceAll('\\\n', '')
      .split('\n')
      .map((line) => ({ name, line })),
  )

  test('shell blocks run only npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
    const unknown = lines.filter(({ line }) => {
      const [, script] = /\bnpm (?:run )?(?!ci\b|init\b|install\b|pkg\b|run\b)([\w:]+)/.exec(line) ?? []
      return script !== undefined && scripts[script] === undefined
    })
    expect(unknown).toEqual([])
  })

  test('shell blocks request only paths of the dashboard that exist', () => {
    const { paths } = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as { paths: object }
    const known = Object.keys(paths).map((path) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}(\\.json)?$`))
    const requested = lines.flatMap(({ line }) => /\bcurl .*\/error_dashboard(\/[\w./]*)/.exec(line)?.[1] ?? [])
    expect(requested.length).toBeGreaterThan(3)
    expect(requested.filter((path) => !known.some((pattern) => pattern.test(path)))).toEqual([])
  })
})

describe.skipIf(!isInstalled('elysia'))('programs of the docs (need the packages of test/hosts)', () => {
  const root = installedFolder()
  const files = new Map(programs.map((sample, i) => [sample, join(root, 'samples', fileName(sample, i))]))

  beforeAll(() => {
    linkHostPackages(join(root, 'node_modules'))
    cpSync('test/examples/fixtures', root, { recursive: true })
    writeFileSync(join(root, 'package.json'), JSON.stringify({ type: 'module', imports: { '#given': './given.js' } }))
    writeFileSync(join(root, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER_OPTIONS }))
    for (const [sample, file] of files) {
      write(file, withGivenNames(sample))
      for (const [path, text] of Object.entries(COMPANIONS[sample.name] ?? {}))
        write(join(root, 'samples', folderName(sample), path), text)
    }
  })

  test('programs of the docs have no type errors', { timeout: 120_000 }, () => {
    const { stdout } = spawnSync(resolve('node_modules/.bin/tsc'), ['-p', '.', '--singleThreaded'], {
      cwd: root,
      encoding: 'utf8',
    })
    const messages = stdout.split('\n').filter((line) => line.includes('error TS'))
    expect(messages.filter((message) => !UNTYPED_PARAMETERS.some((pattern) => pattern.test(message)))).toEqual([])
  })

  test('programs of the docs that are complete can be executed', { timeout: 120_000 }, () => {
    expect(executed.length).toBeGreaterThan(60)
    // Runs samples that configure the tracker first, because other samples start it.
    const ordered = executed.sort((a, b) => Number(importsTracker(b)) - Number(importsTracker(a)))
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['run-samples.js', ...ordered.map((sample) => files.get(sample) ?? '')],
      { cwd: root, encoding: 'utf8', env: { ...process.env, ...ENVIRONMENT } },
    )
    expect(JSON.parse(stdout || '["no output"]'), stderr).toEqual([])
  })
})

const COMPILER_OPTIONS = {
  allowJs: true,
  checkJs: true,
  experimentalDecorators: true,
  jsx: 'react-jsx',
  lib: ['es2023', 'dom', 'dom.iterable'],
  module: 'nodenext',
  noEmit: true,
  noImplicitAny: false,
  pretty: false,
  skipLibCheck: true,
  strict: true,
  target: 'es2023',
  types: ['node'],
}

const ENVIRONMENT = {
  CHAT_WEBHOOK_URL: 'https://chat.example/hook',
  DASHBOARD_PASSWORD: 'secret',
  DASHBOARD_USERNAME: 'admin',
  DATABASE_URL: 'sqlite:samples.sqlite3',
  // Refuses connections.
  FAULTBOARD_CHAT_WEBHOOK_URL: 'http://127.0.0.1:1/',
  FAULTBOARD_DASHBOARD_BASE_URL: 'https://shop.example',
  FAULTBOARD_DASHBOARD_PASSWORD: 'secret',
  FAULTBOARD_DASHBOARD_USERNAME: 'admin',
  FAULTBOARD_DATABASE: 'sqlite:samples.sqlite3',
  FAULTBOARD_ENABLE_CHAT_NOTIFICATIONS: 'true',
  PAGERDUTY_KEY: 'key',
}

function fileName(sample: Sample, i: number): string {
  return join(folderName(sample), sample.path ?? `sample-${i}.${sample.language}`)
}

/** Files of one section are in one folder, because they import each other. */
function folderName({ section }: Sample): string {
  return section.replace(/\W+/g, '-')
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** Imports what the sample takes from the application of the reader, in the first line. */
function withGivenNames({ name, text }: Sample): string {
  const given = [...readFileSync('test/examples/fixtures/given.js', 'utf8').matchAll(/^export const (\w+)/gm)]
  const used = given
    .map(([, id = '']) => id)
    .filter((id) => new RegExp(`\\b${id}\\b`).test(text) && !declares(text, id))
  const imports = used.map((id) => `${RENAMED[name]?.[id] ?? id} as ${id}`)
  const tracker = declares(text, 'Tracker') ? '' : 'const Tracker = freshTracker(); '
  return `import { ${['freshTracker', ...imports].join(', ')} } from '#given'; ${tracker}${text}`
}

function declares(text: string, id: string): boolean {
  return new RegExp(`(?:(?:const|let|function|class) |import [^'=]*)\\b${id}\\b`).test(text)
}

function importsTracker({ text }: Sample): boolean {
  return text.includes("import { Tracker } from 'faultboard'")
}

/** Adds packages that only test/hosts has. */
function linkHostPackages(folder: string): void {
  const packages = resolve('test/hosts/node_modules')
  const missing = readdirSync(packages).filter((name) => !name.startsWith('.') && !existsSync(join(folder, name)))
  for (const name of missing) symlinkSync(join(packages, name), join(folder, name))
}

function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => name !== 'node_modules')
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? filesBelow(path) : [path]
  })
}
