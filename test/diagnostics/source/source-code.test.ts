import { execFileSync } from 'node:child_process'
import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Context } from '../../../src/context.js'
import { loadSources, type SourceReference } from '../../../src/diagnostics/source/source-code.js'
import { createRedactor } from '../../../src/model/redaction/redaction.js'
import type { Options } from '../../../src/options.js'
import { NOON, temporaryFolder } from '../../support/tracker.js'

const LINES = Array.from({ length: 30 }, (_, i) => `line ${i + 1}`)

const sourceLines = async (context: Context, place: SourceReference) => (await loadSources(context, [place]))[0] ?? null

function project(files: Record<string, string | Buffer> = {}, settings: Partial<Options> = {}) {
  const folder = realpathSync(temporaryFolder())
  const root = join(folder, 'app')
  const write = (name: string, content: string | Buffer) => {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), content)
  }
  for (const [name, content] of Object.entries({ 'src/cart.ts': LINES.join('\n'), ...files })) write(name, content)
  const clock = { now: NOON }
  const context = {
    config: { project_root: root, source_code_context_lines: 2, source_code_cache_ttl: 60, ...settings },
    redactor: createRedactor([/^house$/]),
    now: () => clock.now,
  } as unknown as Context
  const lines = async (file: string, line_number = 10) =>
    (await sourceLines(context, { file, line_number }))?.lines ?? null
  return { folder, root, context, clock, write, lines }
}

