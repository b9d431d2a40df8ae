import { expect, test } from 'vitest'
import { describeInput } from '../../../src/model/input/describe-input.js'
import { perform } from '../../../src/operation.js'
import { resolveError } from '../../../src/triage/commands/resolve-error.js'
import { errorChanges } from '../../../src/triage/queries/error-changes.js'
import { findError } from '../../../src/triage/queries/find-error.js'
import { describeEachDatabase } from '../../support/databases.js'
import { NOON } from '../../support/tracker.js'
import { addGroups, contextAt, listContext } from '../list-context.js'

const MINUTE = 60_000

describeEachDatabase('the list changes query', (database) => {
  test('returns the number of new and reopened errors, and the changed visible errors', async () => {
    const { clock, log, run } = await listContext(database)
    const [a, b, c] = [await log('A', { user_id: 1 }), await log('B'), await log('C')]
    await run(resolveError, { error_id: b })
    const ids = [a, b, c]
    clock.now = NOON + 10 * MINUTE
    const since = new Date(NOON + MINUTE).toISOString()
    const now = new Date(clock.now).toISOString()
    expect(await run(errorChanges, { since, ids })).toEqual({ new_count: 0, updated: [] })

    await log('A', { user_id: 2 })
    await log('New', { severity: 'critical', message: 'a needle' })
    await log('NewToo', { severity: 'low' })
    expect(await run(errorChanges, { since, ids })).toEqual({
      new_count: 2,
      updated: [
        {
          id: a,
          occurrence_count: 2,
          user_count: 2,
          occurred_at: now,
          status: 'new',
          severity: 'low',
          daily_counts: [0, 0, 0, 0, 0, 0, 2],
        },
      ],
    })
    expect(await run(errorChanges, { since, ids, severity: 'critical' })).toMatchObject({ new_count: 1 })
    expect(await run(errorChanges, { since, search: 'NEEDLE' })).toMatchObject({ new_count: 1, updated: [] })
    expect(await run(errorChanges, { since, search: 'no such' })).toMatchObject({ new_count: 0 })
    expect(await run(errorChanges, { since, application_id: 999 })).toMatchObject({ new_count: 0 })
    expect(await run(errorChanges, { since: clock.now + 10 * MINUTE, ids })).toMatchObject({
      new_count: 0,
      updated: [],
    })

    await log('B')
    expect(await run(errorChanges, { since, ids: [a, c] })).toMatchObject({ new_count: 3 })
    expect(await run(errorChanges, { since, ids: `${a},${b},${c}` })).toMatchObject({ new_count: 2 })
  })

  test('includes user actions, late commits and changes of other processes', async () => {
    const { clock, log, run, storage } = await listContext(database)
    const [a, b] = [await log('A'), await log('B')]
    clock.now = NOON + 10 * MINUTE
    const since = clock.now - MINUTE
    await run(resolveError, { error_id: b })
    const { updated } = await run(errorChanges, { since: String(since), ids: [a, b] })
    expect(updated).toMatchObject([{ id: b, status: 'resolved', occurrence_count: 1 }])
    const other = contextAt(storage)
    other.clock.now = clock.now
    await other.log('Late', { occurred_at: since - 2000 })
    await other.log('Old', { occurred_at: since - MINUTE })
    expect(await run(errorChanges, { since })).toMatchObject({ new_count: 1 })
  })

  test('returns only changes in the application of the list', async () => {
    const { clock, log, run, storage } = await listContext(database)
    const other = contextAt(storage, { application_name: 'billing' })
    const [ownId, otherId] = [await log('A'), await other.log('B')]
    const { application_id } = await perform(findError, other.context, { error_id: otherId })
    other.clock.now = clock.now = NOON + 10 * MINUTE
    await log('A')
    await log('New')
    await other.log('B')
    await other.log('NewToo')
    const since = NOON + MINUTE
    const { new_count, updated } = await run(errorChanges, { since, ids: [ownId, otherId], application_id })
    expect(new_count).toBe(1)
    expect(updated.map(({ id }) => id)).toEqual([otherId])
  })

  test('returns changes of at most one day', async () => {
    const { clock, log, run } = await listContext(database)
    const old = await log('Old')
    clock.now = NOON + 25 * 60 * MINUTE
    const today = await log('Today')
    const { updated, new_count } = await run(errorChanges, { since: NOON - MINUTE, ids: [old, today] })
    expect(updated.map(({ id }) => id)).toEqual([today])
    expect(new_count).toBe(0)
    expect(await run(errorChanges, { since: NOON - MINUTE })).toMatchObject({ new_count: 1 })
  })

  test('counts at most 99 new errors', async () => {
    const { clock, context, run } = await listContext(database)
    await addGroups(context, 100, () => ({ text: 'many' }))
    clock.now = NOON + MINUTE
    const bound = { new_count: 99, new_count_is_lower_bound: true }
    expect(await run(errorChanges, { since: NOON - MINUTE })).toMatchObject(bound)
    expect(await run(errorChanges, { since: NOON - MINUTE, search: 'MANY' })).toMatchObject(bound)
  })
})

describeEachDatabase(
  'input validation of the list changes query',
  (database) => {
    test('rejects an invalid time and invalid or too many ids', async () => {
      const { run } = await listContext(database)
      for (const [input, message] of [
        [{}, 'since is missing'],
        [{ since: 'soon' }, 'since must be a time such as 2026-03-09T12:00:00Z'],
        [{ since: '9'.repeat(30) }, 'since must be a time such as 2026-03-09T12:00:00Z'],
        [{ since: 1, ids: 'a,b' }, 'must be a record id'],
        [{ since: 1, ids: Array(101).fill(1) }, 'ids must not contain more than 100 error ids'],
        [{ since: 1, severity: 'urgent' }, 'severity must be one of'],
      ] as const)
        await expect(run(errorChanges, input)).rejects.toThrow(message)
    })
  },
  { except: ['postgres', 'mysql'] },
)

test('documents the input as a time and at most 100 ids', () => {
  const described = Object.fromEntries(describeInput(errorChanges.input).map(({ name, ...facts }) => [name, facts]))
  expect(described.since).toEqual({ type: 'time', required: true })
  expect(described.ids).toEqual({ type: 'id', list: { max: 100 }, required: false })
})
