import { expect, onTestFinished, test } from 'vitest'
import { sql } from '../../src/store/kysely.js'
import { describePendingMigrations, migrate, migrationStatus } from '../../src/store/migrate.js'
import { MIGRATIONS } from '../../src/store/migrations/list.js'
import { createIndex, createTable, type Migration } from '../../src/store/migrations/table.js'
import { describeEachDatabase } from '../support/databases.js'
import { verifiedCounts } from '../support/stored-counts.js'
import { eventually, freshStorage, spoolIsEmpty, trackerAt, withDatabase } from '../support/tracker.js'

const LATER = '9999-later'

/** Simulates a migration of a later version, which adds a column, a table and indexes. */
const later: Migration = {
  async up(db, dialect) {
    await dialect.addColumnIfMissing(db, 'faultboard_errors', 'later_note', 'varchar(64)')
    await dialect.addColumnIfMissing(db, 'faultboard_occurrences', 'later_trace', 'varchar(64)')
    await createIndex(db, dialect, 'faultboard_errors', { columns: ['later_note'] })
    await createTable(db, dialect, 'faultboard_later_hours', {
      columns: { hour: { type: 'bigint' }, name: { type: 'varchar(64)' }, count: { type: 'bigint' } },
      key: { columns: ['hour', 'name'] },
    })
  },
}

/** Adds the later migration to this process until the test ends. */
function installLaterVersion(): void {
  MIGRATIONS[LATER] = later
  onTestFinished(removeLaterVersion)
}

function removeLaterVersion(): void {
  delete MIGRATIONS[LATER]
}

describeEachDatabase('a schema of a later version', (database) => {
  test('processes of this version write to a later schema, whether they started before or after its migration', async () => {
    const storage = await freshStorage(database)
    const started = trackerAt(storage).tracker
    await started.Commands.LogError.call({ error_type: 'Repeated', message: 'x', user_id: 'ann' })
    await started.Queries.ErrorsList.call()

    installLaterVersion()
    expect(await withDatabase(storage.url, migrate)).toEqual([LATER])
    removeLaterVersion()

    const restarted = trackerAt(storage).tracker
    for (const tracker of [started, restarted]) {
      const logged = await tracker.Commands.LogError.call({ error_type: 'Repeated', message: 'x', user_id: 'bob' })
      expect(logged?.state).toBe('recorded')
      const [error] = await tracker.Queries.ErrorsList.call()
      expect(error).toMatchObject({ error_type: 'Repeated', occurrence_count: logged?.occurrence_count })
    }
    const { counts, users } = await verifiedCounts(storage.url)
    expect(counts).toEqual({ 'shop Repeated': 3 })
    expect(users).toEqual({ 'Repeated ann': 1, 'Repeated bob': 2 })
  })

  test('a schema of a later version is reported as pending until its migration has run, which keeps all rows', async () => {
    const storage = await freshStorage(database)
    const { tracker } = trackerAt(storage)
    await tracker.Commands.LogError.call({ error_type: 'Kept', message: 'x' })
    await tracker.shutdown()

    installLaterVersion()
    await withDatabase(storage.url, async (opened) => {
      expect(await describePendingMigrations(opened)).toContain(LATER)
      expect((await migrationStatus(opened)).at(-1)).toEqual({ name: LATER, applied_at: null })
      expect(await migrate(opened)).toEqual([LATER])
      expect(await describePendingMigrations(opened)).toBeNull()
      const { rows } = await sql`select error_type, later_note from faultboard_errors`.execute(opened.read)
      expect(rows).toEqual([{ error_type: 'Kept', later_note: null }])
      // On MySQL, a failed migration runs again from its start.
      await later.up(opened.read, opened.dialect)
    })
    expect((await verifiedCounts(storage.url)).counts).toEqual({ 'shop Kept': 1 })
  })

  test('a migrated schema receives the errors that its processes recorded before the migration', async () => {
    const storage = await freshStorage(database)
    installLaterVersion()
    const { tracker, clock } = trackerAt(storage)
    clock.now = null
    const logged = await tracker.Commands.LogError.call({ error_type: 'Early', message: 'x' })
    // SQLite files are migrated at startup.
    expect(logged?.state).toBe(database.dialect === 'sqlite' ? 'recorded' : 'spooled')
    await withDatabase(storage.url, migrate)
    await eventually(() => spoolIsEmpty(tracker), 'the spool is imported')
    expect((await verifiedCounts(storage.url)).counts).toEqual({ 'shop Early': 1 })
  })
})

describeEachDatabase('a schema of a development version', (database) => {
  test('a schema of a development version is refused with instructions for keeping its errors', async () => {
    await withDatabase(await database.fresh(), async (opened) => {
      await sql`update faultboard_migrations set name = '0001-errors' where name = '0001-initial'`.execute(opened.read)
      await expect(migrate(opened)).rejects.toThrow('created by a development version')
    })
  })
})
