import { expect, test } from 'vitest'
import { sql } from '../../src/store/kysely.js'
import { migrate, migrationStatus } from '../../src/store/migrate.js'
import { MIGRATIONS } from '../../src/store/migrations/list.js'
import { describeEachDatabase } from '../support/databases.js'
import { withDatabase } from '../support/tracker.js'

describeEachDatabase(
  'two schemas of one database',
  (database) => {
    test('migrates each schema separately', async () => {
      const url = await database.empty()
      await withDatabase(url, ({ read }) => sql`create schema a`.execute(read))
      await withDatabase(url, ({ read }) => sql`create schema b`.execute(read))
      const inSchema = (name: string) => `${url}?options=-csearch_path%3D${name}`
      expect(await withDatabase(inSchema('a'), migrate)).toHaveLength(Object.keys(MIGRATIONS).length)
      expect((await withDatabase(inSchema('b'), migrationStatus)).every(({ applied_at }) => applied_at === null)).toBe(
        true,
      )
      expect(await withDatabase(inSchema('b'), migrate)).toHaveLength(Object.keys(MIGRATIONS).length)
      const columns = (name: string) =>
        withDatabase(url, async ({ read }) => {
          const { rows } = await sql`select table_name, column_name from information_schema.columns
            where table_schema = ${name} order by 1, 2`.execute(read)
          return rows
        })
      expect(await columns('b')).toEqual(await columns('a'))
    })
  },
  { except: ['sqlite', 'mysql'] },
)
