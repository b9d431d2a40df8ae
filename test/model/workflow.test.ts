import { expect, test } from 'vitest'
import { isResolved, isSnoozed, STATUSES } from '../../src/model/workflow.js'

test('treats resolved and wont_fix as resolved', () => {
  expect(STATUSES.filter(isResolved)).toEqual(['resolved', 'wont_fix'])
  expect(STATUSES).toEqual(['new', 'investigating', 'in_progress', 'resolved', 'wont_fix'])
})

test('ends a snooze at its time', () => {
  expect([isSnoozed(null, 5), isSnoozed(6, 5), isSnoozed(5, 5), isSnoozed(4, 5)]).toEqual([false, true, false, false])
})
