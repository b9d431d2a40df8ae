import { describe, expect, test } from 'vitest'
import { SEVERITIES } from '../../../src/model/severity/severity.js'
import { highestMilestone, meetsThreshold, notificationTriggers } from '../../../src/notifications/rules/triggers.js'
import type { RecordedGroup } from '../../../src/store/recording/outbox.js'
import { NOON } from '../../support/tracker.js'

const HOUR = 3_600_000
const RULES = { now: NOON, milestones: [10, 50, 100] }

function recorded(count: number, outcome: Partial<RecordedGroup['outcome']>): RecordedGroup {
  return {
    group: { count } as RecordedGroup['group'],
    outcome: {
      ...{ id: 1, application_id: 1, hash_signature: 'a', occurrence_count: 5, status: 'new', first_seen_at: NOON },
      ...{ severity: 'low' as const, environment: 'production' },
      ...{ snoozed_until: null, muted_at: null, muted_until: null, regressed_in_version: null },
      ...{ is_new: false, reopened: false },
      ...outcome,
    },
  }
}

const triggerEvents = (count: number, outcome: Partial<RecordedGroup['outcome']>) =>
  notificationTriggers(recorded(count, outcome), RULES).map((trigger) =>
    'milestone' in trigger ? trigger.milestone : trigger.event,
  )

describe('notificationTriggers', () => {
  test.each<[string, number, Partial<RecordedGroup['outcome']>, unknown[]]>([
    ['new error', 1, { is_new: true, occurrence_count: 1 }, ['new']],
    ['new error with many occurrences and no milestone', 60, { is_new: true, occurrence_count: 60 }, ['new']],
    ['no trigger for an ordinary repeat', 3, { occurrence_count: 8 }, []],
    ['reopened error', 1, { reopened: true }, ['reopened']],
    ['milestone', 1, { occurrence_count: 10 }, [10]],
    ['highest of several milestones', 95, { occurrence_count: 101 }, [100]],
    ['no trigger after a milestone', 1, { occurrence_count: 11 }, []],
    ['reopened error before its milestone', 1, { reopened: true, occurrence_count: 50 }, ['reopened', 50]],
    ['no trigger for a snoozed error', 1, { occurrence_count: 10, snoozed_until: NOON + 1 }, []],
    ['milestone after a snooze', 1, { occurrence_count: 10, snoozed_until: NOON }, [10]],
    ['no trigger for a muted error', 1, { occurrence_count: 10, muted_at: NOON - HOUR }, []],
    [
      'no trigger for a temporarily muted error',
      1,
      { reopened: true, muted_at: NOON - HOUR, muted_until: NOON + 1 },
      [],
    ],
    ['reopened error after its mute', 1, { reopened: true, muted_at: NOON - HOUR, muted_until: NOON }, ['reopened']],
    ['no trigger for a wont_fix error', 1, { occurrence_count: 10, status: 'wont_fix' }, []],
    [
      'no trigger for a resolved error that older releases still report',
      1,
      { occurrence_count: 10, status: 'resolved' },
      [],
    ],
  ])('returns the triggers for a recorded error: %s', (_, count, outcome, events) => {
    expect(triggerEvents(count, outcome)).toEqual(events)
  })
})

test('finds the highest milestone in an unsorted list', () => {
  expect(highestMilestone(5, 600, [1000, 500, 10])).toBe(500)
  expect(highestMilestone(0, 9, [10])).toBeNull()
})

test('includes the threshold severity and all higher severities', () => {
  const reachedThresholds = SEVERITIES.map(
    (severity) => SEVERITIES.filter((threshold) => meetsThreshold(severity, threshold)).length,
  )
  expect(reachedThresholds).toEqual([4, 3, 2, 1])
})
