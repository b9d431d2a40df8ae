import { expect, test } from 'vitest'
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

  test('the schema has the columns and types of the table definitions', async () => {
    const columns = await withDatabase(await database.fresh(), readColumns)
    for (const table of TABLE_NAMES) {
      const found = (columns.get(table) ?? []).map(({ name, type }) => [name, type])
      const defined = Object.entries(tableDefinition(table).columns).map(([name, { kind }]) => [name, kind])
      expect([table, Object.fromEntries(found)]).toEqual([table, Object.fromEntries(defined)])
    }
  })
})
