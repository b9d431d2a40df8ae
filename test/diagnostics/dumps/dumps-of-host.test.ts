import { mkdtempSync, readdirSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeEachRuntime } from '../../support/processes/runtimes.js'
import { withDatabase } from '../../support/tracker.js'
import { type MeasuredHost, startMeasuredHost } from '../processes/host.js'

const ON = { enable_diagnostic_dump: true, enable_heap_snapshots: true }
const SECRETS = {
  env: { MY_THING: 'hunter1', PAYMENT_KEY: 'hunter2', NODE_OPTIONS: '--title=token=hunter3' },
  flags: ['--conditions=password=hunter4', '--title=postgres://ada:hunter5@db/shop'],
  args: ['--token=hunter6', 'postgres://ada:hunter7@db/shop'],
}

interface Dump {
  files: { kind: string; name: string; size_bytes: number; hostname: string }[]
  memory: { heap_used_bytes: number }
  gc: { total_ms: number; kinds: Record<string, { count: number; longest_ms: number }> }
  active_resources: Record<string, number>
  descriptors: { open: number; soft_limit: number; kinds: Record<string, number> }
  container: { pressure: object; memory_available_bytes: number }
  pools: Record<string, object>
  jobs: { engine: string; waiting: number }
  modules: { packages: Record<string, string>; dependencies: Record<string, string> }
  versions: { node: string }
  event_loop: { turns: number; utilization: number }
  report: {
    handles: Record<string, { total: number }>
    user_limits: Record<string, { soft: number | null; hard: number | null }>
    resource_usage: Record<string, number>
    thread_resource_usage: Record<string, number>
  } | null
  process: { pid: number }
}

