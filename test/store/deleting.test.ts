import { expect, test } from 'vitest'
import { balancedBooks } from '../support/books.js'
import { startChild } from '../support/children.js'
import { describeEachDatabase } from '../support/databases.js'
import { CREDENTIALS, freshPlace, freshTracker, trackerAt } from '../support/tracker.js'

describeEachDatabase('deleting errors', (database) => {
  test('leaves nothing of them in any table, and the sums add up', async () => {
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
    expect(await tracker.Commands.BatchDeleteErrors.call({ error_ids })).toEqual({ changed: 2, skipped: 1 })
    const { counts, users, rows } = await balancedBooks(url)
    expect(counts).toEqual({ 'shop Kept': 3 })
    expect(users).toEqual({ 'Kept a': 1, 'Kept b': 2 })
    expect(rows).toBe(3)
    expect(await tracker.Queries.DashboardStats.call()).toMatchObject({ total_errors: 1, total_occurrences: 3 })

    const again = await tracker.Commands.LogError.call({ error_type: 'Gone', message: 'deleted' })
    expect(again).toMatchObject({ is_new: true, occurrence_count: 1 })
    await balancedBooks(url)
  })

  test('while other processes record into the same groups keeps the books balanced', { timeout: 60_000 }, async () => {
    const place = await freshPlace(database)
    const { tracker } = trackerAt(place, { max_occurrences_per_error: 20 })
    const children = Array.from({ length: 2 }, (_, process) =>
      startChild('record', {
        settings: {
          ...CREDENTIALS,
          database: place.url,
          spool_path: place.spool_path,
          application_name: 'shop',
          max_occurrences_per_error: 20,
        },
        events: Array.from({ length: 900 }, (_, i) => ({
          error_type: `Busy${i % 9}`,
          message: 'deleted meanwhile',
          user_id: `${process}-${i % 5}`,
        })),
        at_a_time: 15,
      }),
    )
    let running = true
    const ended = Promise.all(children.map((child) => child.ended)).finally(() => {
      running = false
    })
    let deleted = 0
    while (running) {
      const errors = await tracker.Queries.ErrorsList.call()
      const error_ids = errors.slice(0, 5).map(({ id }) => id)
      if (error_ids.length > 0) deleted += (await tracker.Commands.BatchDeleteErrors.call({ error_ids })).changed
      await new Promise((resume) => setTimeout(resume, 5))
    }
    expect(await ended).toEqual([0, 0])
    expect(deleted).toBeGreaterThan(0)
    for (const { lines } of children) {
      expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ nulls: 0, rejected: 0, dropped: {} })
    }
    await tracker.flush()
    await balancedBooks(place.url)
    const error_ids = (await tracker.Queries.ErrorsList.call({ per_page: 100 })).map(({ id }) => id)
    if (error_ids.length > 0) await tracker.Commands.BatchDeleteErrors.call({ error_ids })
    expect(await balancedBooks(place.url)).toEqual({ counts: {}, users: {}, rows: 0 })
  })
})
