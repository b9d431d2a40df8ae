import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { faultboard, faultboardProcess, recordErrors, workingDirectory } from './faultboard.js'

let cwd = ''

beforeAll(async () => {
  cwd = await workingDirectory()
  await faultboard(['migrate'], { cwd })
  await recordErrors(
    `sqlite:${join(cwd, 'faultboard.sqlite3')}`,
    { error_type: 'TypeError', message: 'x \u001b[2J\u009b31m\u202e is undefined', user_id: 'u1' },
    { error_type: 'TypeError', message: 'x \u001b[2J\u009b31m\u202e is undefined', user_id: 'u2' },
    { error_type: '=HYPERLINK("x")', message: 'formula\r\n12,"and" another line', severity: 'low' },
  )
})

describe('export and import', () => {
  test('export and import copy errors to a new database and import each only once', async () => {
    const out = await faultboard(['export', 'errors.ndjson'], { cwd })
    expect(out).toEqual({ code: 0, stdout: '', stderr: 'Exported 2 errors with 3 occurrences to errors.ndjson.\n' })
    expect(statSync(join(cwd, 'errors.ndjson')).mode & 0o777).toBe(0o600)
    expect(readdirSync(cwd).filter((name) => name.endsWith('.partial'))).toEqual([])
    const args = ['import', 'errors.ndjson', '--database', 'sqlite:copy.sqlite3']
    expect(await faultboard(args, { cwd })).toMatchObject({
      code: 0,
      stdout: `2 new, 0 merged into existing errors, 0 already imported: 3 occurrences.\nImported into sqlite:${join(cwd, 'copy.sqlite3')}, which was created.\n`,
    })
    expect(JSON.parse((await faultboard([...args, '--json'], { cwd })).stdout)).toEqual({
      created: 0,
      added: 0,
      known: 2,
      outdated: 0,
      occurrences: 0,
      rejected: 0,
      database: `sqlite:${join(cwd, 'copy.sqlite3')}`,
      database_is_new: false,
      rejections: [],
    })
    const list = await faultboard(['errors', '--json', '--database', 'sqlite:copy.sqlite3'], { cwd })
    expect(
      JSON.parse(list.stdout)
        .errors.map((error: { occurrence_count: number }) => error.occurrence_count)
        .sort(),
    ).toEqual([1, 2])
  })

  test('export and import work with pipes and escape control sequences', async () => {
    const { stdout, stderr } = await faultboardProcess(['export', '-', '--error-type', 'TypeError'], { cwd })
    expect(stderr).toBe('Exported 1 error with 2 occurrences.\n')
    expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    const imported = await piped(['import', '-', '--database', 'sqlite:piped.sqlite3'], stdout)
    expect(imported).toContain('1 new, ')
  })

  test('export and import write CSV without spreadsheet formulas and count every row', async () => {
    const { code, stderr } = await faultboard(['export', 'errors.csv'], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'Exported 2 errors to errors.csv.\n' })
    const text = readFileSync(join(cwd, 'errors.csv'), 'utf8')
    expect(text).toContain(`'=HYPERLINK`)
    expect(
      text
        .replace(/"[^"]*"/g, '')
        .trim()
        .split('\r\n'),
    ).toHaveLength(3)
    expect((await faultboard(['import', 'errors.csv'], { cwd })).stderr).toContain('CSV cannot be imported')
  })

  test('export and import do not overwrite a file without --force', async () => {
    const directory = await workingDirectory({ 'kept.ndjson': 'precious' })
    const args = ['export', 'kept.ndjson', '--database', `sqlite:${join(cwd, 'faultboard.sqlite3')}`]
    const refused = await faultboard(args, { cwd: directory })
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('kept.ndjson already exists') })
    expect(readFileSync(join(directory, 'kept.ndjson'), 'utf8')).toBe('precious')
    expect((await faultboard([...args, '--force'], { cwd: directory })).code).toBe(0)
    expect(readFileSync(join(directory, 'kept.ndjson'), 'utf8')).toContain('"kind":"error"')
  })

  test.each([
    ['JSON over several lines', JSON.stringify({ name: 'shop', version: '1.0.0' }, null, 2)],
    ['JSON in one line', '{"name":"shop"}\n'],
  ])('export and import reject a file that is not an export and create no database: %s', async (_, text) => {
    const directory = await workingDirectory({ 'package.json': text })
    const { code, stdout, stderr } = await faultboard(['import', 'package.json'], { cwd: directory })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^package\.json is not an NDJSON export of Faultboard: .*\n$/)
    expect(readdirSync(directory)).toEqual(['package.json'])
  })

  test('export and import write to pipes and existing links, but not to a link prepared by another user', async () => {
    const pipe = join(cwd, 'a-pipe')
    execFileSync('mkfifo', [pipe])
    const [received, out] = await Promise.all([readFile(pipe, 'utf8'), faultboard(['export', 'a-pipe'], { cwd })])
    expect(out.code).toBe(0)
    expect(received).toBe(readFileSync(join(cwd, 'errors.ndjson'), 'utf8'))
    expect(statSync(pipe).isFIFO()).toBe(true)

    writeFileSync(join(cwd, 'precious'), 'precious')
    symlinkSync('precious', join(cwd, 'linked.ndjson.partial'))
    writeFileSync(join(cwd, 'linked.ndjson'), '')
    symlinkSync('linked.ndjson', join(cwd, 'link'))
    expect((await faultboard(['export', 'link', '--force'], { cwd })).code).toBe(0)
    expect(lstatSync(join(cwd, 'link')).isSymbolicLink()).toBe(true)
    expect(readFileSync(join(cwd, 'linked.ndjson'), 'utf8')).toBe(received)
    expect(readFileSync(join(cwd, 'precious'), 'utf8')).toBe('precious')

    const [imported] = await Promise.all([
      faultboard(['import', 'a-pipe', '--database', 'sqlite:from-pipe.sqlite3'], { cwd }),
      writeFile(pipe, received),
    ])
    expect(imported).toMatchObject({ code: 0, stdout: expect.stringContaining('2 new') })
  })

  test.runIf(existsSync('/dev/full'))('export and import report a full disk in one message', async () => {
    const file = await faultboard(['export', '/dev/full'], { cwd })
    expect(file).toMatchObject({ code: 1, stdout: '' })
    expect(file.stderr).toMatch(/^Cannot write \/dev\/full: ENOSPC.* Check the free space .*\n$/)
    const main = resolve('dist/cli/main.js')
    const shell = spawnSync('sh', ['-c', `"${process.execPath}" "${main}" export - > /dev/full`], { cwd })
    expect({ status: shell.status, stderr: String(shell.stderr) }).toEqual({
      status: 1,
      stderr: expect.stringMatching(/^Cannot write to standard output: ENOSPC[^\n]*\n$/),
    })
  })

  test('export and import report rejected lines by number and save them next to the file', async () => {
    const [application = '', error = ''] = readFileSync(join(cwd, 'errors.ndjson'), 'utf8').split('\n')
    const broken = error.replace('"occurrence_count":2', '"occurrence_count":5')
    writeFileSync(join(cwd, 'mixed.ndjson'), [application, '{"half":', broken, '', error].join('\n'))
    const { code, stdout, stderr } = await faultboard(
      ['import', 'mixed.ndjson', '--database', 'sqlite:mixed.sqlite3'],
      {
        cwd,
      },
    )
    expect(code).toBe(1)
    expect(stdout).toContain('1 new')
    expect(stderr).toMatch(
      /^Line 2: not valid JSON.*\nLine 3: error\.occurrence_count is 5, but its hours add up to 2\n/,
    )
    expect(stderr).toContain('2 lines were rejected and saved to mixed.ndjson.rejected.')
    expect(readFileSync(join(cwd, 'mixed.ndjson.rejected'), 'utf8')).toBe(`{"half":\n${broken}\n`)
  })

  test('export and import do not overwrite a file with rejected lines and stop if they cannot be saved', async () => {
    const [application = '', error = ''] = readFileSync(join(cwd, 'errors.ndjson'), 'utf8').split('\n')
    const bytes = Buffer.concat([
      Buffer.from(`${application}\n{"half\n`),
      Buffer.from([0xff, 0x0a]),
      Buffer.from(error),
    ])
    writeFileSync(join(cwd, 'odd.ndjson'), bytes)
    const args = ['import', 'odd.ndjson', '--database', 'sqlite:odd.sqlite3']
    const same = await faultboard([...args, '--rejected', './odd.ndjson'], { cwd })
    expect({ code: same.code, kept: readFileSync(join(cwd, 'odd.ndjson')).equals(bytes) }).toEqual({
      code: 2,
      kept: true,
    })
    expect(same.stderr).toContain('must not be the imported file')
    const unwritable = await faultboard([...args, '--rejected', 'no/such/folder/x'], { cwd })
    expect({ code: unwritable.code, lines: unwritable.stderr.trim().split('\n').length }).toEqual({ code: 1, lines: 1 })
    expect(unwritable.stderr).toMatch(
      /^Line 2 was rejected .*cannot be saved to no\/such\/folder\/x.*choose another file/,
    )
    const secondImport = await faultboard(args, { cwd })
    expect(secondImport).toMatchObject({ code: 1, stdout: expect.stringContaining('1 new') })
    expect(secondImport.stderr).toContain('Line 3: not valid UTF-8\n2 lines were rejected; 1 of them was saved to')
    // The file of an earlier import may be the only copy of its lines.
    expect((await faultboard(args, { cwd })).stderr).toContain('saved to odd.ndjson.rejected.2')
    expect(readFileSync(join(cwd, 'odd.ndjson.rejected'), 'utf8')).toBe('{"half\n')
    const pipe = join(cwd, 'rejected-pipe')
    execFileSync('mkfifo', [pipe])
    const [piped] = await Promise.all([
      readFile(pipe, 'utf8'),
      faultboard([...args, '--rejected', 'rejected-pipe'], { cwd }),
    ])
    expect(piped).toBe('{"half\n')
  })

  test('export and import leave no file behind if an export is interrupted', async () => {
    // Interrupts the export just before the temporary file is renamed.
    const config = `import files from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
files.rename = () => {
  process.kill(process.pid, 'SIGINT')
  return new Promise((settle) => setTimeout(settle, 60_000))
}
syncBuiltinESMExports()
export default {}
`
    writeFileSync(join(cwd, 'stopping.mjs'), config)
    const { code } = await faultboardProcess(['export', 'stopped.ndjson', '--config', 'stopping.mjs'], { cwd })
    expect(code).toBeNull()
    expect(readdirSync(cwd).filter((name) => name.startsWith('stopped.'))).toEqual([])
  })

  test.each([
    [['export', 'x', '--format', 'xml'], '--format must be one of ndjson, csv', 2],
    [['export', 'a', 'b'], 'takes one FILE, not 2', 2],
    [['export', '-', '--severity', 'dire'], '--severity must be one of', 2],
    [['export', '--page', '2'], '--page is not a flag of faultboard export', 2],
    [['export', 'no/such/folder/x.ndjson'], 'Cannot write no/such/folder/x.ndjson', 1],
    [['export', '-', '--application-name', 'unknown'], 'No application "unknown"', 2],
    [['export'], 'needs a FILE, or - for standard output', 2],
    [['export', '-', '--database', 'sqlite:nowhere.sqlite3'], 'There is no database', 1],
    [['import'], 'needs a FILE', 2],
    [['import', 'nowhere.ndjson'], 'nowhere.ndjson does not exist', 1],
    [['import', '.'], '. is a folder', 1],
    [['import', '-', '--database', 'postgres://u:secret@127.0.0.1:1/x'], 'Is the server running, and', 1],
    [['export', '-', '--database', 'postgres://u:secret@127.0.0.1:1/x'], 'Is the server running, and', 1],
    [['import', 'x', '--formt', 'csv'], '--formt is not a flag of faultboard import', 2],
  ])('faultboard %j reports the problem', async (args, message, code) => {
    const result = await faultboard(args, { cwd })
    expect(result.stderr).toContain(message)
    expect({ code: result.code, stdout: result.stdout }).toEqual({ code, stdout: '' })
  })
})

