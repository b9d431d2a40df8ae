import { DAY, HOUR, MINUTE } from '../../model/time.js'
import type { Rendered, Visit } from '../define.js'

/** How long ago, with the exact time in the configured zone on hover. */
export function Time({ iso, visit }: { iso: string; visit: Visit }): Rendered {
  return (
    <time datetime={iso} data-relative title={exactTime(iso, visit.time_zone)}>
      {ago(visit.now - Date.parse(iso))}
    </time>
  )
}

export function exactTime(iso: string, time_zone: string): string {
  return `${clockOf(time_zone).format(new Date(iso))} ${time_zone}`
}

/** The time of day to the millisecond, for steps that follow each other closely. */
export function timeOfDay(iso: string, time_zone: string): string {
  const { hour, minute, second, fractionalSecond } = Object.fromEntries(
    new Intl.DateTimeFormat('en-GB', { ...TO_THE_MILLISECOND, timeZone: time_zone })
      .formatToParts(new Date(iso))
      .map(({ type, value }) => [type, value]),
  )
  return `${hour}:${minute}:${second}.${fractionalSecond}`
}

const TO_THE_MILLISECOND = {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
} as const

const clocks = new Map<string, Intl.DateTimeFormat>()

/** Making a formatter takes far longer than using one, and a list shows dozens of times. */
function clockOf(time_zone: string): Intl.DateTimeFormat {
  let clock = clocks.get(time_zone)
  if (!clock) {
    clock = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: time_zone })
    clocks.set(time_zone, clock)
  }
  return clock
}

function ago(ms: number): string {
  if (ms < 0) return `in ${span(-ms)}`
  return ms < MINUTE ? 'just now' : `${span(ms)} ago`
}

function span(ms: number): string {
  if (ms < HOUR) return `${Math.max(1, Math.round(ms / MINUTE))} min`
  if (ms < DAY) return `${Math.round(ms / HOUR)} h`
  const days = Math.round(ms / DAY)
  if (days < 90) return days === 1 ? '1 day' : `${days} days`
  return `${Math.round(days / 30)} mo`
}

/** `17 Oct`; the date is the local one already. */
export function shortDate(date: string): string {
  return SHORT.format(new Date(date))
}

/** `Sat, 17 Oct 2026`. */
export function longDate(date: string): string {
  return LONG.format(new Date(date))
}

const SHORT = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const LONG = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
})

const counts = new Intl.NumberFormat('en')

/** With a plus sign where there are at least so many. */
export function formatCount(count: number, is_bound = false): string {
  return `${counts.format(count)}${is_bound ? '+' : ''}`
}
