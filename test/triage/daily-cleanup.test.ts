import { expect, test } from 'vitest'
import type { Context } from '../../src/context.js'
import { createDatabase } from '../../src/store/database.js'
import { cleanupOnceADay } from '../../src/triage/daily-cleanup.js'
import { describeEachDatabase } from '../support/databases.js'
import { freshTracker, NOON } from '../support/tracker.js'

const DAY = 86_400_000

describeEachDatabase('the cleanup that runs by itself', (database) => {
  test('runs once a day, in one process of many, and deletes what is older than retention_days', async () => {
    const { tracker, url } = await freshTracker(database)
    await tracker.Commands.LogError.call({ error_type: 'Old', message: 'm', occurred_at: NOON - 91 * DAY })
    await tracker.Commands.LogError.call({ error_type: 'New', message: 'm', occurred_at: NOON - 89 * DAY })
    let now = NOON
    const databases = Array.from({ length: 4 }, () => createDatabase(url, '.'))
    const contexts = databases.map(
      (one) =>
        ({
          database: one,
          now: () => now,
          ready: async () => {},
          config: { retention_days: 90 },
        }) as unknown as Context,
    )
    const round = async () => (await Promise.all(contexts.map(cleanupOnceADay))).filter((result) => result !== null)
    expect(await round()).toMatchObject([{ deleted: 1 }])
    expect(await round()).toEqual([])
    expect((await tracker.Queries.ErrorsList.call()).map(({ error_type }) => error_type)).toEqual(['New'])
    now += DAY
    expect(await round()).toHaveLength(1)
    for (const one of databases) await one.close()
  })
})
