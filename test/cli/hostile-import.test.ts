import { createWriteStream, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { faultboard, faultboardProcess, recordErrors, workingDirectory } from './faultboard.js'

interface ExportedError {
  kind: string
  error: Record<string, unknown>
  [other: string]: unknown
}

describe('faultboard import', () => {
  let application: string
  let validLine: ExportedError
  const signatureOf = (number: number) => number.toString(16).padStart(64, '0')

  beforeAll(async () => {
    const cwd = await workingDirectory({})
    const database = `sqlite:${join(cwd, 'errors.sqlite3')}`
    await faultboard(['migrate', '--database', database], { cwd })
    await recordErrors(database, {
      error_type: 'Good',
      message: 'fine',
      backtrace: ['at f (/srv/a.js:1:1)'],
      user_id: 'u',
    })
    await faultboard(['export', 'errors.ndjson', '--database', database], { cwd })
    const [first = '', second = ''] = (await readFile(join(cwd, 'errors.ndjson'), 'utf8')).split('\n')
    application = first
    validLine = JSON.parse(second) as ExportedError
  }, 120_000)

  const line = (number: number, overrides: object = {}, error: object = {}) =>
    JSON.stringify({
      ...validLine,
      origins: [signatureOf(number).slice(32)],
      ...overrides,
      error: { ...validLine.error, hash_signature: signatureOf(number), ...error },
    })

  async function importLines(lines: Iterable<string>, { maxHeapMb }: { maxHeapMb?: number } = {}) {
    const cwd = await workingDirectory({})
    const file = join(cwd, 'hostile.ndjson')
    await pipeline(Readable.from(lines), createWriteStream(file))
    const database = `sqlite:${join(cwd, 'errors.sqlite3')}`
    const args = ['import', file, '--database', database, '--json']
    const { code, stdout, stderr } =
      maxHeapMb === undefined
        ? await faultboard(args, { cwd })
        : await faultboardProcess(args, { cwd, env: { NODE_OPTIONS: `--max-old-space-size=${maxHeapMb}` } })
    const listed = await faultboard(['errors', '--database', database, '--json', '--per-page', '100'], { cwd })
    return {
      code,
      stdout,
      stderr,
      errors: JSON.parse(listed.stdout).errors as { error_type: string; message: string }[],
    }
  }

  test('rejects hostile lines by number and imports all other lines', { timeout: 120_000 }, async () => {
    const hostile: Record<string, string> = {
      'deep nesting': line(2).replace('{', `{"x":${'['.repeat(100_000)}${']'.repeat(100_000)},`),
      'null instead of an object': '[]',
      'a number': '1',
      null: 'null',
      'a truncated line': line(3).slice(0, -10),
      'another kind': line(4, { kind: 'user' }),
      'another version': line(5, { version: 999 }),
      'a missing error': JSON.stringify({ ...validLine, error: null }),
      'error as list': JSON.stringify({ ...validLine, error: [] }),
      'a signature with a path': line(6, {}, { hash_signature: '../../../../etc/passwd' }),
      'a signature as number': line(7, {}, { hash_signature: 7 }),
      'a negative count': line(8, {}, { occurrence_count: -1 }),
      'a count as text': line(9, {}, { occurrence_count: '1; DROP TABLE faultboard_errors' }),
      'an infinite count': line(10).replace(/"occurrence_count":\d+/, '"occurrence_count":1e999'),
      'a time as text': line(11, {}, { occurred_at: "' OR 1=1" }),
      'a time out of range': line(12, {}, { occurred_at: '+275760-09-13T00:00:00.001Z' }),
      'an unknown severity': line(13, {}, { severity: 'apocalyptic' }),
      'an unknown status': line(14, {}, { status: '<script>' }),
      'occurrences as text': line(15, { occurrences: 'x' }),
      'a million occurrences as null': line(16, { occurrences: Array(1_000_000).fill(null) }),
      'payloads as object': line(17, { payloads: { length: 1e9 } }),
    }
    const lines = [application, line(1), ...Object.values(hostile), line(100)]
    const { code, stdout, stderr, errors } = await importLines(
      lines.map((text) => `${text}\n`),
      { maxHeapMb: 256 },
    )
    expect(code).toBe(1)
    expect(stderr).not.toMatch(/unexpectedly|heap/)
    const result = JSON.parse(stdout) as { created: number; rejected: number; rejections: { line: number }[] }
    expect(result).toMatchObject({ created: 2, rejected: Object.keys(hostile).length })
    expect(errors).toHaveLength(2)
  })

  test('does not change prototypes and stores markup as text', { timeout: 60_000 }, async () => {
    const pollutingLine = line(1).replace(
      '{',
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},',
    )
    const named = line(2, {}, { error_type: '__proto__', message: '\u001b[2J<script>\u202e' })
    const { code, stderr, errors } = await importLines([application, pollutingLine, named].map((text) => `${text}\n`))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(errors.map(({ error_type }) => error_type).sort()).toEqual(['Good', '__proto__'])
  })

  test('truncates or rejects oversized fields', { timeout: 60_000 }, async () => {
    const long = 'x'.repeat(5_000_000)
    const { errors, stdout } = await importLines(
      [
        application,
        line(1, {}, { message: long }),
        line(2, {}, { error_type: long }),
        line(3, {}, { platform: long, app_version: long, git_sha: long, assigned_to: long }),
      ].map((text) => `${text}\n`),
    )
    const { created, rejected } = JSON.parse(stdout) as { created: number; rejected: number }
    expect(created + rejected).toBe(3)
    for (const { error_type, message } of errors) {
      expect(error_type.length).toBeLessThanOrEqual(255)
      expect(message.length).toBeLessThanOrEqual(100_000)
    }
  })

  test('does not read a line that is larger than the heap', { timeout: 240_000 }, async () => {
    function* lines() {
      yield `${application}\n`
      yield '{"kind":"error","version":1,"x":"'
      for (let i = 0; i < 100; i++) yield 'x'.repeat(1_000_000)
      yield '"}\n'
      yield `${line(1)}\n`
    }
    const { code, stdout } = await importLines(lines(), { maxHeapMb: 64 })
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ created: 1, rejected: 1 })
  })

  test('reports a compressed, binary or empty file', { timeout: 60_000 }, async () => {
    const cwd = await workingDirectory({})
    for (const [name, content] of [
      ['packed.gz', Buffer.from('H4sIAAAAAAAAA6tWKkktLlGyUlAqS8wpTtVRAAoBAJ4m7tkWAAAA', 'base64')],
      ['binary', Buffer.alloc(1_000_000)],
      ['page.html', Buffer.from('<html>\u001b[2J</html>')],
    ] as const) {
      writeFileSync(join(cwd, name), content)
      const { code, stderr } = await faultboard(
        ['import', name, '--database', `sqlite:${join(cwd, 'errors.sqlite3')}`],
        { cwd },
      )
      expect([name, code]).toEqual([name, 1])
      expect(stderr).toContain('not an NDJSON export of Faultboard')
      expect(stderr).not.toContain('\u001b')
    }
  })
})
