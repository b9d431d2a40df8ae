import { DAY, HOUR, localDateTime, MINUTE } from '../../model/time.js'
import type { Rendered, Visit } from '../define.js'
import { formatNumber } from './units.js'

/**
 * Relative time, with the exact time on hover. If the viewer prefers local time, a script replaces the configured zone.
 */
export function Time({ iso, visit }: { iso: string; visit: Visit }): Rendered {
  return (
    <time
      datetime={iso}
      data-relative
      title={exactTime(iso, visit.time_zone)}
      data-local={visit.shows_local_time || undefined}
    >
      {relativeTime(visit.now - Date.parse(iso))}
    </time>
  )
}

/** Exact time as text. If a script shows local time, UTC is shown on hover. */
export function ExactTime({ iso, visit }: { iso: string; visit: Visit }): Rendered {
  return (
    <time datetime={iso} data-exact data-local={visit.shows_local_time || undefined}>
      {exactTime(iso, visit.time_zone)}
    </time>
  )
}

/** Attribute of an element whose tooltip or label contains the exact time, so that a script can show local time there. */
export function namedTime(iso: string, visit: Visit): string | undefined {
  return visit.shows_local_time ? `${iso} ${exactTime(iso, visit.time_zone)}` : undefined
}

/** Formats a time as `17 Oct 2026, 06:00:00 UTC`. */
export function exactTime(iso: string, time_zone: string): string {
  const local = localTime(iso, time_zone)
  return `${mediumDate(local)}, ${local.slice(11, 19)} ${time_zone}`
}

/** Time of day with milliseconds, with the exact time and a note on hover. Shown in the same zone as exact times. */
export function TimeOfDay({ iso, visit, note }: { iso: string; visit: Visit; note?: string | undefined }): Rendered {
  return (
    <time
      datetime={iso}
      title={[exactTime(iso, visit.time_zone), note].filter(Boolean).join('\n')}
      data-of-day
      data-local={visit.shows_local_time || undefined}
    >
      {timeOfDay(iso, visit.time_zone)}
    </time>
  )
}

/** Time of day as `06:00:00.000`. */
export function timeOfDay(iso: string, time_zone: string): string {
  return localTime(iso, time_zone).slice(11, 23)
}

/** Time of day as `06:00`. */
export function clockTime(time: number, time_zone: string): string {
  return localTime(time, time_zone).slice(11, 16)
}

/** Date of a time as `17 Oct 2026`. */
export function localDate(iso: string, time_zone: string): string {
  return mediumDate(localTime(iso, time_zone))
}

/** Local time in the format of ISO 8601. */
function localTime(time: string | number, time_zone: string): string {
  const date = new Date(time)
  const { year, month, day, hour, minute, second } = localDateTime(date.getTime(), time_zone)
  return new Date(Date.UTC(year, month - 1, day, hour, minute, second, date.getUTCMilliseconds())).toISOString()
}

function relativeTime(ms: number): string {
  if (ms < 0) return `in ${formatSpan(-ms)}`
  return ms < MINUTE ? 'just now' : `${formatSpan(ms)} ago`
}

function formatSpan(ms: number): string {
  if (ms < HOUR) return `${Math.max(1, Math.round(ms / MINUTE))} min`
  if (ms < DAY) return `${Math.round(ms / HOUR)} h`
  const days = Math.round(ms / DAY)
  if (days < 90) return days === 1 ? '1 day' : `${days} days`
  return `${Math.round(days / 30)} mo`
}

/** Formats a local date as `17 Oct`. */
export function shortDate(date: string): string {
  return `${Number(date.slice(8, 10))} ${MONTHS[Number(date.slice(5, 7)) - 1]}`
}

/** Formats a local date as `Sat, 17 Oct 2026`. */
export function longDate(date: string): string {
  return `${WEEKDAYS[new Date(date).getUTCDay()]}, ${mediumDate(date)}`
}

/** Formats a local date as `17 Oct 2026`. */
function mediumDate(date: string): string {
  return `${shortDate(date)} ${date.slice(0, 4)}`
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sept', 'Oct', 'Nov', 'Dec']
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

/** Formats a count, with a plus sign if it is a lower bound. */
export function formatCount(count: number, isLowerBound = false): string {
  return `${formatNumber(count, 3)}${isLowerBound ? '+' : ''}`
}
