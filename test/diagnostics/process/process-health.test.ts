import { expect, onTestFinished, test } from 'vitest'
import { forgetProcessHealth } from '../../../src/diagnostics/processes/forget-process-health.js'
import { processHealth } from '../../../src/diagnostics/processes/process-health.js'
import { ProcessHealthRecorder } from '../../../src/diagnostics/processes/process-health-recorder.js'
import { DAY, HOUR, MINUTE } from '../../../src/model/time.js'
import { perform } from '../../../src/operation.js'
import { sql } from '../../../src/store/kysely.js'
import { describeEachDatabase } from '../../support/databases.js'
import { NOON } from '../../support/tracker.js'
import { addApplication, runningContext } from '../running.js'

type Running = Awaited<ReturnType<typeof runningContext>>

function recorderOf(context: Running, now = NOON): ProcessHealthRecorder {
  const recorder = new ProcessHealthRecorder({ ...context, now: () => now })
  onTestFinished(() => recorder.stop())
  return recorder
}

/** What makes each database refuse a minute with so many errors. */
const REFUSALS = {
  sqlite: `create trigger refuse before insert on faultboard_process_minutes when new.errors = 99
    begin select raise(abort, 'refused'); end`,
  postgres: 'alter table faultboard_process_minutes add constraint refuse check (errors <> 99)',
  mysql: 'alter table faultboard_process_minutes add constraint refuse check (errors <> 99)',
}

/** A process with rows of these minutes before noon. */
async function addProcess({ database }: Running, application_id: number, key: string, minutes: readonly number[]) {
  const process = {
    process_key: key,
    application_id,
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
    ...{ utilisation: 0.5, cpu: 0.25, gc_ms: 4 },
  }))
  await database.read.insertInto('faultboard_process_minutes').values(rows).execute()
  return id
}

