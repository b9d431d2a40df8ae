import { expect, test } from 'vitest'
import { loadImpact } from '../../../src/analytics/overview/impact.js'
import { overviewData } from '../../../src/analytics/overview/overview.js'
import { ALL_ERRORS } from '../../../src/model/input/scope.js'
import { describeEachDatabase } from '../../support/databases.js'
import { NOON } from '../../support/tracker.js'
import { contextAt, listContext } from '../../triage/list-context.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR

describeEachDatabase('periods of the overview', (database) => {
  test('compares only with a period that is stored in full', async () => {
    const { log, run } = await listContext(database, { retention_days: 90 })
    await log('Old', { occurred_at: NOON - 50 * DAY, user_id: 'ann' })
    await log('New', { occurred_at: NOON - 20 * DAY, user_id: 'bob' })
    const compared = async (range: '7d' | '30d' | '90d') => {
      const { occurrences, affected_users, time_to_resolve } = await run(overviewData, { range })
      return [occurrences.before, affected_users.before, time_to_resolve.before?.count]
    }
    expect(await compared('7d')).toEqual([0, 0, 0])
    // The first error is younger than the 60 days before today.
    expect(await compared('30d')).toEqual([null, null, undefined])
    await log('First', { occurred_at: NOON - 61 * DAY })
    expect(await compared('30d')).toEqual([1, 1, 0])
    // Older than the retention period.
    await log('Kept', { occurred_at: NOON - 300 * DAY })
    expect(await compared('90d')).toEqual([null, null, undefined])
  })

  test('shows no comparison while history is still being recorded', async () => {
    const { context, log } = await listContext(database)
    await log('Old', { occurred_at: NOON - 50 * DAY })
    const compared = async (isRecordingHistory: boolean) => {
      const recording = Object.create(context, { isRecordingHistory: { value: () => isRecordingHistory } })
      return (await overviewData.run(recording, { range: '7d' })).occurrences.before
    }
    expect([await compared(true), await compared(false)]).toEqual([null, 0])
  })

  test('ranks by the occurrences of the whole period, even if it has more hourly sums than the limit', async () => {
    const { context, log } = await listContext(database)
    const [steady, storm, quiet] = [await log('Steady'), await log('Storm'), await log('Quiet')]
    const hour = NOON - (NOON % HOUR)
    const row = await context.database.read
      .selectFrom('faultboard_error_hours')
      .selectAll()
      .where('error_id', '=', steady)
      .executeTakeFirstOrThrow()
    const hours = Array.from({ length: 89 * 24 }, (_, i) => ({ ...row, hour: hour - (i + 1) * HOUR, count: 1 }))
    const inserted = [...hours, ...hours.slice(0, 2000).map((copy) => ({ ...copy, error_id: quiet }))]
    // More rows than the limit, of one error per version.
    const versions = ['1', '2', '3'].flatMap((app_version) => hours.map((copy) => ({ ...copy, app_version })))
    const old = { ...row, error_id: storm, hour: hour - 88 * 24 * HOUR, count: 50_000 }
    await context.database.write(async (trx) => {
      for (let from = 0; from < inserted.length + versions.length; from += 50) {
        const rows = [...inserted, ...versions].slice(from, from + 50)
        await trx.insertInto('faultboard_error_hours').values(rows).execute()
      }
      await trx.insertInto('faultboard_error_hours').values(old).execute()
      await trx.updateTable('faultboard_errors').set({ occurrence_count: 50_001 }).where('id', '=', storm).execute()
    })
    const { errors } = await loadImpact(context, ALL_ERRORS, { from: NOON - 89 * DAY, to: NOON + 1 })
    expect(errors.map(({ error_id, occurrences }) => [error_id, occurrences])).toEqual([
      [storm, 50_001],
      [steady, 89 * 24 * 4 + 1],
      [quiet, 2001],
    ])
  })

  test('counts releases of applications that share a version separately', async () => {
    const { log, run, storage } = await listContext(database)
    await log('A', { app_version: '1.0' })
    const worker = contextAt(storage, { application_name: 'worker' })
    for (const error_type of ['B', 'C']) await worker.log(error_type, { app_version: '1.0' })
    const { releases } = await run(overviewData, {})
    expect(releases).toEqual([
      { application_id: 2, name: '1.0', total: 2 },
      { application_id: 1, name: '1.0', total: 1 },
    ])
  })
})
