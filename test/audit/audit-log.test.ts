import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { AuditEntry, AuditPage } from '../../src/audit/audit-entries.js'
import { withNewTracker } from '../../src/cli/open-tracker.js'
import type { DashboardUser } from '../../src/config/kinds.js'
import type { RunningJob } from '../../src/jobs/engine.js'
import { HANDLERS } from '../../src/jobs/handlers.js'
import { hashPassword } from '../../src/model/people/derive-key.js'
import { ROLES } from '../../src/model/people/identity.js'
import { DAY } from '../../src/model/time.js'
import type { Settings } from '../../src/options.js'
import { startRuntime } from '../../src/runtime.js'
import { AUDIT_ENTRIES } from '../../src/store/bulk/bulk-targets.js'
import { sql } from '../../src/store/kysely.js'
import { describeEachDatabase, describeOneDatabase } from '../support/databases.js'
import { type Host, signIn, startHost } from '../support/host.js'
import { NOON, temporaryFolder, withDatabase } from '../support/tracker.js'

interface AuditHost extends Host {
  url: string
  clock: { now: number }
  entries(query?: string): Promise<AuditEntry[]>
  log(error_type: string, fields?: object): Promise<number>
}

async function setUp(url: string, settings: Settings = {}): Promise<AuditHost> {
  const clock = { now: NOON }
  const host = await startHost(url, { run_jobs: false, ...settings }, { now: () => clock.now })
  onTestFinished(() => host.close())
  return {
    ...host,
    url,
    clock,
    entries: async (query = '') =>
      ((await host.json(`/settings/audit.json?${query}`)) as unknown as AuditPage).entries ?? [],
    async log(error_type, fields = {}) {
      clock.now += 1000
      const logged = await host.tracker.Commands.LogError.call({ error_type, message: 'm', ...fields })
      return (logged as { id: number }).id
    },
  }
}

const texts = (entries: readonly AuditEntry[]) =>
  entries.map(({ actor, action, error_id, target, count, detail }) =>
    [actor, action, error_id ?? target ?? count, detail].filter((part) => part !== null).join(' '),
  )

