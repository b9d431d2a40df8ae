import { expect, test } from 'vitest'
import type { Context } from '../../src/context.js'
import { parseInput } from '../../src/model/input/input.js'
import { assignError } from '../../src/triage/commands/assign-error.js'
import { batchResolveErrors } from '../../src/triage/commands/batch-errors.js'
import { resolveError } from '../../src/triage/commands/resolve-error.js'
import { snoozeError } from '../../src/triage/commands/snooze-error.js'
import { updateStatus } from '../../src/triage/commands/update-status.js'
import { type ErrorsFilter, errorsList, errorsListInput, readErrorsPage } from '../../src/triage/list/errors-list.js'
import { listAssignees, recentOrigins } from '../../src/triage/list/filter-choices.js'
import { TABS, type TabCounts, tabCounts, tabFilter } from '../../src/triage/list/list-tabs.js'
import { findText } from '../../src/triage/list/matching-errors.js'
import { matchingIdBatches } from '../../src/triage/list/matching-ids.js'
import { deleteView, listQuery, listSavedViews, saveView } from '../../src/triage/saved-views.js'
import { describeEachDatabase } from '../support/databases.js'
import { countIterations } from '../support/event-loop.js'
import { NOON } from '../support/tracker.js'
import { addGroups, contextAt, listContext } from './list-context.js'

const HOUR = 3_600_000
const USER = 'Anna'

const numbers = (counts: TabCounts) =>
  Object.fromEntries(
    Object.entries(counts)
      .filter(([, { count }]) => count !== 0)
      .map(([name, { count }]) => [name, count]),
  )

const count = (context: Context, filter: ErrorsFilter) => tabCounts(context, filter, { user: USER })

describeEachDatabase('tab counts', (database) => {
  test('tab counts include all matching errors of each tab', async () => {
    const { context, clock, log, run, storage } = await listContext(database)
    const names = ['A', 'B', 'C', 'D', 'E', 'F']
    const [a = 0, b = 0, c = 0, d = 0, e = 0] = await Promise.all(
      names.map((name) => log(name, { severity: name < 'D' ? 'high' : 'low', message: `text ${name}` })),
    )
    await run(resolveError, { error_id: a })
    await run(updateStatus, { error_id: b, status: 'wont_fix' })
    await run(updateStatus, { error_id: c, status: 'investigating' })
    await run(snoozeError, { error_id: d, hours: 2 })
    await run(snoozeError, { error_id: a, hours: 2 })
    await run(snoozeError, { error_id: e, hours: 1 })
    for (const error_id of [a, c, d]) await run(assignError, { error_id, assigned_to: USER })
    clock.now = NOON + HOUR
    const all = { all: 6, open: 3, mine: 1, snoozed: 1, resolved: 1 }
    for (const tab of TABS) expect(numbers(await count(context, tabFilter(tab, USER)))).toEqual(all)
    expect(numbers(await count(context, { status: 'new', unresolved: true, hide_snoozed: true }))).toEqual({
      all: 3, open: 2, snoozed: 1, resolved: 1,
    }) // biome-ignore format: one line is enough
    const [{ application_id = 0 } = {}] = await context.database.read
      .selectFrom('faultboard_errors')
      .select('application_id')
      .execute()
    await contextAt(storage, { application_name: 'billing' }).log('A')
    expect(numbers(await count(context, { application_id }))).toEqual(all)
    expect(numbers(await count(context, {}))).toMatchObject({ all: 7, open: 4 })
    expect(numbers(await count(context, { application_id, severity: 'high' }))).toEqual({
      all: 3, open: 1, mine: 1, resolved: 1,
    }) // biome-ignore format: one line is enough
    expect(numbers(await count(context, { search: 'text d' }))).toEqual({ all: 1, snoozed: 1 })
    expect(numbers(await count(context, { search: 'nothing' }))).toEqual({})
  })

  test('a page counts its list and its tabs with the same statement', async () => {
    const { context, log, run } = await listContext(database)
    const [a = 0, b = 0, c = 0, d = 0] = await Promise.all([
      ...['A', 'B', 'C', 'D'].map((name) => log(name)),
      ...['E', 'F', 'G'].map((name) => log(name, { severity: 'critical' })),
    ])
    await run(resolveError, { error_id: a })
    await run(updateStatus, { error_id: b, status: 'wont_fix' })
    for (const error_id of [a, b, c]) await run(snoozeError, { error_id, hours: 2 })
    await run(updateStatus, { error_id: d, status: 'investigating' })
    const states: ErrorsFilter[] = [
      ...[
        {},
        { unresolved: true },
        { hide_snoozed: true },
        { unresolved: true, hide_snoozed: true },
        { snoozed: true },
      ],
      ...[{ snoozed: true, hide_snoozed: true }, { status: 'resolved' }, { status: 'new' }, { regressed: true }],
      ...[
        { status: 'resolved', unresolved: true },
        { status: 'resolved', hide_snoozed: true },
      ],
    ] as ErrorsFilter[]
    for (const state of states)
      for (const others of [{ query: '-is:muted' }, { severity: 'critical' }, {}]) {
        const filter = parseInput(errorsListInput, { ...state, ...others })
        const found = await findText(context, filter)
        const { pagination } = await readErrorsPage(context, filter, found)
        const { errors } = await readErrorsPage(context, filter)
        expect([filter, pagination.total_count]).toEqual([filter, errors.length])
        const { statusTotals } = found
        await tabCounts(context, filter, { user: USER, found })
        if (others.query && !state.regressed) expect(statusTotals).toBe(found.statusTotals)
      }
  })
})

