import { expect, onTestFinished, test } from 'vitest'
import type { Context } from '../../src/context.js'
import { createDatabase } from '../../src/store/database.js'
import { deleteErrors } from '../../src/triage/commands/delete-errors.js'
import { NO_OUTBOX } from '../support/databases/no-outbox.js'
import { describeEachDatabase } from '../support/databases.js'
import { startChild } from '../support/processes/children.js'
import { verifiedCounts } from '../support/stored-counts.js'
import { CREDENTIALS, freshStorage, freshTracker, NOON, type TestTracker, trackerAt } from '../support/tracker.js'

const HOUR = 3_600_000
/** More than a transaction deletes on SQLite. */
const HOURS = 150

/** Records two errors of one type and one of another, each in more hours than one step deletes. Returns the ids of the first two. */
async function longErrors({ tracker }: TestTracker): Promise<number[]> {
  const log = (error_type: string, message: string, i: number) =>
    tracker.Commands.LogError.call({
      error_type,
      message,
      user_id: `user-${i}`,
      app_version: `1.${i % 3}`,
      occurred_at: NOON - i * HOUR,
      platform: i % 2 ? 'Web' : 'API',
    })
  const logged = await Promise.all(
    Array.from({ length: HOURS }, (_, i) => [
      log('Same', 'gone', i),
      log('Same', 'kept', 2 * i),
      log('Other', 'gone', i),
    ]).flat(),
  )
  await tracker.flush()
  return [logged[0]?.id ?? 0, logged[2]?.id ?? 0]
}

/** Context of a deletion whose database fails after some transactions, as if the process was killed. */
function contextUntil(url: string, transactions: number): { context: Context; commits: () => number } {
  const database = createDatabase(url, process.cwd())
  onTestFinished(() => database.close())
  let commits = 0
  database.onWritten(() => commits++)
  let writeCount = 0
  const write: typeof database.write = async (work) => {
    if (++writeCount > transactions) throw new Error('killed')
    return database.write(work)
  }
  const context = { database: { ...database, write }, outbox: NO_OUTBOX, now: () => NOON } as unknown as Context
  return { context, commits: () => commits }
}

describeEachDatabase('deleting errors', (database) => {
  test('deletes the errors from every table and keeps the sums consistent', async () => {
    const { tracker, url } = await freshTracker(database)
    const ids: number[] = []
    for (const error_type of ['Kept', 'Gone', 'GoneToo']) {
      for (const user_id of ['a', 'b', 'b']) {
        const logged = await tracker.Commands.LogError.call({ error_type, message: 'deleted', user_id })
        if (logged?.is_new) ids.push(logged.id ?? 0)
      }
    }
    for (const error_id of ids) {
      await tracker.Commands.AddComment.call({ error_id, author_name: 'Ada', body: 'seen' })
      await tracker.Commands.ResolveError.call({ error_id, resolved_by: 'Ada' })
    }
    const error_ids = [...ids.slice(1), 999_999]
    expect(await tracker.Commands.BatchDeleteErrors.call({ error_ids })).toEqual({
      changed: 2,
      unchanged: 0,
      skipped: 1,
    })
    const { counts, users, rows } = await verifiedCounts(url)
    expect(counts).toEqual({ 'shop Kept': 3 })
    expect(users).toEqual({ 'Kept a': 1, 'Kept b': 2 })
    expect(rows).toBe(3)
    expect(await tracker.Queries.DashboardStats.call()).toMatchObject({ total_errors: 1, total_occurrences: 3 })

    const again = await tracker.Commands.LogError.call({ error_type: 'Gone', message: 'deleted' })
    expect(again).toMatchObject({ is_new: true, occurrence_count: 1 })
    await verifiedCounts(url)
  })

  test('deletes many hours in several transactions and yields to the host in between', async () => {
    const test = await freshTracker(database)
    const ids = await longErrors(test)
    const { context, commits } = contextUntil(test.url, Number.POSITIVE_INFINITY)
    expect(await deleteErrors(context, ids)).toBe(2)
    expect(commits()).toBeGreaterThanOrEqual(database.dialect === 'sqlite' ? (2 * HOURS) / 100 : 2)
    expect((await verifiedCounts(test.url)).counts).toEqual({ 'shop Same': HOURS })
  })

  test.each([1, 2])('completes a deletion that was interrupted after %i transactions exactly once', async (steps) => {
    const test = await freshTracker(database, { retention_days: null })
    const ids = await longErrors(test)
    await expect(deleteErrors(contextUntil(test.url, steps).context, ids)).rejects.toThrow('killed')
    expect(await test.tracker.Queries.ErrorsList.call()).toMatchObject([{ error_type: 'Same', message: 'kept' }])
    await test.tracker.Commands.CleanupErrors.call()
    await expect(verifiedCounts(test.url)).rejects.toThrow()

    const other = trackerAt(test)
    for (const { clock } of [test, other]) clock.now = NOON + HOUR
    await Promise.all([test, other].map(({ tracker }) => tracker.Commands.CleanupErrors.call({ retention_days: 999 })))
    expect((await verifiedCounts(test.url)).counts).toEqual({ 'shop Same': HOURS })
  })

  test('keeps counts and sums consistent while another process records the same errors', {
    timeout: 60_000,
  }, async () => {
    const storage = await freshStorage(database)
    const { tracker } = trackerAt(storage, { max_occurrences_per_error: 20 })
    const child = startChild('record', {
      settings: {
        ...CREDENTIALS,
        database: storage.url,
        spool_path: storage.spool_path,
        application_name: 'shop',
        max_occurrences_per_error: 20,
      },
      events: Array.from({ length: 600 }, (_, i) => ({
        error_type: `Busy${i % 9}`,
        message: 'deleted concurrently',
        user_id: `${i % 10}`,
      })),
      at_a_time: 15,
    })
    let running = true
    const ended = child.exited.finally(() => {
      running = false
    })
    let deleted = 0
    while (running) {
      const errors = await tracker.Queries.ErrorsList.call()
      const error_ids = errors.slice(0, 5).map(({ id }) => id)
      if (error_ids.length > 0) deleted += (await tracker.Commands.BatchDeleteErrors.call({ error_ids })).changed
      await new Promise((resume) => setTimeout(resume, 20))
    }
    expect(await ended).toBe(0)
    expect(deleted).toBeGreaterThan(0)
    expect(JSON.parse(child.lines.at(-1) ?? '')).toMatchObject({ nulls: 0, rejected: 0, dropped: {} })
    await tracker.flush()
    await verifiedCounts(storage.url)
    const error_ids = (await tracker.Queries.ErrorsList.call({ per_page: 100 })).map(({ id }) => id)
    if (error_ids.length > 0) await tracker.Commands.BatchDeleteErrors.call({ error_ids })
    expect(await verifiedCounts(storage.url)).toEqual({ counts: {}, users: {}, commits: [], rows: 0 })
  })
})
