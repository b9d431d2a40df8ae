import { expect, test } from 'vitest'
import type { Context } from '../../src/context.js'
import { runIfDue } from '../../src/jobs/schedule.js'
import { SCHEDULES } from '../../src/schedules.js'
import { createDatabase } from '../../src/store/database.js'
import { describeEachDatabase } from '../support/databases.js'
import { freshTracker, NOON } from '../support/tracker.js'

const DAY = 86_400_000

describeEachDatabase('what happens by itself', (database) => {
  test('runs in one process of many, each in its time', async () => {
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
    const round = async () => {
      const ran: string[] = []
      for (const schedule of SCHEDULES) {
        const each = await Promise.all(contexts.map((context) => runIfDue(context, schedule)))
        ran.push(...each.filter(Boolean).map(() => schedule.name))
      }
      return ran
    }
    expect(await round()).toEqual(['cleanup', 'baselines', 'cascades'])
    expect(await round()).toEqual([])
    expect((await tracker.Queries.ErrorsList.call()).map(({ error_type }) => error_type)).toEqual(['New'])
    now += DAY / 24
    expect(await round()).toEqual(['cascades'])
    now += DAY
    expect(await round()).toEqual(['cleanup', 'baselines', 'cascades'])
    for (const one of databases) await one.close()
  })
})
