import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { LogErrorInput } from '../../src/capture/fields.js'
import type { Settings } from '../../src/options.js'
import { temporaryFolder, trackerAt } from '../support/tracker.js'

function logger(settings: Settings = {}) {
  const { tracker } = trackerAt(
    { url: `sqlite:${join(temporaryFolder(), 'x.sqlite3')}`, spool_path: temporaryFolder() },
    settings,
  )
  return async (input: LogErrorInput) => (await tracker.Commands.LogError.call(input))?.hash_signature
}

const at = (error: Error, ...lines: string[]) =>
  Object.assign(error, { stack: `${error.name}: ${error.message}\n    ${lines.join('\n    ')}` })
const rethrown = (place: string) =>
  at(
    new Error('Checkout failed', { cause: at(new Error('no price'), `at ${place} (/srv/shop/price.ts:1:1)`) }),
    'at handle (/srv/shop/server.ts:1:1)',
  )

/** Digits would be normalized anyway. */
const LETTERS = 'abcdefghij'

describe('identical errors are grouped', () => {
  test('by one recipe for every way in: as exception, by fields, by fields with a whole stack', async () => {
    const log = logger()
    const exception = at(new TypeError('User 5 is gone'), 'at f (/srv/shop/a.ts:1:1)')
    const fields = { error_type: 'TypeError', message: 'User 77 is gone' }
    const signature = await log({ exception })
    expect(await log({ ...fields, backtrace: ['at f (/srv/shop/a.ts:9:9)'] })).toBe(signature)
    expect(await log({ ...fields, backtrace: 'TypeError: User 77 is gone\n    at f (/srv/shop/a.ts:9:9)' })).toBe(
      signature,
    )
  })

  test('by the place of the root cause, wherever it was wrapped and thrown again', async () => {
    const log = logger()
    expect(await log({ exception: rethrown('lookUp') })).toBe(await log({ exception: rethrown('lookUp') }))
    expect(await log({ exception: rethrown('lookUp') })).not.toBe(await log({ exception: rethrown('convert') }))
  })

  test('by the place of the first of several that have none together, as those of Promise.any', async () => {
    const log = logger()
    const gathered = (place: string) =>
      at(new AggregateError([at(new Error('no answer'), `at ${place} (/srv/shop/carriers.ts:1:1)`)], 'All rejected'))
    expect(await log({ exception: gathered('north') })).toBe(await log({ exception: gathered('north') }))
    expect(await log({ exception: gathered('north') })).not.toBe(await log({ exception: gathered('south') }))
  })

  test('by the fingerprint of the host instead, where it gives one', async () => {
    const log = logger({
      custom_fingerprint: (_, { error_type }) => (error_type === 'Error' ? 'one for all' : undefined),
    })
    expect(await log({ exception: new Error('a') })).toBe(await log({ exception: new Error('completely different') }))
    expect(await log({ exception: new TypeError('a') })).not.toBe(await log({ exception: new TypeError('b') }))
  })

  test.each([[''], [null], [5], [{}]])('a fingerprint of %j counts as none', async (answer) => {
    const log = logger({ custom_fingerprint: () => answer as string })
    expect(await log({ exception: new Error('a') })).not.toBe(await log({ exception: new Error('b') }))
  })

  test('relative to the root of each tracker, though two of one process see the same error', async () => {
    const exception = at(new Error('x'), 'at f (/srv/one/a.ts:1:1)')
    const signatures = [
      await logger({ project_root: '/srv/one' })({ exception }),
      await logger({ project_root: '/srv' })({ exception }),
    ]
    expect(new Set(signatures).size).toBe(2)
    expect(await logger({ project_root: '/srv/one' })({ exception })).toBe(signatures[0])
  })

  test('whatever their secrets, users, urls and parameters are', async () => {
    const log = logger()
    const exception = at(new Error('x'), 'at f (/srv/shop/a.ts:1:1)')
    const signature = await log({ exception, user_id: 1, request_url: '/a', request_params: { a: 1 }, platform: 'ios' })
    expect(await log({ exception, user_id: 2, request_url: '/b', app_version: '2', occurred_at: 5 })).toBe(signature)
  })

  test.each([
    [
      'JSON web tokens',
      (n: number) => `Invalid token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1c2Vy${LETTERS[n]}In0.c2lnbmF0dXJl${LETTERS[n]}`,
    ],
    ['passwords', (n: number) => `login failed: password=hunter${'x'.repeat(n)}y`],
    ['API keys', (n: number) => `rejected key sk_live_${'abcdefghijklmnop'.slice(n)}${'q'.repeat(n)}zzzzzzzz`],
    ['card numbers', (n: number) => `declined ${n % 2 ? '4111 1111 1111 1111' : '4111-1111-1111-1111'}`],
  ])('into one record when their messages differ only in redacted %s', async (_, message) => {
    const log = logger()
    const signatures = new Set<string | undefined>()
    for (let n = 0; n < 10; n++)
      signatures.add(await log({ exception: at(new Error(message(n)), 'at auth (/srv/shop/auth.ts:1:1)') }))
    expect(signatures.size).toBe(1)
  })

  test('into one record when the frames of their backtraces differ only in a redacted token', async () => {
    const log = logger()
    const frame = (token: string) => `at load (/srv/shop/app.js?token=${token}:1:2)`
    const cause = (token: string) => at(new Error(`no answer for password=${token}`), frame(token))
    const signature = await log({ exception: at(new Error('x', { cause: cause('alpha') }), frame('alpha')) })
    expect(await log({ exception: at(new Error('x', { cause: cause('beta') }), frame('beta')) })).toBe(signature)
  })
})
