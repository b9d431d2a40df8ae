import { expect, test } from 'vitest'
import { describeEachDatabase } from '../../support/databases.js'
import { freshTracker, NOON } from '../../support/tracker.js'

describeEachDatabase('a span that starts within an hour', (database) => {
  test('counts all occurrences of a storm when only the newest are stored', async () => {
    const { tracker, clock } = await freshTracker(database, {
      max_occurrences_per_error: 10,
      time_zone: 'Asia/Kolkata',
    })
    clock.now = NOON + 30 * 60_000
    // The first of the seven days started at 18:30 UTC.
    const inside = Date.parse('2026-03-03T18:30:20Z')
    await Promise.all(
      Array.from({ length: 300 }, () =>
        tracker.Commands.LogError.call({ error_type: 'Storm', message: 'm', occurred_at: inside }),
      ),
    )
    await tracker.Commands.LogError.call({ error_type: 'Now', message: 'm' })
    await tracker.flush()
    expect(await tracker.Queries.DashboardStats.call()).toMatchObject({
      occurrences_last_7_days: 301,
      occurrences_today: 1,
    })
  })
})
