import { describe, expect, test } from 'vitest'
import type { Database } from '../../../src/store/database.js'
import { errorIdRanges, type Range, timedRanges } from '../../../src/store/sql/timed-ranges.js'
import { describeEachDatabase } from '../../support/databases.js'
import { addGroups, listContext } from '../../triage/list-context.js'

describe('timed ranges', () => {
  test('timed ranges contain each number once for any duration of the work', async () => {
    const ranges: Range[] = []
    for await (const range of timedRanges(databaseThat({ blocksHost: true }), 500, { minSize: 50 })) {
      ranges.push(range)
      await new Promise((resume) => setTimeout(resume, 20))
    }
    expect(ranges.flatMap(numbersIn)).toEqual(numbersIn({ from: 0, to: 500 }))
    expect(ranges.length).toBeGreaterThan(1)
    for (const { from, to } of ranges.slice(0, -1)) expect(to - from).toBeGreaterThanOrEqual(50)
  })

  test('lets timers of the host run between ranges', async () => {
    let hasRun = false
    const ranges = timedRanges(databaseThat({ blocksHost: true }), 2, { maxSize: 1 })
    await ranges.next()
    setImmediate(() => {
      hasRun = true
    })
    await ranges.next()
    expect(hasRun).toBe(true)
  })

  test('timed ranges never exceed the size limit, including on a server', async () => {
    for (const blocksHost of [true, false]) {
      const sizes: number[] = []
      for await (const { from, to } of timedRanges(databaseThat({ blocksHost }), 25, { minSize: 10, maxSize: 10 })) {
        sizes.push(to - from)
      }
      expect(sizes).toEqual([10, 10, 5])
    }
  })

  test('timed ranges are a single range on a server without a size limit, and empty for length zero', async () => {
    const server = databaseThat({ blocksHost: false })
    expect(await all(timedRanges(server, 1_000_000))).toEqual([{ from: 0, to: 1_000_000 }])
    expect(await all(timedRanges(server, 0))).toEqual([])
  })
})

describeEachDatabase('ranges of error ids', (database) => {
  test('ranges of error ids contain every error once', async () => {
    const { context, log } = await listContext(database)
    await log('First')
    await addGroups(context, 1500, (i) => ({ text: `error ${i}` }))
    await context.database.write((trx) => trx.deleteFrom('faultboard_errors').where('id', '<', 300).execute())
    const rows = await context.database.read.selectFrom('faultboard_errors').select('id').orderBy('id').execute()
    const ranges = await all(errorIdRanges(context.database))
    const found = ranges.flatMap(({ from, to }) => rows.filter(({ id }) => id >= from && id < to))
    expect(found).toEqual(rows)
    if (database.dialect !== 'sqlite') expect(ranges).toHaveLength(1)
  })
})

function databaseThat({ blocksHost }: { blocksHost: boolean }): Pick<Database, 'dialect'> {
  return { dialect: { blocksHost } as Database['dialect'] }
}

function numbersIn({ from, to }: Range): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i)
}

async function all(ranges: AsyncIterable<Range>): Promise<Range[]> {
  const found: Range[] = []
  for await (const range of ranges) found.push(range)
  return found
}
