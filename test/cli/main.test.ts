import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { faultboard, faultboardProcess, workingDirectory } from './faultboard.js'

const COMMANDS = ['serve', 'demo', 'migrate', 'cleanup', 'check', 'prove', 'errors', 'work', 'dump']

describe('help', () => {
  test.each([[[]], [['--help']], [['help']]])('%j lists every command and the exit codes', async (args) => {
    const { code, stdout, stderr } = await faultboard(args, { cwd: await workingDirectory() })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const command of COMMANDS) expect(stdout).toMatch(new RegExp(`^ {2}${command} +[A-Z]`, 'm'))
    for (const line of ['0  done', '1  failed', '2  invalid usage or configuration', '3  the database schema']) {
      expect(stdout).toContain(line)
    }
  })

  test.each(COMMANDS)('%s --help lists its flags and ignores other arguments', async (command) => {
    const { code, stdout } = await faultboard([command, '--nonsense', '--help'], { cwd: await workingDirectory() })
    expect(code).toBe(0)
    expect(stdout).toContain(`Usage: faultboard ${command}`)
    expect(stdout).toContain('--database URL')
    expect(stdout).toContain('3  the database schema is outdated')
  })

  test('help COMMAND prints the same as COMMAND --help', async () => {
    const cwd = await workingDirectory()
    expect(await faultboard(['help', 'serve'], { cwd })).toEqual(await faultboard(['serve', '--help'], { cwd }))
  })

  test('prints the version of the package with --version', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8'))
    expect(await faultboardProcess(['--version'], { cwd: await workingDirectory() })).toEqual({
      code: 0,
      stdout: `${version}\n`,
      stderr: '',
    })
  })
})

describe('Escape sequences in arguments', () => {
  test.each([
    [['\u001b[31mred'], '\\x1b[31mred'],
    [['errors', '--\u001b[2Jclear'], '\\x1b[2Jclear'],
    [['errors', '--severity', '\u202ehgih'], ''],
    [['errors', '--database', 'sqlite:\u001b]0;owned\u0007.sqlite3'], '\\x1b]0;owned\\x07.sqlite3'],
    [['check', '--database', 'sqlite:\u001b]0;owned\u0007.sqlite3'], '\\x1b]0;owned\\x07.sqlite3'],
    [['serve', '--database', 'nosql:\u009b31m'], ''],
    [['import', '\u001b[2J.ndjson'], ''],
    [['export', '\u001b[2J/x.ndjson'], ''],
    [['sourcemaps', 'upload', '\u001b[2J', '--release', '\u001b[2J'], ''],
  ])('escape sequences in arguments are printed as escaped text: %j', async (args, printed) => {
    const { stdout, stderr } = await faultboard(args, { cwd: await workingDirectory() })
    expect(`${stdout}${stderr}`).toContain(printed)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters that a terminal interprets.
    expect(`${stdout}${stderr}`).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
  })
})

describe('Invalid usage exits with 2, one message and the help line', () => {
  test.each([
    [['srve'], 'faultboard has no command "srve"; did you mean serve?', 'faultboard --help'],
    [['help', 'migrat'], 'faultboard has no command "migrat"; did you mean migrate?', 'faultboard --help'],
    [['constructor'], 'faultboard has no command "constructor"', 'faultboard --help'],
    [['--database', 'x', 'serve'], '--database is not a command', 'faultboard --help'],
    [
      ['serve', '--prot', '1'],
      '--prot is not a flag of faultboard serve; did you mean --port?',
      'faultboard serve --help',
    ],
    [['errors', '--per_page', '1'], 'did you mean --per-page?', 'faultboard errors --help'],
    [['serve', '--port'], '--port needs a value: --port N', 'faultboard serve --help'],
    [['serve', '--port', '--migrate'], '--port needs a value', 'faultboard serve --help'],
    [['demo', '--seed', '-1'], 'A value that starts with a dash is written as --seed=-1', 'faultboard demo --help'],
    [['errors', '--severity='], '--severity needs a value: --severity WORD', 'faultboard errors --help'],
    [
      ['errors', '--severity', 'low', '--severity', 'high'],
      '--severity can be used only once',
      'faultboard errors --help',
    ],
    [['mcp', '--json'], '--json is not a flag of faultboard mcp. It speaks JSON-RPC', 'faultboard mcp --help'],
    [
      ['move', '--from', 'sqlite:a'],
      '--to is missing, and no database is configured: specify',
      'faultboard move --help',
    ],
    [['serve', '--migrate=yes'], '--migrate does not take a value', 'faultboard serve --help'],
    [['serve', '--port', '70000'], '--port must be a whole number from 0 to 65535', 'faultboard serve --help'],
    [['demo', '--seed', 'abc'], '--seed must be a whole number', 'faultboard demo --help'],
    [['migrate', 'now'], 'faultboard migrate takes flags only, not "now"', 'faultboard migrate --help'],
    [['cleanup', '--days', '0'], '--days must be a whole number from 1 to 36500', 'faultboard cleanup --help'],
    [
      ['errors', '--severity', 'bad'],
      '--severity must be one of critical, high, medium, low',
      'faultboard errors --help',
    ],
  ])('%j', async (args, message, help) => {
    const { code, stdout, stderr } = await faultboard(args, { cwd: await workingDirectory() })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).toContain(`Run  ${help}  to see`)
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  test('names the PORT variable if it is not a port', async () => {
    const { code, stderr } = await faultboard(['serve'], { cwd: await workingDirectory(), env: { PORT: 'http' } })
    expect(code).toBe(2)
    expect(stderr).toContain('PORT must be a whole number from 0 to 65535')
  })
})

test('prints the stack with FAULTBOARD_DEBUG', async () => {
  const options = { cwd: await workingDirectory(), env: { FAULTBOARD_DEBUG: '1' } }
  const { code, stderr } = await faultboardProcess(['srve'], options)
  expect(code).toBe(2)
  expect(stderr).toMatch(/^\s+at /m)
})
