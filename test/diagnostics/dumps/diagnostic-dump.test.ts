import { expect, onTestFinished, test, vi } from 'vitest'
import { captureDiagnosticDump, MAX_DUMPS } from '../../../src/diagnostics/dumps/capture-dump.js'
import { diagnosticDumps, findDiagnosticDump } from '../../../src/diagnostics/dumps/diagnostic-dump.js'
import { MAX_DUMP_BYTES } from '../../../src/diagnostics/dumps/dump-content.js'
import { perform } from '../../../src/operation.js'
import { describeEachDatabase } from '../../support/databases.js'
import { NOON } from '../../support/tracker.js'
import { addApplication, runningContext } from '../running.js'

interface DumpSections {
  memory: { heap_used_bytes: number; rss_bytes: number }
  heap: { spaces: { name: string }[] }
  event_loop: { utilization: number; delay_p99_ms: number }
  active_resources: { Timeout: number }
  modules: { commonjs_modules: number }
  tracker: { switched_on: string[]; database: string }
  cpu: { user_ms: number }
}

const ON = { enable_diagnostic_dump: true, enable_breadcrumbs: true }

describeEachDatabase('a diagnostic dump', (database) => {
  test('contains the state of the process', async () => {
    const context = await runningContext(database, { ...ON, app_version: '4.2' })
    context.counters.add('sampled_out', 3)
    const timer = setInterval(() => {}, 60_000)
    onTestFinished(() => clearInterval(timer))
    const { id } = await perform(captureDiagnosticDump, context, { note: 'before the deploy', actor: 'ada' })
    const dump = await perform(findDiagnosticDump, context, { dump_id: id })
    expect(dump).toMatchObject({
      id,
      application_name: 'shop',
      note: 'before the deploy',
      captured_by: 'ada',
      created_at: new Date(NOON).toISOString(),
      pid: process.pid,
      process: { pid: process.pid, working_directory: '.' },
      versions: { node: process.versions.node, app_version: '4.2', platform: process.platform },
      tracker: { application_name: 'shop', dropped: { sampled_out: 3 }, buffered: 0 },
      breadcrumbs: [],
    })
    const { memory, heap, event_loop, active_resources, modules, tracker, cpu } = dump as unknown as DumpSections
    expect(memory.heap_used_bytes).toBeGreaterThan(1_000_000)
    expect(memory.rss_bytes).toBeGreaterThan(memory.heap_used_bytes)
    expect(heap.spaces.map(({ name }) => name)).toContain('old_space')
    expect(event_loop.utilization).toBeGreaterThanOrEqual(0)
    expect(event_loop.utilization).toBeLessThanOrEqual(1)
    expect(event_loop.delay_p99_ms).toBeGreaterThanOrEqual(0)
    expect(active_resources.Timeout).toBeGreaterThanOrEqual(1)
    expect(modules.commonjs_modules).toBeGreaterThan(0)
    expect(cpu.user_ms).toBeGreaterThan(0)
    expect(tracker.switched_on).toContain('enable_diagnostic_dump')
    expect(dump.rss_bytes).toBe(memory.rss_bytes)
    // Paths outside of the project are not recorded.
    expect(tracker.database).not.toMatch(/^sqlite:\//)
  })

  test('contains the names of environment variables without secret values', async () => {
    const secrets = {
      PAYMENT: 'sk_live_4eC39HqLyjWDarjtT1',
      DATABASE_URL: 'postgres://u:hunter2@db/x',
      MY_THING: 'hunter3',
    }
    for (const [name, value] of Object.entries(secrets)) vi.stubEnv(name, value)
    vi.stubEnv('NODE_ENV', 'staging')
    vi.stubEnv('NODE_OPTIONS', '--token=hunter4 --require "/srv/secret place/boot.cjs"')
    onTestFinished(() => {
      vi.unstubAllEnvs()
    })
    for (const filter_sensitive_data of [true, false]) {
      const context = await runningContext(database, { ...ON, filter_sensitive_data })
      const { id } = await perform(captureDiagnosticDump, context, {})
      const dump = await perform(findDiagnosticDump, context, { dump_id: id })
      expect(dump.environment_variables).toMatchObject({
        NODE_ENV: 'staging',
        PAYMENT: '[HIDDEN]',
        MY_THING: '[HIDDEN]',
      })
      expect(Object.keys(dump.environment_variables as object)).toContain('DATABASE_URL')
      const stored = await context.database.read.selectFrom('faultboard_diagnostic_dumps').selectAll().execute()
      expect(JSON.stringify(stored)).not.toMatch(/hunter|sk_live|secret place/)
      expect(JSON.stringify(stored)).not.toContain('correct horse')
    }
  })

  test('contains the latest breadcrumbs without secrets', async () => {
    const context = await runningContext(database, ON)
    context.breadcrumbs.add({
      category: 'http',
      message: 'GET https://api.example/?token=hunter2',
      metadata: { password: 'hunter2', status: 200 },
    })
    const { id } = await perform(captureDiagnosticDump, context, {})
    const { breadcrumbs } = await perform(findDiagnosticDump, context, { dump_id: id })
    expect(breadcrumbs).toEqual([
      {
        category: 'http',
        message: 'GET https://api.example/?token=[FILTERED]',
        occurred_at: new Date(NOON).toISOString(),
        duration_ms: null,
        metadata: { password: '[FILTERED]', status: 200 },
      },
    ])
  })

  test('a diagnostic dump stays below the size limit', async () => {
    const context = await runningContext(database, { ...ON, breadcrumb_buffer_size: 1000 })
    for (let i = 0; i < 1000; i++) {
      context.breadcrumbs.add({ category: '\u0001'.repeat(500), message: `${i} ${'\u0001'.repeat(900)}` })
      context.counters.add(`${'\u0001'.repeat(190)}${i}`)
    }
    for (let i = 0; i < 600; i++) vi.stubEnv(`${'€'.repeat(150)}${i}`, 'x')
    onTestFinished(() => {
      vi.unstubAllEnvs()
    })
    const { id } = await perform(captureDiagnosticDump, context, {})
    const row = await context.database.read
      .selectFrom('faultboard_diagnostic_dumps')
      .select('content')
      .executeTakeFirstOrThrow()
    expect(Buffer.byteLength(row.content)).toBeLessThan(MAX_DUMP_BYTES + 4096)
    const dump = await perform(findDiagnosticDump, context, { dump_id: id })
    expect(dump.memory).not.toBeNull()
    expect([dump.breadcrumbs, dump.tracker]).toContain(null)
  })

  test('a diagnostic dump is listed newest first, with pagination', async () => {
    const context = await runningContext(database, ON)
    for (const note of ['first', 'second', null]) await perform(captureDiagnosticDump, context, { note })
    const { dumps, pagination } = await perform(diagnosticDumps, context, { per_page: 2 })
    expect(dumps.map(({ note }) => note)).toEqual([null, 'second'])
    expect(pagination).toEqual({ page: 1, per_page: 2, total_count: 3, total_pages: 2 })
    expect(dumps[0]).toMatchObject({ pid: process.pid, application_name: 'shop' })
    expect(dumps[0]).not.toHaveProperty('environment_variables')
    const second = await perform(diagnosticDumps, context, { per_page: 2, page: 99 })
    expect(second.dumps.map(({ note }) => note)).toEqual(['first'])
    expect(second.pagination.page).toBe(2)
  })

  test('replaces the oldest dump of its application and is found only in it', async () => {
    const context = await runningContext(database, ON)
    const depot = await addApplication(context, 'depot')
    const shop = await addApplication(context, 'shop')
    const content = '{"captured_by":null}\n{}'
    const old = (application_id: number) =>
      Array.from({ length: MAX_DUMPS }, (_, i) => ({
        ...{ application_id, environment: 'production', note: `old ${i}`, content, created_at: i },
      }))
    await context.database.read.insertInto('faultboard_diagnostic_dumps').values(old(depot)).execute()
    await context.database.read.insertInto('faultboard_diagnostic_dumps').values(old(shop)).execute()
    const { id } = await perform(captureDiagnosticDump, context, { note: 'new' })
    const count = async (application_id: number) =>
      (await perform(diagnosticDumps, context, { application_id })).pagination.total_count
    expect([await count(shop), await count(depot)]).toEqual([MAX_DUMPS, MAX_DUMPS])
    const last = await perform(diagnosticDumps, context, { application_id: shop, per_page: 100 })
    expect([last.dumps[0]?.note, last.dumps.at(-1)?.note]).toEqual(['new', 'old 1'])
    await expect(perform(findDiagnosticDump, context, { dump_id: id, application_id: depot })).rejects.toThrow(
      /Diagnostic dump \d+ not found/,
    )
  })

  test('a diagnostic dump is rejected with the name of the option while dumps are off', async () => {
    const context = await runningContext(database)
    await expect(perform(captureDiagnosticDump, context, {})).rejects.toThrow('Set enable_diagnostic_dump to true')
  })

  test('a diagnostic dump is rejected with a note longer than 1000 characters', async () => {
    const context = await runningContext(database, ON)
    await expect(perform(captureDiagnosticDump, context, { note: 'x'.repeat(1001) })).rejects.toThrow(
      'note must not be longer than 1000 characters',
    )
  })
})