describeEachDatabase('the tab Regressed', (database) => {
  test('the tab Regressed contains open errors that an occurrence reopened, not a user', async () => {
    const { context, clock, log, run } = await listContext(database)
    const [again = 0, byUser = 0, closed = 0] = [await log('A'), await log('B'), await log('C')]
    for (const error_id of [again, byUser, closed]) await run(resolveError, { error_id })
    clock.now = NOON + HOUR
    await run(updateStatus, { error_id: byUser, status: 'new' })
    await log('A')
    await log('C')
    await run(resolveError, { error_id: closed })
    const errors = await run(errorsList, { regressed: true })
    expect(errors.map(({ id }) => id)).toEqual([again])
    expect((await count(context, {})).regressed).toEqual({ count: 1 })
  })
})

describeEachDatabase('ids of all matching errors', (database) => {
  test('ids of all matching errors are returned in batches, even if earlier batches change', async () => {
    const { context, clock, run } = await listContext(database)
    await addGroups(context, 300, (i) => ({ severity: i % 2 ? 'high' : 'low', text: 'common' }))
    clock.now = NOON + HOUR
    const seen: number[] = []
    for await (const error_ids of matchingIdBatches(context, {
      unresolved: true,
      severity: 'high',
      search: 'common',
    })) {
      expect(error_ids.length).toBeLessThanOrEqual(database.dialect === 'sqlite' ? 50 : 1000)
      seen.push(...error_ids)
      await run(batchResolveErrors, { error_ids })
    }
    expect(new Set(seen).size).toBe(150)
    expect(await count(context, {})).toMatchObject({ resolved: { count: 150 }, open: { count: 150 } })
    for await (const ids of matchingIdBatches(context, { severity: 'low' }, NOON - HOUR)) expect(ids).toEqual([])
  })
})

describeEachDatabase('tab counts of a filter with many errors', (database) => {
  test('tab counts of a filter with many errors are exact, and SQLite yields to the host while it counts', async () => {
    const { context } = await listContext(database)
    await addGroups(context, 2400, (i) => ({ severity: i % 3 === 0 ? 'high' : 'low', text: `error ${i}` }))
    let counts: TabCounts | null = null
    const iterations = await countIterations(async () => {
      counts = await count(context, { severity: 'high' })
    })
    expect(counts).toMatchObject({ all: { count: 800 }, open: { count: 800 } })
    if (database.dialect === 'sqlite') expect(iterations).toBeGreaterThanOrEqual(5)
  })
})

describeEachDatabase('tab counts for a common search text', (database) => {
  test('tab counts for a common search text are exact, lower bounds or omitted', async () => {
    const { context } = await listContext(database)
    await addGroups(context, 2600, () => ({ text: 'common' }))
    const { read } = context.database
    const oldest = await read.selectFrom('faultboard_errors').select('id').orderBy('id').limit(2000).execute()
    const last = oldest.at(-1)?.id ?? 0
    await read
      .updateTable('faultboard_errors')
      .set({ status: 'resolved', resolved: 1 })
      .where('id', '<=', last)
      .execute()
    const filter = parseInput(errorsListInput, { search: 'common', severity: 'low' })
    const found = await findText(context, filter)
    const { pagination } = await readErrorsPage(context, filter, found)
    expect(pagination).toMatchObject({ total_count: 1000, total_is_lower_bound: true })
    const { statusTotals } = found
    await tabCounts(context, filter, { user: USER, found })
    expect(statusTotals).toBeDefined()
    expect(statusTotals).toBe(found.statusTotals)
    const counts = await count(context, { search: 'common' })
    expect(counts.all).toEqual({ count: 1000, is_lower_bound: true })
    const actualCounts = {
      resolved: 2000,
      open: 600,
      snoozed: 0,
    }
    for (const [name, actualCount] of Object.entries(actualCounts)) {
      const { count, is_lower_bound } = counts[name as keyof TabCounts]
      if (is_lower_bound) expect(actualCount).toBeGreaterThanOrEqual(count ?? 0)
      else expect([null, actualCount]).toContain(count)
    }
    expect(counts.open.count).toBeNull()
    expect(numbers(await count(context, { search: 'common', severity: 'high' }))).toEqual({})
  })
})

