import { expect, test } from 'vitest'
import { packedRows } from '../../../src/store/bulk/packed-rows.js'
import { describeEachDatabase } from '../../support/databases.js'
import { listContext } from '../../triage/list-context.js'

describeEachDatabase('packed rows', (database) => {
  test('packed rows equal the rows of the query for any values', async () => {
    const { context, log } = await listContext(database)
    await log('Quoted', { message: `"it's" \\ [1,2] {}\n\ttab`, user_id: 'ann' })
    await log('Größe', { message: '数字 🦓 \u2028' })
    const { read } = context.database
    const query = read
      .selectFrom('faultboard_errors')
      .select(['id', 'error_type', 'message', 'app_version', 'occurred_at', 'user_id'])
      .orderBy('id')
    const columns = ['id', 'error_type', 'message', 'app_version', 'occurred_at', 'user_id'] as const
    const rows = (await query.execute()).map((row) => ({ ...row }))
    expect(rows).toHaveLength(2)
    expect(await packedRows(context.database, query, columns)).toEqual(rows)
  })

  test('packed rows are empty for a query without rows', async () => {
    const { context } = await listContext(database)
    await context.ready()
    const query = context.database.read.selectFrom('faultboard_errors').select('id')
    expect(await packedRows(context.database, query, ['id'])).toEqual([])
  })
})
