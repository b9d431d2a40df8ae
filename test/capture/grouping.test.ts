import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { LogErrorInput } from '../../src/capture/fields.js'
import type { Settings } from '../../src/options.js'
import { temporaryFolder, trackerAt } from '../support/tracker.js'

function createLogger(settings: Settings = {}) {
  const { tracker } = trackerAt(
    { url: `sqlite:${join(temporaryFolder(), 'x.sqlite3')}`, spool_path: temporaryFolder() },
    settings,
  )
  return async (input: LogErrorInput) => (await tracker.Commands.LogError.call(input))?.hash_signature
}

const withStack = (error: Error, ...lines: string[]) =>
  Object.assign(error, { stack: `${error.name}: ${error.message}\n    ${lines.join('\n    ')}` })
const wrappedError = (place: string) =>
  withStack(
    new Error('Checkout failed', { cause: withStack(new Error('no price'), `at ${place} (/srv/shop/price.ts:1:1)`) }),
    'at handle (/srv/shop/server.ts:1:1)',
  )

/** Letters instead of digits, which are normalized. */
const LETTERS = 'abcdefghij'

describe('grouping', () => {
  test('computes one signature for an exception, its fields and its whole stack', async () => {
    const log = createLogger()
    const exception = withStack(new TypeError('User 5 is gone'), 'at f (/srv/shop/a.ts:1:1)')
    const fields = { error_type: 'TypeError', message: 'User 77 is gone' }
    const signature = await log({ exception })
    expect(await log({ ...fields, backtrace: ['at f (/srv/shop/a.ts:9:9)'] })).toBe(signature)
    expect(await log({ ...fields, backtrace: 'TypeError: User 77 is gone\n    at f (/srv/shop/a.ts:9:9)' })).toBe(
      signature,
    )
  })

  test('uses the location of the root cause for a rethrown error', async () => {
    const log = createLogger()
    expect(await log({ exception: wrappedError('lookUp') })).toBe(await log({ exception: wrappedError('lookUp') }))
    expect(await log({ exception: wrappedError('lookUp') })).not.toBe(await log({ exception: wrappedError('convert') }))
  })

  test('uses the location of the first error of an AggregateError without frames', async () => {
    const log = createLogger()
    const aggregateError = (place: string) =>
      withStack(
        new AggregateError(
          [withStack(new Error('no answer'), `at ${place} (/srv/shop/carriers.ts:1:1)`)],
          'All rejected',
        ),
      )
    expect(await log({ exception: aggregateError('north') })).toBe(await log({ exception: aggregateError('north') }))
    expect(await log({ exception: aggregateError('north') })).not.toBe(
      await log({ exception: aggregateError('south') }),
    )
  })

  test('prefers the fingerprint of the host', async () => {
    const log = createLogger({
      custom_fingerprint: (_, { error_type }) => (error_type === 'Error' ? 'one for all' : undefined),
    })
    expect(await log({ exception: new Error('a') })).toBe(await log({ exception: new Error('completely different') }))
    expect(await log({ exception: new TypeError('a') })).not.toBe(await log({ exception: new TypeError('b') }))
  })

  test.each([[''], [null], [5], [{}]])('ignores the fingerprint %j', async (fingerprint) => {
    const log = createLogger({ custom_fingerprint: () => fingerprint as string })
    expect(await log({ exception: new Error('a') })).not.toBe(await log({ exception: new Error('b') }))
  })

  test('uses the project root of each tracker for the same error', async () => {
    const exception = withStack(new Error('x'), 'at f (/srv/one/a.ts:1:1)')
    const signatures = [
      await createLogger({ project_root: '/srv/one' })({ exception }),
      await createLogger({ project_root: '/srv' })({ exception }),
    ]
    expect(new Set(signatures).size).toBe(2)
    expect(await createLogger({ project_root: '/srv/one' })({ exception })).toBe(signatures[0])
  })

  test('ignores users, URLs and parameters', async () => {
    const log = createLogger()
    const exception = withStack(new Error('x'), 'at f (/srv/shop/a.ts:1:1)')
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
  ])('groups messages that differ only in redacted %s', async (_, message) => {
    const log = createLogger()
    const signatures = new Set<string | undefined>()
    for (let n = 0; n < 10; n++)
      signatures.add(await log({ exception: withStack(new Error(message(n)), 'at auth (/srv/shop/auth.ts:1:1)') }))
    expect(signatures.size).toBe(1)
  })

  test('groups backtraces that differ only in a redacted token', async () => {
    const log = createLogger()
    const frame = (token: string) => `at load (/srv/shop/app.js?token=${token}:1:2)`
    const cause = (token: string) => withStack(new Error(`no answer for password=${token}`), frame(token))
    const signature = await log({ exception: withStack(new Error('x', { cause: cause('alpha') }), frame('alpha')) })
    expect(await log({ exception: withStack(new Error('x', { cause: cause('beta') }), frame('beta')) })).toBe(signature)
  })
})
