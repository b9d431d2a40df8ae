import { expect, test } from 'vitest'
import { overviewData } from '../../src/analytics/overview/overview.js'
import { errorAnalytics } from '../../src/analytics/trends/error-trends.js'
import type { Context } from '../../src/context.js'
import { applicationId } from '../../src/store/applications.js'
import { ERROR_USERS } from '../../src/store/bulk/bulk-targets.js'
import { describeEachDatabase } from '../support/databases.js'
import { NOON } from '../support/tracker.js'
import { contextAt, listContext } from '../triage/list-context.js'

const MINUTE = 60_000
const DAY = 86_400_000

/** Inserts affected users directly, without capturing errors. */
async function addUsers(
  { database }: Context,
  rows: readonly { error_id: number; user_id: string; at: number }[],
): Promise<void> {
  await database.write(async (trx) => {
    for (let from = 0; from < rows.length; from += 1000) {
      const batch = rows.slice(from, from + 1000).map(({ error_id, user_id, at }) => [error_id, user_id, 1, at, at])
      await database.dialect.insertMany(trx, ERROR_USERS, batch)
    }
  })
}

const many = <T>(count: number, create: (i: number) => T) => Array.from({ length: count }, (_, i) => create(i))

describeEachDatabase('affected users', (database) => {
  test('affected users include current users despite many past users', async () => {
    const { context, log, run } = await listContext(database)
    const ids = await Promise.all(['One', 'Two', 'Three'].map((name) => log(name, { occurred_at: NOON - 200 * DAY })))
    const old = many(1000, (i) => ids.map((error_id) => ({ error_id, user_id: `old-${i}`, at: NOON - 200 * DAY })))
    await addUsers(context, old.flat())
    await log('One', { user_id: 'today' })
    await log('Two', { user_id: 'today' })
    await log('Two', { user_id: 'today' })
    expect((await run(errorAnalytics)).top_users).toEqual([
      { user_id: 'today', error_count: 2, occurrences: 3, last_seen_at: new Date(NOON).toISOString() },
    ])
  })

  test('affected users do not count toward the row limit of another application', async () => {
    const { context, storage, log, run } = await listContext(database)
    const other = contextAt(storage, { application_name: 'noisy' })
    const noisy = await other.log('Noisy')
    await addUsers(
      context,
      many(10_500, (i) => ({ error_id: noisy, user_id: `noisy-${i}`, at: NOON - 1 })),
    )
    for (const user_id of ['ann', 'bob', 'cy']) await log('Quiet', { user_id, occurred_at: NOON - 5 * MINUTE })
    await log('Other', { user_id: 'ann', occurred_at: NOON - 5 * MINUTE })
    const application_id = await applicationId(context.database, 'shop', NOON)
    const own = await run(overviewData, { application_id })
    expect(own.affected_users).toMatchObject({ count: 3, before: null })
    expect(own.affected_users).not.toHaveProperty('is_lower_bound')
    expect(own.user_counts_are_lower_bounds).toBe(false)
    expect(own.top_by_impact.map(({ error_type, users }) => [error_type, users])).toEqual([
      ['Quiet', 3],
      ['Other', 1],
    ])
    const { top_users } = await run(errorAnalytics, { application_id })
    expect(top_users.map(({ user_id, error_count }) => [user_id, error_count])).toEqual([
      ['ann', 2],
      ['bob', 1],
      ['cy', 1],
    ])
    const all = await run(overviewData)
    expect(all.affected_users).toMatchObject({ is_lower_bound: true, before: null })
    expect(all.user_counts_are_lower_bounds).toBe(true)
  })

  test('affected users are counted for the most frequent error even if other errors have more users', async () => {
    const { log, run } = await listContext(database)
    const often = await log('Often', { user_id: 'user-0' })
    await Promise.all(many(39, (i) => log('Often', { user_id: `user-${i % 2}` })))
    await Promise.all(
      many(26 * 3, (i) => log(`Rare${String.fromCharCode(65 + (i % 26))}`, { user_id: `user-${i % 3}` })),
    )
    const { top_by_impact } = await run(overviewData)
    expect(top_by_impact[0]).toMatchObject({ id: often, occurrences: 40, users: 2 })
    expect(top_by_impact[1]).toMatchObject({ occurrences: 3, users: 3 })
  })
})
