import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { Counters } from '../../../src/model/counters.js'
import { createDatabase } from '../../../src/store/database.js'
import { BatchWriter } from '../../../src/store/recording/batch-writer.js'
import { Spool } from '../../../src/store/spool/spool.js'
import { NO_OUTBOX } from '../../support/databases/no-outbox.js'
import { describeEachDatabase } from '../../support/databases.js'
import { freshStorage, NOON } from '../../support/tracker.js'

describeEachDatabase(
  "a locked database behind the host's pool",
  (database) => {
    test('does not leave a session that waits for the lock after a probe', { timeout: 60_000 }, async () => {
      const { url, spool_path } = await freshStorage(database)
      const pool = new pg.Pool({ connectionString: url, max: 10 })
      onTestFinished(() => pool.end())
      const writer = writerOn(pool, spool_path)
      expect(await writer.isAvailable()).toBe(true)

      const locking = await pool.connect()
      await locking.query('begin; lock table faultboard_batches')
      // The lock timeout of the server expires before the query timeout.
      expect(await writer.isAvailable()).toBe(false)
      expect(await waiting(pool)).toBe(0)
      expect(pool.totalCount - pool.idleCount).toBe(1)

      await locking.query('commit')
      locking.release()
      expect(await writer.isAvailable()).toBe(true)
      expect(pool.idleCount).toBe(pool.totalCount)
    })
  },
  { except: ['sqlite', 'mysql'] },
)

async function waiting(pool: pg.Pool): Promise<number> {
  const { rowCount } = await pool.query(
    'select 1 from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0',
  )
  return rowCount ?? 0
}

function writerOn(pool: pg.Pool, spool_path: string): BatchWriter {
  return new BatchWriter({
    database: createDatabase(pool, process.cwd()),
    spool: new Spool(spool_path, 10_000_000),
    counters: new Counters(),
    outbox: NO_OUTBOX,
    application_name: 'shop',
    max_occurrences_per_error: 100,
    now: () => NOON,
    open: async () => {},
    warn() {},
  })
}
