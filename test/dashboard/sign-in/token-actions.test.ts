import * as v from 'valibot'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashToken } from '../../../src/model/people/api-token.js'
import { ROLES, type Role } from '../../../src/model/people/identity.js'
import { describeOneDatabase } from '../../support/databases.js'
import { type Host, startHost } from '../../support/host.js'
import { ACTIONS } from '../../support/routes.js'

const tokenOf = (role: Role) => `fb_${role.padEnd(43, 'x')}`
const as = (role: Role) => ({ authorization: `Bearer ${tokenOf(role)}`, accept: 'application/json' })

/** Form of each action, in an order in which each action finds its record. */
const FORMS: readonly (readonly [path: string, form: Record<string, string>, changed: object])[] = [
  ['/errors/1/assign', { assigned_to: 'eve' }, { changed: true, error: { id: 1, assigned_to: 'eve' } }],
  ['/errors/1/unassign', {}, { changed: true, error: { assigned_to: null } }],
  ['/errors/1/update_priority', { priority_level: '3' }, { changed: true, error: { priority_level: 3 } }],
  ['/errors/1/snooze', { hours: '5' }, { changed: true, error: { snoozed: true } }],
  ['/errors/1/unsnooze', {}, { changed: true, error: { snoozed: false } }],
  ['/errors/1/mute', { reason: 'known' }, { changed: true, error: { muted: true, muted_by_name: 'token of admin' } }],
  ['/errors/1/unmute', {}, { changed: true, error: { muted: false } }],
  ['/errors/1/update_status', { status: 'investigating' }, { changed: true, error: { status: 'investigating' } }],
  ['/errors/1/add_comment', { body: 'Seen' }, { changed: true, error: { id: 1 } }],
  ['/errors/1/resolve', {}, { changed: true, error: { resolved: true, resolved_by_name: 'token of admin' } }],
  ['/errors/1/resolve', {}, { changed: false, error: { resolved: true } }],
  [
    '/errors/batch_action',
    { 'error_ids[]': '1', action_type: 'assign', assigned_to: 'ann' },
    { changed: 1, unchanged: 0, skipped: 0 },
  ],
  ['/saved_views', { name: 'Mine', list_query: 'severity=high' }, { id: 1, name: 'Mine', query: 'severity=high' }],
  ['/saved_views/1/delete', {}, { deleted: 1 }],
  ['/preferences', { theme: 'dark' }, { theme: 'dark' }],
  ['/notifications/test', { channel: 'chat' }, { channel: 'chat', state: 'failed' }],
  ['/notifications/1/retry', {}, { delivery_id: 1, state: 'pending' }],
  ['/settings/access', { name: 'ci', role: 'viewer' }, { id: 1, name: 'ci', token: expect.stringMatching(/^fb_/) }],
  ['/settings/access/1/revoke', {}, { id: 1, state: 'revoked' }],
  ['/errors/diagnostic_dumps', { note: 'before' }, { id: 1 }],
  ['/errors/diagnostic_dumps/1/delete', {}, { deleted: 1 }],
]

describeOneDatabase('actions with an API token', (database) => {
  let host: Host

  beforeAll(async () => {
    host = await startHost(await database.fresh(), {
      api_tokens: ROLES.map((role) => ({ name: `token of ${role}`, role, token_hash: hashToken(tokenOf(role)) })),
      enable_diagnostic_dump: true,
      enable_chat_notifications: true,
      chat_webhook_url: 'http://127.0.0.1:9/chat',
      run_jobs: false,
      // Notifications of the error would come before the test notification.
      severity_thresholds: { chat: 'critical' },
    })
    await host.tracker.Commands.LogError.call({ error_type: 'CheckoutError', message: 'm', severity: 'low' })
  })

  afterAll(() => host.close())

  test('actions with an API token return the changed record', async () => {
    const covered = new Set<string>()
    for (const [path, form, changed] of FORMS) {
      const action = ACTIONS.find((candidate) =>
        new RegExp(`^${candidate.path.replaceAll(/:\w+\{([^}]+)\}/g, '$1')}$`).test(path),
      )
      const response = await host.post(path, form, as('admin'))
      const body = await response.json()
      expect([path, response.status, body]).toEqual([path, 200, expect.objectContaining({})])
      expect([path, body]).toMatchObject([path, changed])
      expect([path, action && v.safeParse(action.response, body).issues]).toEqual([path, undefined])
      expect(response.headers.get('set-cookie')).toBeNull()
      covered.add(action?.path ?? '')
    }
    expect(ACTIONS.map(({ path }) => path).filter((path) => !covered.has(path))).toEqual([])
    const { entries } = await host.tracker.Queries.AuditEntries.call({ per_page: 100 })
    const origins = entries.map(({ actor, kind }) => `${kind}: ${actor}`)
    expect(new Set(origins)).toEqual(new Set(['token: token of admin']))
    expect(JSON.stringify(entries)).not.toContain('fb_')
  })

  test('actions with an API token return errors as JSON with their status', async () => {
    const send = async (path: string, form: Record<string, string>, role: Role = 'responder') => {
      const response = await host.post(path, form, as(role))
      return [response.status, ((await response.json()) as { error: string }).error]
    }
    expect(await send('/errors/999/resolve', {})).toEqual([404, expect.stringContaining('No error with id 999')])
    expect(await send('/errors/1/snooze', { hours: 'x' })).toEqual([422, expect.stringContaining('hours')])
    expect(await send('/errors/1/resolve', {}, 'viewer')).toEqual([403, expect.stringContaining('role responder')])
    expect(await send('/nothing', {})).toEqual([404, 'There is no page at this address.'])
  })

  test('actions redirect clients with a password, and clients that do not accept JSON', async () => {
    const accept = 'application/json'
    const form = { assigned_to: 'eve' }
    expect((await host.post('/errors/1/assign', form, { accept })).status).toBe(302)
    expect((await host.post('/errors/1/assign', form, { ...as('responder'), accept: '*/*' })).status).toBe(302)
    // The secret of a token is never part of a redirect.
    const created = await host.post('/settings/access', { name: 'second', role: 'viewer' }, { accept })
    expect(await created.json()).toMatchObject({ name: 'second', token: expect.stringMatching(/^fb_/) })
  })
})
