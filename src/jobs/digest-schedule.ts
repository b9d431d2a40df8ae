import { HOUR, localDateTime, localDay, startOfDay } from '../model/time.js'

interface DigestSchedule {
  digest_frequency: 'never' | 'daily' | 'weekly'
  digest_hour: number
  time_zone: string
}

const MONDAY = 1

/** Returns the time of the next digest: every day or every Monday, at the configured local hour. */
export function nextDigest(last: number, { digest_frequency, digest_hour, time_zone }: DigestSchedule): number | null {
  if (digest_frequency === 'never') return null
  for (let day = startOfDay(last, time_zone); ; day = nextDay(day, time_zone)) {
    const digestTime = firstTimeAtHour(day, digest_hour, time_zone)
    if (digestTime > last && (digest_frequency === 'daily' || isMonday(day, time_zone))) return digestTime
  }
}

/** Returns the most recent digest time, starting from the first due digest. Missed digests are combined into one. */
export function lastDigest(dueAt: number, now: number, schedule: DigestSchedule): number {
  let digestTime = dueAt
  for (;;) {
    const next = nextDigest(digestTime, schedule)
    if (next === null || next > now) return digestTime
    digestTime = next
  }
}

/** Returns the following hour on a day when daylight saving time skips the requested hour. */
function firstTimeAtHour(day: number, hour: number, zone: string): number {
  let time = day
  while (localDateTime(time, zone).hour < hour) time += HOUR
  return time
}

/** 36 hours after midnight is always within the next local day, even when daylight saving time changes. */
function nextDay(day: number, zone: string): number {
  return startOfDay(day + 36 * HOUR, zone)
}

function isMonday(day: number, zone: string): boolean {
  return new Date(`${localDay(day, zone)}T12:00:00Z`).getUTCDay() === MONDAY
}
