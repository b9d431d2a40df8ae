import { expect, onTestFinished, test } from 'vitest'
import { ProcessHealthRecorder } from '../../src/diagnostics/processes/process-health-recorder.js'
import type { TrackerInstance } from '../../src/tracker.js'
import { describeEachDatabase, describeOneDatabase } from '../support/databases.js'
import { startHost } from '../support/host.js'
import { ALL_PAGES_ON } from '../support/hostile.js'
import { freshStorage, trackerAt } from '../support/tracker.js'
import { runningContext } from './running.js'

const SWITCHES = {
  ...{ enable_breadcrumbs: true, detect_n_plus_one_queries: true, enable_deprecation_tracking: true },
  ...{ enable_request_guard_tracking: true, enable_diagnostic_dump: true },
}

/** Records the same names in every environment, with a different count. */
async function record(tracker: TrackerInstance, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    tracker.addBreadcrumb({ category: 'deprecation', message: 'cart.total() is deprecated' })
    tracker.requestGuard.record({ kind: 'throttle', rule: 'sign-in' })
    await tracker.withScope(async () => {
      for (let run = 0; run < 6; run++) tracker.addBreadcrumb({ category: 'sql', message: 'select * from a' })
      // Settles the scope.
      await tracker.Commands.LogError.call({ error_type: 'A', message: 'x' })
    })
  }
  await tracker.Commands.CaptureDiagnosticDump.call({})
  await tracker.flush()
}

describeEachDatabase('diagnostics of several environments', (database) => {
  test('stores diagnostics with the environment of the process and filters by it', async () => {
    const storage = await freshStorage(database)
    const { tracker } = trackerAt(storage, { ...SWITCHES, environment: 'production' })
    await record(tracker, 2)
    await record(trackerAt(storage, { ...SWITCHES, environment: 'staging' }).tracker, 3)

    const { Deprecations, NPlusOneQueries, RequestGuardSummary, DiagnosticDumps } = tracker.Queries
    const counts = async (environment?: string) => {
      const input = { environment, days: 7 as const }
      const warnings = await Deprecations.call(input)
      const { statements } = await NPlusOneQueries.call(input)
      const guard = await RequestGuardSummary.call(input)
      const { dumps } = await DiagnosticDumps.call({ environment })
      return {
        warnings: [warnings.deprecations[0]?.count, warnings.by_day.at(-1)?.count],
        statements: statements.map(({ request_count }) => request_count),
        guard: [guard.total_count, guard.by_rule[0]?.count],
        dumps: dumps.map((dump) => dump.environment),
      }
    }
    const expected = (count: number, dumps: string[]) => ({
      ...{ warnings: [count, count], statements: [count], guard: [count, count], dumps },
    })
    expect(await counts('production')).toEqual(expected(2, ['production']))
    expect(await counts('staging')).toEqual(expected(3, ['staging']))
    expect(await counts()).toEqual(expected(5, ['staging', 'production']))
    expect(await counts('nowhere')).toEqual({
      ...{ warnings: [undefined, 0], statements: [], guard: [0, undefined], dumps: [] },
    })
  })

  test('does not find a dump in other environments', async () => {
    const { tracker } = trackerAt(await freshStorage(database), { ...SWITCHES, environment: 'staging' })
    const { id: dump_id } = await tracker.Commands.CaptureDiagnosticDump.call({})
    const find = (environment: string) => tracker.Queries.FindDiagnosticDump.call({ dump_id, environment })
    expect(await find('staging')).toMatchObject({ id: dump_id, environment: 'staging' })
    await expect(find('production')).rejects.toThrow('not found')
    const production = { dump_id, environment: 'production' }
    await expect(tracker.Commands.DeleteDiagnosticDump.call(production)).rejects.toThrow('not found')
    expect(await tracker.Commands.DeleteDiagnosticDump.call({ dump_id })).toEqual({ deleted: 1 })
  })

  test('lists processes by environment, including environments without errors', async () => {
    const storage = await freshStorage(database)
    const context = await runningContext(database, { environment: 'staging', database: storage.url })
    const live = { ...context, config: { ...context.config, environment: 'production' } }
    for (const processContext of [context, live]) {
      const recorder = new ProcessHealthRecorder(processContext)
      onTestFinished(() => recorder.stop())
      await recorder.sample()
    }
    const { tracker } = trackerAt(storage)
    const { ProcessHealth, Environments } = tracker.Queries
    const { processes } = await ProcessHealth.call({})
    expect(processes.map(({ environment }) => environment).sort()).toEqual(['production', 'staging'])
    const found = await ProcessHealth.call({ environment: 'staging' })
    expect(found).toMatchObject({ processes: [{ environment: 'staging' }], process: { environment: 'staging' } })
    const process_id = found.process?.id ?? 0
    await expect(ProcessHealth.call({ process_id, environment: 'production' })).rejects.toThrow('not found')
    expect(await Environments.call({ application_id: found.process?.application_id })).toEqual([
      'production',
      'staging',
    ])
  })
})

