import type { Options } from '../../config/options.js'
import type { Severity } from '../../model/severity.js'
import { localDate, MINUTE } from '../../model/time.js'
import type { ChannelName } from '../channels/channel.js'
import { meets } from './rules.js'

/** Until when a message is to be held, or null when it may be sent now. */
export type HeldUntil = (message: {
  channel: ChannelName
  severity: Severity
  now: number
  /** False for messages that never bypass quiet hours. */
  may_page?: boolean
}) => number | null

/** Who is woken by an incident wants to be. */
const NEVER_HELD: readonly ChannelName[] = ['incident']

export function isEverHeld(channel: ChannelName): boolean {
  return !NEVER_HELD.includes(channel)
}

export function quietHoursOf({ quiet_hours, quiet_hours_bypass_severity, time_zone }: Options): HeldUntil {
  if (quiet_hours === null) return () => null
  let known = { from: 0, until: 0 }
  return ({ channel, severity, now, may_page = true }) => {
    if (!isEverHeld(channel)) return null
    if (may_page && quiet_hours_bypass_severity !== null && meets(severity, quiet_hours_bypass_severity)) return null
    // The end of these hours is found minute by minute; it stays the same until it has come.
    if (now >= known.from && now < known.until) return known.until
    const until = endOfQuiet(now, quiet_hours, time_zone)
    if (until !== null) known = { from: now, until }
    return until
  }
}

/**
 * The instant at which the quiet hours end that are running now, or null when none are. It looks at what the clock on
 * the wall shows at each minute, so that a clock that is put forward or back needs no thought.
 *
 * @example
 * endOfQuiet(Date.parse('2026-03-10T23:30:00Z'), '22:00-07:00', 'UTC') // 2026-03-11T07:00:00Z
 */
export function endOfQuiet(now: number, hours: string, zone: string): number | null {
  if (!isQuiet(now, hours, zone)) return null
  let end = now - (now % MINUTE) + MINUTE
  while (isQuiet(end, hours, zone)) end += MINUTE
  return end
}

function isQuiet(time: number, hours: string, zone: string): boolean {
  const [from = 0, to = 0] = hours.split('-').map(minuteOf)
  const { hour, minute } = localDate(time, zone)
  const clock = hour * 60 + minute
  return from < to ? clock >= from && clock < to : clock >= from || clock < to
}

function minuteOf(text: string): number {
  const [hour = 0, minute = 0] = text.split(':').map(Number)
  return hour * 60 + minute
}
