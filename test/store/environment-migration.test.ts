import { expect, test } from 'vitest'
import type { Settings } from '../../src/options.js'
import { sql } from '../../src/store/kysely.js'
import { migrate } from '../../src/store/migrate.js'
import { environments } from '../../src/store/migrations/0002-environments.js'
import { deliveryEnvironments } from '../../src/store/migrations/0007-delivery-environments.js'
import { diagnosticEnvironments } from '../../src/store/migrations/0009-diagnostic-environments.js'
import type { AnyDatabase } from '../../src/store/migrations/table.js'
import { dumpSchema } from '../support/databases/schema-dump.js'
import { describeEachDatabase } from '../support/databases.js'
import { verifiedCounts } from '../support/stored-counts.js'
import { freshStorage, NOON, trackerAt, withDatabase } from '../support/tracker.js'

const KEYED_TABLES = [
  ...['faultboard_application_hours', 'faultboard_application_days', 'faultboard_type_hours', 'faultboard_type_days'],
  ...['faultboard_releases', 'faultboard_client_releases', 'faultboard_baselines', 'faultboard_errors'],
]

/** Removes the environment from every table. The tables lose their keys, which the migration creates again. */
async function removeEnvironments(db: AnyDatabase): Promise<void> {
  for (const table of KEYED_TABLES) {
    await sql.raw(`create table earlier as select * from ${table}`).execute(db)
    await sql.raw(`drop table ${table}`).execute(db)
    await sql.raw('alter table earlier drop column environment').execute(db)
    await sql.raw(`alter table earlier rename to ${table}`).execute(db)
  }
}

describeEachDatabase('a schema without environments', (database) => {
  test('gives each error the environment of its newest occurrence and keeps all counts', async () => {
    const storage = await freshStorage(database)
    const { tracker } = trackerAt(storage, { app_version: '1.0.0' })
    const ids = new Map<string, number>()
    for (const error_type of ['Staged', 'Live', 'Unknown']) {
      for (let i = 0; i < 3; i++) {
        const occurred_at = NOON - i * 1000
        const logged = await tracker.Commands.LogError.call({ error_type, message: 'x', occurred_at })
        ids.set(error_type, logged?.id ?? 0)
      }
    }
    await tracker.Commands.ResolveError.call({ error_id: ids.get('Live') ?? 0, resolved_by: 'Ada' })
    await tracker.shutdown()
    const before = await verifiedCounts(storage.url)
    const schema = await withDatabase(storage.url, dumpSchema)

    await withDatabase(storage.url, async ({ read }) => {
      const setContext = (error_type: string, context: string, isNewest: boolean) =>
        sql`update faultboard_occurrences set context = ${context} where error_id = ${ids.get(error_type)}
          and ${isNewest ? sql`occurred_at = ${NOON}` : sql`occurred_at < ${NOON}`}`.execute(read)
      await setContext('Staged', '{"environment":"production"}', false)
      await setContext('Staged', '{"environment":" staging "}', true)
      await setContext('Live', '{"environment":"live"}', true)
      await setContext('Unknown', '{"environment":7}', true)
      const db = read.withoutPlugins() as AnyDatabase
      await removeEnvironments(db)
      await sql`delete from faultboard_migrations where name = '0002-environments'`.execute(db)
    })
    expect(await withDatabase(storage.url, migrate)).toEqual(['0002-environments'])
    await withDatabase(storage.url, ({ read, dialect }) => environments.up(read.withoutPlugins(), dialect))

    expect(await withDatabase(storage.url, dumpSchema)).toBe(schema)
    expect(await verifiedCounts(storage.url)).toEqual(before)
    const later = trackerAt(storage, { environment: 'live', app_version: '1.0.0' })
    const errors = await later.tracker.Queries.ErrorsList.call()
    expect(Object.fromEntries(errors.map((error) => [error.error_type, error.environment]))).toEqual({
      ...{ Staged: 'staging', Live: 'live', Unknown: 'production' },
    })
    later.clock.now = NOON + 60_000
    expect(await later.tracker.Commands.LogError.call({ error_type: 'Live', message: 'x' })).toMatchObject({
      ...{ id: ids.get('Live'), occurrence_count: 4, reopened: true },
    })
    expect(await later.tracker.Commands.LogError.call({ error_type: 'New', message: 'x' })).toMatchObject({
      is_new: true,
    })
  })
})

describeEachDatabase('deliveries without an environment', (database) => {
  test('deliveries take the environment of their error', async () => {
    const storage = await freshStorage(database)
    const { tracker } = trackerAt(storage, { webhook_url: 'http://127.0.0.1:9/', run_jobs: false })
    await tracker.Commands.LogError.call({ error_type: 'A', message: 'x', environment: 'staging' })
    await tracker.shutdown()
    await withDatabase(storage.url, async ({ read, dialect }) => {
      await sql`drop index faultboard_deliveries_environment ${sql.raw(database.dialect === 'mysql' ? 'on faultboard_deliveries' : '')}`.execute(
        read,
      )
      await sql`alter table faultboard_deliveries drop column environment`.execute(read)
      await deliveryEnvironments.up(read, dialect)
      await deliveryEnvironments.up(read, dialect)
      const rows = await read.selectFrom('faultboard_deliveries').select(['event', 'environment']).execute()
      expect(rows).toEqual([{ event: 'new', environment: 'staging' }])
    })
  })
})

const DIAGNOSTIC_TABLES = [
  ...['faultboard_diagnostic_dumps', 'faultboard_processes', 'faultboard_swallowed_exceptions'],
  ...['faultboard_request_guard_hours', 'faultboard_repeated_statement_hours', 'faultboard_deprecation_hours'],
]

describeEachDatabase('diagnostics without an environment', (database) => {
  test('diagnostics take the environment of the newest error of their application, or production', async () => {
    const storage = await freshStorage(database)
    const dump = async (settings: Settings) => {
      const { tracker } = trackerAt(storage, { enable_diagnostic_dump: true, ...settings })
      await tracker.Commands.CaptureDiagnosticDump.call({ note: settings.application_name })
      return tracker
    }
    const shop = await dump({ application_name: 'shop', environment: 'live' })
    await shop.Commands.LogError.call({ error_type: 'A', message: 'x', environment: 'staging' })
    const earlier = { error_type: 'B', message: 'x', environment: 'test', occurred_at: NOON - 1000 }
    await shop.Commands.LogError.call(earlier)
    await dump({ application_name: 'depot', environment: 'live' })
    const schema = await withDatabase(storage.url, dumpSchema)
    await withDatabase(storage.url, async ({ read, dialect }) => {
      for (const table of DIAGNOSTIC_TABLES) await sql.raw(`alter table ${table} drop column environment`).execute(read)
      for (let i = 0; i < 2; i++) await diagnosticEnvironments.up(read, dialect)
      // Processes of an earlier version continue to insert.
      await sql`insert into faultboard_diagnostic_dumps (application_id, note, content, created_at)
        values (1, 'older', '{}', 0)`.execute(read)
      const rows = await read.selectFrom('faultboard_diagnostic_dumps').select(['note', 'environment']).execute()
      expect(Object.fromEntries(rows.map(({ note, environment }) => [note, environment]))).toEqual({
        ...{ shop: 'staging', depot: 'production', older: 'production' },
      })
    })
    expect(await withDatabase(storage.url, dumpSchema)).toBe(schema)
  })
})
