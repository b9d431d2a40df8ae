import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { GUARD_HOURS } from '../../../src/diagnostics/request-guard/hours.js'
import { Counters } from '../../../src/model/counters.js'
import { HOUR } from '../../../src/model/time.js'
import { HourCounts, type HourCountsOptions } from '../../../src/store/counters/hour-counts.js'
import { createDatabase } from '../../../src/store/database.js'
import { sql } from '../../../src/store/kysely.js'
import { startProxy } from '../../support/databases/proxy.js'
import { describeEachDatabase } from '../../support/databases.js'
import { eventually, NOON, withDatabase } from '../../support/tracker.js'

type Name = 'environment' | 'kind' | 'rule' | 'ip_address' | 'path'

const OTHERS: Record<Name, string> = {
  environment: 'production',
  kind: 'track',
  rule: '(others)',
  ip_address: '',
  path: '',
}
const named = (rule: string): Record<Name, string> => ({ ...OTHERS, kind: 'throttle', rule })

const times = (count: number) => ({ count, last_seen_at: NOON })

function counting(url: string, options: Partial<HourCountsOptions<Name>> = {}) {
  const database = createDatabase(url, process.cwd())
  onTestFinished(() => database.close())
  const clock = { now: NOON }
  const state = { isOpen: true }
  const counters = new Counters()
  const warnings: string[] = []
  const counts = new HourCounts(
    GUARD_HOURS,
    {
      database,
      open: async () => {
        if (!state.isOpen) throw new Error('the schema is not there')
      },
      application_name: 'shop',
      counters,
      now: () => clock.now,
      warn: (sentence) => warnings.push(sentence),
    },
    { title: 'events', overflowNames: OTHERS, flushAfterMs: 600_000, ...options },
  )
  return { counts, clock, state, counters, warnings, database }
}

/** Statements that make each database refuse one rule. */
const REFUSALS = {
  sqlite: `create trigger refuse before insert on faultboard_request_guard_hours when new.rule = 'refused'
    begin select raise(abort, 'refused'); end`,
  postgres: `alter table faultboard_request_guard_hours add constraint refuse check (rule <> 'refused')`,
  mysql: `alter table faultboard_request_guard_hours add constraint refuse check (rule <> 'refused')`,
}

/** Returns the sums by rule and the number of rows. */
function stored(url: string) {
  return withDatabase(url, async ({ read }) => {
    const rows = await read.selectFrom('faultboard_request_guard_hours').selectAll().execute()
    const sums: Record<string, number> = {}
    for (const { rule, count } of rows) sums[rule] = (sums[rule] ?? 0) + count
    return { rows: rows.length, sums, hours: [...new Set(rows.map(({ hour }) => hour))].sort() }
  })
}

