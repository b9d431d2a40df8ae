import type { IncomingMessage } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { SeenPeople } from '../../src/dashboard/sign-in/seen-people.js'
import type { RunningJob } from '../../src/jobs/engine.js'
import { HANDLERS } from '../../src/jobs/handlers.js'
import { hashPassword } from '../../src/model/people/derive-key.js'
import { DAY, HOUR } from '../../src/model/time.js'
import type { Settings } from '../../src/options.js'
import { recordPeople } from '../../src/people/known-people.js'
import { startRuntime } from '../../src/runtime.js'
import { describeEachDatabase, describeOneDatabase } from '../support/databases.js'
import { serveTracker, signIn } from '../support/host.js'
import { eventually, NOON, withDatabase } from '../support/tracker.js'

/** Signs in with the name in `x-user` and the address in `x-email`. */
const byHeader = ({ headers }: IncomingMessage) =>
  headers['x-user'] ? { name: String(headers['x-user']), role: 'viewer' as const, email: headers['x-email'] } : null

async function start(url: string, settings: Settings = {}) {
  const clock = { now: NOON }
  const host = await serveTracker(
    { database: url, run_jobs: false, authenticate: byHeader as never, ...settings },
    { now: () => clock.now },
  )
  onTestFinished(() => host.close())
  const visit = (name: string, email?: string, path = '/settings') =>
    fetch(`${host.origin}/error_dashboard${path}`, { headers: { 'x-user': name, ...(email && { 'x-email': email }) } })
  return { host, clock, visit, people: () => readPeople(url) }
}

function readPeople(url: string) {
  return withDatabase(url, ({ read }) => read.selectFrom('faultboard_people').selectAll().orderBy('name').execute())
}

async function startedContext(url: string, settings: Settings = {}, now = NOON) {
  const runtime = startRuntime(
    { database: url, application_name: 'shop', run_jobs: false, ...settings },
    { now: () => now, random: () => 0.5, env: {}, write: () => {} },
  )
  onTestFinished(() => runtime.stop())
  await runtime.context.ready()
  return runtime.context
}

describeEachDatabase('known people', (database) => {
  test('known people are stored once an hour with their newest address', async () => {
    const { clock, visit, people } = await start(await database.fresh())
    const seen = async (email: string | null, time: number) =>
      eventually(async () => {
        const [person] = await people()
        return person?.email === email && person.last_seen_at === time
      }, `Anna has the address ${email}`)
    await Promise.all([visit('Anna', 'old@shop.example'), visit('Anna', 'old@shop.example')])
    await seen('old@shop.example', NOON)
    clock.now = NOON + HOUR - 1
    await visit('Anna', 'new@shop.example')
    // Written after the ignored visit, so that Anna's row cannot change later.
    await visit('Ben')
    await eventually(async () => (await people()).length === 2, 'Ben is stored')
    expect(await people()).toEqual([
      { name: 'Anna', email: 'old@shop.example', last_seen_at: NOON },
      { name: 'Ben', email: null, last_seen_at: NOON + HOUR - 1 },
    ])
    clock.now = NOON + HOUR
    await visit('Anna', 'new@shop.example')
    await seen('new@shop.example', NOON + HOUR)
    clock.now = NOON + 2 * HOUR
    await visit('Anna')
    await seen(null, NOON + 2 * HOUR)
  })

  test('known people are limited to the 1,000 seen most recently', async () => {
    const url = await database.fresh()
    const context = await startedContext(url)
    const newPeople = (count: number, prefix: string) =>
      Array.from({ length: count }, (_, i) => ({ name: `${prefix}${i}`, email: null }))
    await recordPeople(context, newPeople(600, 'a'), NOON)
    await recordPeople(context, [{ name: 'ANNA', email: null }, ...newPeople(600, 'b')], NOON + 1)
    const names = (await readPeople(url)).map(({ name }) => name)
    expect(names).toHaveLength(1000)
    expect(names.filter((name) => name.startsWith('b'))).toHaveLength(600)
    expect(names).toContain('ANNA')
  })

  test('known people are deleted audit_retention_days after their last sign-in', async () => {
    const url = await database.fresh()
    const context = await startedContext(url, { audit_retention_days: 100 }, NOON + 100 * DAY)
    await recordPeople(context, [{ name: 'Anna', email: null }], NOON - 1)
    await recordPeople(context, [{ name: 'Ben', email: null }], NOON)
    await HANDLERS.cleanup(context, { data: {} } as RunningJob)
    expect((await readPeople(url)).map(({ name }) => name)).toEqual(['Ben'])
  })
})