describeEachRuntime('dumps of a running host', ({ path, major }) => {
  let folder: string
  let host: MeasuredHost
  let database: string

  const find = async (id: number) => (await host.json<{ dump: Dump }>(`/errors/diagnostic_dumps/${id}.json`)).dump

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'faultboard-dumps-'))
    database = `sqlite:${join(folder, 'test.sqlite3')}`
    host = await startMeasuredHost(path, { database, ...ON }, SECRETS)
    await host.fetchJson('/pool')
  })

  afterAll(async () => {
    const { code, errors } = await host.stop()
    await rm(folder, { recursive: true, force: true })
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
  })

  test('dumps contain garbage collection, descriptors, pools, jobs, packages and loop iterations', async () => {
    await host.fetchJson('/leak')
    const dump = await find(await host.dump({ note: 'all sections' }))
    expect(dump.process.pid).toBe(host.pid)
    expect(dump.gc.kinds.scavenge?.count).toBeGreaterThan(0)
    expect(dump.gc.total_ms).toBeGreaterThan(0)
    expect(dump.descriptors.open).toBeGreaterThan(5)
    expect(dump.descriptors.soft_limit).toBeGreaterThan(dump.descriptors.open)
    expect(dump.descriptors.kinds.socket ?? 0).toBeGreaterThan(0)
    expect(dump.container.pressure).toHaveProperty('memory')
    expect(dump.pools).toEqual({ orders: { kind: 'pg', total: 9, idle: 4, in_use: 5, waiting: 3, max: 10 } })
    expect(dump.jobs).toMatchObject({ engine: 'embedded', waiting: 0 })
    expect(dump.modules.dependencies.acorn).toMatch(/^\d+\.\d+\.\d+/)
    expect(dump.event_loop.turns).toBeGreaterThan(0)
    expect(dump.report).toBeNull()
  })

  test('dumps include handles and limits of the Node.js report and restore its settings', async () => {
    const before = await host.fetchJson('/state')
    const { report } = await find(await host.dump({ report: 'true' }))
    expect(report?.handles.tcp?.total).toBeGreaterThan(0)
    expect(report?.user_limits.open_files?.soft).toBeGreaterThan(0)
    const limitNames = Object.keys(report?.user_limits ?? {})
    expect(limitNames).toEqual(expect.arrayContaining(['virtual_memory_bytes', 'file_size_bytes', 'cpu_time_s']))
    expect(report?.resource_usage.rss_bytes).toBeGreaterThan(10_000_000)
    expect(report?.thread_resource_usage).toHaveProperty('cpu_user_ms')
    // Without a memory limit, Node.js reports an implausible number.
    for (const bytes of Object.values(report?.resource_usage ?? {})) expect(bytes).toBeLessThan(2 ** 50)
    expect(report).not.toHaveProperty('environmentVariables')
    expect(await host.fetchJson('/state')).toEqual(before)
  })

  test('dumps show the heap growth and timers of a leak', async () => {
    const before = await find(await host.dump())
    await host.fetchJson('/leak')
    await host.fetchJson('/timers')
    const after = await find(await host.dump())
    expect(after.memory.heap_used_bytes).toBeGreaterThan(before.memory.heap_used_bytes)
    expect(after.active_resources.Timeout).toBe((before.active_resources.Timeout ?? 0) + 50)
  })

  test('records a CPU profile without blocking the host or opening a port', async () => {
    // The host works from before the profile starts until it ends.
    await host.fetchJson('/work')
    let id = 0
    const profiled = host.dump({ cpu_profile_ms: '300' }).then((dumpId) => {
      id = dumpId
    })
    while (id === 0) expect(await host.fetchJson('/state')).toMatchObject({ inspector_url: null })
    await profiled
    await host.fetchJson('/rest')
    const [file] = (await find(id)).files
    expect(file).toMatchObject({ kind: 'cpu_profile', hostname: expect.any(String) })
    const response = await host.get(`/errors/diagnostic_dumps/${id}/files/cpu_profile`)
    expect(response.headers.get('content-disposition')).toBe(`attachment; filename="${file?.name}"`)
    const { nodes, samples } = (await response.json()) as {
      nodes: { callFrame: { functionName: string } }[]
      samples: []
    }
    expect(nodes.map(({ callFrame }) => callFrame.functionName)).toContain('hardWork')
    expect(samples.length).toBeGreaterThan(0)
  })

  test('dumps contain no secrets of environment, flags, arguments or pools', async () => {
    const id = await host.dump({ report: 'true', note: 'secrets' })
    const outputs = [
      await (await host.get(`/errors/diagnostic_dumps/${id}`)).text(),
      await (await host.get(`/errors/diagnostic_dumps/${id}.json`)).text(),
      await (await host.get('/errors/diagnostic_dumps')).text(),
      JSON.stringify(
        await withDatabase(database, ({ read }) =>
          read.selectFrom('faultboard_diagnostic_dumps').selectAll().execute(),
        ),
      ),
    ]
    for (const text of outputs) expect(text).not.toMatch(/hunter\d|correct horse/)
    expect(outputs[1]).toContain('PAYMENT_KEY')
  })

  // Sending files does not depend on the Node.js version.
  if (major < 24) return

  test('stores a heap snapshot in a private file and sends it unchanged', { timeout: 120_000 }, async () => {
    const id = await host.dump({ heap_snapshot: 'true' })
    const [file] = (await find(id)).files
    const response = await host.get(`/errors/diagnostic_dumps/${id}/files/heap_snapshot`)
    expect(response.headers.get('content-length')).toBe(String(file?.size_bytes))
    const text = await response.text()
    expect(Object.keys(JSON.parse(text))).toEqual(expect.arrayContaining(['snapshot', 'nodes', 'edges', 'strings']))
    const dumps = `${database.slice('sqlite:'.length)}-spool-dumps`
    expect(statSync(dumps).mode & 0o777).toBe(0o700)
    for (const name of readdirSync(dumps)) expect(statSync(join(dumps, name)).mode & 0o777).toBe(0o600)
    await host.post(`/errors/diagnostic_dumps/${id}/delete`)
    expect(readdirSync(dumps)).not.toContain(file?.name)
    expect((await host.get(`/errors/diagnostic_dumps/${id}/files/heap_snapshot`)).status).toBe(404)
  })

  test('dumps are served by kind and only to authenticated users', async () => {
    const id = await host.dump({ cpu_profile_ms: '50' })
    const files = `/errors/diagnostic_dumps/${id}/files`
    const [file] = (await find(id)).files
    for (const name of [
      '..%2f..%2f..%2fetc%2fpasswd',
      '../../../../etc/passwd',
      `${file?.name}`,
      'cpu_profile%00',
      '.',
    ]) {
      const { status } = await host.get(`${files}/${name}`)
      expect([404, 422], name).toContain(status)
    }
    expect((await fetch(`${host.origin}/error_dashboard${files}/cpu_profile`)).status).toBe(401)
    expect((await host.get(`/errors/diagnostic_dumps/${id + 1000}/files/cpu_profile`)).status).toBe(404)
    expect((await host.get(`${files}/cpu_profile?application_id=999`)).status).toBe(404)
    const whole = await host.get(`${files}/cpu_profile`)
    expect((await whole.arrayBuffer()).byteLength).toBe(file?.size_bytes)
  })

  test('captures one file at a time', async () => {
    const both = await Promise.all([
      host.post('/errors/diagnostic_dumps', { cpu_profile_ms: '600' }),
      host.post('/errors/diagnostic_dumps', { cpu_profile_ms: '600' }),
    ])
    expect(both.map(({ status }) => status).sort()).toEqual([302, 409])
    const rejected = both.find(({ status }) => status === 409)
    expect(await rejected?.text()).toContain('This process is already capturing a CPU profile')
  })
})
