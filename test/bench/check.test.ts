import { describe, expect, test } from 'vitest'
// @ts-expect-error The scripts have no types.
import { acceptRun } from '../../bench/check/accepted.mjs'
// @ts-expect-error The scripts have no types.
import { compareRow, compareRun, hasFailed, nextStep, printComparison } from '../../bench/check/compare.mjs'
// @ts-expect-error The scripts have no types.
import { mergePasses } from '../../bench/check/merge-passes.mjs'
// @ts-expect-error The scripts have no types.
import { row } from '../../bench/harness/report.mjs'

interface Entry {
  name: string
  verdict: string
  change: number | null
}

const cost = (ratio: number, changes = {}) =>
  row({ name: 'cost', figure: ratio * 10, unit: 'µs', ratio, against: 'bare', limit: { max: 2 }, ...changes })
const share = (ratio: number) =>
  row({ name: 'share', figure: 100, unit: 'errors/s', ratio, against: 'bare driver', limit: { min: 0.7 } })
const table = (rows: unknown[], changes = {}) => ({
  ...{ suite: 'capture', title: 'Cost', seconds: 2, rows, skipped: null as string | null },
  ...changes,
})
const runOf = (passes: ReturnType<typeof table>[][], changes = {}) => ({
  started_at: '2026-11-20T10:00:00.000Z',
  modes: { capture: { quick: true, large: false }, write: { quick: true, large: false } },
  ...{ repeat: passes.length, all_databases: true, machine: { cores: 2 } },
  tables: mergePasses(passes),
  ...changes,
})
const acceptedOf = (...rows: unknown[]) => acceptRun(null, runOf([[table(rows)]]))
const verdicts = (entries: Entry[]) => entries.map(({ name, verdict }) => `${name}: ${verdict}`)

describe('mergePasses', () => {
  test('returns the median of each row, and the spread of its ratios as noise', () => {
    const [merged] = mergePasses([[table([cost(1.5)])], [table([cost(1.2)])], [table([cost(1.4)])]])
    expect(merged.seconds).toBe(6)
    expect(merged.rows[0]).toMatchObject({ figure: 14, ratio: 1.4, verdict: 'ok' })
    expect(merged.rows[0].noise).toBeCloseTo(0.3 / 1.4)
  })

  test('judges the median against the limit', () => {
    const [merged] = mergePasses([[table([cost(1.9)])], [table([cost(2.2)])], [table([cost(2.1)])]])
    expect(merged.rows[0].verdict).toBe('missed')
  })

  test('judges the median against 1.1 times the median lower bound if the limit is out of reach', () => {
    const passes = (value: number) => [1.8, 1.9, 2.4].map((bound) => [table([cost(value, { bound })])])
    expect(mergePasses(passes(2.08))[0].rows[0]).toMatchObject({ bound: 1.9, verdict: 'ok' })
    expect(mergePasses(passes(2.1))[0].rows[0].verdict).toBe('missed')
    const rate = (ratio: number) =>
      row({ name: 'rate', figure: 1, unit: 'errors/s', ratio, limit: { min: 0.8 }, bound: 0.66 })
    expect([rate(0.61).verdict, rate(0.59).verdict]).toEqual(['ok', 'missed'])
  })

  test('skips a table that one pass skipped', () => {
    const [merged] = mergePasses([[table([cost(1.5)])], [table([], { skipped: 'no server' })]])
    expect(merged).toMatchObject({ skipped: 'no server', rows: [] })
  })
})

describe('acceptRun', () => {
  test('stores rows with a ratio or a limit, with their noise and direction', () => {
    const plain = row({ name: 'bare', figure: 10, unit: 'µs' })
    const { suites } = acceptRun(null, runOf([[table([plain, cost(1.5)])], [table([plain, cost(1.5003)])]]))
    expect(suites.capture).toMatchObject({ quick: true, large: false, repeat: 2, machine: { cores: 2 } })
    expect(suites.capture.tables).toEqual([
      {
        title: 'Cost',
        rows: [
          {
            ...{ name: 'cost', figure: 15, unit: 'µs', ratio: 1.5, against: 'bare', noise: 0.0002 },
            ...{ judged: 'ratio', limit: { max: 2 }, bound: null, better: 'lower', note: null },
          },
        ],
      },
    ])
  })

  test('keeps suites that did not run', () => {
    const before = acceptedOf(cost(1.5))
    const after = acceptRun(before, runOf([[table([share(0.8)], { suite: 'write', title: 'Writing' })]]))
    expect(Object.keys(after.suites)).toEqual(['capture', 'write'])
    expect(after.suites.capture).toEqual(before.suites.capture)
  })

  test('keeps tables of databases that were missing or not selected, and drops renamed tables', () => {
    const writing = (title: string, changes = {}) => table([share(0.8)], { suite: 'write', title, ...changes })
    const both = acceptRun(null, runOf([[writing('SQLite'), writing('PostgreSQL, 1M')]]))
    const titles = (run: unknown) =>
      acceptRun(both, run).suites.write.tables.map(({ title }: { title: string }) => title)
    expect(titles(runOf([[writing('SQLite')]], { all_databases: false }))).toEqual(['SQLite', 'PostgreSQL, 1M'])
    const skipped = writing('PostgreSQL', { rows: [], skipped: 'was not found' })
    expect(titles(runOf([[writing('SQLite'), skipped]]))).toEqual(['SQLite', 'PostgreSQL, 1M'])
    expect(titles(runOf([[writing('SQLite'), writing('Postgres')]]))).toEqual(['SQLite', 'Postgres'])
  })

  test('refuses a failed measurement and two rows of the same name', () => {
    expect(() => acceptedOf(share(0))).toThrow('"Cost: share" has no valid ratio.')
    expect(() => acceptedOf(cost(1.5), cost(1.6))).toThrow('"Cost" has two rows named "cost".')
  })
})

