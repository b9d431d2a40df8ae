import { createPool } from 'mysql2'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import type { Database } from '../../../src/store/database.js'
import { type Kysely, sql } from '../../../src/store/kysely.js'
import type { Schema } from '../../../src/store/schema.js'
import { describeEachDatabase, type TestDatabase } from '../../support/databases.js'
import { verifiedCounts } from '../../support/stored-counts.js'
import {
  eventually,
  freshStorage,
  spoolIsEmpty,
  type TestTracker,
  temporaryFolder,
  trackerAt,
  withDatabase,
} from '../../support/tracker.js'

const TRACKERS = 8
const ROUNDS = 15

describeServers('recording after a deadlock with another session', (database) => {
  for (const async_logging of [false, true]) {
    test(`retries and counts every error once, with async_logging ${async_logging}`, async () => {
      const storage = await freshStorage(database)
      const { tracker, lines } = trackerAt(storage, { async_logging })
      await recordBoth(tracker)
      await tracker.flush()
      await withDatabase(storage.url, async ({ read }) => {
        const before = await deadlocks(read, database)
        const [first, second] = await read
          .selectFrom('faultboard_errors')
          .select(['id'])
          .orderBy('hash_signature')
          .execute()
        let recorded: ReturnType<typeof recordBoth> | undefined
        await read.transaction().execute(async (other) => {
          await becomeTheSurvivor(other, database)
          await lock(other, second?.id)
          recorded = recordBoth(tracker)
          await withDatabase(storage.url, (observer) =>
            eventually(() => isBlocked(observer, database), 'the tracker waits for the second row'),
          )
          // The tracker has locked the first row, so neither session can continue.
          await lock(other, first?.id)
        })
        const logged = await recorded
        await tracker.flush()
        if (!async_logging) expect(logged?.map((record) => record?.occurrence_count)).toEqual([2, 2])
        expect(logged?.map((record) => record?.state)).toEqual(Array(2).fill(async_logging ? 'accepted' : 'recorded'))
        await eventually(async () => (await deadlocks(read, database)) > before, 'the server reports the deadlock')
      })
      expect((await tracker.stats()).dropped).toEqual({})
      expect(lines).toEqual([])
      expect((await verifiedCounts(storage.url)).counts).toEqual({ 'shop First': 2, 'shop Second': 2 })
    })
  }
})

describeServers('recording on a server with serializable transactions by default', (database) => {
  test('counts every error once when processes record the same groups', { timeout: 60_000 }, async () => {
    const storage = await freshStorage(database)
    const trackers = Array.from({ length: TRACKERS }, () =>
      trackerAt({ ...storage, spool_path: temporaryFolder() }, { database: serializablePool(database, storage.url) }),
    )
    for (let round = 0; round < ROUNDS; round++) {
      const logged = await Promise.all(trackers.map(({ tracker }) => recordBoth(tracker)))
      // On a busy machine a transaction may wait for its locks longer than a caller is allowed to wait.
      for (const record of logged.flat()) expect(record?.state).toMatch(/^(?:recorded|spooled)$/)
    }
    for (const { tracker } of trackers) {
      await eventually(() => spoolIsEmpty(tracker), 'the spool is empty')
      // Counts the timeouts that spooled an error. Nothing is lost.
      const { database_unavailable: _timeouts, ...lost } = (await tracker.stats()).dropped
      expect(lost).toEqual({})
    }
    const all = TRACKERS * ROUNDS
    expect((await verifiedCounts(storage.url)).counts).toEqual({ 'shop First': all, 'shop Second': all })
  })
})

describeServers('recording after a serialization failure', (database) => {
  test('retries the transaction and counts every error once', async () => {
    const storage = await freshStorage(database)
    const { tracker, lines } = trackerAt(storage)
    await tracker.ready()
    await withDatabase(storage.url, ({ read }) => failTwice(read, database))
    const logged = await recordBoth(tracker)
    expect(logged.map((record) => record?.state)).toEqual(['recorded', 'recorded'])
    expect(lines).toEqual([])
    expect((await tracker.stats()).dropped).toEqual({})
    expect((await verifiedCounts(storage.url)).counts).toEqual({ 'shop First': 1, 'shop Second': 1 })
    expect(await withDatabase(storage.url, ({ read }) => attempts(read, database))).toBeGreaterThan(2)
  })
})