describe('move', () => {
  test('copies to another database, prints rows and sums, and keeps the source', async () => {
    const { code, stdout } = await faultboard(
      ['move', '--from', 'sqlite:faultboard.sqlite3', '--to', 'sqlite:moved.sqlite3'],
      { cwd },
    )
    expect(code).toBe(0)
    expect(stdout).toMatch(/^TABLE +ROWS +SUM +OF$/m)
    expect(stdout).toMatch(/^faultboard_errors +2 +3 +occurrence_count$/m)
    expect(stdout).toMatch(/^faultboard_error_users +2 +2 +count$/m)
    expect(stdout).toContain('verified each row')
    const lists = await Promise.all(
      ['faultboard', 'moved'].map((name) =>
        faultboard(['errors', '--json', '--database', `sqlite:${name}.sqlite3`], { cwd }),
      ),
    )
    expect(lists[1]?.stdout).toBe(lists[0]?.stdout)
    const again = await faultboard(['move', '--from', 'sqlite:faultboard.sqlite3', '--to', 'sqlite:moved.sqlite3'], {
      cwd,
    })
    expect(again.code).toBe(1)
    expect(again.stderr).toMatch(/moved\.sqlite3 is in use. It has rows in faultboard_errors/)
  })

  test('moves to the configured database, prints JSON and reports files in the spool folder', async () => {
    const directory = await workingDirectory({ 'batch.json': '{}' })
    await faultboard(['migrate', '--database', 'sqlite:old.sqlite3'], { cwd: directory })
    await faultboard(['migrate'], { cwd: directory })
    mkdirSync(join(directory, 'old.sqlite3-spool'))
    writeFileSync(join(directory, 'old.sqlite3-spool', 'batch-1.json'), '{}')
    const { code, stdout, stderr } = await faultboard(['move', '--from', 'sqlite:old.sqlite3', '--json'], {
      cwd: directory,
      env: { FAULTBOARD_DATABASE: 'sqlite:new.sqlite3' },
    })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      verified: true,
      counted_since: 0,
      to: expect.stringMatching(/new\.sqlite3$/),
    })
    expect(stderr).toMatch(/1 file is pending in .*old\.sqlite3-spool .*will not be moved/)
  })

  test.each([
    [['move'], '--from is missing', 2],
    [['move', '--from', 'sqlite:faultboard.sqlite3'], '--to is missing, and no database is configured', 2],
    [['move', '--from', 'sqlite:a.sqlite3', '--to', 'sqlite:./a.sqlite3'], 'are the same database', 2],
    [['move', '--from', 'sqlite:nowhere.sqlite3', '--to', 'sqlite:b.sqlite3'], 'There is no database', 1],
    [['move', '--from', 'nonsense', '--to', 'sqlite:b.sqlite3'], '--from must be sqlite:FILE', 2],
    [
      ['move', '--from', 'sqlite:faultboard.sqlite3', '--to', 'postgres://u:secret@127.0.0.1:1/x'],
      'Cannot use postgres://u:***@127.0.0.1:1/x',
      1,
    ],
    [
      ['move', '--from', 'postgres://u:secret@127.0.0.1:1/x', '--to', 'sqlite:b.sqlite3'],
      'Cannot use postgres://u:***@127.0.0.1:1/x',
      1,
    ],
    [['move', 'somewhere'], 'takes flags only', 2],
  ])('faultboard %j reports the problem', async (args, message, code) => {
    const result = await faultboard(args, { cwd })
    expect(result.stderr).toContain(message)
    expect(result.stderr).not.toContain('secret')
    expect({ code: result.code, stdout: result.stdout }).toEqual({ code, stdout: '' })
  })
})

async function piped(args: readonly string[], text: string): Promise<string> {
  const child = spawn(process.execPath, [resolve('dist/cli/main.js'), ...args], { cwd })
  let output = ''
  child.stdout.on('data', (data) => {
    output += data
  })
  child.stdin.end(text)
  await new Promise((resolve) => child.on('close', resolve))
  return output
}