describeOneDatabase('pages of diagnostics', (database) => {
  test('pages of diagnostics filter data, links and forms by the environment of the sidebar', async () => {
    const url = await database.fresh()
    const host = await startHost(url, { ...ALL_PAGES_ON, environment: 'production' })
    onTestFinished(() => host.close())
    await record(host.tracker, 2)
    const staging = await startHost(url, { ...SWITCHES, environment: 'staging' })
    onTestFinished(() => staging.close())
    await record(staging.tracker, 3)

    const listed = (found: Record<string, unknown>, name: string) => (found[name] as unknown[]).length
    for (const [path, name] of [
      ['deprecations', 'deprecations'],
      ['n_plus_one', 'statements'],
      ['request_guard_summary', 'by_rule'],
      ['diagnostic_dumps', 'dumps'],
    ] as const) {
      const found = await host.json(`/errors/${path}?environment=staging`)
      expect([path, found.status, listed(found, name)]).toEqual([path, 200, 1])
      expect([path, listed(await host.json(`/errors/${path}?environment=nowhere`), name)]).toEqual([path, 0])
    }
    expect(await host.json('/errors/request_guard_summary?environment=staging')).toMatchObject({ total_count: 3 })
    // Data of an environment does not depend on its errors.
    expect(await (await host.get('/errors/deprecations?environment=nowhere')).text()).not.toContain(
      'Unknown environment',
    )

    const paths = ['deprecations', 'n_plus_one', 'request_guard_summary', 'diagnostic_dumps', 'swallowed_exceptions']
    for (const path of [...paths.map((name) => `/errors/${name}`), '/process_health', '/runtime']) {
      const page = await (await host.get(`${path}?application_id=1&environment=staging`)).text()
      expect([path, /<summary title="Environment"><span class="word">staging/.test(page)]).toEqual([path, true])
    }

    const dumps = (await (await host.get('/errors/diagnostic_dumps')).text()).match(/ · (staging|production)/g)
    expect(dumps).toEqual([' · staging', ' · production'])
    const filtered = await (await host.get('/errors/diagnostic_dumps?environment=staging')).text()
    expect(filtered).toContain('<input type="hidden" name="environment" value="staging"')
    expect(filtered).toContain('/errors/diagnostic_dumps/2?environment=staging')
    expect((await host.get('/errors/diagnostic_dumps/1?environment=staging')).status).toBe(404)
    const page = await (await host.get('/errors/diagnostic_dumps/2?environment=staging')).text()
    expect(page).toContain('href="/error_dashboard/errors/diagnostic_dumps?environment=production"')
    const captured = await host.post('/errors/diagnostic_dumps', { environment: 'staging' })
    expect(captured.headers.get('location')).toBe('/error_dashboard/errors/diagnostic_dumps?environment=staging')
    const refused = await host.post('/errors/diagnostic_dumps/1/delete', { environment: 'staging' })
    expect(refused.status).toBe(404)
  })
})
