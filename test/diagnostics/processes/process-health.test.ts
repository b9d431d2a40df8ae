import { expect, onTestFinished, test } from 'vitest'
import { deleteOldMinutes } from '../../../src/diagnostics/processes/delete-old-minutes.js'
import { processHealth } from '../../../src/diagnostics/processes/process-health.js'
import { ProcessHealthRecorder } from '../../../src/diagnostics/processes/process-health-recorder.js'
import { DAY, HOUR, MINUTE } from '../../../src/model/time.js'
import { perform } from '../../../src/operation.js'
import { sql } from '../../../src/store/kysely.js'
import { describeEachDatabase } from '../../support/databases.js'
import { NOON } from '../../support/tracker.js'
import { addApplication, runningContext } from '../running.js'

type RunningContext = Awaited<ReturnType<typeof runningContext>>

function createRecorder(context: RunningContext, now = NOON): ProcessHealthRecorder {
  const recorder = new ProcessHealthRecorder({ ...context, now: () => now })
  onTestFinished(() => recorder.stop())
  return recorder
}

/** Statements that make each database reject a minute with 99 errors. */
const REJECTIONS = {
  sqlite: `create trigger refuse before insert on faultboard_process_minutes when new.errors = 99
    begin select raise(abort, 'refused'); end`,
  postgres: 'alter table faultboard_process_minutes add constraint refuse check (errors <> 99)',
  mysql: 'alter table faultboard_process_minutes add constraint refuse check (errors <> 99)',
}

/** Adds a process with rows for the given minutes before noon. */
async function addProcess(
  { database }: RunningContext,
  application_id: number,
  key: string,
  minutes: readonly number[],
) {
  const process = {
    process_key: key,
    application_id,
    environment: 'production',
    hostname: key,
    pid: 7,
    node_version: 'v22.0.0',
    app_version: null,
  }
  const last_minute = NOON - Math.min(...minutes) * MINUTE
  await database.read
    .insertInto('faultboard_processes')
    .values({ ...process, started_at: NOON - 8 * DAY, last_minute })
    .execute()
  const { id } = await database.read
    .selectFrom('faultboard_processes')
    .select('id')
    .where('process_key', '=', key)
    .executeTakeFirstOrThrow()
  const rows = minutes.map((ago) => ({
    ...{ process_id: id, minute: NOON - ago * MINUTE, rss_bytes: 3_000_000_000 + ago, heap_used_bytes: 50 },
    ...{ heap_limit_bytes: 100, handles: 3, errors: 2, delay_p50_ms: 1, delay_p99_ms: ago, delay_max_ms: 9 },
    ...{ utilization: 0.5, cpu: 0.25, gc_ms: 4 },
  }))
  await database.read.insertInto('faultboard_process_minutes').values(rows).execute()
  return id
}

