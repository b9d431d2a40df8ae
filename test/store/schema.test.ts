import { expect, test } from 'vitest'
import { dumpSchema } from '../support/databases/schema-dump.js'
import { describeEachDatabase } from '../support/databases.js'
import { withDatabase } from '../support/tracker.js'

describeEachDatabase('the schema', (database) => {
  test('matches the recorded tables, columns, keys and indexes', async () => {
    const dump = await withDatabase(await database.fresh(), dumpSchema)
    await expect(dump).toMatchFileSnapshot(`fixtures/schema.${database.dialect}.txt`)
  })
})