async function attempts(db: Kysely<Schema>, { dialect }: TestDatabase): Promise<number> {
  const { rows } = await sql<{ attempts: number }>`select ${
    dialect === 'postgres' ? sql`last_value as attempts` : sql`attempts`
  } from faultboard_test_attempts`.execute(db)
  return Number(rows[0]?.attempts)
}

/** Makes the first two inserts of errors fail as a conflict. A rollback resets neither a sequence nor a MyISAM table. */
async function failTwice(db: Kysely<Schema>, { dialect }: TestDatabase): Promise<void> {
  if (dialect === 'postgres') {
    await sql`create sequence faultboard_test_attempts`.execute(db)
    await sql`create function faultboard_test_fail() returns trigger language plpgsql as $$ begin
      if nextval('faultboard_test_attempts') <= 2 then
        raise exception 'could not serialize access due to concurrent update' using errcode = '40001';
      end if;
      return new;
    end $$`.execute(db)
    await sql`create trigger faultboard_test_fail before insert on faultboard_errors
      for each row execute function faultboard_test_fail()`.execute(db)
  } else {
    await sql`create table faultboard_test_attempts (attempts int not null) engine = MyISAM`.execute(db)
    await sql`insert into faultboard_test_attempts values (0)`.execute(db)
    await sql`create trigger faultboard_test_fail before insert on faultboard_errors for each row begin
      update faultboard_test_attempts set attempts = attempts + 1;
      if (select attempts from faultboard_test_attempts) <= 2 then
        signal sqlstate '40001' set mysql_errno = 1213, message_text = 'Deadlock found';
      end if;
    end`.execute(db)
  }
}

/** Records both errors in one batch. */
function recordBoth({ Commands }: TestTracker['tracker']) {
  return Promise.all(
    ['First', 'Second'].map((error_type) => Commands.LogError.call({ error_type, message: 'in conflict' })),
  )
}

async function lock(db: Kysely<Schema>, id: number | undefined): Promise<void> {
  await sql`select id from faultboard_errors where id = ${id} for update`.execute(db)
}

/** Makes the server choose the transaction of the tracker as the victim, so that the test is deterministic. */
async function becomeTheSurvivor(other: Kysely<Schema>, { dialect }: TestDatabase): Promise<void> {
  if (dialect === 'postgres') await sql`set local deadlock_timeout = '1min'`.execute(other)
  else {
    // InnoDB rolls back the transaction that has changed fewer rows.
    for (let i = 0; i < 200; i++) {
      await sql`insert into faultboard_batches (batch_id, created_at) values (${`weight-${i}`}, 0)`.execute(other)
    }
  }
}

async function isBlocked({ read }: Database, { dialect }: TestDatabase): Promise<boolean> {
  const { rows } = await (dialect === 'postgres'
    ? sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    : sql`select 1 from information_schema.innodb_trx as t join information_schema.processlist as p
          on p.id = t.trx_mysql_thread_id where p.db = database() and t.trx_state = 'LOCK WAIT'`
  ).execute(read)
  return rows.length > 0
}

async function deadlocks(db: Kysely<Schema>, { dialect }: TestDatabase): Promise<number> {
  const { rows } = await (dialect === 'postgres'
    ? sql<{ n: number }>`select deadlocks as n from pg_stat_database where datname = current_database()`
    : sql<{ n: number }>`select variable_value as n from information_schema.global_status
                         where variable_name = 'innodb_deadlocks'`
  ).execute(db)
  return Number(rows[0]?.n)
}

function serializablePool({ dialect }: TestDatabase, url: string): object {
  if (dialect === 'postgres') {
    const options = '-c default_transaction_isolation=serializable'
    const pool = new pg.Pool({ connectionString: url, max: 2, options })
    onTestFinished(() => pool.end())
    return pool
  }
  const pool = createPool({ uri: url, connectionLimit: 2, supportBigNumbers: true })
  pool.on('connection', (connection) => connection.query('set session transaction isolation level serializable'))
  onTestFinished(() => new Promise<void>((done) => pool.end(() => done())))
  return pool
}

function describeServers(title: string, body: (database: TestDatabase) => void): void {
  describeEachDatabase(title, body, { except: ['sqlite'] })
}
