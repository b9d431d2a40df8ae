import { DAY, HOUR, MINUTE } from '../../model/time.js'
import type { Rendered, Visit } from '../define.js'

/** How long ago, with the exact time in the configured zone on hover. */
export function Time({ iso, visit }: { iso: string; visit: Visit }): Rendered {
  return (
    <time datetime={iso} title={exactTime(iso, visit.time_zone)}>
      {ago(visit.now - Date.parse(iso))}
    </time>
  )
}

export function exactTime(iso: string, time_zone: string): string {
  return `${new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: time_zone }).format(new Date(iso))} ${time_zone}`
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
  return `${Math.round(days / 30)} months`
}

export function formatCount(count: number): string {
  return new Intl.NumberFormat('en').format(count)
}
