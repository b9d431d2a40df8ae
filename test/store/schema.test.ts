import { expect, test } from 'vitest'
import { environmentIndexes } from '../../src/store/migrations/0008-environment-indexes.js'
import { createIndex } from '../../src/store/migrations/table.js'
import { readColumns } from '../../src/store/move/read-table.js'
import { TABLE_NAMES, tableDefinition } from '../../src/store/schema.js'
import { dumpSchema } from '../support/databases/schema-dump.js'
import { describeEachDatabase } from '../support/databases.js'
import { withDatabase } from '../support/tracker.js'

describeEachDatabase('the schema', (database) => {
  test('matches the recorded tables, columns, keys and indexes', async () => {
    const dump = await withDatabase(await database.fresh(), dumpSchema)
    await expect(dump).toMatchFileSnapshot(`fixtures/schema.${database.dialect}.txt`)
  })

  test('replaces the indexes without an environment, even after an interruption', async () => {
    const dump = await withDatabase(await database.fresh(), async (opened) => {
      const earlier = 'faultboard_errors_occurred_at'
      await createIndex(opened.read, opened.dialect, 'faultboard_errors', { name: earlier, columns: ['occurred_at'] })
      await opened.dialect.dropIndexIfExists(opened.read, 'faultboard_errors', `${earlier}_environment`)
      for (let i = 0; i < 2; i++) await environmentIndexes.up(opened.read, opened.dialect)
      return dumpSchema(opened)
    })
    await expect(dump).toMatchFileSnapshot(`fixtures/schema.${database.dialect}.txt`)
  })

  test('the schema has the columns and types of the table definitions', async () => {
    const columns = await withDatabase(await database.fresh(), readColumns)
    for (const table of TABLE_NAMES) {
      const found = (columns.get(table) ?? []).map(({ name, type }) => [name, type])
      const defined = Object.entries(tableDefinition(table).columns).map(([name, { kind }]) => [name, kind])
      expect([table, Object.fromEntries(found)]).toEqual([table, Object.fromEntries(defined)])
    }
  })
})
