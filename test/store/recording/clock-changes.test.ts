import { expect, onTestFinished, test, vi } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../../src/model/time.js'
import { describeEachDatabase } from '../../support/databases.js'
import { verifiedCounts } from '../../support/stored-counts.js'
import { eventually, freshTracker, NOON, spoolIsEmpty, withDatabase } from '../../support/tracker.js'

const JUMPS = [0, 2 * DAY, -DAY, -365 * DAY, HOUR, -MINUTE, 30 * DAY, 0]

describeEachDatabase('recording while the system clock changes', (database) => {
  test.each([false, true])('counts every error once, with async_logging %s', async (async_logging) => {
    // Timers and `performance.now()` continue, as on a real machine.
    vi.useFakeTimers({ toFake: ['Date'], now: NOON })
    onTestFinished(() => void vi.useRealTimers())
    const { tracker, clock, url } = await freshTracker(database, { async_logging })
    clock.now = null
    for (const jump of JUMPS) {
      // Half of the errors are logged before the jump and written after it.
      const log = () => tracker.Commands.LogError.call({ error_type: 'Jump', message: 'x', user_id: 'ann' })
      const before = [log(), log()]
      vi.setSystemTime(NOON + jump)
      for (const logged of await Promise.all([...before, log(), log()])) {
        expect(logged?.state).toBe(async_logging ? 'accepted' : 'recorded')
      }
    }
    await tracker.flush()
    await eventually(() => spoolIsEmpty(tracker), 'the spool is empty')
    const { counts, users } = await verifiedCounts(url)
    expect(counts).toEqual({ 'shop Jump': 4 * JUMPS.length })
    expect(users).toEqual({ 'Jump ann': 4 * JUMPS.length })
    expect((await tracker.stats()).dropped).toEqual({})
    const [error] = await withDatabase(url, ({ read }) =>
      read.selectFrom('faultboard_errors').select(['first_seen_at', 'occurred_at']).execute(),
    )
    expect(error).toEqual({ first_seen_at: NOON - 365 * DAY, occurred_at: NOON + 30 * DAY })
  })
})
