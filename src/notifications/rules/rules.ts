import { SEVERITIES, type Severity } from '../../model/severity.js'
import { isMuted, isSnoozed } from '../../model/workflow.js'
import type { RecordedGroup } from '../../store/recording/outbox.js'

/** What people are to be told of a group that was just recorded. */
export type Occasion = { event: 'new' } | { event: 'reopened' } | { event: 'milestone'; milestone: number }

export interface RuleParts {
  now: number
  /** `notification_threshold_alerts`. */
  milestones: readonly number[]
}

/**
 * The occasions of a group in the order in which they count: of several, the first that is not in its cooldown is told,
 * and no other. An ordinary repeat has none, nor has what nobody wants to hear of.
 */
export function occasionsOf({ group, outcome }: RecordedGroup, { now, milestones }: RuleParts): Occasion[] {
  if (outcome.is_new) return [{ event: 'new' }]
  // Nearly every group that is recorded is an ordinary repeat.
  const milestone = crossed(outcome.occurrence_count - group.count, outcome.occurrence_count, milestones)
  if (!outcome.reopened && milestone === null) return []
  if (isSilent(outcome, now)) return []
  return [
    ...(outcome.reopened ? [{ event: 'reopened' as const }] : []),
    ...(milestone === null ? [] : [{ event: 'milestone' as const, milestone }]),
  ]
}

/** The highest milestone between two counts, the later one included. */
export function crossed(before: number, after: number, milestones: readonly number[]): number | null {
  let highest: number | null = null
  for (const one of milestones) if (one > before && one <= after && one > (highest ?? 0)) highest = one
  return highest
}

/** Closed, and what older releases go on to report of it is known. */
const CLOSED: readonly string[] = ['resolved', 'wont_fix']

function isSilent({ status, snoozed_until, ...mute }: RecordedGroup['outcome'], now: number): boolean {
  return CLOSED.includes(status) || isSnoozed(snoozed_until, now) || isMuted(mute, now)
}

/** Whether a severity is as grave as the least one that is wanted. */
export function meets(severity: Severity, least: Severity): boolean {
  return SEVERITIES.indexOf(severity) <= SEVERITIES.indexOf(least)
}
