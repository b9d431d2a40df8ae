import { expect, test } from 'vitest'
import {
  batchAssignErrors,
  batchDeleteErrors,
  batchResolveErrors,
  batchSnoozeErrors,
  batchUpdatePriority,
  batchUpdateStatus,
} from '../../src/triage/commands/batch-errors.js'
import { findError } from '../../src/triage/queries/find-error.js'
import { describeEachDatabase } from '../support/databases.js'
import { NOON } from '../support/tracker.js'
import { contextAt, listContext } from './list-context.js'

describeEachDatabase('batch commands', (database) => {
  test('assigns, moves, prioritizes and snoozes several errors with an activity for each', async () => {
    const { log, run } = await listContext(database)
    const ids = [await log('A'), await log('B')]
    const error_ids = [...ids, 999_999]
    const done = { changed: 2, unchanged: 0, skipped: 1 }
    expect(await run(batchAssignErrors, { error_ids, assigned_to: 'Anna', actor: 'Berta' })).toEqual(done)
    expect(await run(batchUpdateStatus, { error_ids, status: 'wont_fix', comment: 'no', actor: 'Berta' })).toEqual(done)
    expect(await run(batchUpdatePriority, { error_ids, priority_level: '3' })).toEqual(done)
    expect(await run(batchSnoozeErrors, { error_ids, hours: 24, reason: 'later' })).toEqual(done)
    const snoozed_until = new Date(NOON + 86_400_000).toISOString()
    for (const error_id of ids)
      expect(await run(findError, { error_id })).toMatchObject({
        assigned_to: 'Anna',
        status: 'wont_fix',
        resolved: true,
        resolved_by_name: 'Berta',
        priority_level: 3,
        snoozed_until,
        snooze_reason: 'later',
        activities: [
          { actor: 'Berta', action: 'assigned', to_value: 'Anna' },
          { actor: 'Berta', action: 'status_changed', from_value: 'new', to_value: 'wont_fix', comment: 'no' },
          { actor: 'system', action: 'priority_changed', from_value: 'none', to_value: 'high' },
          { actor: 'system', action: 'snoozed', to_value: snoozed_until, comment: 'later' },
        ],
      })
    expect(await run(batchAssignErrors, { error_ids, assigned_to: ' ' })).toEqual(done)
    const [error_id] = ids
    const { assigned_to, activities } = await run(findError, { error_id })
    expect([assigned_to, activities.at(-1)]).toMatchObject([null, { action: 'unassigned', from_value: 'Anna' }])
  })

  test('counts only changed errors and adds no activity to unchanged errors', async () => {
    const { log, run } = await listContext(database)
    const [first, second] = [await log('A'), await log('B')]
    const error_ids = [first, second, 999_999]
    const expectedResult = { changed: 1, unchanged: 1, skipped: 1 }
    const none = { changed: 0, unchanged: 2, skipped: 1 }
    for (const [operation, fields] of [
      [batchAssignErrors, { assigned_to: 'Anna' }],
      [batchUpdatePriority, { priority_level: 4 }],
      [batchUpdateStatus, { status: 'investigating' }],
      [batchResolveErrors, {}],
    ] as const) {
      await run(operation as typeof batchDeleteErrors, { error_ids: [first], ...fields })
      expect(await run(operation as typeof batchDeleteErrors, { error_ids, ...fields })).toEqual(expectedResult)
      expect(await run(operation as typeof batchDeleteErrors, { error_ids, ...fields })).toEqual(none)
    }
    for (const error_id of [first, second]) expect((await run(findError, { error_id })).activities).toHaveLength(4)
  })

  test('skips and counts errors of another application', async () => {
    const { log, run, storage } = await listContext(database)
    const own = await log('Own')
    const otherErrorId = await contextAt(storage, { application_name: 'billing' }).log('Theirs')
    const { application_id } = await run(findError, { error_id: own })
    const before = await run(findError, { error_id: otherErrorId })
    const error_ids = [own, otherErrorId]
    for (const [operation, more] of [
      [batchAssignErrors, { assigned_to: 'Anna' }],
      [batchUpdateStatus, { status: 'in_progress' }],
      [batchUpdatePriority, { priority_level: 4 }],
      [batchSnoozeErrors, { hours: 1 }],
      [batchResolveErrors, {}],
      [batchDeleteErrors, {}],
    ] as const)
      expect(await run(operation as typeof batchDeleteErrors, { error_ids, application_id, ...more })).toEqual({
        changed: 1,
        unchanged: 0,
        skipped: 1,
      })
    expect(await run(findError, { error_id: otherErrorId })).toEqual(before)
    await expect(run(findError, { error_id: own })).rejects.toThrow('No error with id')
  })

  test('rejects invalid batch input without changing any error', async () => {
    const { log, run } = await listContext(database)
    const error_ids = [await log('A')]
    await expect(run(batchUpdateStatus, { error_ids, status: 'open' })).rejects.toThrow('status must be one of')
    await expect(run(batchUpdatePriority, { error_ids, priority_level: 5 })).rejects.toThrow('priority_level must be')
    await expect(run(batchSnoozeErrors, { error_ids, hours: 0 })).rejects.toThrow('hours must be')
    await expect(run(batchAssignErrors, { error_ids: [] })).rejects.toThrow('must contain at least one error id')
  })
})
