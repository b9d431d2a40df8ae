import * as v from 'valibot'
import { expect, onTestFinished, test, vi } from 'vitest'
import { addHook } from '../../src/capture/hooks.js'
import { boolean, integer } from '../../src/config/kinds.js'
import { readOptions, row } from '../../src/config/options.js'
import type { Context } from '../../src/context.js'
import { definePage } from '../../src/dashboard/define.js'
import { defineDiagnostic } from '../../src/diagnostics/define.js'
import { DIAGNOSTICS } from '../../src/diagnostics/diagnostics.js'
import { loadRoutes } from '../../src/diagnostics/routes.js'
import * as r from '../../src/model/result.js'
import { defineOperation } from '../../src/operation.js'
import { OPTION_NAMES, type Settings } from '../../src/options.js'
import { startRuntime } from '../../src/runtime.js'
import { type Host, startHost } from '../support/host.js'
import { CREDENTIALS } from '../support/tracker.js'

const options = {
  enable_report_counts: row<boolean>({
    group: 'diagnostics',
    kind: boolean,
    default: false,
    text: 'Counts the errors that are reported.',
  }),
  report_count_step: row<number>({
    group: 'diagnostics',
    kind: integer(1, 100),
    default: 1,
    text: 'Added for each error.',
  }),
}

const ReportCount = r.object({ count: r.integer })
type ReportCount = v.InferOutput<typeof ReportCount>

const counts = new WeakMap<object, ReportCount>()
const cleanedUp: Context[] = []

const reportCount = defineOperation({
  input: v.object({}),
  run: async (context): Promise<ReportCount> => ({ count: counts.get(context.recorder)?.count ?? 0 }),
})

/** A complete diagnostic. Everything about it is in this constant. */
const reportCounts = defineDiagnostic({
  name: 'report_counts',
  options,
  needs: ['enable_report_counts'],
  collect({ context }) {
    const { report_count_step } = readOptions(context.config, options)
    const state = { count: 0 }
    counts.set(context.recorder, state)
    return addHook(context.hooks.onReport, () => {
      state.count += report_count_step
    })
  },
  api: ({ owner, run }) => ({
    addToReportCount: (count: number) =>
      run((context) => {
        const state = counts.get(context.recorder)
        if (state && context.owner === owner) state.count += count
      }),
  }),
  queries: { ReportCount: reportCount },
  page: async () => ({
    pages: [
      definePage({
        path: '/errors/report_counts',
        text: 'The number of reported errors',
        role: 'viewer',
        parameters: reportCount.input,
        load: (context, input): Promise<ReportCount> => reportCount.run(context, input),
        response: ReportCount,
        title: () => 'Report counts',
        json: (data) => data,
        view: ({ count }) => <h1>{`${count} reported`}</h1>,
      }),
    ],
    navigation: {
      label: 'Report counts',
      icon: 'M2 2h12',
      preview: {
        benefit: 'See how many errors were reported.',
        sample: { columns: ['Day', 'Errors'], rows: [['Monday', '12']] },
      },
    },
  }),
  async retention(context) {
    cleanedUp.push(context)
  },
})

const diagnostics = [...DIAGNOSTICS, reportCounts]

/** Settings with an option that the types of the listed diagnostics do not include. */
function on(settings: object = {}): Settings {
  return { enable_report_counts: true, ...settings } as Settings
}

async function startTestHost(settings: Settings): Promise<Host> {
  const host = await startHost('sqlite::memory:', settings, { diagnostics })
  onTestFinished(() => host.close())
  return host
}

test('a diagnostic adds its option to the configuration, the settings page and the environment', async () => {
  const host = await startTestHost(on({ report_count_step: 5 }))
  const { settings } = (await host.json('/settings')) as unknown as { settings: { name: string }[] }
  expect(settings.find(({ name }) => name === 'report_count_step')).toMatchObject({
    group: 'diagnostics',
    value: '5',
    environment_variable: 'FAULTBOARD_REPORT_COUNT_STEP',
  })
  const invalid = startHost('sqlite::memory:', on({ report_count_step: 0 }), { diagnostics })
  await expect(invalid).rejects.toThrow('report_count_step must be a whole number from 1 to 100')
  const unknown = startHost('sqlite::memory:', on())
  await expect(unknown).rejects.toThrow('enable_report_counts is not an option')
})

test('a diagnostic collects, and shows its page, JSON, navigation and OpenAPI entry', async () => {
  const host = await startTestHost(on({ report_count_step: 5 }))
  await host.tracker.report(new Error('first'))
  await host.tracker.report(new Error('second'))
  const page = await (await host.get('/errors/report_counts')).text()
  expect(page).toContain('<h1>10 reported</h1>')
  expect(page).toMatch(/<a href="\/error_dashboard\/errors\/report_counts" aria-current="page"/)
  expect(await host.json('/errors/report_counts')).toEqual({ status: 200, count: 10 })
  const { paths } = (await host.json('/openapi')) as unknown as { paths: Record<string, { get: object }> }
  expect(paths['/errors/report_counts']?.get).toMatchObject({
    summary: 'The number of reported errors',
    description: expect.stringContaining('enable_report_counts'),
    responses: { 200: { content: { 'application/json': { schema: { properties: { count: { type: 'integer' } } } } } } },
  })
  const queries = host.tracker.Queries as unknown as { ReportCount: { call(): Promise<ReportCount> } }
  expect(await queries.ReportCount.call()).toEqual({ count: 10 })
})

test('a diagnostic that is off collects nothing, and its page returns 404 with the option', async () => {
  const host = await startTestHost({})
  await host.tracker.report(new Error('not counted'))
  const response = await host.get('/errors/report_counts', { accept: 'application/json' })
  expect(response.status).toBe(404)
  expect(await response.text()).toContain('enable_report_counts')
})

test('a diagnostic adds a member to the tracker, which does nothing after the shutdown', async () => {
  const { tracker } = await startTestHost(on())
  const { addToReportCount } = tracker as unknown as { addToReportCount(count: number): void }
  const queries = tracker.Queries as unknown as { ReportCount: { call(): Promise<ReportCount> } }
  addToReportCount(7)
  expect(await queries.ReportCount.call()).toEqual({ count: 7 })
  await tracker.shutdown()
  expect(() => addToReportCount(7)).not.toThrow()
})

test('the cleanup job runs the retention of a diagnostic', async () => {
  const settings = { ...CREDENTIALS, ...on(), database: 'sqlite::memory:', application_name: 'shop' }
  const environment = { now: Date.now, random: Math.random, env: {}, write: () => {} }
  const runtime = startRuntime(settings, { ...environment, diagnostics })
  onTestFinished(() => runtime.stop())
  await runtime.context.ready()
  await runtime.context.jobs.add([{ name: 'cleanup', data: {}, key: 'cleanup' }])
  await vi.waitFor(() => expect(cleanedUp).toContain(runtime.context), { timeout: 25_000 })
})

test('every endpoint of a listed diagnostic needs existing options only', async () => {
  const { pages, actions, downloads } = await loadRoutes(DIAGNOSTICS)
  const needed = [...pages, ...actions, ...downloads].flatMap(({ needs = [] }) => needs)
  expect(needed.length).toBeGreaterThan(5)
  expect(needed.filter((name) => !OPTION_NAMES.some((option) => option === name))).toEqual([])
  expect(new Set(DIAGNOSTICS.map(({ name }) => name)).size).toBe(DIAGNOSTICS.length)
})
