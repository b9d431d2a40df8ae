import { expect, test } from 'vitest'
import { captureDiagnosticDump, deleteDiagnosticDump } from '../../../src/diagnostics/capture-dump.js'
import { compareDiagnosticDumps } from '../../../src/diagnostics/compare-dumps.js'
import { diagnosticDumps } from '../../../src/diagnostics/diagnostic-dump.js'
import { changedTexts, comparedNumbers } from '../../../src/diagnostics/dump/differences.js'
import { downloadDumpFile } from '../../../src/diagnostics/dump/download-file.js'
import { perform } from '../../../src/operation.js'
import { describeEachDatabase } from '../../support/databases.js'
import { NOON } from '../../support/tracker.js'
import { addApplication, runningContext } from '../running.js'

type Running = Awaited<ReturnType<typeof runningContext>>

/** A dump as it is stored: one line to list it by, and one with its parts. */
async function store({ database }: Running, application_id: number, created_at: number, parts: object, more = {}) {
  const summary = { pid: 7, hostname: 'web-1', uptime_s: (created_at - NOON) / 1000 + 500, files: [], ...more }
  const content = `${JSON.stringify(summary)}\n${JSON.stringify(parts)}`
  await database.read
    .insertInto('faultboard_diagnostic_dumps')
    .values({ application_id, note: null, content, created_at })
    .execute()
  const { id } = await database.read
    .selectFrom('faultboard_diagnostic_dumps')
    .select(({ fn }) => fn.max('id').as('id'))
    .executeTakeFirstOrThrow()
  return Number(id)
}

const BEFORE = {
  memory: { rss_bytes: 100_000_000, heap_used_bytes: 50_000_000, external_bytes: 1_000_000 },
  heap: { size_limit_bytes: 5, spaces: [{ name: 'old_space', used_bytes: 40_000_000, size_bytes: 1 }] },
  active_resources: { Timeout: 3, TCPSocketWrap: 10 },
  gc: { total_ms: 10, kinds: { scavenge: { count: 3 } } },
  modules: { packages: { hono: '4.0.0', ms: '2.1.3' }, dependencies: { pg: '8.0.0' } },
  environment: { NODE_ENV: 'staging', OLD: '[HIDDEN]', SAME: '[HIDDEN]' },
  versions: { app_version: '1' },
}
const AFTER = {
  memory: { rss_bytes: 100_000_000, heap_used_bytes: 90_000_000, external_bytes: 1_100_000 },
  heap: { size_limit_bytes: 5, spaces: [{ name: 'old_space', used_bytes: 80_000_000, size_bytes: 1 }] },
  active_resources: { Timeout: 3, TCPSocketWrap: 4, FSReqPromise: 9 },
  gc: { total_ms: 30, kinds: { scavenge: { count: 9 } } },
  modules: { packages: { hono: '4.1.0' }, dependencies: { pg: '8.0.0' } },
  environment: { NODE_ENV: 'production', NEW: '[HIDDEN]', SAME: '[HIDDEN]' },
  versions: { app_version: '2' },
}