describeEachDatabase('filter choices', (database) => {
  test('filter choices include platforms, newest versions and assignees of one or all applications', async () => {
    const { context, log, run, storage } = await listContext(database)
    await Promise.all(
      Array.from({ length: 22 }, (_, index) => {
        const i = index + 1
        const platform = i % 2 ? 'Web' : 'iOS'
        const user_id = `u${(i + 2) % 3}`
        return log(`V${'x'.repeat(i)}`, { app_version: `1.${i}`, platform, user_id, occurred_at: NOON + i })
      }),
    )
    const id = await log('Mine')
    await run(assignError, { error_id: id, assigned_to: 'berta' })
    await run(assignError, { error_id: await log('Hers'), assigned_to: 'Anna' })
    await run(assignError, { error_id: await log('HersToo'), assigned_to: 'Anna' })
    const other = contextAt(storage, { application_name: 'billing' })
    const otherErrorId = await other.log('Theirs', {
      platform: 'Android',
      app_version: '9',
      user_id: 'u9',
    })
    await other.run(assignError, { error_id: otherErrorId, assigned_to: 'carl' })

    const all = await recentOrigins(context, null)
    const names = (list: readonly { value: string }[]) => list.map(({ value }) => value)
    expect(names(all.platforms)).toEqual(['API', 'Android', 'Web', 'iOS'])
    expect(names(all.app_versions).slice(0, 3)).toEqual(['1.22', '1.21', '1.20'])
    expect(all.app_versions).toHaveLength(20)
    // Most errors first, then newest first.
    expect(all.users).toEqual([
      { value: 'u0', errors: 8 },
      { value: 'u2', errors: 7 },
      { value: 'u1', errors: 7 },
      { value: 'u9', errors: 1 },
    ])
    expect(await listAssignees(context, null)).toEqual(['Anna', 'berta', 'carl'])
    const { application_id } = await context.database.read
      .selectFrom('faultboard_errors')
      .select('application_id')
      .where('id', '=', otherErrorId)
      .executeTakeFirstOrThrow()
    expect(await recentOrigins(context, application_id)).toEqual({
      platforms: [{ value: 'Android', application_ids: [application_id] }],
      app_versions: [{ value: '9', application_ids: [application_id] }],
      users: [{ value: 'u9', errors: 1 }],
    })
    expect(await listAssignees(context, application_id)).toEqual(['carl'])
    expect(await recentOrigins(context, 999)).toEqual({ platforms: [], app_versions: [], users: [] })
    expect(await listAssignees(context, 999)).toEqual([])
  })
})

describeEachDatabase('saved views', (database) => {
  test('saved views store a query by name and replace a view with the same name', async () => {
    const { run, clock } = await listContext(database)
    expect(await run(listSavedViews)).toEqual([])
    const query = '?page=3&severity=high&foo=1&search=a%26b+c&assigned_to=&__proto__=x'
    const saved = await run(saveView, { name: ' Mine ', query, created_by: 'Anna' })
    expect(saved).toEqual({
      id: saved.id,
      name: 'Mine',
      query: 'severity=high&search=a%26b+c',
      created_by: 'Anna',
      created_at: new Date(NOON).toISOString(),
    })
    await run(saveView, { name: 'Everything', query: '' })
    clock.now = NOON + HOUR
    const again = await run(saveView, { name: 'Mine', query: 'unresolved=true', created_by: 'Berta' })
    expect(again).toMatchObject({ id: saved.id, query: 'unresolved=true', created_by: 'Berta' })
    expect((await run(listSavedViews)).map(({ name }) => name)).toEqual(['Everything', 'Mine'])
    await run(deleteView, { view_id: saved.id })
    expect((await run(listSavedViews)).map(({ name, created_by }) => [name, created_by])).toEqual([
      ['Everything', 'system'],
    ])
    await expect(run(deleteView, { view_id: saved.id })).rejects.toMatchObject({ code: 'not_found' })
  })

  test('rejects invalid and overlong queries, and more than 100 views', async () => {
    const { run } = await listContext(database)
    const save = (name: string, query: string) => run(saveView, { name, query })
    await expect(save('', 'severity=high')).rejects.toThrow('name must not be empty')
    await expect(save('Wrong', 'severity=urgent')).rejects.toThrow('severity must be one of')
    await expect(save('Long', `search=${'%26'.repeat(700)}`)).rejects.toThrow('query must not be longer than 2000')
    for (let i = 0; i < 100; i++) await save(`View ${i}`, 'status=new')
    await expect(save('One more', 'status=new')).rejects.toThrow('At most 100 views can be saved')
    expect((await save('View 7', 'status=resolved')).query).toBe('status=resolved')
    expect(await run(listSavedViews)).toHaveLength(100)
  })

  test('stores one view when a name is saved concurrently', async () => {
    const { run } = await listContext(database)
    const concurrentSaves = Array.from({ length: 5 }, () => run(saveView, { name: 'Same', query: 'status=new' }))
    expect(new Set((await Promise.all(concurrentSaves)).map(({ id }) => id)).size).toBe(1)
  })
})

test('keeps the filters of a view in a fixed order without other parameters', () => {
  expect(listQuery('sort_by=status&day=2026-03-09&search=x&search=y&page=2&per_page=50&utm=1')).toBe(
    'per_page=50&search=x&day=2026-03-09&sort_by=status',
  )
  expect(listQuery('severity=&search=+++')).toBe('')
})
