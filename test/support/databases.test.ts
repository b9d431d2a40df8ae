import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { sql } from '../../src/store/kysely.js'
import { describePendingMigrations, migrate } from '../../src/store/migrate.js'
import { SERVERS } from './databases/database-servers.js'
import { type Dialect, describeEachDatabase } from './databases.js'
import { freshTracker, withDatabase } from './tracker.js'

const INDEXES: Record<Dialect, string> = {
  sqlite: 'select name, sql from sqlite_master order by 1',
  postgres: "select indexname, indexdef from pg_indexes where schemaname = 'public' order by 1",
  mysql: `select table_name, index_name, seq_in_index, column_name, non_unique, sub_part, index_type
    from information_schema.statistics where table_schema = database() order by 1, 2, 3`,
}

describeEachDatabase('Fresh test database', (database) => {
  const readShape = (url: string) =>
    withDatabase(url, async ({ read }) => ({
      tables: await read.introspection.getTables({ withInternalKyselyTables: true }),
      indexes: (await sql.raw(INDEXES[database.dialect]).execute(read)).rows,
    }))

  test('a fresh test database equals an empty database after all migrations', async () => {
    const [fresh, migrated] = [await database.fresh(), await database.empty()]
    expect(await withDatabase(fresh, describePendingMigrations)).toBeNull()
    await withDatabase(migrated, migrate)
    const databaseName = (url: string) => url.slice(url.lastIndexOf('/') + 1)
    const withoutName = (shape: unknown, url: string) => JSON.stringify(shape).replaceAll(databaseName(url), 'name')
    const [freshShape, migratedShape] = [
      withoutName(await readShape(fresh), fresh),
      withoutName(await readShape(migrated), migrated),
    ]
    expect(JSON.parse(freshShape)).toEqual(JSON.parse(migratedShape))
  })

  test('a fresh test database is not shared with other tests', async () => {
    const [firstUrl, secondUrl] = [await database.fresh(), await database.fresh()]
    const application = { name: 'shop', created_at: 1 }
    await withDatabase(firstUrl, ({ read }) => read.insertInto('faultboard_applications').values(application).execute())
    expect(
      await withDatabase(secondUrl, ({ read }) => read.selectFrom('faultboard_applications').selectAll().execute()),
    ).toEqual([])
  })
})

describeEachDatabase(
  'Reused test database',
  (database) => {
    const usedNames: string[] = []

    for (const round of [1, 2]) {
      test(`a reused test database is empty and counts from one, round ${round}`, async () => {
        const { tracker, url } = await freshTracker(database)
        usedNames.push(url)
        const logged = await tracker.Commands.LogError.call({ error_type: 'Round', message: 'x', user_id: 'eve' })
        expect(logged).toMatchObject({ id: 1, occurrence_count: 1 })
        const { occurrences } = await tracker.Queries.FindError.call({ error_id: 1 })
        expect(occurrences.map(({ id }) => id)).toEqual([1])
      })
    }

    test('tests share one database per schema', async () => {
      usedNames.push(await database.fresh())
      expect(new Set(usedNames).size).toBe(1)
      await withDatabase(usedNames[0] ?? '', ({ read }) =>
        sql`alter table faultboard_applications add column extra integer`.execute(read),
      )
    })

    test('a reused test database is replaced after a schema change', async () => {
      const url = await database.fresh()
      expect(usedNames).not.toContain(url)
      await withDatabase(url, ({ read }) => sql`delete from faultboard_migrations`.execute(read))
      usedNames.push(url)
    })

    test('a reused test database is replaced after rows that migrations wrote have changed', async () => {
      const url = await database.fresh()
      expect(usedNames).not.toContain(url)
      expect(await withDatabase(url, describePendingMigrations)).toBeNull()
    })

    test('the databases of a run are removed together', async () => {
      const { create, removeAll } = SERVERS[database.dialect]
      const run = randomBytes(6).toString('hex')
      const { url } = await create(run)
      await withDatabase(url, ({ read }) => sql`select 1`.execute(read))
      await removeAll?.(run)
      await expect(withDatabase(url, ({ read }) => sql`select 1`.execute(read))).rejects.toThrow()
      expect(await withDatabase(await database.fresh(), describePendingMigrations)).toBeNull()
    })
  },
  { except: ['sqlite'] },
)
