import { spawnSync } from 'node:child_process'
import { timingSafeEqual } from 'node:crypto'
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { deriveKey } from '../../../src/model/people/derive-key.js'
import { parsePasswordHash } from '../../../src/model/people/password-hash.js'
import { faultboard, hasTerminal } from '../faultboard.js'

const MAIN = resolve('dist/cli/main.js')

const run = (input: string, ...args: string[]) => faultboard(['hash-password', ...args], { cwd: tmpdir(), input })

async function isHashOf(text: string, password: string): Promise<boolean> {
  const hash = parsePasswordHash(text)
  return hash !== null && timingSafeEqual(await deriveKey(password, hash), hash.key)
}

test('prints the hash of a password from a pipe', async () => {
  const input = 'pässword: $x'
  const { stdout, stderr, status } = spawnSync(process.execPath, [MAIN, 'hash-password'], { input, encoding: 'utf8' })
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
  expect(await isHashOf(stdout.trimEnd(), input)).toBe(true)
  expect(stdout).not.toContain(input)
})

test('ignores the line break after the password, and prints a different hash each time, as JSON on demand', async () => {
  const unix = await run('secret\n')
  const windows = await run('secret\r\n', '--json')
  expect([unix, windows]).toMatchObject([
    { code: 0, stderr: '' },
    { code: 0, stderr: '' },
  ])
  const hashes = [unix.stdout.trimEnd(), JSON.parse(windows.stdout).password_hash]
  for (const hash of hashes) expect(await isHashOf(hash, 'secret')).toBe(true)
  expect(hashes[0]).not.toBe(hashes[1])
})

test.each([
  ['an empty password', '', [], 'The password is empty'],
  ['several lines', 'a\nb\n', [], 'The password must be one line'],
  ['a whole file', 'x'.repeat(10_000), [], 'longer than 1024 bytes'],
  ['a password that does not fit into a header', 'ä'.repeat(513), [], 'longer than 1024 bytes'],
  ['a password as an argument', 'x', ['secret'], 'secret'],
])('refuses %s', async (_title, input, args, message) => {
  const { code, stdout, stderr } = await run(input, ...args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(message)
})

test.skipIf(!hasTerminal)('asks twice on a terminal without showing the password', async () => {
  const type = (first: string, second: string) =>
    spawnSync('script', ['-qec', `'${process.execPath}' '${MAIN}' hash-password`, '/dev/null'], {
      input: `${first}\n${second}\n`,
      encoding: 'utf8',
    }).stdout
  const output = type('secret', 'secret')
  expect(output).toContain('Repeat the password: ')
  expect(await isHashOf(output.trim().split(/\s+/).at(-1) ?? '', 'secret')).toBe(true)
  expect(type('secret', 'other')).toContain('The passwords differ')
})
