import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { parseInput } from '../../src/model/input/input.js'
import { perform } from '../../src/operation.js'
import { batchDeleteErrors } from '../../src/triage/commands/batch-errors.js'
import { errorsListInput, errorsPage, readErrorsPage, SORT_FIELDS } from '../../src/triage/list/errors-list.js'
import { tabCounts } from '../../src/triage/list/list-tabs.js'
import { findText } from '../../src/triage/list/matching-errors.js'
import { describeEachDatabase } from '../support/databases.js'
import { withDatabase } from '../support/tracker.js'
import { addGroups, listContext } from './list-context.js'

/** Characters that are special to some database, and characters with several forms. */
const LETTERS = [
  ...'abcABC019 %_!\\"\'*?[](){}^$.+-:;,/@#~`\t\n',
  ...['ß', 'ẞ', 'É', 'é', 'é', 'İ', 'ı', 'Σ', 'ς', 'σ', 'Ж', 'ж', '💔', '👩‍💻', '漢', '‮', '�'],
]
const text = (maxLength: number) => fc.string({ unit: fc.constantFrom(...LETTERS), minLength: 1, maxLength })

describeEachDatabase('search', (database) => {
  test('finds exactly the errors whose text contains the words, for any characters', async () => {
    const { context } = await listContext(database)
    const messages = fc.sample(text(40), { numRuns: 150, seed: 7 })
    await addGroups(context, messages.length + 1, (i) => ({ text: messages[i] ?? `${'long '.repeat(400)}end` }))
    const stored = await context.database.read.selectFrom('faultboard_error_search').selectAll().execute()
    const found = async (search: string) =>
      (await perform(errorsPage, context, { search, per_page: 100 })).errors.map(({ id }) => id).sort((a, b) => a - b)
    const substrings = fc
      .tuple(fc.nat(stored.length - 1), fc.nat(39), fc.integer({ min: 1, max: 8 }))
      .map(([row, from, length]) => (stored[row]?.search_text ?? '').slice(from, from + length))
    const searches = fc.oneof(
      substrings,
      substrings.map((text) => text.toUpperCase()),
      text(3),
      text(40),
      fc.string({ maxLength: 1000 }),
    )
    await fc.assert(
      fc.asyncProperty(searches, async (search) => {
        const needle = parseInput(errorsListInput, { search }).search?.toLowerCase()
        const expected = stored.filter(({ search_text }) => needle !== undefined && search_text.includes(needle))
        if (needle === undefined || expected.length > 100) return
        expect(await found(search)).toEqual(expected.map(({ error_id }) => error_id).sort((a, b) => a - b))
      }),
      { numRuns: 150, seed: 11 },
    )
    expect(await found('long '.repeat(190))).toHaveLength(1)
    expect(await found(`${'long '.repeat(190)}x`)).toEqual([])
  })

  test('does not find deleted errors and keeps the index consistent', async () => {
    const { context, log, run } = await listContext(database)
    const [deletedId, keptId] = [
      await log('Gone', { message: 'needle one' }),
      await log('Kept', { message: 'needle two' }),
    ]
    await run(batchDeleteErrors, { error_ids: [deletedId] })
    expect((await perform(errorsPage, context, { search: 'needle' })).errors.map(({ id }) => id)).toEqual([keptId])
    expect((await perform(errorsPage, context, { search: 'needle one' })).errors).toEqual([])
    if (database.dialect === 'sqlite') {
      const index = sql.table('faultboard_error_search_index')
      const check = sql`insert into ${index} (faultboard_error_search_index, rank) values ('integrity-check', 1)`
      await expect(check.execute(context.database.read)).resolves.toBeDefined()
      const { rows } = await sql`select rowid from ${index} where ${index} match 'nee'`.execute(context.database.read)
      expect(rows).toEqual([{ rowid: keptId }])
    }
  })

  test('finds errors recorded before the index existed', async () => {
    const { context, log, storage } = await listContext(database)
    await log('Early', { message: 'the needle' })
    await withDatabase(storage.url, async ({ read }) => {
      if (database.dialect === 'postgres') await sql`drop index faultboard_error_search_trigrams`.execute(read)
      if (database.dialect !== 'sqlite') return
      for (const name of ['insert', 'update', 'delete'])
        await sql`drop trigger ${sql.id(`faultboard_error_search_index_${name}`)}`.execute(read)
      await sql`drop table faultboard_error_search_index`.execute(read)
    })
    await log('Later', { message: 'the needle, too' })
    await withDatabase(storage.url, ({ write, dialect }) => write((trx) => dialect.search.build(trx, 'first')))
    const { search } = context.database.dialect
    expect(await search.hasIndex(context.database.read)).toBe(database.dialect !== 'mysql')
    expect((await perform(errorsPage, context, { search: 'NEEDLE' })).pagination.total_count).toBe(2)
  })
})