describeEachDatabase('process health', (database) => {
  test('is one row a minute, in which a second look of the same minute is added', async () => {
    const context = await runningContext(database, { app_version: '4.2' })
    const recorder = recorderOf(context)
    context.recorder.received += 3
    await recorder.sample()
    context.recorder.received += 2
    await recorder.sample()
    const { processes, process: shown, points } = await perform(processHealth, context, { range: '1h' })
    expect(processes).toHaveLength(1)
    expect(shown).toMatchObject({ pid: process.pid, application_name: 'shop', alive: true, app_version: '4.2' })
    const known = points.filter(({ rss_bytes }) => rss_bytes !== null)
    expect(known).toMatchObject([{ at: new Date(NOON).toISOString(), errors: 5 }])
    expect(known[0]?.rss_bytes).toBeGreaterThan(10_000_000)
    expect(known[0]?.utilisation).toBeGreaterThanOrEqual(0)
    expect(points).toHaveLength(60)
  })

  test('counts the errors that came before it was loaded', async () => {
    const context = await runningContext(database)
    context.recorder.received += 2
    await recorderOf(context).sample()
    const { points } = await perform(processHealth, context, {})
    expect(points.filter(({ errors }) => errors !== null)).toMatchObject([{ errors: 2 }])
  })

  test('is shown over an hour where the process is no older, and over a day otherwise', async () => {
    const context = await runningContext(database)
    const shop = await addApplication(context, 'shop')
    await addProcess(context, shop, 'old', [0, 1])
    expect(await perform(processHealth, context, {})).toMatchObject({ range: '24h', step_minutes: 15 })
    const young = await addProcess(context, shop, 'young', [0])
    await context.database.read
      .updateTable('faultboard_processes')
      .set({ started_at: NOON - 59 * MINUTE })
      .where('id', '=', young)
      .execute()
    const asked = { process_id: young }
    expect(await perform(processHealth, context, asked)).toMatchObject({ range: '1h', step_minutes: 1 })
    expect(await perform(processHealth, context, { ...asked, range: '7d' })).toMatchObject({ range: '7d' })
  })

  test('sums up spans: the worst of what can be too high, all errors, and nothing where nothing was written', async () => {
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

  test('is told of the application that is looked at, the living first', async () => {
    const context = await runningContext(database)
    const shop = await addApplication(context, 'shop')
    const depot = await addApplication(context, 'depot')
    await addProcess(context, shop, 'gone', [500])
    await addProcess(context, shop, 'web-10', [1])
    await addProcess(context, shop, 'web-9', [0])
    const other = await addProcess(context, depot, 'depot-1', [0])
    const { processes, process } = await perform(processHealth, context, { application_id: shop })
    expect(processes.map(({ hostname, alive }) => [hostname, alive])).toEqual([
      ['web-9', true],
      ['web-10', true],
      ['gone', false],
    ])
    expect(process?.hostname).toBe('web-9')
    await expect(perform(processHealth, context, { application_id: shop, process_id: other })).rejects.toThrow(
      `There is no process with the id ${other}.`,
    )
  })

  test('is forgotten after seven days, a process with its last minute', async () => {
    const context = await runningContext(database)
    const shop = await addApplication(context, 'shop')
    const week = (7 * DAY) / MINUTE
    await addProcess(context, shop, 'old', [week + 1, week + 2])
    const kept = await addProcess(context, shop, 'new', [5, week - 1, week + 1, week + 1500])
    await forgetProcessHealth(context)
    const rows = await context.database.read.selectFrom('faultboard_process_minutes').select('process_id').execute()
    expect(rows).toEqual([{ process_id: kept }, { process_id: kept }])
    const { processes } = await perform(processHealth, context, {})
    expect(processes.map(({ hostname }) => hostname)).toEqual(['new'])
  })

  test('waits in memory while the database is away, as far as there is room, and never throws', async () => {
    const context = await runningContext(database)
    const times = Array.from({ length: 70 }, (_, i) => NOON - HOUR * 2 + i * MINUTE)
    let now = 0
    let is_away = true
    const ready = () => (is_away ? Promise.reject(new Error('away')) : Promise.resolve())
    const recorder = new ProcessHealthRecorder({ ...context, now: () => now, ready })
    onTestFinished(() => recorder.stop())
    for (const time of times) {
      now = time
      await recorder.sample()
    }
    is_away = false
    now += MINUTE
    await recorder.sample()
    const rows = await context.database.read.selectFrom('faultboard_process_minutes').select('minute').execute()
    expect(rows).toHaveLength(61)
    expect(Math.max(...rows.map(({ minute }) => minute))).toBe(now)
    expect(context.counters.toJSON()).toMatchObject({ process_health_lost: 10 })
  })

  test('is whole after a short outage in which one minute was looked at twice', async () => {
    const context = await runningContext(database)
    let now = NOON
    let is_away = true
    const ready = () => (is_away ? Promise.reject(new Error('away')) : Promise.resolve())
    const recorder = new ProcessHealthRecorder({ ...context, now: () => now, ready })
    onTestFinished(() => recorder.stop())
    for (const [seconds, errors] of [
      [0, 3],
      [20, 2],
      [40, 1],
      [60, 7],
    ] as const) {
      now = NOON + seconds * 1000
      is_away = seconds < 40
      context.recorder.received += errors
      await recorder.sample()
    }
    expect(await errorsPerMinute(context)).toEqual([
      [NOON, 6],
      [NOON + MINUTE, 7],
    ])
    expect(context.counters.toJSON()).not.toHaveProperty('process_health_refused')
  })

  test('counts once what was written by an attempt that seemed to have failed', async () => {
    const context = await runningContext(database)
    let is_unclear = true
    const write: typeof context.database.write = async (work) => {
      const result = await context.database.write(work)
      if (is_unclear) throw Object.assign(new Error('gone'), { code: 'ECONNRESET' })
      return result
    }
    const recorder = recorderOf({ ...context, database: { ...context.database, write } })
    context.recorder.received += 3
    await recorder.sample()
    is_unclear = false
    context.recorder.received += 2
    await recorder.sample()
    await recorder.sample()
    expect(await errorsPerMinute(context)).toEqual([[NOON, 5]])
  })

  test('goes on after a row that the database refuses, and says so once', async () => {
    const context = await runningContext(database)
    const said: string[] = []
    const log = { info: () => {}, warn: (sentence: string) => void said.push(sentence) }
    let now = NOON
    const recorder = new ProcessHealthRecorder({ ...context, log, now: () => now })
    onTestFinished(() => recorder.stop())
    await sql.raw(REFUSALS[database.dialect]).execute(context.database.read)
    for (const errors of [99, 99, 4]) {
      now += MINUTE
      context.recorder.received += errors
      await recorder.sample()
    }
    expect(await errorsPerMinute(context)).toEqual([[NOON + 3 * MINUTE, 4]])
    expect(context.counters.toJSON()).toMatchObject({ process_health_refused: 2 })
    expect(said).toEqual([expect.stringContaining('The health of the process cannot be written')])
  })
})

async function errorsPerMinute({ database: { read } }: Running): Promise<[number, number][]> {
  const rows = await read
    .selectFrom('faultboard_process_minutes')
    .select(['minute', 'errors'])
    .orderBy('minute')
    .execute()
  return rows.map(({ minute, errors }) => [minute, errors])
}