describeEachDatabase('the audit log', (database) => {
  test('the audit log filters, sorts, counts and exports entries', async () => {
    const { post, get, json, entries, log, clock, tracker } = await setUp(await database.fresh())
    const a = await log('A')
    const b = await log('B')
    await post(`/errors/${a}/assign`, { assigned_to: '=1+1' })
    clock.now += DAY
    await post(`/errors/${b}/resolve`)
    await post('/saved_views', { name: '@view, "quoted"' })
    await tracker.Commands.AssignError.call({ error_id: b, assigned_to: 'Zoë', actor: 'deploy script' })
    expect(texts(await entries())).toEqual([
      `deploy script assign ${b} to Zoë`,
      'admin save_view @view, "quoted"',
      `admin resolve ${b}`,
      `admin assign ${a} to =1+1`,
    ])
    for (const [query, count] of [
      ['actor=admin', 3],
      ['actor=Admin2', 0],
      ['kind=host', 1],
      ['kind=password&action=assign', 1],
      ['action=assign', 2],
      [`error_id=${b}`, 2],
      ['timeframe=today', 3],
      ['timeframe=yesterday', 1],
      ['per_page=1&page=99', 1],
    ] as const)
      expect((await entries(query)).length, query).toBe(count)
    expect((await json('/settings/audit.json?per_page=3&page=9')).pagination).toEqual({
      page: 2,
      per_page: 3,
      total_count: 4,
      total_pages: 2,
    })
    for (const query of ['kind=root', 'action=drop', 'error_id=x', 'page=1.5', 'timeframe=ever', 'application_id=x'])
      expect((await get(`/settings/audit.json?${query}`)).status, query).toBe(422)

    const csv = await (await get('/settings/audit.csv?kind=password')).text()
    const [head, ...rows] = csv.trim().split('\r\n')
    expect(head).toBe('id,created_at,actor,kind,address,action,error_id,application_name,target,count,detail')
    expect(rows.map((row) => row.split(',').slice(2).join(','))).toEqual([
      `admin,password,127.0.0.1,save_view,,,"'@view, ""quoted""",,`,
      `admin,password,127.0.0.1,resolve,${b},shop,,,`,
      `admin,password,127.0.0.1,assign,${a},shop,,,to =1+1`,
    ])
  })

  test('the audit log records bulk actions once with their count, and keeps entries of deleted errors', async () => {
    const { post, entries, log, get } = await setUp(await database.fresh())
    const ids: number[] = []
    for (let i = 0; i < 7; i++) ids.push(await log(`E${i}`))
    await post('/errors/batch_action', { selection: 'matching', action_type: 'assign', assigned_to: 'ben' })
    const two = { 'error_ids[]': ids.slice(0, 2).map(String) }
    await post('/errors/batch_action', { ...two, action_type: 'resolve', resolved_by_name: 'Carla' })
    await post('/errors/batch_action', { ...two, action_type: 'resolve' })
    await post('/errors/batch_action', { 'error_ids[]': String(ids[0]), action_type: 'delete' })
    expect(texts(await entries())).toEqual([
      `admin delete ${ids[0]}`,
      'admin resolve 2 as Carla',
      'admin assign 7 to ben',
    ])
    await post('/errors/batch_action', { 'error_ids[]': ids.slice(1, 3).map(String), action_type: 'delete' })
    expect(texts(await entries())[0]).toBe(`admin delete 2 ids ${ids[1]}, ${ids[2]}`)
    expect((await entries(`error_id=${ids[0]}`))[0]).toMatchObject({ count: 1, application_name: null })
    expect(await (await get('/settings/audit')).text()).toContain(`error ${ids[0]} (deleted)`)
  })

  test('the audit log records reopened errors as changes of the system', async () => {
    const { post, entries, log } = await setUp(await database.fresh())
    const id = await log('A', { app_version: '1.0.0' })
    await post(`/errors/${id}/resolve`)
    await log('A', { app_version: '1.0.0' })
    await post(`/errors/${id}/resolve`)
    await log('A', { app_version: '1.1.0' })
    await log('A', { app_version: '1.1.0' })
    expect(texts(await entries('kind=system'))).toEqual([
      `Faultboard reopen ${id} Regressed in 1.1.0`,
      `Faultboard reopen ${id} Occurred again`,
    ])
  })

  test('the audit log records the cleanup of old errors, and deletes entries after audit_retention_days', async () => {
    const url = await database.fresh()
    const { post, entries, log } = await setUp(url)
    const id = await log('A')
    await post(`/errors/${id}/resolve`)
    const runCleanup = async (days: number) => {
      const settings = { database: url, application_name: 'shop', run_jobs: false, audit_retention_days: 100 }
      const now = () => NOON + days * DAY
      const runtime = startRuntime(settings, { now, random: () => 0.5, env: {}, write: () => {} })
      await runtime.context.ready()
      await HANDLERS.cleanup(runtime.context, { data: {} } as RunningJob)
      await runtime.stop()
    }
    await runCleanup(99)
    expect(texts(await entries())).toEqual(['Faultboard clean_up 1', `admin resolve ${id}`])
    await runCleanup(101)
    expect(await entries()).toMatchObject([{ kind: 'system', action: 'clean_up', count: 1 }])
    await runCleanup(250)
    expect(await entries()).toEqual([])
  })

  test('the audit log accepts long and hostile values, and truncates them with a mark', async () => {
    const { post, entries, log, get, tracker } = await setUp(await database.fresh())
    const error_id = await log('A')
    const long = `${'ä'.repeat(254)}\u{1f600}`
    await tracker.Commands.AssignError.call({ error_id, assigned_to: `${'x'.repeat(254)}y`, actor: long.slice(0, 255) })
    await post('/saved_views', { name: '<script>alert(1)</script> password=hunter2secret' })
    const [view, assigned] = await entries()
    expect(view?.target).toContain('<script>')
    expect(view?.target).not.toContain('hunter2secret')
    expect(assigned?.actor.length).toBeLessThanOrEqual(255)
    const page = await (await get('/settings/audit')).text()
    expect(page).not.toContain('<script>alert(1)')
    expect(page).not.toContain('hunter2secret')

    // The assignee and the name in the form are together longer than the column.
    const assigned_to = '\u{1f600}'.repeat(127)
    const form = { 'error_ids[]': [String(error_id)], action_type: 'assign', assigned_to, actor: 'é'.repeat(255) }
    expect((await post('/errors/batch_action', form)).status).toBe(302)
    const tooLong = { ...form, assigned_to: 'x'.repeat(256) }
    expect((await post('/errors/batch_action', tooLong)).status).toBe(422)
    const [latest, ...earlier] = await entries()
    expect(latest?.detail).toContain(`to ${assigned_to}`)
    expect(latest?.detail?.length).toBeLessThanOrEqual(500)
    expect(latest?.detail?.isWellFormed?.() ?? true).toBe(true)
    expect(earlier).toEqual([view, assigned])
  })

  test('the audit log exports every entry once, even with equal times in several batches', async () => {
    const url = await database.fresh()
    const { get } = await setUp(url)
    await withDatabase(url, (db) =>
      db.write((trx) =>
        db.dialect.insertMany(
          trx,
          AUDIT_ENTRIES,
          Array.from({ length: 1203 }, (_, i) => [
            ...[NOON + Math.floor(i / 700), 'anna', 'password', null, 'resolve', null, null, i, null],
          ]),
        ),
      ),
    )
    const [, ...rows] = (await (await get('/settings/audit.csv')).text()).trim().split('\r\n')
    const ids = rows.map((row) => Number(row.split(',')[0]))
    expect(ids).toHaveLength(1203)
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a))
  })
})

