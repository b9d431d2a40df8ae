import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { faultboard, faultboardProcess, hasTerminal, onTerminal, recordErrors, workingDirectory } from './faultboard.js'

const ESCAPE = '\u001b['
const ERASE_LINE = '\r\u001b[K'
const OLD = Date.UTC(2020, 0, 1)

let cwd = ''

/** Output of a command that finds a terminal, without the time that a pseudo terminal takes. */
async function terminalOutput(args: readonly string[], options: { cwd?: string; env?: Record<string, string> } = {}) {
  const { env = {}, ...folder } = options
  return (await faultboard(args, { cwd, ...folder, env: { TERM: 'xterm', ...env }, columns: 120 })).stdout
}

beforeAll(async () => {
  cwd = await workingDirectory()
  await faultboard(['migrate'], { cwd })
  await recordErrors(
    `sqlite:${join(cwd, 'faultboard.sqlite3')}`,
    { error_type: 'OutOfMemoryError', message: 'heap \u001b[2J' },
    { error_type: 'TypeError', message: 'x is undefined', severity: 'low', occurred_at: OLD },
  )
})

describe('on a terminal', () => {
  test.skipIf(!hasTerminal)('colors severities, statuses and headings, and keeps columns aligned', () => {
    const [heading = '', ...lines] = onTerminal(['errors'], { cwd }).split('\n')
    expect(heading.startsWith('\u001b[1mID')).toBe(true)
    const text = lines.join('\n')
    expect(text).toContain('\u001b[31mcritical\u001b[39m  \u001b[33mnew\u001b[39m')
    expect(text).toContain('\u001b[2mlow\u001b[22m       \u001b[33mnew\u001b[39m')
    expect(text).not.toContain('\u001b[2J')
    const plain = onTerminal(['errors'], { cwd, env: { NO_COLOR: '1' } })
    expect(stripVTControlCharacters([heading, ...lines].join('\n'))).toBe(plain)
  })

  test.skipIf(!hasTerminal)('prints whole lines if the terminal has no size, as in some CI systems', () => {
    const lines = onTerminal(['errors'], { cwd, columns: 0 }).split('\n')
    expect(lines[1]).toMatch(/OutOfMemoryError: heap/)
  })

  test('colors findings, migrations, help and error messages', async () => {
    expect(await terminalOutput(['check'])).toContain('\u001b[32mok\u001b[39m       database       ')
    expect(await terminalOutput(['migrate', '--status'])).toContain('\u001b[32mapplied\u001b[39m')
    expect(await terminalOutput(['--help'])).toContain('\u001b[1mCommands:\u001b[22m\n')
    expect(await terminalOutput(['srve'])).toContain(
      '\u001b[31mfaultboard has no command "srve"; did you mean serve?\u001b[39m',
    )
  })

  test.each([{ NO_COLOR: '1' }, { TERM: 'dumb' }, { FORCE_COLOR: '0' }])(
    'prints no escape codes with %j',
    async (env) => {
      for (const args of [['check'], ['srve']]) {
        expect(await terminalOutput(args, { env })).not.toContain(ESCAPE)
      }
    },
  )

  test('shows the progress of export, import, move and cleanup in a line that is removed', async () => {
    const folder = await workingDirectory()
    const source = `sqlite:${join(cwd, 'faultboard.sqlite3')}`
    const results = [
      [['export', 'errors.ndjson', '--database', source], /Exporting: 0 of 2 errors \(0%\)/],
      [['import', 'errors.ndjson'], /Importing: 0\.0 of 0\.0 MB \(0%\)/],
      [
        ['move', '--from', 'sqlite:faultboard.sqlite3', '--to', 'sqlite:moved.sqlite3'],
        /Copying: 0 of \d+ rows \(0%\)/,
      ],
      [['cleanup', '--days', '30'], /Deleting: 0 of 1 errors \(0%\)/],
    ] as const
    for (const [args, pattern] of results) {
      const output = await terminalOutput(args, { cwd: folder })
      expect(output).toMatch(pattern)
      const shown = output.lastIndexOf(ERASE_LINE) + ERASE_LINE.length
      expect(output.slice(shown)).toMatch(/^(Exported 2 errors|2 new, 0 merged|TABLE|.*TABLE|Deleted 1 error)/)
    }
    const quiet = [
      ['export', 'again.ndjson', '--json'],
      ['export', '-'],
      ['import', 'errors.ndjson', '--json'],
      ['cleanup', '--json'],
    ]
    for (const args of quiet) expect(await terminalOutput(args, { cwd: folder })).not.toContain(ESCAPE)
    const dumb = await terminalOutput(['cleanup', '--days', '1'], { cwd: folder, env: { TERM: 'dumb' } })
    expect(dumb).not.toContain(ESCAPE)
  })

  test.skipIf(!hasTerminal)('shows and removes the progress line on a pseudo terminal', () => {
    const output = onTerminal(['export', 'progress.ndjson'], { cwd })
    expect(output).toContain(`${ERASE_LINE}Exporting: 0 of 2 errors (0%)`)
    expect(output).toContain(`${ERASE_LINE}Exported 2 errors`)
  })
})

