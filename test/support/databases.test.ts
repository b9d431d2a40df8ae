import { expect, test } from 'vitest'
import { sql } from '../../src/store/kysely.js'
import { describePendingMigrations, migrate } from '../../src/store/migrate.js'
import { type Dialect, describeEachDatabase } from './databases.js'
import { freshTracker, withDatabase } from './tracker.js'

const INDEXES: Record<Dialect, string> = {
  sqlite: 'select name, sql from sqlite_master order by 1',
  postgres: "select indexname, indexdef from pg_indexes where schemaname = 'public' order by 1",
  mysql: `select table_name, index_name, seq_in_index, column_name, non_unique, sub_part, index_type
    from information_schema.statistics where table_schema = database() order by 1, 2, 3`,
}

describeEachDatabase('a fresh database of the tests', (database) => {
  const shapeOf = (url: string) =>
    withDatabase(url, async ({ read }) => ({
      tables: await read.introspection.getTables({ withInternalKyselyTables: true }),
      indexes: (await sql.raw(INDEXES[database.dialect]).execute(read)).rows,
    }))

  test('equals an empty database after all migrations', async () => {
    const [fresh, migrated] = [await database.fresh(), await database.empty()]
    expect(await withDatabase(fresh, describePendingMigrations)).toBeNull()
    await withDatabase(migrated, migrate)
    const nameOf = (url: string) => url.slice(url.lastIndexOf('/') + 1)
    const neutral = (shape: unknown, url: string) => JSON.stringify(shape).replaceAll(nameOf(url), 'name')
    const [one, other] = [neutral(await shapeOf(fresh), fresh), neutral(await shapeOf(migrated), migrated)]
    expect(JSON.parse(one)).toEqual(JSON.parse(other))
  })

  test('is not shared with other tests', async () => {
    const [one, other] = [await database.fresh(), await database.fresh()]
    const application = { name: 'shop', created_at: 1 }
    await withDatabase(one, ({ read }) => read.insertInto('faultboard_applications').values(application).execute())
    expect(
      await withDatabase(other, ({ read }) => read.selectFrom('faultboard_applications').selectAll().execute()),
    ).toEqual([])
  })
})

describeEachDatabase(
  'a database of the tests that is given to one after the other',
  (database) => {
    const given: string[] = []

    for (const round of [1, 2]) {
      test(`is empty and counts from one, time ${round}`, async () => {
        const { tracker, url } = await freshTracker(database)
        given.push(url)
        const logged = await tracker.Commands.LogError.call({ error_type: 'Round', message: 'x', user_id: 'eve' })
        expect(logged).toMatchObject({ id: 1, occurrence_count: 1 })
        const { occurrences } = await tracker.Queries.FindError.call({ error_id: 1 })
        expect(occurrences.map(({ id }) => id)).toEqual([1])
      })
    }

    test('is the same one', async () => {
      given.push(await database.fresh())
      expect(new Set(given).size).toBe(1)
      await withDatabase(given[0] ?? '', ({ read }) =>
        sql`alter table faultboard_applications add column odd integer`.execute(read),
      )
    })

    test('is another where its schema was changed', async () => {
      const url = await database.fresh()
      expect(given).not.toContain(url)
      await withDatabase(url, ({ read }) => sql`delete from faultboard_migrations`.execute(read))
      given.push(url)
    })

    test('or what the migrations wrote', async () => {
      const url = await database.fresh()
      expect(given).not.toContain(url)
      expect(await withDatabase(url, describePendingMigrations)).toBeNull()
    })
  },
  { except: ['sqlite'] },
)
