import { describe, expect, test } from 'vitest'
import { SEVERITIES } from '../../../src/model/severity.js'
import { crossed, meets, occasionsOf } from '../../../src/notifications/rules/rules.js'
import type { RecordedGroup } from '../../../src/store/recording/outbox.js'
import { NOON } from '../../support/tracker.js'

const HOUR = 3_600_000
const RULES = { now: NOON, milestones: [10, 50, 100] }

function recorded(count: number, outcome: Partial<RecordedGroup['outcome']>): RecordedGroup {
  return {
    group: { count } as RecordedGroup['group'],
    outcome: {
      ...{ id: 1, application_id: 1, hash_signature: 'a', occurrence_count: 5, status: 'new', first_seen_at: NOON },
      ...{ severity: 'low' as const },
      ...{ snoozed_until: null, muted_at: null, muted_until: null, regressed_in_version: null },
      ...{ is_new: false, reopened: false },
      ...outcome,
    },
  }
}

const eventsOf = (count: number, outcome: Partial<RecordedGroup['outcome']>) =>
  occasionsOf(recorded(count, outcome), RULES).map((one) => ('milestone' in one ? one.milestone : one.event))

describe('what people are told of a recorded error', () => {
  test.each<[string, number, Partial<RecordedGroup['outcome']>, unknown[]]>([
    ['a new one', 1, { is_new: true, occurrence_count: 1 }, ['new']],
    [
      'a new one that came many times at once, without its milestones',
      60,
      { is_new: true, occurrence_count: 60 },
      ['new'],
    ],
    ['nothing of an ordinary repeat', 3, { occurrence_count: 8 }, []],
    ['one that came back', 1, { reopened: true }, ['reopened']],
    ['a milestone', 1, { occurrence_count: 10 }, [10]],
    ['the highest of the milestones that were crossed at once', 95, { occurrence_count: 101 }, [100]],
    ['nothing past a milestone', 1, { occurrence_count: 11 }, []],
    ['its return before its milestone', 1, { reopened: true, occurrence_count: 50 }, ['reopened', 50]],
    ['nothing of a snoozed one', 1, { occurrence_count: 10, snoozed_until: NOON + 1 }, []],
    ['one that is awake again', 1, { occurrence_count: 10, snoozed_until: NOON }, [10]],
    ['nothing of a muted one', 1, { occurrence_count: 10, muted_at: NOON - HOUR }, []],
    [
      'nothing of one that is muted for a time',
      1,
      { reopened: true, muted_at: NOON - HOUR, muted_until: NOON + 1 },
      [],
    ],
    ['one whose mute is over', 1, { reopened: true, muted_at: NOON - HOUR, muted_until: NOON }, ['reopened']],
    ['nothing of one that nobody is to fix', 1, { occurrence_count: 10, status: 'wont_fix' }, []],
    ['nothing of one that older releases go on to report', 1, { occurrence_count: 10, status: 'resolved' }, []],
  ])('%s', (_, count, outcome, events) => {
    expect(eventsOf(count, outcome)).toEqual(events)
  })
})

test('milestones may stand in any order', () => {
  expect(crossed(5, 600, [1000, 500, 10])).toBe(500)
  expect(crossed(0, 9, [10])).toBeNull()
})

test('a severity meets itself and all that are less grave', () => {
  const met = SEVERITIES.map((severity) => SEVERITIES.filter((least) => meets(severity, least)).length)
  expect(met).toEqual([4, 3, 2, 1])
})