describe('in a pipe', () => {
  test('prints colors only with FORCE_COLOR, and never in JSON', async () => {
    expect((await faultboardProcess(['errors'], { cwd })).stdout).not.toContain(ESCAPE)
    const env = { FORCE_COLOR: '1' }
    expect((await faultboardProcess(['errors'], { cwd, env })).stdout).toContain('\u001b[31mcritical')
    for (const command of ['errors', 'check']) {
      const { stdout } = await faultboard([command, '--json'], { cwd, env })
      expect(stdout).not.toContain(ESCAPE)
      expect(JSON.parse(stdout)).toBeTypeOf('object')
    }
  })
})

describe('--json', () => {
  test('export prints its summary to standard output, or to standard error if the errors are there', async () => {
    const toFile = await faultboard(['export', 'all.csv', '--json'], { cwd })
    expect(toFile.stderr).toBe('')
    expect(JSON.parse(toFile.stdout)).toEqual({ errors: 2, occurrences: null, format: 'csv', file: 'all.csv' })
    const toPipe = await faultboard(['export', '-', '--json'], { cwd })
    expect(JSON.parse(toPipe.stderr)).toEqual({ errors: 2, occurrences: 2, format: 'ndjson', file: null })
    expect(toPipe.stdout).toMatch(/^\{"version":/)
  })

  test('init prints the plan', async () => {
    const folder = await workingDirectory({
      'package.json': JSON.stringify({ dependencies: { express: '^5.0.0' }, scripts: { start: 'node app.mjs' } }),
      'app.mjs': "import express from 'express'\n",
      '.env.example': '',
    })
    const plan = JSON.parse((await faultboard(['init', '--dry-run', '--json'], { cwd: folder })).stdout)
    expect(plan).toMatchObject({ framework: 'Express', entry: 'app.mjs', start_command: 'npm start' })
    expect(plan.dashboard_path).toBe('/error_dashboard')
    expect(plan.steps[0]).toEqual({
      file: 'app.mjs',
      place: expect.any(String),
      code: [expect.stringContaining('import')],
    })
    expect(plan.files.map(({ path, state }: { path: string; state: string }) => [path, state])).toEqual([
      ['faultboard.config.mjs', 'would_be_created'],
      ['.env.example', 'exists'],
    ])
    expect(plan.manual_steps).toContain('Insert the code above.')
    writeFileSync(join(folder, 'package.json'), '{}')
    writeFileSync(join(folder, 'app.mjs'), '')
    const unknown = await faultboard(['init', '--json'], { cwd: folder })
    expect(unknown.code).toBe(1)
    expect(JSON.parse(unknown.stdout)).toMatchObject({ framework: null, steps: [], files: [], packages: [] })
  })
})
