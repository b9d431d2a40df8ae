import assert from 'node:assert/strict'
import { createTracker, type Tracker } from '../index.js'
import { createDatabase } from '../store/database.js'
import { migrate } from '../store/migrate.js'
import { type ContractCase, CREDENTIALS } from './contract.js'

export interface TestDatabase {
  /** The `database` option: a URL, or a pool or handle of a driver. */
  database: string | object
  close(): Promise<unknown>
}

export interface DatabaseHarness {
  /** Creates an empty database. */
  open(): Promise<TestDatabase>
}

/** Requirements for a database or dialect, for example for a server that is compatible with PostgreSQL or MySQL. */
export function databaseContract(harness: DatabaseHarness): ContractCase[] {
  const define = (title: string, body: (start: () => Tracker) => Promise<void>): ContractCase => ({
    title,
    run: () => withDatabase(harness, body),
  })
  return [
    {
      title: 'migrates an empty database once',
      async run() {
        const { database, close } = await harness.open()
        const opened = createDatabase(database, process.cwd())
        try {
          assert.ok((await migrate(opened)).length > 0)
          assert.deepEqual(await migrate(opened), [])
        } finally {
          await opened.close()
          await close()
        }
      },
    },
    define('stores text, numbers and times unchanged', async (start) => {
      const tracker = start()
      const message = 'Größe "\\%_" 🧨 \t ende'
      await tracker.Commands.LogError.call({
        error_type: 'ContractError',
        message,
        backtrace: ['at charge (src/pay.js:10:3)'],
        occurred_at: '2026-01-15T12:00:00.123Z',
        user_id: 'user-7',
      })
      const [listed] = await tracker.Queries.ErrorsList.call()
      assert.ok(listed)
      const error = await tracker.Queries.FindError.call({ error_id: listed.id })
      assert.equal(error.message, message)
      assert.equal(error.occurrence_count, 1)
      assert.equal(new Date(error.occurred_at).toISOString(), '2026-01-15T12:00:00.123Z')
      assert.equal(error.user_id, 'user-7')
    }),
    define('counts every occurrence of concurrent trackers in one error', async (start) => {
      const trackers = [start(), start()]
      const input = { error_type: 'ContractError', message: 'concurrent', backtrace: ['at a (src/a.js:1:1)'] }
      await Promise.all(
        Array.from({ length: 40 }, (_, index) => trackers[index % 2]?.Commands.LogError.call({ ...input })),
      )
      for (const tracker of trackers) await tracker.flush()
      const errors = await trackers[0]?.Queries.ErrorsList.call()
      assert.deepEqual(
        errors?.map(({ occurrence_count }) => occurrence_count),
        [40],
      )
    }),
    define('searches for literal text, ignoring case', async (start) => {
      const tracker = start()
      for (const message of ['100% of ORDERS failed', '100 orders failed']) {
        await tracker.Commands.LogError.call({ error_type: 'ContractError', message, backtrace: [`at ${message}`] })
      }
      const found = await tracker.Queries.ErrorsList.call({ search: '% of orders' })
      assert.deepEqual(
        found.map(({ message }) => message),
        ['100% of ORDERS failed'],
      )
    }),
    define('resolves an error and reopens it on the next occurrence', async (start) => {
      const tracker = start()
      const input = { error_type: 'ContractError', message: 'again', backtrace: ['at b (src/b.js:1:1)'] }
      await tracker.Commands.LogError.call(input)
      const [error] = await tracker.Queries.ErrorsList.call()
      assert.ok(error)
      await tracker.Commands.ResolveError.call({ error_id: error.id })
      assert.equal((await tracker.Queries.FindError.call({ error_id: error.id })).resolved, true)
      await tracker.Commands.LogError.call(input)
      const reopened = await tracker.Queries.FindError.call({ error_id: error.id })
      assert.equal(reopened.resolved, false)
      assert.equal(reopened.occurrence_count, 2)
    }),
    define('sorts and paginates in the same order', async (start) => {
      const tracker = start()
      for (const letter of ['c', 'a', 'b']) {
        await tracker.Commands.LogError.call({
          error_type: `Error_${letter}`,
          message: letter,
          backtrace: [`at ${letter}`],
        })
      }
      const sort = { sort_by: 'error_type', sort_direction: 'asc', per_page: 2 } as const
      const pages = [
        await tracker.Queries.ErrorsList.call({ ...sort, page: 1 }),
        await tracker.Queries.ErrorsList.call({ ...sort, page: 2 }),
      ]
      assert.deepEqual(
        pages.map((page) => page.map(({ message }) => message)),
        [['a', 'b'], ['c']],
      )
    }),
  ]
}

async function withDatabase({ open }: DatabaseHarness, body: (start: () => Tracker) => Promise<void>): Promise<void> {
  const { database, close } = await open()
  const trackers: Tracker[] = []
  try {
    const migrating = createDatabase(database, process.cwd())
    await migrate(migrating)
    await migrating.close()
    await body(() => {
      const tracker = createTracker({ ...CREDENTIALS, database, run_jobs: false, max_event_loop_lag_ms: null })
      trackers.push(tracker)
      return tracker
    })
  } finally {
    for (const tracker of trackers) await tracker.shutdown()
    await close()
  }
}
