import { expect, test } from 'vitest'
import type { ForeignError } from '../../../src/capture/clients/foreign-error.js'
import { DAY } from '../../../src/model/time.js'
import type { TrackerInstance } from '../../../src/tracker.js'
import { describeEachDatabase } from '../../support/databases.js'
import { verifiedCounts } from '../../support/stored-counts.js'
import { eventually, freshStorage, NOON, spoolIsEmpty, trackerAt, withDatabase } from '../../support/tracker.js'

/** Creates a client error with or without an event id. */
function reported(event_key: string | undefined, more: Partial<ForeignError> = {}): ForeignError {
  return { source: 'reporting', error_type: 'Reported', message: 'by a client', backtrace: [], event_key, ...more }
}

async function again(tracker: TrackerInstance): Promise<number> {
  return (await tracker.stats()).dropped.reported_again ?? 0
}

describeEachDatabase('an event that its client resends', (database) => {
  test('a resent event is counted once after a restart and in another process', async () => {
    const storage = await freshStorage(database)
    const first = trackerAt(storage).tracker
    expect(await first.intake.record(reported('1'))).toMatchObject({ state: 'recorded', occurrence_count: 1 })
    await first.shutdown()
    const [second, third] = [trackerAt(storage).tracker, trackerAt(storage).tracker]
    expect(await second.intake.record(reported('1'))).toBeNull()
    expect(await third.intake.record(reported('1', { error_type: 'Otherwise' }))).toBeNull()
    expect(await third.intake.record(reported('2'))).toMatchObject({ occurrence_count: 2 })
    expect([await again(second), await again(third)]).toEqual([1, 1])
    expect((await verifiedCounts(storage.url)).counts).toEqual({ 'shop Reported': 2 })
  })

  test('a resent event is counted separately in another application', async () => {
    const storage = await freshStorage(database)
    for (const application_name of ['shop', 'billing']) {
      await trackerAt(storage, { application_name }).tracker.intake.record(reported('1'))
    }
    expect((await verifiedCounts(storage.url)).counts).toEqual({ 'shop Reported': 1, 'billing Reported': 1 })
  })

  for (const async_logging of [false, true]) {
    test(`a resent event is counted once when several processes receive it concurrently, with async_logging ${async_logging}`, async () => {
      const { url, spool_path } = await freshStorage(database)
      const trackers = [1, 2, 3].map(
        (n) => trackerAt({ url, spool_path: `${spool_path}/${n}` }, { async_logging }).tracker,
      )
      await Promise.all(trackers.map((tracker) => tracker.ready()))
      const rounds = 10
      for (let round = 0; round < rounds; round++) {
        const events = Array.from({ length: 6 }, (_, i) =>
          reported(`${round} ${i}`, {
            error_type: `Reported${'AB'[i % 2]}`,
            user_id: `user ${i % 3}`,
            app_version: `1.${i % 2}`,
            occurred_at: NOON - i * 3_600_000,
          }),
        )
        await Promise.all(
          trackers.flatMap(({ intake }, n) => [
            ...(n % 2 ? events : events.toReversed()).map((event) => intake.record(event)),
            // Same group and transaction without an event id, so it is never a duplicate.
            intake.record(reported(undefined, { error_type: 'ReportedA', user_id: 'user 0' })),
          ]),
        )
      }
      await Promise.all(trackers.map((tracker) => tracker.flush()))
      const { counts, users } = await verifiedCounts(url)
      expect(counts).toEqual({ 'shop ReportedA': rounds * (3 + 3), 'shop ReportedB': rounds * 3 })
      expect(users).toEqual({
        ...{ 'ReportedA user 0': rounds * (1 + 3), 'ReportedA user 2': rounds, 'ReportedA user 1': rounds },
        ...{ 'ReportedB user 0': rounds, 'ReportedB user 1': rounds, 'ReportedB user 2': rounds },
      })
      const repeats = await Promise.all(trackers.map(again))
      expect(repeats.reduce((sum, count) => sum + count, 0)).toBe(rounds * 6 * 2)
    })
  }

  test('a resent event is counted once after it was spooled, without affecting other events', async () => {
    const storage = await freshStorage(database)
    await trackerAt(storage).tracker.intake.record(reported('1', { occurred_at: NOON - 5000, user_id: 'ann' }))
    const away = trackerAt({ ...storage, url: 'postgres://unknown@127.0.0.1:1/nothing' }).tracker
    const spooled = await Promise.all([
      away.intake.record(reported('1', { user_id: 'ann' })),
      away.intake.record(reported('2', { occurred_at: NOON - 1000, user_id: 'bob' })),
      away.intake.record(reported(undefined, { occurred_at: NOON - 2000 })),
    ])
    expect(spooled.map((result) => (result === 'lost' ? result : result?.state))).toEqual(Array(3).fill('spooled'))
    await away.shutdown()
    const { tracker } = trackerAt(storage)
    await tracker.intake.record(reported('3', { error_type: 'Other' }))
    await eventually(() => spoolIsEmpty(tracker), 'the spool is imported')
    expect((await verifiedCounts(storage.url)).users).toEqual({ 'Reported ann': 1, 'Reported bob': 1 })
    const [error] = await tracker.Queries.ErrorsList.call({ error_type: 'Reported' })
    expect(error).toMatchObject({ occurrence_count: 3, occurred_at: new Date(NOON - 1000).toISOString() })
    expect(await again(tracker)).toBe(1)
  })

  test('deletes the ids of old events after a few days, in batches', async () => {
    const storage = await freshStorage(database)
    const { tracker, clock } = trackerAt(storage)
    await Promise.all(Array.from({ length: 3 }, (_, i) => tracker.intake.record(reported(`old ${i}`))))
    clock.now = NOON + 4 * DAY
    await tracker.intake.record(reported('young'))
    await tracker.Commands.CleanupErrors.call()
    const left = await withDatabase(storage.url, ({ read }) =>
      read.selectFrom('faultboard_reported_events').select('created_at').execute(),
    )
    expect(left).toEqual([{ created_at: NOON + 4 * DAY }])
  })
})