describeEachDatabase('search for a common text', (database) => {
  const severities = ['critical', 'high', 'medium', 'low']
  const platforms = ['Web', 'iOS', 'API']
  const fieldsOf = (i: number) => ({
    error_type: `Type${i % 7}`,
    severity: severities[i % 4] ?? 'low',
    platform: platforms[i % 3] ?? 'API',
    text: i % 10 === 0 ? `other ${i}` : `shared text ${i}`,
  })
  test('counts matches up to a limit and pages in list order', async () => {
    const { context } = await listContext(database)
    await addGroups(context, 2400, fieldsOf)
    for (const search of ['shared', 'sh']) {
      const { errors, pagination } = await perform(errorsPage, context, { search, page: 3, per_page: 20 })
      expect(pagination).toEqual({
        page: 3,
        per_page: 20,
        total_count: 1000,
        total_pages: 50,
        total_is_lower_bound: true,
      })
      expect(errors).toHaveLength(20)
    }
    for (const sort_by of SORT_FIELDS)
      for (const sort_direction of ['asc', 'desc'] as const) {
        const order = { sort_by, sort_direction, per_page: 50 }
        const all = (await perform(errorsPage, context, order)).errors.filter(({ message }) =>
          message.startsWith('shared'),
        )
        const { errors } = await perform(errorsPage, context, { ...order, search: 'shared' })
        expect(errors.slice(0, all.length).map(({ id }) => id)).toEqual(all.map(({ id }) => id))
      }
    // More errors match than the limit, even together with another filter.
    expect((await perform(errorsPage, context, { search: 'shared', status: 'new' })).pagination).toMatchObject({
      total_count: 1000,
      total_is_lower_bound: true,
    })
    // Fewer errors match together with two filters, so they are counted exactly.
    const both = { search: 'SHARED', severity: 'high', platform: 'iOS' }
    const expected = Array.from({ length: 2400 }, (_, i) => fieldsOf(i)).filter(
      (text) => text.severity === 'high' && text.platform === 'iOS' && text.text.startsWith('shared'),
    )
    expect((await perform(errorsPage, context, both)).pagination).toMatchObject({ total_count: expected.length })
    expect((await perform(errorsPage, context, both)).pagination).not.toHaveProperty('total_is_lower_bound')
    const tabs = await tabCounts(context, parseInput(errorsListInput, both), { user: 'Anna' })
    expect(tabs).toMatchObject({
      all: { count: expected.length },
      open: { count: expected.length },
      snoozed: { count: 0 },
    })
    expect((await tabCounts(context, { search: 'shared' }, { user: 'Anna' })).open).toEqual({
      count: 1000,
      is_lower_bound: true,
    })
    // Pages with several queries search for the text once.
    const found = await findText(context, { search: 'other 1' })
    expect(
      (await readErrorsPage(context, parseInput(errorsListInput, { search: 'other 1' }), found)).pagination.total_count,
    ).toBe(found.ids?.length)
    expect((await tabCounts(context, { search: 'other 1' }, { user: 'Anna', found })).all.count).toBe(found.ids?.length)
    expect((await perform(errorsPage, context, { search: 'other', severity: 'high' })).pagination.total_count).toBe(0)
    expect((await perform(errorsPage, context, { search: 'shared', application_id: 99 })).errors).toEqual([])
  })
})