describeEachDatabase('two dumps', (database) => {
  test('are compared from the older to the newer: what rose, what fell, what came and went', async () => {
    const context = await runningContext(database)
    const shop = await addApplication(context, 'shop')
    const a = await store(context, shop, NOON, BEFORE)
    const b = await store(context, shop, NOON + 60_000, AFTER)
    const compared = await perform(compareDiagnosticDumps, context, { a: b, b: a })
    expect([compared.a.id, compared.b.id, compared.same_process, compared.seconds_between]).toEqual([a, b, true, 60])
    expect(Object.fromEntries(compared.parts.map(({ name, figures }) => [name, figures]))).toEqual({
      memory: [
        { name: 'heap_used_bytes', a: 50_000_000, b: 90_000_000, difference: 40_000_000, percent: 80, rise: true },
        { name: 'external_bytes', a: 1_000_000, b: 1_100_000, difference: 100_000, percent: 10, rise: false },
      ],
      heap_spaces: [
        { name: 'old_space_bytes', a: 40_000_000, b: 80_000_000, difference: 40_000_000, percent: 100, rise: true },
      ],
      active_resources: [
        { name: 'FSReqPromise', a: null, b: 9, difference: 9, percent: null, rise: true },
        { name: 'TCPSocketWrap', a: 10, b: 4, difference: -6, percent: -60, rise: false },
      ],
      gc: [
        { name: 'total_ms', a: 10, b: 30, difference: 20, percent: 200, rise: true },
        { name: 'kinds.scavenge.count', a: 3, b: 9, difference: 6, percent: 200, rise: true },
      ],
    })
    expect(compared.packages).toEqual([
      { name: 'hono', a: '4.0.0', b: '4.1.0' },
      { name: 'ms', a: '2.1.3', b: null },
    ])
    expect(compared.environment.map(({ name }) => name)).toEqual(['NEW', 'NODE_ENV', 'OLD'])
    expect(compared.versions).toEqual([{ name: 'app_version', a: '1', b: '2' }])
  })

  test('of which one has parts that the other lacks are compared all the same', async () => {
    const context = await runningContext(database)
    const shop = await addApplication(context, 'shop')
    const a = await store(context, shop, NOON, {}, { pid: 8 })
    const b = await store(context, shop, NOON + 1, AFTER)
    const compared = await perform(compareDiagnosticDumps, context, { a, b })
    expect(compared.same_process).toBe(false)
    expect(compared.parts[0]?.figures[0]).toMatchObject({ a: null, percent: null })
    const same = await perform(compareDiagnosticDumps, context, { a, b: a })
    expect([same.parts, same.packages, same.environment]).toEqual([[], [], []])
  })

  test('of two processes are compared without what each of them has counted since it started', async () => {
    const context = await runningContext(database)
    const shop = await addApplication(context, 'shop')
    const parts = (grown: number) => ({
      event_loop: { utilisation: 0.1 * grown, utilisation_since_start: 0.05 * grown ** 2 },
      ...{ gc: { total_ms: 10 * grown }, cpu: { user_ms: 100 * grown } },
    })
    const a = await store(context, shop, NOON, parts(1))
    const b = await store(context, shop, NOON + 1000, parts(2))
    const c = await store(context, shop, NOON + 1000, parts(2), { pid: 8 })
    const names = async (other: number) =>
      (await perform(compareDiagnosticDumps, context, { a, b: other })).parts.map(({ name, figures }) => [
        name,
        figures.map((figure) => figure.name),
      ])
    expect(await names(b)).toEqual([
      ['event_loop', ['utilisation_since_start', 'utilisation']],
      ['gc', ['total_ms']],
      ['cpu', ['user_ms']],
    ])
    expect(await names(c)).toEqual([['event_loop', ['utilisation']]])
  })

  test('are found only within the application that is looked at', async () => {
    const context = await runningContext(database)
    const a = await store(context, await addApplication(context, 'shop'), NOON, BEFORE)
    const depot = await addApplication(context, 'depot')
    const b = await store(context, depot, NOON, AFTER)
    const wanted = { a, b, application_id: depot }
    await expect(perform(compareDiagnosticDumps, context, wanted)).rejects.toThrow(
      `no diagnostic dump with the id ${a}`,
    )
  })
})

describeEachDatabase('a dump', (database) => {
  test('is deleted for good, once', async () => {
    const context = await runningContext(database, { enable_diagnostic_dump: true })
    const first = await perform(captureDiagnosticDump, context, { note: 'first' })
    const second = await perform(captureDiagnosticDump, context, { note: 'second' })
    expect(second.id).toBeGreaterThan(first.id)
    await perform(deleteDiagnosticDump, context, { dump_id: first.id })
    const { dumps } = await perform(diagnosticDumps, context, {})
    expect(dumps.map(({ note }) => note)).toEqual(['second'])
    await expect(perform(deleteDiagnosticDump, context, { dump_id: first.id })).rejects.toThrow(
      'There is no diagnostic',
    )
  })

  test('whose file lies on another machine says on which', async () => {
    const context = await runningContext(database)
    const shop = await addApplication(context, 'shop')
    const file = { kind: 'cpu_profile', name: 'dump-1-0123456789abcdef.cpuprofile', size_bytes: 1, hostname: 'web-7' }
    const dump_id = await store(context, shop, NOON, {}, { files: [file] })
    await expect(perform(downloadDumpFile, context, { dump_id, kind: 'cpu_profile' })).rejects.toThrow(
      'The file lies on the machine web-7',
    )
    await expect(perform(downloadDumpFile, context, { dump_id, kind: 'heap_snapshot' })).rejects.toThrow(
      'has no heap snapshot',
    )
  })

  test('with a heap snapshot is refused while that has no switch', async () => {
    const context = await runningContext(database, { enable_diagnostic_dump: true })
    await expect(perform(captureDiagnosticDump, context, { heap_snapshot: true })).rejects.toThrow(
      'Set enable_heap_snapshots to true',
    )
    expect((await perform(diagnosticDumps, context, {})).dumps).toEqual([])
  })
})

test('what would be shown as no difference is not listed as one', () => {
  const a = { rss_bytes: 100_000_000, delay_p99_ms: 0.01, utilisation: 0.1, none: 0, limit: 1, seen_ms: 1 }
  const b = { rss_bytes: 100_040_000, delay_p99_ms: 0.05, utilisation: 0.1004, came: 0, limit: 1.25, seen_ms: 1.1 }
  expect(comparedNumbers(a, b).map(({ name }) => name)).toEqual(['limit', 'seen_ms'])
})

test('hostile names of what is compared are only names', () => {
  const hostile = JSON.parse('{"__proto__": {"x": 1}, "constructor": 2, "deep": {"er": {"still": {"on": {"on": 3}}}}}')
  expect(comparedNumbers(null, hostile).map(({ name }) => name)).toEqual(['constructor', '__proto__.x'])
  expect(changedTexts({}, JSON.parse('{"__proto__": "x", "toString": "y"}'))).toEqual([
    { name: '__proto__', a: null, b: 'x' },
    { name: 'toString', a: null, b: 'y' },
  ])
})
