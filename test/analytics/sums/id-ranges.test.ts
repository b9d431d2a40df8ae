import { expect, test } from 'vitest'
import { idRanges } from '../../../src/analytics/sums/id-ranges.js'
import { describeEachDatabase } from '../../support/databases.js'
import { addGroups, listContext } from '../../triage/list-context.js'

const FEWEST = 50

describeEachDatabase('the ids of all errors', (database) => {
  test('come once each, and never in very many ranges, however long the host takes for its own work', async () => {
    const { context, log } = await listContext(database)
    await log('First')
    await addGroups(context, 500, (i) => ({ text: `error ${i}` }))
    // Ranges are of errors, not of numbers: what was deleted leaves holes.
    await context.database.write((trx) => trx.deleteFrom('faultboard_errors').where('id', '<', 300).execute())
    const rows = await context.database.read.selectFrom('faultboard_errors').select('id').orderBy('id').execute()
    const seen: number[][] = []
    for await (const { first, end } of idRanges(context)) {
      seen.push(rows.map(({ id }) => id).filter((id) => id >= first && id < end))
      await new Promise((resume) => setTimeout(resume, 20))
    }
    expect(seen.flat()).toEqual(rows.map(({ id }) => id))
    if (database.dialect !== 'sqlite') expect(seen).toHaveLength(1)
    for (const ids of seen.slice(0, -1)) expect(ids.length).toBeGreaterThanOrEqual(FEWEST)
  })

  test('are none where there are no errors', async () => {
    const { context } = await listContext(database)
    for await (const range of idRanges(context)) expect.unreachable(JSON.stringify(range))
  })
})