describeOneDatabase('people on the dashboard', (database) => {
  test('people on the dashboard are suggested as assignees after their first sign-in', async () => {
    const password_hash = await hashPassword('x', { N: 2 ** 14, r: 8, p: 1 })
    const { host, visit, people } = await start(await database.fresh(), {
      dashboard_users: [{ name: 'carla', role: 'admin', password_hash }],
    })
    const { id } = (await host.tracker.Commands.LogError.call({ error_type: 'A', message: 'm' })) as { id: number }
    await host.tracker.Commands.AssignError.call({ error_id: id, assigned_to: 'Dora' })
    await visit('<b>Anna</b>')
    await eventually(async () => (await people()).length === 1, 'Anna is stored')
    const suggestions = async (path: string) => {
      const page = await (await host.get(path)).text()
      const [, names = ''] = /id="assignees".*?>(.*?)<\/(?:datalist|fieldset)>/s.exec(page) ?? []
      return [...names.matchAll(/value="(.*?)"/g)].map(([, name]) => name)
    }
    expect(await suggestions('/errors')).toEqual(['&lt;b&gt;Anna&lt;/b&gt;', 'Dora', 'carla'])
    // The current assignee is in the field.
    expect(await suggestions(`/errors/${id}`)).toEqual(['&lt;b&gt;Anna&lt;/b&gt;', 'carla'])
  })

  test('people on the dashboard are stored, but not the shared account, tokens and rejected identities', async () => {
    const password_hash = await hashPassword('secret', { N: 2 ** 14, r: 8, p: 1 })
    const { host, visit, people } = await start(await database.fresh(), {
      dashboard_users: [{ name: 'carla', role: 'admin', email: 'carla@shop.example', password_hash }],
    })
    const { token } = await host.tracker.Commands.CreateApiToken.call({ name: 'ci', role: 'viewer' })
    expect((await host.get('/settings')).status).toBe(200)
    expect((await host.get('/settings', { authorization: `Bearer ${token}` })).status).toBe(200)
    expect((await visit('x'.repeat(10_000))).status).toBe(401)
    expect((await visit('Anna', 'anna@shop.example, bob@shop.example')).status).toBe(401)
    expect((await host.get('/settings', signIn('carla', 'secret'))).status).toBe(200)
    await eventually(async () => (await people()).length > 0, 'Carla is stored')
    expect(await people()).toEqual([{ name: 'carla', email: 'carla@shop.example', last_seen_at: NOON }])
  })

  test('people on the dashboard see pages even if they cannot be stored', async () => {
    const url = await database.fresh()
    const { host, visit } = await start(url)
    await host.tracker.ready()
    await withDatabase(url, ({ read }) => read.schema.dropTable('faultboard_people').execute())
    expect((await visit('Anna')).status).toBe(200)
    await new Promise((resume) => setTimeout(resume, 400))
    expect((await visit('Anna')).status).toBe(200)
    expect(host.lines.join()).not.toContain('faultboard_people')
  })

  test('people whose name changes with every request are stored at most 1,000 times an hour', async () => {
    const url = await database.fresh()
    const clock = { now: NOON }
    const people = new SeenPeople({ ...(await startedContext(url)), now: () => clock.now })
    onTestFinished(() => people.close())
    const visit = (from: number, to: number) => {
      for (let i = from; i < to; i++)
        people.add({ name: `visitor ${i}`, role: 'viewer', email: null, kind: 'host', is_shared: false })
    }
    visit(0, 5000)
    await eventually(async () => (await readPeople(url)).length === 1000, 'a thousand people are stored')
    clock.now += HOUR
    visit(5000, 5010)
    const stored = async () => (await readPeople(url)).filter(({ last_seen_at }) => last_seen_at > NOON).length
    await eventually(async () => (await stored()) === 10, 'more people are stored an hour later')
    expect(await readPeople(url)).toHaveLength(1000)
  })
})
