import type { Options } from '../../config/options.js'
import type { Severity } from '../../model/severity/severity.js'
import { localDateTime, MINUTE } from '../../model/time.js'
import { CHANNELS, type ChannelName } from '../channels/channels.js'
import { meetsThreshold } from './triggers.js'

/** Returns the end of quiet hours for a notification, or null to send it now. */
export type QuietHoursCheck = (message: {
  channel: ChannelName
  severity: Severity
  now: number
  /** False for messages that never bypass quiet hours. */
  mayPage?: boolean
}) => number | null

/** Accepts unknown names, because a row can contain a channel from a newer version. */
export function isHeldInQuietHours(channel: ChannelName): boolean {
  return !CHANNELS[channel]?.pagesOnCall
}

export function createQuietHours({ quiet_hours, quiet_hours_bypass_severity, time_zone }: Options): QuietHoursCheck {
  if (quiet_hours === null) return () => null
  let cached = { from: 0, until: 0 }
  return ({ channel, severity, now, mayPage = true }) => {
    if (!isHeldInQuietHours(channel)) return null
    if (mayPage && quiet_hours_bypass_severity !== null && meetsThreshold(severity, quiet_hours_bypass_severity))
      return null
    // Cached because the search checks every minute.
    if (now >= cached.from && now < cached.until) return cached.until
    const until = endOfQuietHours(now, quiet_hours, time_zone)
    if (until !== null) cached = { from: now, until }
    return until
  }
}

/**
 * Returns the end of the current quiet hours, or null outside them. Checks the local time minute by minute, which
 * handles daylight saving time.
 *
 * @example
 * endOfQuietHours(Date.parse('2026-03-10T23:30:00Z'), '22:00-07:00', 'UTC') // 2026-03-11T07:00:00Z
 */
export function endOfQuietHours(now: number, hours: string, timeZone: string): number | null {
  if (!isQuietAt(now, hours, timeZone)) return null
  let end = now - (now % MINUTE) + MINUTE
  while (isQuietAt(end, hours, timeZone)) end += MINUTE
  return end
}

function isQuietAt(time: number, hours: string, timeZone: string): boolean {
  const [from = 0, to = 0] = hours.split('-').map(minuteOfDay)
  const { hour, minute } = localDateTime(time, timeZone)
  const localMinute = hour * 60 + minute
  return from < to ? localMinute >= from && localMinute < to : localMinute >= from || localMinute < to
}

function minuteOfDay(text: string): number {
  const [hour = 0, minute = 0] = text.split(':').map(Number)
  return hour * 60 + minute
}