describe('the source of a frame', () => {
  test('the source of a frame has the configured number of lines', async () => {
    const { root, context } = project()
    const at = (line_number: number, file = 'src/cart.ts') => sourceLines(context, { file, line_number })
    expect(await at(10)).toMatchObject({
      file: 'src/cart.ts',
      line_number: 10,
      first: 8,
      lines: ['line 8', 'line 9', 'line 10', 'line 11', 'line 12'],
    })
    expect(await at(1)).toMatchObject({ first: 1, lines: ['line 1', 'line 2', 'line 3'] })
    expect(await at(30)).toMatchObject({ first: 28, lines: ['line 28', 'line 29', 'line 30'] })
    expect(await at(10, join(root, 'src/cart.ts'))).toMatchObject({ first: 8 })
  })

  test('the source of a frame is a single line without context lines', async () => {
    const { lines } = project({}, { source_code_context_lines: 0 })
    expect(await lines('src/cart.ts')).toEqual(['line 10'])
  })

  test.each([
    ['CRLF', '\r\n'],
    ['CR', '\r'],
    ['line separators', '\u2028'],
  ])('counts lines like JavaScript: %s', async (_, end) => {
    const { lines } = project({ 'a.js': `\uFEFF${LINES.join(end)}` })
    expect(await lines('a.js')).toEqual(['line 8', 'line 9', 'line 10', 'line 11', 'line 12'])
    expect((await lines('a.js', 1))?.[0]).toBe('line 1')
  })

  test.each([0, -1, 31, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'the source of a frame is empty for a line that does not exist: %s',
    async (line_number) => {
      const { lines } = project()
      expect(await lines('src/cart.ts', line_number)).toBeNull()
    },
  )

  test('shows the part of a minified line around the column', async () => {
    const { context } = project({ 'min.js': `${'a'.repeat(5000)}FAILS${'b'.repeat(5000)}` })
    const source = await sourceLines(context, { file: 'min.js', line_number: 1, column: 5001 })
    expect(source?.lines[0]).toMatch(/^…a{50,200}FAILSb+…$/)
    expect(source?.lines[0]?.length).toBeLessThan(450)
  })

  test('the source of a frame is cached for source_code_cache_ttl seconds', async () => {
    const { write, lines, clock } = project()
    await lines('src/cart.ts')
    write('src/cart.ts', LINES.map((line) => `new ${line}`).join('\n'))
    expect((await lines('src/cart.ts'))?.[0]).toBe('line 8')
    clock.now += 61_000
    expect((await lines('src/cart.ts'))?.[0]).toBe('new line 8')
  })

  test('the source of a frame is read every time without a cache', async () => {
    const { write, lines } = project({}, { source_code_cache_ttl: 0 })
    await lines('src/cart.ts')
    write('src/cart.ts', LINES.map((line) => `new ${line}`).join('\n'))
    expect((await lines('src/cart.ts'))?.[0]).toBe('new line 8')
  })

  test('the source of a frame is read for the first ten frames of a stack', async () => {
    const { context } = project()
    const places = Array.from({ length: 14 }, (_, i) => ({ file: 'src/cart.ts', line_number: i + 1 }))
    const sources = await loadSources(context, [{ file: null, line_number: 1 }, ...places])
    expect(sources.map((source) => source !== null)).toEqual([false, ...Array(9).fill(true), ...Array(5).fill(false)])
  })
})

describe('source lines', () => {
  const SECRET = Array(30).fill('SECRET').join('\n')

  test.each([
    '.env',
    '.env.local.js',
    'config/.env.ts',
    'server.pem',
    'tls/server.key',
    'id_rsa',
    '.npmrc',
    '.git/config',
    '.git/hooks/x.js',
    '.aws/credentials',
    'credentials.json',
    'src/credentials.ts',
    'src/secrets.production.js',
    'src/secrets_prod.js',
    'src/credentials_live.ts',
    'prod.env_live.js',
    'config/database.yml',
    'config/production.json',
    'prod.env.js',
    'README.md',
    'data.sqlite3',
    'node_modules/express/index.js',
    'packages/a/node_modules/b/index.js',
  ])('source lines are not shown for %s', async (name) => {
    const { lines } = project({ [name]: SECRET })
    expect(await lines(name)).toBeNull()
  })

  test.each([
    '../outside.js',
    'src/../../outside.js',
    './src/./../../outside.js',
    '..\\outside.js',
    'src/cart.ts\0',
    'src/cart.ts\0.js',
    'file:///etc/passwd',
    'https://shop.example/cart.js',
    '/etc/passwd',
    '',
    '.',
    'src',
    `${'a/'.repeat(600)}x.js`,
  ])('source lines are not shown for a path outside the project: %j', async (name) => {
    const { folder, lines } = project()
    writeFileSync(join(folder, 'outside.js'), SECRET)
    expect(await lines(name)).toBeNull()
    expect(await lines(join(folder, 'outside.js'))).toBeNull()
    expect(await lines(join(`${folder}/app`, '..', 'outside.js'))).toBeNull()
  })

  test('source lines are not shown for a folder whose name starts with that of the root', async () => {
    const { folder, lines } = project()
    mkdirSync(join(folder, 'app-secret'))
    writeFileSync(join(folder, 'app-secret', 'x.js'), SECRET)
    expect(await lines(join(folder, 'app-secret', 'x.js'))).toBeNull()
  })

  test('source lines are not shown for a symbolic link out of the project or to a secret file', async () => {
    const { folder, root, lines, write } = project()
    writeFileSync(join(folder, 'outside.js'), SECRET)
    write('.env', SECRET)
    write('src/real.js', LINES.join('\n'))
    symlinkSync(join(folder, 'outside.js'), join(root, 'linked.js'))
    symlinkSync(folder, join(root, 'up'))
    symlinkSync(join(root, '.env'), join(root, 'innocent.js'))
    symlinkSync(join(root, 'src', 'real.js'), join(root, 'fine.js'))
    symlinkSync(join(root, 'loop.js'), join(root, 'loop.js'))
    for (const name of ['linked.js', 'up/outside.js', 'innocent.js', 'loop.js']) expect(await lines(name)).toBeNull()
    expect((await lines('fine.js'))?.[2]).toBe('line 10')
  })

  test('source lines are not shown for paths that only look local, but are shown if the root is a symbolic link', async () => {
    const { folder, root, context } = project()
    symlinkSync(root, join(folder, 'current'))
    const linked = { ...context, config: { ...context.config, project_root: join(folder, 'current') } }
    expect(await sourceLines(linked, { file: 'src/cart.ts', line_number: 10 })).toMatchObject({ first: 8 })
  })

  test('source lines are not shown for huge, binary and missing files, folders, pipes and private keys', async () => {
    const { root, lines, write } = project({
      'huge.js': `${'x\n'.repeat(600_000)}`,
      'binary.js': Buffer.from([0x6c, 0x0a, 0x00, 0x0a, 0x6c]),
      'key.js': `const key = \`-----BEGIN PRIVATE KEY-----\n${LINES.join('\n')}\``,
      'gone.js': 'x',
    })
    mkdirSync(join(root, 'folder.js'))
    execFileSync('mkfifo', [join(root, 'pipe.js')])
    rmSync(join(root, 'gone.js'))
    for (const name of ['huge.js', 'binary.js', 'key.js', 'folder.js', 'pipe.js', 'gone.js'])
      expect(await lines(name, 1)).toBeNull()
    write('gone.js', 'back')
    expect(await lines('gone.js', 1)).toEqual(['back'])
  })
})

test('secrets in source code are filtered, but names and calls are shown', async () => {
  const code = [
    `const password = 'hunter2 hunter2'`,
    'const options = { apiKey: "abcdef123456", house: `none`, colour: "red" }',
    `connect('postgres://eve:hunter2@db.example/shop')`,
    'const token = await readToken(request)',
    `headers.authorization = 'Bearer abcdefghijklmnop'`,
  ]
  const { lines } = project({ 'connect.ts': code.join('\n') })
  expect(await lines('connect.ts', 3)).toEqual([
    `const password = '[FILTERED]'`,
    'const options = { apiKey: "[FILTERED]", house: `[FILTERED]`, colour: "red" }',
    `connect('postgres://[FILTERED]@db.example/shop')`,
    'const token = await readToken(request)',
    `headers.authorization = '[FILTERED]'`,
  ])
})

describe('redaction of a long line', () => {
  const shown = async (line: string, place = 'boom()') => {
    const { context } = project({ 'min.js': line })
    const source = await sourceLines(context, { file: 'min.js', line_number: 1, column: line.indexOf(place) + 1 })
    return source?.lines[0] ?? ''
  }
  const SECRET = 'hunter2-very-secret'
  const AFTER = `var o={password:"${SECRET}",n:1};boom()`

  test.each([
    ['behind a long text', `var a="${'A'.repeat(3000)}";${AFTER}`],
    ['behind a very long text', `var a="${'A'.repeat(200_000)}";${AFTER}`],
    ['behind a text with quotation marks in it', `var a="${'\\"'.repeat(3000)}",b='"';${AFTER}`],
    ['behind a regular expression with one', `${'a();'.repeat(1000)}x.replace(/["]/g,y);${AFTER}`],
    ['behind a comment with one', `/* ${'x '.repeat(2000)} don't */ ${AFTER.replaceAll('"', "'")}`],
    ['that runs on for long', `var o={password:"${SECRET}${'B'.repeat(500)} boom() ${SECRET}"}`],
  ])('never shows %s', async (_case, line) => {
    const text = await shown(line)
    expect(text).not.toContain('hunter2')
    expect(text).toContain('[FILTERED]')
  })

  test('keeps the text around the column', async () => {
    expect(await shown(`var a="${'A'.repeat(3000)}";${AFTER}`)).toMatch(
      /^…A+";var o=\{password:"\[FILTERED\]",n:1\};boom\(\)$/,
    )
  })

  test('hides text too far away to be checked', async () => {
    expect(await shown(`${'a'.repeat(300_000)};${AFTER}`)).toBe('…')
  })

  test('redaction of a long line stays fast for hostile lines', async () => {
    for (const line of [
      '\\"'.repeat(100_000),
      `"${'\\"'.repeat(100_000)}\\`,
      `a:'`.repeat(80_000),
      '$'.repeat(250_000),
    ])
      expect((await shown(`${line}boom()`)).length).toBeLessThan(450)
  })
})
