import { SEVERITIES, type Severity } from '../../model/severity/severity.js'
import { isMuted, isSnoozed } from '../../model/workflow.js'
import type { RecordedGroup } from '../../store/recording/outbox.js'

/** Reason to send a notification about a recorded error. */
export type NotificationTrigger = { event: 'new' } | { event: 'reopened' } | { event: 'milestone'; milestone: number }

export interface TriggerRules {
  now: number
  /** Value of `notification_threshold_alerts`. */
  milestones: readonly number[]
}

/**
 * Reasons to notify about a recorded error, most important first. Only the first reason outside its cooldown is sent.
 * Empty for ordinary repeats and for silenced errors.
 */
export function notificationTriggers(
  { group, outcome }: RecordedGroup,
  { now, milestones }: TriggerRules,
): NotificationTrigger[] {
  if (outcome.is_new) return [{ event: 'new' }]
  // Checked first because almost every recorded error is an ordinary repeat.
  const milestone = highestMilestone(outcome.occurrence_count - group.count, outcome.occurrence_count, milestones)
  if (!outcome.reopened && milestone === null) return []
  if (isSilenced(outcome, now)) return []
  return [
    ...(outcome.reopened ? [{ event: 'reopened' as const }] : []),
    ...(milestone === null ? [] : [{ event: 'milestone' as const, milestone }]),
  ]
}

/** Highest milestone in the half-open interval (before, after]. */
export function highestMilestone(before: number, after: number, milestones: readonly number[]): number | null {
  let highest: number | null = null
  for (const milestone of milestones)
    if (milestone > before && milestone <= after && milestone > (highest ?? 0)) highest = milestone
  return highest
}

/** Errors with these statuses are silent, because older releases are expected to report them. */
const CLOSED_STATUSES: readonly string[] = ['resolved', 'wont_fix']

function isSilenced({ status, snoozed_until, ...mute }: RecordedGroup['outcome'], now: number): boolean {
  return CLOSED_STATUSES.includes(status) || isSnoozed(snoozed_until, now) || isMuted(mute, now)
}

/** Returns true if a severity reaches the threshold. */
export function meetsThreshold(severity: Severity, threshold: Severity): boolean {
  return SEVERITIES.indexOf(severity) <= SEVERITIES.indexOf(threshold)
}
