import { expect, test } from 'vitest'
import type { CaptureContext } from '../../src/capture/capture-context.js'
import { DEPRECATION_HOURS } from '../../src/diagnostics/deprecations/hours.js'
import { deprecations } from '../../src/diagnostics/deprecations/query.js'
import { STATEMENT_HOURS } from '../../src/diagnostics/n-plus-one/hours.js'
import { nPlusOneQueries } from '../../src/diagnostics/n-plus-one/query.js'
import { GUARD_HOURS } from '../../src/diagnostics/request-guard/hours.js'
import { DAY, HOUR, MINUTE } from '../../src/model/time.js'
import { perform } from '../../src/operation.js'
import { HourCounts } from '../../src/store/counters/hour-counts.js'
import { describeEachDatabase } from '../support/databases.js'
import { NOON } from '../support/tracker.js'
import { addApplication, runningContext } from './running.js'

const environment = 'production'
const STATEMENT = { environment, statement: 'select 1', route: 'GET /', place: 'src/a.ts:1' }

/** Counts in a separate process at the given time. */
async function count(
  { database, counters }: CaptureContext,
  time: number,
  application_name: string,
  add: (counts: ReturnType<typeof countsOf>) => void,
): Promise<void> {
  const counts = countsOf({ database, counters }, time, application_name)
  add(counts)
  for (const hourCounts of Object.values(counts)) await hourCounts.close()
}

function countsOf(context: Pick<CaptureContext, 'database' | 'counters'>, time: number, application_name: string) {
  const counting = { ...context, open: async () => {}, application_name, now: () => time, warn: () => {} }
  return {
    statements: new HourCounts(STATEMENT_HOURS, counting, { title: 'statements', overflowNames: {} }),
    warnings: new HourCounts(DEPRECATION_HOURS, counting, { title: 'warnings', overflowNames: {} }),
    events: new HourCounts(GUARD_HOURS, counting, { title: 'events', overflowNames: {} }),
  }
}

const ran = (times: number, last_seen_at = NOON) => ({
  ...{ request_count: 1, statement_count: times, worst_count: times, duration_ms: times },
  last_seen_at,
})
const warned = (time: number) => ({ count: 1, first_seen_at: time, last_seen_at: time })

describeEachDatabase('hourly counts', (database) => {
  test('hourly counts are listed by statement with routes and locations over 7, 30 and 90 days', async () => {
    const context = await runningContext(database)
    const shop = await addApplication(context, 'shop')
    const depot = await addApplication(context, 'depot')
    for (const [back, times] of [
      [0, 31],
      [3 * DAY, 6],
      [20 * DAY, 7],
      [80 * DAY, 9],
    ] as const) {
      await count(context, NOON - back, 'shop', ({ statements }) => {
        statements.add(STATEMENT, ran(times, NOON - back + 25 * MINUTE))
        statements.add({ ...STATEMENT, route: 'GET /other', place: '' }, ran(5, NOON - back))
      })
    }
    await count(context, NOON, 'depot', ({ statements }) => statements.add(STATEMENT, ran(100)))
    const runQuery = (input: object) => perform(nPlusOneQueries, context, input)

    const week = await runQuery({ days: 7, application_id: shop })
    expect(week).toMatchObject({ days: 7, threshold: 5, total_count: 1 })
    expect(week.statements).toEqual([
      {
        statement: 'select 1',
        request_count: 4,
        statement_count: 47,
        worst_count: 31,
        duration_ms: 47,
        last_seen_at: new Date(NOON + 25 * MINUTE).toISOString(),
        callers: [
          { route: 'GET /', place: 'src/a.ts:1', request_count: 2, worst_count: 31 },
          { route: 'GET /other', place: '', request_count: 2, worst_count: 5 },
        ],
      },
    ])
    expect(week.by_day.map(({ count }) => count)).toEqual([0, 0, 0, 2, 0, 0, 2])
    const countOf = async (input: object) => (await runQuery(input)).statements[0]?.statement_count
    expect([await countOf({ application_id: shop }), await countOf({ days: 90, application_id: shop })]).toEqual([
      59, 73,
    ])
    expect([await countOf({ application_id: depot }), await countOf({ days: 7 })]).toEqual([100, 147])
    expect(await countOf({ application_id: depot + 1 })).toBeUndefined()
  })

  test('hourly counts are listed by deprecation with locations and versions', async () => {
    const context = await runningContext(database)
    const shop = await addApplication(context, 'shop')
    const names = {
      environment,
      code: 'DEP0169',
      message: 'url.parse() is old',
      place: 'src/a.ts:1',
      app_version: '1.0',
    }
    await count(context, NOON - DAY, 'shop', ({ warnings }) => warnings.add(names, warned(NOON - DAY + 5)))
    await count(context, NOON, 'shop', ({ warnings }) => {
      warnings.add(names, warned(NOON + 7))
      warnings.add({ ...names, app_version: '1.1', place: 'src/b.ts:2' }, warned(NOON + 9))
      warnings.add({ ...names, app_version: '1.1', place: 'src/b.ts:2' }, warned(NOON + 8))
    })
    const found = await perform(deprecations, context, { days: 7, application_id: shop })
    expect(found).toMatchObject({ days: 7, total_count: 1 })
    expect(found.deprecations).toEqual([
      {
        code: 'DEP0169',
        message: 'url.parse() is old',
        count: 4,
        first_seen_at: new Date(NOON - DAY + 5).toISOString(),
        last_seen_at: new Date(NOON + 9).toISOString(),
        app_versions: ['1.1', '1.0'],
        places: [
          { place: 'src/a.ts:1', count: 2 },
          { place: 'src/b.ts:2', count: 2 },
        ],
      },
    ])
    expect(found.by_day.slice(-2).map(({ count }) => count)).toEqual([1, 3])
    expect((await perform(deprecations, context, { application_id: shop + 1 })).deprecations).toEqual([])
  })

  test('hourly counts are deleted after retention_days', async () => {
    const context = await runningContext(database, { retention_days: 30 })
    for (const back of [0, 29 * DAY, 31 * DAY, 31 * DAY + HOUR, 400 * DAY]) {
      await count(context, NOON - back, 'shop', ({ statements, warnings, events }) => {
        statements.add(STATEMENT, ran(5))
        warnings.add({ environment, code: '', message: 'old', place: '', app_version: '' }, warned(NOON))
        events.add({ environment, kind: 'track', rule: '', ip_address: '', path: '' }, { count: 1, last_seen_at: NOON })
      })
    }
    for (const deleteOutdated of context.retention) await deleteOutdated(context)
    for (const table of [
      'faultboard_request_guard_hours',
      'faultboard_repeated_statement_hours',
      'faultboard_deprecation_hours',
    ] as const) {
      const hours = await context.database.read.selectFrom(table).select('hour').orderBy('hour').execute()
      expect(
        hours.map(({ hour }) => hour),
        table,
      ).toEqual([NOON - 29 * DAY, NOON])
    }
    const unlimited = { ...context, config: { ...context.config, retention_days: null } }
    for (const deleteOutdated of context.retention) await deleteOutdated(unlimited)
  })
})
