export const STATUSES = ['new', 'investigating', 'in_progress', 'resolved', 'wont_fix'] as const
export type Status = (typeof STATUSES)[number]

export const PRIORITIES = ['none', 'low', 'medium', 'high', 'critical'] as const

export const MAX_SNOOZE_HOURS = 8760
export const MAX_BATCH_SIZE = 1000

/** `resolved` is not stored: it derives from the status. */
export function isResolved(status: Status): boolean {
  return status === 'resolved' || status === 'wont_fix'
}

export interface Mute {
  muted_at: number | null
  muted_until: number | null
}

/** Returns true if notifications about the error are muted, until a time or until unmuted. */
export function isMuted({ muted_at, muted_until }: Mute, now: number): boolean {
  return muted_at !== null && (muted_until === null || muted_until > now)
}

export function isSnoozed(snoozedUntil: number | null, now: number): boolean {
  return snoozedUntil !== null && snoozedUntil > now
}

/** Duration of a snooze or mute. */
export function hoursText(hours: number | undefined): string {
  return hours === undefined ? 'indefinitely' : `for ${hours} ${hours === 1 ? 'hour' : 'hours'}`
}
