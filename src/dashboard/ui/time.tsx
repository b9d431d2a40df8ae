import { DAY, HOUR, MINUTE } from '../../model/time.js'
import type { Rendered, Visit } from '../define.js'

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

export function exactTime(iso: string, time_zone: string): string {
  return `${timeFormat(time_zone, EXACT_TIME).format(new Date(iso))} ${time_zone}`
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

function timeOfDay(iso: string, time_zone: string): string {
  const { hour, minute, second, fractionalSecond } = Object.fromEntries(
    timeFormat(time_zone, MILLISECOND_TIME)
      .formatToParts(new Date(iso))
      .map(({ type, value }) => [type, value]),
  )
  return `${hour}:${minute}:${second}.${fractionalSecond}`
}

/** Time of day as `06:00`. */
export function clockTime(time: number, time_zone: string): string {
  return timeFormat(time_zone, CLOCK_TIME).format(time)
}

const CLOCK_TIME: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }
const EXACT_TIME: Intl.DateTimeFormatOptions = { dateStyle: 'medium', timeStyle: 'medium' }
const MILLISECOND_TIME: Intl.DateTimeFormatOptions = {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
}

const timeFormats = new Map<Intl.DateTimeFormatOptions, Map<string, Intl.DateTimeFormat>>()

/** Cached, because creating a formatter is expensive and a page shows hundreds of times. */
function timeFormat(time_zone: string, style: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const formats = timeFormats.get(style) ?? new Map<string, Intl.DateTimeFormat>()
  timeFormats.set(style, formats)
  const format = formats.get(time_zone) ?? new Intl.DateTimeFormat('en-GB', { ...style, timeZone: time_zone })
  formats.set(time_zone, format)
  return format
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
  return SHORT_DATE.format(new Date(date))
}

/** Formats a local date as `Sat, 17 Oct 2026`. */
export function longDate(date: string): string {
  return LONG_DATE.format(new Date(date))
}

const SHORT_DATE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const LONG_DATE = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
})

const countFormat = new Intl.NumberFormat('en')

/** Formats a count, with a plus sign if it is a lower bound. */
export function formatCount(count: number, isLowerBound = false): string {
  return `${countFormat.format(count)}${isLowerBound ? '+' : ''}`
}
