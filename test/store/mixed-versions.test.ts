import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CompiledQuery } from '../../src/store/kysely.js'
import { balancedBooks } from '../support/books.js'
import { type Dialect, describeEachDatabase } from '../support/databases.js'
import { eventually, freshPlace, spoolIsEmpty, trackerAt, withDatabase } from '../support/tracker.js'

interface Statement {
  sql: string
  parameters: unknown[]
}

/**
 * Recorded from version 0.4.0: the statements of two flushes of one error (two occurrences, then one) on an empty
 * database, and a spool file with two more occurrences of the same error.
 */
const OLD_VERSION = JSON.parse(readFileSync(new URL('fixtures/version-0.4.0.json', import.meta.url), 'utf8')) as {
  flushes: Record<Dialect, [Statement[], Statement[]]>
  spool_file: { name: string; lines: unknown[] }
}

describeEachDatabase('a process of version 0.4.0', (database) => {
  test('writes to the schema of this version while processes of this version write too', async () => {
    const place = await freshPlace(database)
    const [first, second] = OLD_VERSION.flushes[database.dialect]
    await replay(place.url, first)
    const { tracker } = trackerAt(place)
    const logged = await tracker.Commands.LogError.call({ error_type: 'NewError', message: 'of this version' })
    expect(logged).toMatchObject({ state: 'recorded', occurrence_count: 1 })
    await replay(place.url, second)
    expect((await balancedBooks(place.url)).counts).toEqual({ 'shop OldError': 3, 'shop NewError': 1 })
    const errors = await tracker.Queries.ErrorsList.call({ sort_by: 'error_type', sort_direction: 'desc' })
    expect(errors.map(({ error_type, occurrence_count }) => [error_type, occurrence_count])).toEqual([
      ['OldError', 3],
      ['NewError', 1],
    ])
  })

  test('leaves spool files that this version imports into the same error', async () => {
    const place = await freshPlace(database)
    for (const flush of OLD_VERSION.flushes[database.dialect]) await replay(place.url, flush)
    const { name, lines } = OLD_VERSION.spool_file
    writeFileSync(join(place.spool_path, name), lines.map((line) => JSON.stringify(line)).join('\n'))
    const { tracker } = trackerAt(place)
    await tracker.ready()
    await eventually(() => spoolIsEmpty(tracker), 'the file is imported')
    const { counts, users } = await balancedBooks(place.url)
    expect(counts).toEqual({ 'shop OldError': 5 })
    expect(users).toEqual({ 'OldError u0': 3, 'OldError u1': 2 })
  })
})

/** In one transaction, as version 0.4.0 ran them. */
async function replay(url: string, statements: readonly Statement[]): Promise<void> {
  const inside = statements.filter(({ sql }) => !/^(begin|commit|set transaction)/.test(sql))
  await withDatabase(url, ({ read }) =>
    read.transaction().execute(async (transaction) => {
      for (const { sql, parameters } of inside) await transaction.executeQuery(CompiledQuery.raw(sql, parameters))
    }),
  )
}