describeEachDatabase('process health', (database) => {
  test('merges samples of the same minute into one row', async () => {
    const context = await runningContext(database, { app_version: '4.2' })
    const recorder = createRecorder(context)
    context.recorder.received += 3
    await recorder.sample()
    context.recorder.received += 2
    await recorder.sample()
    const { processes, process: selected, points } = await perform(processHealth, context, { range: '1h' })
    expect(processes).toHaveLength(1)
    expect(selected).toMatchObject({ pid: process.pid, application_name: 'shop', alive: true, app_version: '4.2' })
    const known = points.filter(({ rss_bytes }) => rss_bytes !== null)
    expect(known).toMatchObject([{ at: new Date(NOON).toISOString(), errors: 5 }])
    expect(known[0]?.rss_bytes).toBeGreaterThan(10_000_000)
    expect(known[0]?.utilization).toBeGreaterThanOrEqual(0)
    expect(points).toHaveLength(60)
  })

  test('counts errors received before process monitoring was loaded', async () => {
    const context = await runningContext(database)
    context.recorder.received += 2
    await createRecorder(context).sample()
    const { points } = await perform(processHealth, context, {})
    expect(points.filter(({ errors }) => errors !== null)).toMatchObject([{ errors: 2 }])
  })

  test('defaults to an hour for a new process and to a day otherwise', async () => {
    const context = await runningContext(database)
    const shop = await addApplication(context, 'shop')
    await addProcess(context, shop, 'old', [0, 1])
    expect(await perform(processHealth, context, {})).toMatchObject({ range: '24h', step_minutes: 15 })
    const newProcess = await addProcess(context, shop, 'new', [0])
    await context.database.read
      .updateTable('faultboard_processes')
      .set({ started_at: NOON - 59 * MINUTE })
      .where('id', '=', newProcess)
      .execute()
    const input = { process_id: newProcess }
    expect(await perform(processHealth, context, input)).toMatchObject({ range: '1h', step_minutes: 1 })
    expect(await perform(processHealth, context, { ...input, range: '7d' })).toMatchObject({ range: '7d' })
  })

  test('aggregates steps into maxima, means and sums, with null for missing minutes', async () => {
    const context = await runningContext(database)
    const shop = await addApplication(context, 'shop')
    const id = await addProcess(context, shop, 'web-1', [0, 1, 14, 20, 2000, 9000])
    const day = await perform(processHealth, context, { process_id: id, range: '24h' })
    expect(day.step_minutes).toBe(15)
    expect(day.points).toHaveLength(96)
    expect(day.points.at(-1)).toMatchObject({ delay_p99_ms: 0, errors: 2, rss_bytes: 3_000_000_000 })
    expect(day.points.at(-2)).toMatchObject({
      at: new Date(NOON - 15 * MINUTE).toISOString(),
      delay_p99_ms: 14,
      errors: 4,
      cpu: 0.25,
      heap_used_bytes: 50,
    })
    expect(day.points.at(-3)).toMatchObject({ delay_p99_ms: 20, errors: 2 })
    expect(day.points.at(-4)).toMatchObject({ rss_bytes: null, errors: null, cpu: null })
    const week = await perform(processHealth, context, { process_id: id, range: '7d' })
    expect(week.points).toHaveLength(84)
    expect(week.points.reduce((sum, { errors }) => sum + (errors ?? 0), 0)).toBe(12)
  })

  test('returns a part of the time, divided by its length', async () => {
    const context = await runningContext(database)
    const shop = await addApplication(context, 'shop')
    await addProcess(context, shop, 'web-1', [0, 10, 60, 2000])
    const zoom = (from: number, to: number) => perform(processHealth, context, { from, to })
    const minutes = await zoom(NOON - 15 * MINUTE, NOON)
    expect(minutes).toMatchObject({ range: null, step_minutes: 1 })
    expect(minutes.points.map(({ errors }) => errors)).toEqual([
      null,
      null,
      null,
      null,
      null,
      2,
      ...Array(9).fill(null),
    ])
    expect(await zoom(NOON - DAY, NOON)).toMatchObject({ step_minutes: 15, points: { length: 96 } })
    expect(await zoom(NOON - 4 * DAY, NOON)).toMatchObject({ step_minutes: 120, points: { length: 48 } })
    await expect(zoom(NOON, NOON - DAY)).rejects.toThrow('from must be before to')
  })

  test('filters by application and lists running processes first', async () => {
    const context = await runningContext(database)
    const shop = await addApplication(context, 'shop')
    const depot = await addApplication(context, 'depot')
    await addProcess(context, shop, 'stopped', [500])
    await addProcess(context, shop, 'web-10', [1])
    await addProcess(context, shop, 'web-9', [0])
    const other = await addProcess(context, depot, 'depot-1', [0])
    const { processes, process } = await perform(processHealth, context, { application_id: shop })
    expect(processes.map(({ hostname, alive }) => [hostname, alive])).toEqual([
      ['web-9', true],
      ['web-10', true],
      ['stopped', false],
    ])
    expect(process?.hostname).toBe('web-9')
    await expect(perform(processHealth, context, { application_id: shop, process_id: other })).rejects.toThrow(
      `Process ${other} not found.`,
    )
  })

  test('process health is deleted after seven days, together with stopped processes', async () => {
    const context = await runningContext(database)
    const shop = await addApplication(context, 'shop')
    const week = (7 * DAY) / MINUTE
    await addProcess(context, shop, 'old', [week + 1, week + 2])
    const kept = await addProcess(context, shop, 'new', [5, week - 1, week + 1, week + 1500])
    await deleteOldMinutes(context)
    const rows = await context.database.read.selectFrom('faultboard_process_minutes').select('process_id').execute()
    expect(rows).toEqual([{ process_id: kept }, { process_id: kept }])
    const { processes } = await perform(processHealth, context, {})
    expect(processes.map(({ hostname }) => hostname)).toEqual(['new'])
  })

  test('process health is buffered up to a limit while the database is unreachable', async () => {
    const context = await runningContext(database)
    const times = Array.from({ length: 70 }, (_, i) => NOON - HOUR * 2 + i * MINUTE)
    let now = 0
    let isUnavailable = true
    const ready = () => (isUnavailable ? Promise.reject(new Error('unavailable')) : Promise.resolve())
    const recorder = new ProcessHealthRecorder({ ...context, now: () => now, ready })
    onTestFinished(() => recorder.stop())
    for (const time of times) {
      now = time
      await recorder.sample()
    }
    isUnavailable = false
    now += MINUTE
    await recorder.sample()
    const rows = await context.database.read.selectFrom('faultboard_process_minutes').select('minute').execute()
    expect(rows).toHaveLength(61)
    expect(Math.max(...rows.map(({ minute }) => minute))).toBe(now)
    expect(context.counters.toJSON()).toMatchObject({ process_health_lost: 10 })
  })

  test('process health is complete after an outage with two samples of one minute', async () => {
    const context = await runningContext(database)
    let now = NOON
    let isUnavailable = true
    const ready = () => (isUnavailable ? Promise.reject(new Error('unavailable')) : Promise.resolve())
    const recorder = new ProcessHealthRecorder({ ...context, now: () => now, ready })
    onTestFinished(() => recorder.stop())
    for (const [seconds, errors] of [
      [0, 3],
      [20, 2],
      [40, 1],
      [60, 7],
    ] as const) {
      now = NOON + seconds * 1000
      isUnavailable = seconds < 40
      context.recorder.received += errors
      await recorder.sample()
    }
    expect(await errorsPerMinute(context)).toEqual([
      [NOON, 6],
      [NOON + MINUTE, 7],
    ])
    expect(context.counters.toJSON()).not.toHaveProperty('process_health_refused')
  })

  test('counts errors once if a failed attempt was in fact committed', async () => {
    const context = await runningContext(database)
    let isConnectionLost = true
    const write: typeof context.database.write = async (work) => {
      const result = await context.database.write(work)
      if (isConnectionLost) throw Object.assign(new Error('connection reset'), { code: 'ECONNRESET' })
      return result
    }
    const recorder = createRecorder({ ...context, database: { ...context.database, write } })
    context.recorder.received += 3
    await recorder.sample()
    isConnectionLost = false
    context.recorder.received += 2
    await recorder.sample()
    await recorder.sample()
    expect(await errorsPerMinute(context)).toEqual([[NOON, 5]])
  })

  test('continues after a rejected row and logs it once', async () => {
    const context = await runningContext(database)
    const warnings: string[] = []
    const log = { info: () => {}, warn: (sentence: string) => void warnings.push(sentence) }
    let now = NOON
    const recorder = new ProcessHealthRecorder({ ...context, log, now: () => now })
    onTestFinished(() => recorder.stop())
    await sql.raw(REJECTIONS[database.dialect]).execute(context.database.read)
    for (const errors of [99, 99, 4]) {
      now += MINUTE
      context.recorder.received += errors
      await recorder.sample()
    }
    expect(await errorsPerMinute(context)).toEqual([[NOON + 3 * MINUTE, 4]])
    expect(context.counters.toJSON()).toMatchObject({ process_health_refused: 2 })
    expect(warnings).toEqual([expect.stringContaining('Cannot store process health')])
  })
})

async function errorsPerMinute({ database: { read } }: RunningContext): Promise<[number, number][]> {
  const rows = await read
    .selectFrom('faultboard_process_minutes')
    .select(['minute', 'errors'])
    .orderBy('minute')
    .execute()
  return rows.map(({ minute, errors }) => [minute, errors])
}