/** Number of errors that exceeds two batches of a bulk action on SQLite. */
const BULK_SIZE = 120

test('the audit log counts the changes of a bulk action across batches, even if the action fails halfway', async () => {
  const url = `sqlite:${join(await temporaryFolder(), 'audit.sqlite3')}`
  const { post, entries, log, tracker } = await setUp(url)
  const ids: number[] = []
  for (let i = 0; i < BULK_SIZE; i++) ids.push(await log(`E${i}`))
  const everything = { selection: 'matching', assigned_to: 'ben' }
  await post('/errors/batch_action', { ...everything, action_type: 'assign' })
  expect(texts(await entries())).toEqual([`admin assign ${BULK_SIZE} to ben`])

  // The third batch fails, and the second transaction of a deletion.
  const failAt = (name: string, event: string, id: number | undefined) =>
    withDatabase(url, ({ read }) =>
      sql
        .raw(
          `create trigger ${name} before ${event} on faultboard_errors when old.id = ${id}
           begin select raise(abort, 'no space left'); end`,
        )
        .execute(read),
    )
  await failAt('fail_update', 'update', ids[110])
  expect((await post('/errors/batch_action', { ...everything, action_type: 'resolve' })).status).toBe(500)
  const resolved = await tracker.Queries.ErrorsList.page({ status: 'resolved' })
  expect(resolved.pagination.total_count).toBe(100)
  expect(texts(await entries('action=resolve'))).toEqual(['admin resolve 100'])

  await failAt('fail_delete', 'delete', ids[7])
  const deletion = { 'error_ids[]': ids.slice(0, 10).map(String), action_type: 'delete' }
  expect((await post('/errors/batch_action', deletion)).status).toBe(500)
  const remaining = await tracker.Queries.ErrorsList.page({})
  expect(remaining.pagination.total_count).toBe(BULK_SIZE - 5)
  expect(texts(await entries('action=delete'))).toEqual(['admin delete 5'])
})

describeOneDatabase('the audit', (database) => {
  test('the audit log never fails a change, and reports a missing entry', async () => {
    const { post, log, lines, tracker, url } = await setUp(await database.fresh())
    const error_id = await log('A')
    await withDatabase(url, ({ read }) => read.schema.dropTable('faultboard_audit_entries').execute())
    expect((await post(`/errors/${error_id}/resolve`)).status).toBe(302)
    expect(await tracker.Queries.FindError.call({ error_id })).toMatchObject({ status: 'resolved' })
    expect(lines.join('')).toContain('Could not write the audit entry for resolve')
    expect((await tracker.stats()).dropped).toMatchObject({ audit_failed: 1 })
  })

  test('the audit log records commands of the CLI with the name of the user', async () => {
    const { entries, log, url } = await setUp(await database.fresh())
    const error_id = await log('A')
    await withNewTracker({ database: url }, ({ Commands }) => Commands.ResolveError.call({ error_id }))
    expect(await entries()).toMatchObject([{ kind: 'cli', actor: expect.stringMatching(/./), action: 'resolve' }])
  })

  test('the audit log is visible to admins only', async () => {
    const users = ROLES.map(async (role): Promise<DashboardUser> => {
      const password_hash = await hashPassword(role, { N: 2 ** 14, r: 8, p: 1 })
      return { name: `anna the ${role}`, role, password_hash }
    })
    const { get } = await setUp(await database.fresh(), { dashboard_users: await Promise.all(users) })
    for (const role of ROLES) {
      const headers = signIn(`anna the ${role}`, role)
      const status = role === 'admin' ? 200 : 403
      for (const suffix of ['', '.json', '.csv'])
        expect((await get(`/settings/audit${suffix}`, headers)).status).toBe(status)
      const settings = await (await get('/settings', headers)).text()
      expect(settings.includes('/error_dashboard/settings/audit')).toBe(role === 'admin')
    }
  })

  test('the audit log shows the next step while it is empty', async () => {
    const { get } = await setUp(await database.fresh())
    expect(await (await get('/settings/audit')).text()).toContain('No changes yet')
    expect(await (await get('/settings/audit?actor=x')).text()).toContain('Show all changes')
  })
})
