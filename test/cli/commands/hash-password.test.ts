import { spawnSync } from 'node:child_process'
import { timingSafeEqual } from 'node:crypto'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { deriveKey } from '../../../src/model/people/derive-key.js'
import { parsePasswordHash } from '../../../src/model/people/password-hash.js'
import { hasTerminal } from '../faultboard.js'

const MAIN = resolve('dist/cli/main.js')

function run(input: string, ...args: string[]) {
  return spawnSync(process.execPath, [MAIN, 'hash-password', ...args], { input, encoding: 'utf8' })
}

async function isHashOf(text: string, password: string): Promise<boolean> {
  const hash = parsePasswordHash(text)
  return hash !== null && timingSafeEqual(await deriveKey(password, hash), hash.key)
}

test.each([
  ['without a line break', 'pässword: $x', 'pässword: $x'],
  ['with a line break', 'secret\n', 'secret'],
  ['with a Windows line break', 'secret\r\n', 'secret'],
])('prints the hash of a password from standard input %s', async (_title, input, password) => {
  const { stdout, stderr, status } = run(input)
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
  expect(await isHashOf(stdout.trimEnd(), password)).toBe(true)
  expect(stdout).not.toContain(password)
})

test('prints a different hash each time, as JSON on demand', async () => {
  const hashes = [run('secret', '--json'), run('secret', '--json')].map(
    ({ stdout }) => JSON.parse(stdout).password_hash,
  )
  expect(hashes[0]).not.toBe(hashes[1])
  expect(await isHashOf(hashes[1], 'secret')).toBe(true)
})

test.each([
  ['an empty password', '', [], 'The password is empty'],
  ['several lines', 'a\nb\n', [], 'The password must be one line'],
  ['a whole file', 'x'.repeat(10_000), [], 'longer than 1024 bytes'],
  ['a password that does not fit into a header', 'ä'.repeat(513), [], 'longer than 1024 bytes'],
  ['a password as an argument', 'x', ['secret'], 'secret'],
])('refuses %s', (_title, input, args, message) => {
  const { stdout, stderr, status } = run(input, ...args)
  expect({ stdout, status }).toEqual({ stdout: '', status: 2 })
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
