import { expect, test } from 'vitest'
import type { Severity } from '../../../src/model/severity/severity.js'
import type { TrackerInstance } from '../../../src/tracker.js'
import { describeEachDatabase } from '../../support/databases.js'
import { freshStorage, freshTracker, NOON, trackerAt } from '../../support/tracker.js'

const MINUTE = 60_000

describeEachDatabase('the severity of an error', (database) => {
  const log = async (tracker: TrackerInstance, severity: Severity, occurred_at?: number) => {
    const logged = await tracker.Commands.LogError.call({
      ...{ error_type: 'ShopError', message: 'out of stock', severity },
      ...(occurred_at !== undefined && { occurred_at }),
    })
    return logged?.id ?? 0
  }

  const severityOf = async (tracker: TrackerInstance, error_id: number) =>
    (await tracker.Queries.FindError.call({ error_id })).severity

  test('the severity of an error is the highest of its occurrences in any order', async () => {
    const { tracker } = await freshTracker(database)
    const error_id = await log(tracker, 'medium')
    await log(tracker, 'low')
    expect(await severityOf(tracker, error_id)).toBe('medium')
    await log(tracker, 'critical')
    await log(tracker, 'high')
    expect(await severityOf(tracker, error_id)).toBe('critical')
  })

  test('the severity of an error includes an occurrence that arrives late', async () => {
    const { tracker } = await freshTracker(database)
    const error_id = await log(tracker, 'low')
    await log(tracker, 'high', NOON - 10 * MINUTE)
    expect(await severityOf(tracker, error_id)).toBe('high')
  })

  test('the severity of an error is the highest of occurrences that are written together', async () => {
    const { tracker } = await freshTracker(database)
    const severities: Severity[] = ['low', 'critical', ...Array.from({ length: 40 }, () => 'low' as const)]
    const [error_id = 0] = await Promise.all(severities.map((severity) => log(tracker, severity)))
    expect(await severityOf(tracker, error_id)).toBe('critical')
  })

  test('the severity of an error is reset by the occurrence that reopens the error', async () => {
    const { tracker, clock } = await freshTracker(database)
    const error_id = await log(tracker, 'critical')
    await tracker.Commands.ResolveError.call({ error_id })
    clock.now = NOON + MINUTE
    await log(tracker, 'low')
    expect(await tracker.Queries.FindError.call({ error_id })).toMatchObject({ status: 'new', severity: 'low' })
    await log(tracker, 'medium')
    expect(await severityOf(tracker, error_id)).toBe('medium')
  })

  test('the severity of an error is kept when a user reopens the error', async () => {
    const { tracker } = await freshTracker(database)
    const error_id = await log(tracker, 'critical')
    await tracker.Commands.ResolveError.call({ error_id })
    await tracker.Commands.UpdateStatus.call({ error_id, status: 'new' })
    await log(tracker, 'low')
    expect(await severityOf(tracker, error_id)).toBe('critical')
  })

  test('the severity of an error is not reset by an occurrence from before the resolution', async () => {
    const { tracker, clock } = await freshTracker(database)
    const error_id = await log(tracker, 'high')
    clock.now = NOON + MINUTE
    await tracker.Commands.ResolveError.call({ error_id })
    await log(tracker, 'low', NOON)
    expect(await tracker.Queries.FindError.call({ error_id })).toMatchObject({ status: 'resolved', severity: 'high' })
  })

  test('the severity of an error is not raised by an occurrence from before the last resolution', async () => {
    const { tracker, clock } = await freshTracker(database)
    const error_id = await log(tracker, 'low')
    clock.now = NOON + 10 * MINUTE
    await tracker.Commands.ResolveError.call({ error_id })
    clock.now = NOON + 20 * MINUTE
    await log(tracker, 'low')
    await log(tracker, 'critical', NOON + MINUTE)
    expect(await tracker.Queries.FindError.call({ error_id })).toMatchObject({ status: 'new', severity: 'low' })
    await tracker.Commands.ResolveError.call({ error_id })
    await log(tracker, 'high', NOON + 2 * MINUTE)
    expect(await tracker.Queries.FindError.call({ error_id })).toMatchObject({ status: 'resolved', severity: 'low' })
  })

  test('the severity of an error is raised by an occurrence after the resolution that is written after the error was reopened', async () => {
    const { tracker, clock } = await freshTracker(database)
    const error_id = await log(tracker, 'critical')
    clock.now = NOON + MINUTE
    await tracker.Commands.ResolveError.call({ error_id })
    clock.now = NOON + 20 * MINUTE
    await log(tracker, 'low')
    await Promise.all([log(tracker, 'critical', NOON), log(tracker, 'high', NOON + 5 * MINUTE)])
    expect(await severityOf(tracker, error_id)).toBe('high')
  })

  test('the severity of an error is exact when two processes record and reopen concurrently', async () => {
    const storage = await freshStorage(database)
    const [first, second] = [trackerAt(storage), trackerAt(storage)]
    const error_id = await log(first.tracker, 'critical')
    await second.tracker.ready()
    for (let round = 1; round <= 10; round++) {
      await first.tracker.Commands.ResolveError.call({ error_id })
      const now = NOON + round * MINUTE
      first.clock.now = now
      second.clock.now = now
      await Promise.all([
        log(first.tracker, 'low'),
        log(second.tracker, 'medium'),
        log(first.tracker, round % 2 ? 'high' : 'low'),
      ])
      expect(await severityOf(first.tracker, error_id)).toBe(round % 2 ? 'high' : 'medium')
    }
  })
})
