import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AuditEntry } from '../../src/audit/audit-entries.js'
import { createServer } from '../../src/mcp/server.js'
import { ACTOR, TRIAGE_TOOLS } from '../../src/mcp/tools/triage.js'
import { TrackerInstance } from '../../src/tracker.js'
import { type Host, serveTracker } from '../support/host.js'
import { ACTIONS } from '../support/routes.js'

type Sample = [path: string, form: Record<string, string>, entry: Partial<AuditEntry>]

let host: Host
let error_id: number

/** Successful request of each action, in this order, and its entry. An action without a sample fails the test. */
function samples(): Record<string, Sample> {
  const error = (name: string, form: Record<string, string>, entry: Partial<AuditEntry>): Sample => [
    `/errors/${error_id}/${name}`,
    form,
    { error_id, ...entry },
  ]
  return {
    '/errors/:error_id/resolve': error('resolve', { resolution_comment: 'private' }, { action: 'resolve' }),
    '/errors/:error_id/update_status': error(
      'update_status',
      { status: 'in_progress' },
      { action: 'set_status', detail: 'to in_progress' },
    ),
    '/errors/:error_id/assign': error('assign', { assigned_to: 'ben' }, { action: 'assign', detail: 'to ben' }),
    '/errors/:error_id/unassign': error('unassign', {}, { action: 'unassign', detail: null }),
    '/errors/:error_id/update_priority': error(
      'update_priority',
      { priority_level: '3' },
      { action: 'set_priority', detail: 'to high' },
    ),
    '/errors/:error_id/snooze': error('snooze', { hours: '1' }, { action: 'snooze', detail: 'for 1 hour' }),
    '/errors/:error_id/unsnooze': error('unsnooze', {}, { action: 'unsnooze' }),
    '/errors/:error_id/mute': error('mute', {}, { action: 'mute', detail: 'indefinitely' }),
    '/errors/:error_id/unmute': error('unmute', {}, { action: 'unmute' }),
    '/errors/:error_id/add_comment': error(
      'add_comment',
      { author_name: 'Carla', body: 'private' },
      { action: 'comment', detail: 'as Carla' },
    ),
    '/errors/batch_action': [
      '/errors/batch_action',
      { 'error_ids[]': String(error_id), action_type: 'mute', mute_hours: '2' },
      { action: 'mute', error_id, count: 1, detail: 'for 2 hours' },
    ],
    '/saved_views': ['/saved_views', { name: 'Mine' }, { action: 'save_view', target: 'Mine' }],
    '/saved_views/:view_id/delete': ['/saved_views/1/delete', {}, { action: 'delete_view', target: 'Mine' }],
    '/notifications/test': [
      '/notifications/test',
      { channel: 'chat' },
      { action: 'test_notification', target: 'chat', detail: 'failed' },
    ],
    '/notifications/:delivery_id/retry': [
      // The first notification reports the new error. The second is the test above, which failed.
      '/notifications/2/retry',
      {},
      { action: 'retry_notification', target: 'notification 2' },
    ],
    '/settings/access': [
      '/settings/access',
      { name: 'ci', role: 'viewer' },
      { action: 'create_token', target: 'ci', detail: 'viewer' },
    ],
    '/settings/access/:token_id/revoke': ['/settings/access/1/revoke', {}, { action: 'revoke_token', target: 'ci' }],
    '/errors/diagnostic_dumps': [
      '/errors/diagnostic_dumps',
      { note: 'private' },
      { action: 'capture_dump', target: 'dump 1' },
    ],
    '/errors/diagnostic_dumps/:dump_id/delete': [
      '/errors/diagnostic_dumps/1/delete',
      {},
      { action: 'delete_dump', target: 'dump 1' },
    ],
  }
}

/** Actions that change only cookies. */
const WITHOUT_ENTRY = ['/preferences']

async function newestEntries(tracker: TrackerInstance): Promise<AuditEntry[]> {
  return (await tracker.Queries.AuditEntries.call({ per_page: 100 })).entries
}

beforeAll(async () => {
  host = await serveTracker({
    database: 'sqlite::memory:',
    enable_diagnostic_dump: true,
    enable_chat_notifications: true,
    chat_webhook_url: 'http://127.0.0.1:9/',
    run_jobs: false,
  })
  const record = await host.tracker.Commands.LogError.call({ error_type: 'CheckoutError', message: 'm' })
  error_id = (record as { id: number }).id
})

afterAll(() => host.close())

describe('the audit', () => {
  test('the audit log has one entry for each action of the routes table, with its origin', async () => {
    const paths = ACTIONS.map(({ path }) => path.replaceAll(/\{[^}]*\}/g, ''))
    const all = samples()
    expect([...Object.keys(all), ...WITHOUT_ENTRY].sort()).toEqual(paths.sort())
    for (const [path, form, expected] of Object.values(all)) {
      const before = (await newestEntries(host.tracker))[0]?.id ?? 0
      const response = await host.post(path, form)
      expect([path, response.ok || response.status === 302]).toEqual([path, true])
      const added = (await newestEntries(host.tracker)).filter(({ id }) => id > before)
      expect(added, path).toEqual([
        expect.objectContaining({ actor: 'admin', kind: 'password', address: '127.0.0.1', ...expected }),
      ])
    }
    // Neither comments nor the secret of the token.
    expect(JSON.stringify(await newestEntries(host.tracker))).not.toMatch(/private|fb_/)
  })

  test('the audit log has no entry for preferences, rejected requests and changes without effect', async () => {
    const before = await newestEntries(host.tracker)
    await host.post('/preferences', { theme: 'dark' })
    await host.post(`/errors/${error_id}/unassign`)
    await host.post(`/errors/${error_id}/update_priority`, { priority_level: '9' })
    await host.post('/errors/999/resolve')
    await host.post(`/errors/${error_id}/resolve`, {}, { authorization: 'Basic d3Jvbmc6d3Jvbmc=' })
    expect(await newestEntries(host.tracker)).toEqual(before)
  })

  test('the audit log has one entry for each tool that changes data for agents', async () => {
    const tracker = new TrackerInstance(
      { database: 'sqlite::memory:', run_jobs: false },
      { env: {}, write: () => {}, origin: { kind: 'mcp', actor: ACTOR, address: null } },
    ).start()
    const record = await tracker.Commands.LogError.call({ error_type: 'E', message: 'm' })
    const server = createServer({ tracker, version: '0', allow_triage: true, log: () => {} })
    const fields: Record<string, object> = {
      set_status: { status: 'investigating' },
      set_priority: { priority_level: 2 },
      assign_error: { assigned_to: 'ben' },
      snooze_error: { hours: 3 },
      comment_on_error: { body: 'b' },
    }
    try {
      for (const { name } of TRIAGE_TOOLS) {
        const args = { error_id: record?.id, ...fields[name] }
        expect(await server('tools/call', { name, arguments: args })).toMatchObject({ isError: false })
      }
      const entries = await newestEntries(tracker)
      expect(entries.map(({ action }) => action).reverse()).toEqual([
        'resolve',
        'set_status',
        'set_status',
        'set_priority',
        'assign',
        'unassign',
        'snooze',
        'unsnooze',
        'comment',
      ])
      expect(entries).toHaveLength(TRIAGE_TOOLS.length)
      for (const entry of entries) expect(entry).toMatchObject({ actor: ACTOR, kind: 'mcp', address: null })
    } finally {
      await tracker.shutdown()
    }
  })
})
