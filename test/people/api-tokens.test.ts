import { expect, test } from 'vitest'
import { hashToken } from '../../src/model/people/api-token.js'
import { DAY } from '../../src/model/time.js'
import { describeEachDatabase } from '../support/databases.js'
import { freshTracker, NOON, trackerAt, withDatabase } from '../support/tracker.js'

const TOKEN = `fb_${'x'.repeat(43)}`
const SETTING = { name: 'deploys', role: 'responder', token_hash: hashToken(TOKEN), expires_at: '2026-03-01' } as const

describeEachDatabase('API tokens', (database) => {
  test('API tokens are stored as hashes and shown once', async () => {
    const { tracker, url } = await freshTracker(database)
    const { token, ...created } = await tracker.Commands.CreateApiToken.call({
      name: ' ci ',
      role: 'responder',
      expires_in_days: '30' as never,
      created_by: 'anna',
    })
    expect(token).toMatch(/^fb_[\w-]{43}$/)
    expect(created).toEqual({
      id: expect.any(Number),
      name: 'ci',
      role: 'responder',
      state: 'active',
      created_at: new Date(NOON).toISOString(),
      created_by: 'anna',
      expires_at: new Date(NOON + 30 * DAY).toISOString(),
      last_used_at: null,
      revoked_at: null,
    })
    expect(await tracker.Queries.ApiTokens.call()).toEqual([created])
    const rows = await withDatabase(url, ({ read }) => read.selectFrom('faultboard_api_tokens').selectAll().execute())
    expect(rows).toMatchObject([{ token_hash: hashToken(token) }])
    expect(JSON.stringify(rows)).not.toContain(token.slice(3))
  })

  test('API tokens are revoked once and keep their name', async () => {
    const { tracker, clock } = await freshTracker(database)
    const { CreateApiToken, RevokeApiToken } = tracker.Commands
    const { id } = await CreateApiToken.call({ name: 'ci', role: 'viewer' })
    const revoked = await RevokeApiToken.call({ token_id: Number(id) })
    expect(revoked).toMatchObject({ name: 'ci', state: 'revoked', revoked_at: new Date(NOON).toISOString() })
    clock.now = NOON + DAY
    await expect(RevokeApiToken.call({ token_id: Number(id) })).rejects.toThrow('The token "ci" is already revoked.')
    expect(await tracker.Queries.ApiTokens.call()).toEqual([revoked])
    await expect(CreateApiToken.call({ name: 'ci', role: 'viewer' })).rejects.toThrow(
      'A token with the name "ci" already exists as a revoked token. Choose another name.',
    )
    await expect(RevokeApiToken.call({ token_id: 999 })).rejects.toThrow('No API token with id 999.')
    const { entries } = await tracker.Queries.AuditEntries.call()
    expect(entries.map(({ action, target }) => [action, target])).toEqual([
      ['revoke_token', 'ci'],
      ['create_token', 'ci'],
    ])
  })

  test('API tokens have unique names, even when they are created at the same time', async () => {
    const { tracker } = await freshTracker(database)
    const create = () => tracker.Commands.CreateApiToken.call({ name: 'ci', role: 'viewer' })
    const results = await Promise.allSettled([create(), create(), create()])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(await tracker.Queries.ApiTokens.call()).toHaveLength(1)
    // Names that differ only in case are distinct on every database.
    await tracker.Commands.CreateApiToken.call({ name: 'CI', role: 'viewer' })
  })

  test('API tokens of the configuration are listed, and reserve their names', async () => {
    const storage = await freshTracker(database)
    await storage.tracker.Commands.CreateApiToken.call({ name: 'zebra', role: 'viewer' })
    await storage.tracker.Commands.CreateApiToken.call({ name: 'agents', role: 'viewer' })
    const { tracker } = trackerAt(storage, { api_tokens: [SETTING] })
    const tokens = await tracker.Queries.ApiTokens.call()
    expect(tokens.map(({ name }) => name)).toEqual(['agents', 'deploys', 'zebra'])
    expect(tokens[1]).toMatchObject({ id: null, state: 'expired', expires_at: '2026-03-01T00:00:00.000Z' })
    expect(JSON.stringify(tokens)).not.toContain('sha256')
    await expect(tracker.Commands.CreateApiToken.call({ name: 'deploys', role: 'viewer' })).rejects.toThrow(
      'A token with the name "deploys" already exists in the option api_tokens.',
    )
  })

  test('API tokens of the configuration precede stored tokens of the same name', async () => {
    const storage = await freshTracker(database)
    const { id } = await storage.tracker.Commands.CreateApiToken.call({ name: 'deploys', role: 'viewer' })
    const { tracker } = trackerAt(storage, { api_tokens: [SETTING] })
    const listed = await tracker.Queries.ApiTokens.call()
    expect(listed.map(({ name, id, role }) => [name, id, role])).toEqual([
      ['deploys', null, 'responder'],
      ['deploys', id, 'viewer'],
    ])
  })

  test('API tokens are limited in number', async () => {
    const { tracker, url } = await freshTracker(database)
    const create = (name: string) => tracker.Commands.CreateApiToken.call({ name, role: 'viewer' })
    await create('first')
    const rows = Array.from({ length: 199 }, (_, i) => {
      return { name: `token ${i}`, role: 'viewer', token_hash: `${i}`, created_at: NOON, created_by: 'anna' } as const
    })
    await withDatabase(url, ({ read }) => read.insertInto('faultboard_api_tokens').values(rows).execute())
    await expect(create('one more')).rejects.toThrow('At most 200 tokens can exist. Revoke one first.')
    const [first] = await tracker.Queries.ApiTokens.call()
    await tracker.Commands.RevokeApiToken.call({ token_id: Number(first?.id) })
    await create('one more')
  })

  test.each<[string, object, string]>([
    ['no name', { name: ' ' }, 'name must not be empty'],
    ['a long name', { name: 'x'.repeat(10_000) }, 'name must not be longer than 255 characters'],
    ['an unprintable name', { name: 'a\u202Eb' }, 'name must not contain control characters'],
    ['an unknown role', { role: 'root' }, 'role must be one of viewer, responder, admin'],
    ['no role', { role: undefined }, 'role'],
    ['an expiry in the past', { expires_in_days: 0 }, 'expires_in_days must be a whole number from 1 to 3650'],
    ['a fraction of a day', { expires_in_days: '1.5' }, 'expires_in_days'],
  ])('API tokens are rejected with %s', async (_title, input, problem) => {
    const { tracker } = await freshTracker(database)
    await expect(
      tracker.Commands.CreateApiToken.call({ name: 'ci', role: 'viewer', ...input } as never),
    ).rejects.toThrow(problem)
    expect(await tracker.Queries.ApiTokens.call()).toEqual([])
  })
})
