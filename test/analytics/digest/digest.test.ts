import { describe, expect, test } from 'vitest'
import { digestFigures } from '../../../src/analytics/digest/digest.js'
import { digestSpan } from '../../../src/analytics/digest/digest-span.js'
import { resolveError } from '../../../src/triage/commands/resolve-error.js'
import { updateStatus } from '../../../src/triage/commands/update-status.js'
import { harnessAt, harnessesOn } from '../../notifications/delivery-harness.js'
import { describeEachDatabase } from '../../support/databases.js'

const at = (text: string) => Date.parse(text)
const HOUR = 3_600_000

describe('the period of a digest', () => {
  test.each([
    ['is the previous local day', 'daily', 'UTC', '2026-03-10T08:00:00Z', '2026-03-09T00:00Z', '2026-03-10T00:00Z'],
    [
      'has 23 hours when the clocks go forward',
      'daily',
      'Europe/Berlin',
      '2026-03-30T06:00Z',
      '2026-03-28T23:00Z',
      '2026-03-29T22:00Z',
    ],
    [
      'has 25 hours when the clocks go back',
      'daily',
      'Europe/Berlin',
      '2026-10-26T07:00Z',
      '2026-10-24T22:00Z',
      '2026-10-25T23:00Z',
    ],
    [
      'is the previous week starting on Monday',
      'weekly',
      'UTC',
      '2026-03-09T08:00Z',
      '2026-03-02T00:00Z',
      '2026-03-09T00:00Z',
    ],
    [
      'is the same week when the digest is sent late',
      'weekly',
      'UTC',
      '2026-03-15T23:00Z',
      '2026-03-02T00:00Z',
      '2026-03-09T00:00Z',
    ],
    [
      'is a week of local days',
      'weekly',
      'America/New_York',
      '2026-03-09T13:00Z',
      '2026-03-02T05:00Z',
      '2026-03-09T04:00Z',
    ],
  ] as const)('%s', (_, frequency, timeZone, now, from, to) => {
    expect(digestSpan(frequency, at(now), timeZone)).toEqual({ from: at(from), to: at(to) })
  })
})

describeEachDatabase('the digest', (database) => {
  const openHarness = harnessesOn(database)

  test('compares a day of 23 hours with the previous day', async () => {
    const harness = await openHarness({ time_zone: 'Europe/Berlin' })
    const [from, to] = [at('2026-03-28T23:00Z'), at('2026-03-29T22:00Z')]
    const log = (type: string, times: number[], fields = {}) =>
      Promise.all(times.map((occurred_at) => harness.log(type, { occurred_at, ...fields }))).then(([id = 0]) => id)
    harness.clock.now = to + 9 * HOUR

    const old = await log('Old', [from - 30 * HOUR, from - 1, from - 2, from, to - 1, to - 2], { severity: 'low' })
    const yesterday = await log('Yesterday', [from - 5 * HOUR, from + HOUR], { severity: 'low' })
    const first = await log('First', [from, from + 1], { severity: 'medium' })
    const last = await log('Last', [to - 1], { severity: 'critical' })
    await log('Today', [to, to + 1, to + 2, to + 3, to + 4, to + 5, to + 6])
    const billing = harnessAt(harness.storage, { time_zone: 'Europe/Berlin', application_name: 'billing' })
    billing.clock.now = harness.clock.now
    const other = await billing.log('Other', { occurred_at: from + HOUR, severity: 'low' })

    const figures = await digestFigures(harness.context, 'daily')
    expect(figures).toMatchObject({ frequency: 'daily', from, to })
    expect(figures.figures).toMatchObject({
      occurrences: { now: 3 + 1 + 2 + 1 + 1, before: 2 + 1 },
      new_errors: { now: 3, before: 1 },
    })
    expect(figures.new_errors.map(({ id }) => id)).toEqual([last, first, other])
    expect(figures.new_errors[2]).toMatchObject({ application_name: 'billing', error_type: 'Other', count: 1 })
    expect(figures.top_errors.map(({ id, count }) => [id, count])).toEqual([
      [old, 3],
      [first, 2],
      [yesterday, 1],
      [last, 1],
      [other, 1],
    ])
  })

  test('lists resolved and regressed errors, but not errors that a user reopened', async () => {
    const harness = await openHarness({ time_zone: 'UTC' })
    const [before, from, to] = [at('2026-03-08T00:00Z'), at('2026-03-09T00:00Z'), at('2026-03-10T00:00Z')]
    harness.clock.now = before
    const ids: Record<string, number> = {}
    for (const type of ['A', 'B', 'C', 'D', 'E']) ids[type] = await harness.log(type)
    harness.clock.now = before + HOUR
    for (const type of ['A', 'B', 'C']) await harness.run(resolveError, { error_id: ids[type] })
    harness.clock.now = from + HOUR
    await harness.log('B')
    await harness.run(updateStatus, { error_id: ids.C, status: 'new' })
    await harness.run(resolveError, { error_id: ids.D })
    await harness.run(updateStatus, { error_id: ids.E, status: 'wont_fix' })
    harness.clock.now = to + HOUR

    const digest = await digestFigures(harness.context, 'daily')
    expect(digest.figures.regressed_errors).toEqual({ now: 1, before: 0 })
    expect(digest.figures.resolved_errors).toEqual({ now: 2, before: 1 })
    expect(digest.regressed_errors).toMatchObject([{ id: ids.B, count: 1 }])
    expect(digest.resolved_errors.map(({ error_type }) => error_type).sort()).toEqual(['D', 'E'])
  })

  test('covers the given application and the period before the given time', async () => {
    const harness = await openHarness({ time_zone: 'UTC' })
    const billing = harnessAt(harness.storage, { time_zone: 'UTC', application_name: 'billing' })
    const day = at('2026-03-09T00:00Z')
    const own = await harness.log('Own', { occurred_at: day + HOUR })
    await harness.log('Own', { occurred_at: day + 2 * HOUR })
    const resolved = await harness.log('Resolved', { occurred_at: day + HOUR })
    await billing.log('Theirs', { occurred_at: day + HOUR })
    harness.clock.now = day + 3 * HOUR
    await harness.run(resolveError, { error_id: resolved })
    harness.clock.now = day + 5 * 24 * HOUR
    const row = await harness.context.database.read.selectFrom('faultboard_errors').selectAll().execute()
    const application_id = row.find(({ id }) => id === own)?.application_id
    const digest = await digestFigures(harness.context, 'daily', { at: day + 32 * HOUR, application_id })
    expect(digest.from).toBe(day)
    expect(digest.figures).toMatchObject({
      occurrences: { now: 3 },
      new_errors: { now: 2 },
      resolved_errors: { now: 1 },
    })
    expect(digest.top_errors.map(({ error_type }) => error_type)).toEqual(['Own', 'Resolved'])
  })

  test('the digest is empty for a week without occurrences', async () => {
    const harness = await openHarness({})
    const digest = await digestFigures(harness.context, 'weekly')
    expect(digest.figures.occurrences).toEqual({ now: 0, before: 0 })
    expect([digest.new_errors, digest.top_errors, digest.regressed_errors, digest.resolved_errors]).toEqual([
      [],
      [],
      [],
      [],
    ])
  })
})