describeEachDatabase('hourly counts', (database) => {
  test('buffers counts in memory and adds them to the stored counts', async () => {
    const url = await database.fresh()
    const { counts, clock } = counting(url)
    for (let i = 0; i < 10; i++) counts.add(named(i < 7 ? 'sign-in' : 'search'), times(1))
    expect((await stored(url)).rows).toBe(0)
    await counts.flush()
    counts.add(named('sign-in'), times(5))
    await counts.flush()
    clock.now += HOUR
    counts.add(named('sign-in'), times(1))
    await counts.close()
    expect(await stored(url)).toEqual({ rows: 3, sums: { 'sign-in': 13, search: 3 }, hours: [NOON, NOON + HOUR] })
  })

  test('adds concurrent counts of several processes exactly', async () => {
    const url = await database.fresh()
    const all = Array.from({ length: 4 }, () => counting(url))
    await Promise.all(
      all.map(async ({ counts }) => {
        for (let i = 0; i < 1000; i++) {
          counts.add(named(`rule ${i % 20}`), times(1))
          if (i % 100 === 99) await counts.flush()
        }
      }),
    )
    expect(all.map(({ counts, warnings }) => [counts.pendingRows, warnings])).toEqual(Array(4).fill([0, []]))
    const { rows, sums } = await stored(url)
    expect(rows).toBe(20)
    expect(Object.values(sums)).toEqual(Array(20).fill(200))
  })

  test('keeps counts that cannot be written and logs the failure once', async () => {
    const url = await database.fresh()
    const { counts, state, warnings } = counting(url)
    state.isOpen = false
    for (let i = 0; i < 3; i++) {
      counts.add(named('sign-in'), times(1))
      await counts.flush()
    }
    expect(warnings).toEqual(['Cannot write counts of events (the schema is not there). Retrying.'])
    state.isOpen = true
    await counts.flush()
    expect((await stored(url)).sums).toEqual({ 'sign-in': 3 })
  })

  test('leaves one batch marker after any number of flushes', async () => {
    const url = await database.fresh()
    const { counts } = counting(url)
    for (let i = 0; i < 5; i++) {
      counts.add(named('sign-in'), times(1))
      await counts.flush()
    }
    const markers = await withDatabase(url, ({ read }) => read.selectFrom('faultboard_batches').selectAll().execute())
    expect(markers).toHaveLength(1)
  })

  test('limits the rows and counts further names under the overflow names', async () => {
    const url = await database.fresh()
    const { counts } = counting(url, { maxRows: 10 })
    for (let i = 0; i < 100; i++) counts.add(named(`rule ${i}`), times(1))
    expect(counts.pendingRows).toBe(11)
    await counts.flush()
    const { rows, sums } = await stored(url)
    expect(rows).toBe(11)
    expect(sums).toMatchObject({ 'rule 0': 1, 'rule 9': 1, '(others)': 90 })
  })

  test('stores hostile text in a form that every database accepts', async () => {
    const url = await database.fresh()
    const { counts, warnings } = counting(url)
    const hostile = [`a\0b`, '\ud800 half', 'خطأ', '😀'.repeat(1000), `'; drop table x --`]
    for (const rule of hostile) counts.add({ ...named(rule), path: 'x'.repeat(10_000) }, times(1))
    await counts.flush()
    expect(warnings).toEqual([])
    const { rows, sums } = await stored(url)
    expect(rows).toBe(hostile.length)
    expect(Object.keys(sums)).toContain('a\uFFFDb')
  })

  test('drops counts that the database refuses repeatedly and writes later counts', async () => {
    const url = await database.fresh()
    const { counts, counters, database: own } = counting(url)
    await sql.raw(REFUSALS[database.dialect]).execute(own.read)
    counts.add(named('refused'), times(1))
    for (let i = 0; i < 3; i++) await counts.flush()
    expect(counters.toJSON()).toEqual({ counts_refused: 1 })
    counts.add(named('later'), times(1))
    await counts.flush()
    expect((await stored(url)).sums).toEqual({ later: 1 })
  })
})

describeEachDatabase(
  'hourly counts over a broken connection',
  (database) => {
    test('keeps counts until the database is available again', async () => {
      const url = await database.fresh()
      const proxy = await startProxy(url)
      const { counts, warnings } = counting(proxy.url)
      counts.add(named('sign-in'), times(1))
      await counts.flush()
      await proxy.refuse()
      counts.add(named('sign-in'), times(2))
      for (let i = 0; i < 5; i++) await counts.flush()
      counts.add(named('sign-in'), times(4))
      expect(warnings).toHaveLength(1)
      await proxy.open()
      await eventually(async () => {
        await counts.flush()
        return counts.pendingRows === 0
      }, 'the counts are written')
      expect((await stored(url)).sums).toEqual({ 'sign-in': 7 })
    })

    test('counts a batch once when its commit had no response', async () => {
      const url = await database.fresh()
      const proxy = await startProxy(url)
      const { counts } = counting(proxy.url)
      counts.add(named('sign-in'), times(1))
      await counts.flush()
      proxy.cutNextCommit()
      counts.add(named('sign-in'), times(2))
      await counts.flush()
      expect([proxy.interruptedCommits(), counts.pendingRows]).toEqual([1, 1])
      await eventually(async () => {
        await counts.flush()
        return counts.pendingRows === 0
      }, 'the counts are written')
      expect((await stored(url)).sums).toEqual({ 'sign-in': 3 })
    })
  },
  { except: ['sqlite'] },
)

describe('buffered counts', () => {
  test('flushes automatically after a delay, and not after the close', async () => {
    const { counts, counters } = counting('sqlite::memory:', { flushAfterMs: 20 })
    counts.add(named('sign-in'), times(1))
    await eventually(() => counts.pendingRows === 1, 'the first attempt has been made')
    await counts.close()
    counts.add(named('sign-in'), times(1))
    await sleep(50)
    expect(counters.toJSON()).toMatchObject({ counts_late: 1, counts_not_written: 1 })
  })
})
