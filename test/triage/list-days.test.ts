import { expect, test } from 'vitest'
import { parseInput } from '../../src/model/input/input.js'
import { perform } from '../../src/operation.js'
import { errorsListInput, errorsPage } from '../../src/triage/list/errors-list.js'
import { dailyCounts } from '../../src/triage/queries/daily-counts.js'
import { describeEachDatabase } from '../support/databases.js'
import { NOON } from '../support/tracker.js'
import { listContext } from './list-context.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR

describeEachDatabase('error list by day', (database) => {
  test('returns errors of a day, including errors seen again later', async () => {
    const { context, log } = await listContext(database)
    for (const [name, time] of [
      ['Twice', NOON - 2 * DAY],
      ['Twice', NOON],
      ['Before', Date.parse('2026-03-07T23:59:59.999Z')],
      ['First', Date.parse('2026-03-08T00:00:00Z')],
      ['Last', Date.parse('2026-03-08T23:59:59.999Z')],
      ['After', Date.parse('2026-03-09T00:00:00Z')],
    ] as const)
      await log(name, { occurred_at: time })
    const names = async (filter: object) =>
      (await perform(errorsPage, context, filter)).errors.map(({ error_type }) => error_type).join(' ')
    expect(await names({ day: '2026-03-08' })).toBe('Twice Last First')
    expect(await names({ day: ' 2026-03-09 ' })).toBe('After')
    expect(await names({ day: '2026-03-08', search: 'firs' })).toBe('First')
    expect(await names({ day: '2026-03-01' })).toBe('')
    expect(await names({ day: '' })).toBe('Twice After Last First Before')
    for (const day of ['yesterday', '2026-02-30', '2026-3-8', '0001-01-01', '2026-03-08T00:00'])
      expect(() => parseInput(errorsListInput, { day })).toThrow('day must be a date such as 2026-03-09')
  })

  test('assigns each hour to the local day in which it starts', async () => {
    const { context, log } = await listContext(database, { time_zone: 'Asia/Kolkata' })
    await log('Evening', { occurred_at: '2026-03-08T17:59:00Z' })
    await log('Midnight', { occurred_at: '2026-03-08T18:10:00Z' })
    await log('Morning', { occurred_at: '2026-03-08T19:00:00Z' })
    const names = async (day: string) =>
      (await perform(errorsPage, context, { day })).errors.map(({ error_type }) => error_type).join(' ')
    expect(await names('2026-03-08')).toBe('Midnight Evening')
    expect(await names('2026-03-09')).toBe('Morning')
  })

  test('returns the occurrences of the last seven days for each error', async () => {
    const { context, log } = await listContext(database)
    const many = async (name: string, count: number, occurred_at: number) => {
      let id = 0
      for (let i = 0; i < count; i++) id = await log(name, { occurred_at, app_version: String(i % 2) })
      return id
    }
    const often = await many('Often', 3, NOON)
    await many('Often', 2, NOON - DAY)
    await many('Often', 1, NOON - 6 * DAY - 12 * HOUR)
    await many('Often', 1, NOON - 6 * DAY - 13 * HOUR)
    const old = await many('Old', 1, NOON - 30 * DAY)
    const { errors } = await perform(errorsPage, context, {})
    expect(errors.map(({ id, daily_counts }) => [id, daily_counts])).toEqual([
      [often, [1, 0, 0, 0, 0, 2, 3]],
      [old, [0, 0, 0, 0, 0, 0, 0]],
    ])
    expect(await dailyCounts(context, [often, 999], 2)).toEqual(
      new Map([
        [often, [2, 3]],
        [999, [0, 0]],
      ]),
    )
    expect(await dailyCounts(context, [often], 1)).toEqual(new Map([[often, [3]]]))
    expect(await dailyCounts(context, [])).toEqual(new Map())
  })
})