describe('compareRow', () => {
  const accepted = (ratio: number, noise: number, better = 'lower') => ({ ratio, noise, better })

  test.each([
    ['lower', 1.5, 1.6, 'regression'],
    ['lower', 1.5, 1.4, 'improved'],
    ['higher', 0.7, 0.6, 'regression'],
    ['higher', 0.7, 0.8, 'improved'],
    ['lower', 1.5, 1.54, 'same'],
    ['higher', 0.7, 0.69, 'same'],
  ])('with %s as better, returns for %d and then %d: %s', (better, before, now, verdict) => {
    expect(compareRow(accepted(before, 0, better), { ratio: now, noise: 0 }).verdict).toBe(verdict)
  })

  test('requires a change larger than the sum of the noise of both runs', () => {
    const verdict = (before: number, now: number) => compareRow(accepted(1, before), { ratio: 1.1, noise: now }).verdict
    expect(verdict(0.04, 0.05)).toBe('regression')
    expect(verdict(0.06, 0.05)).toBe('same')
    expect(verdict(0.15, 0)).toBe('same')
    expect(verdict(0, 0.15)).toBe('same')
  })

  test('returns a regression for a failed measurement', () => {
    expect(compareRow(accepted(1, 0.5), { ratio: Number.NaN, noise: Number.NaN }).verdict).toBe('regression')
  })
})

describe('compareRun', () => {
  test('reports regressions, new rows and missing rows', () => {
    const accepted = acceptedOf(cost(1.5), share(0.8), cost(1.1, { name: 'renamed' }))
    const run = runOf([[table([cost(1.8), share(0.8), cost(1.1, { name: 'new name' })])]])
    const entries = compareRun(accepted, run)
    expect(verdicts(entries)).toEqual(['cost: regression', 'share: same', 'renamed: missing', 'new name: new'])
    expect(hasFailed(entries)).toBe(true)
  })

  test('fails for a missing row only if its table was measured', () => {
    const accepted = acceptedOf(cost(1.5))
    const skipped = runOf([[table([], { skipped: 'was not found' })]])
    expect(verdicts(compareRun(accepted, skipped))).toEqual(['cost: not measured'])
    expect(hasFailed(compareRun(accepted, skipped))).toBe(false)
    expect(hasFailed(compareRun(accepted, runOf([[table([])]])))).toBe(true)
  })

  test('ignores suites that did not run, absolute figures and peers', () => {
    const peer = row({ name: '@sentry/node', figure: 500, unit: 'µs', ratio: 12, against: 'bare' })
    const time = row({ name: 'stall', figure: 7, unit: 'ms', limit: { max: 8 } })
    expect(compareRun(acceptedOf(peer, time), runOf([[table([peer, time])]]))).toEqual([])
    expect(compareRun(acceptedOf(cost(1.5)), runOf([[table([], { suite: 'write' })]]))).toEqual([])
  })
})

describe('printComparison', () => {
  test('prints one line per row and the next step', () => {
    const lines: string[] = []
    const entries = compareRun(acceptedOf(cost(1.5), share(0.8)), runOf([[table([cost(1.8), share(0.8)])]]))
    printComparison(entries, (line: string) => lines.push(line))
    expect(lines.join('\n').split('\n')).toEqual([
      '',
      '       accepted   now  change  noise',
      'capture: Cost',
      'cost       1.50  1.80    +20%     3%  regression',
      'share      0.80  0.80     +0%     3%  same',
      '',
      '1 regression. Fix it, or accept with npm run bench -- --accept and give the reason in the commit.',
    ])
  })

  test.each([
    [['regression', 'regression', 'same', 'missing'], '2 regressions. Fix them, or accept'],
    [['missing'], '1 missing row. Restore it, or accept'],
    [['improved', 'same'], 'No regressions. 1 improvement: accept'],
    [['same', 'new', 'not measured'], 'No regressions.'],
  ])('ends for %j with "%s"', (given, start) => {
    expect(nextStep(given.map((verdict) => ({ verdict }))).startsWith(start)).toBe(true)
  })
})
