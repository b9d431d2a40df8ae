import { SEVERITIES, type Severity } from '../../src/model/severity.js'

/** The same statistics, counted event by event without a database: what the queries are held against. */

const HOUR = 3_600_000
const DAY = 24 * HOUR

export interface Event {
  error_type: string
  message: string
  /** Where it was thrown; one file each. */
  file: string
  platform: string
  app_version: string
  severity: Severity
  user_id: string | null
  occurred_at: number
}

export interface Question {
  now: number
  days: number
  zone: string
}

/** An hour belongs to the local day in which it begins. */
export function inPeriod(events: readonly Event[], question: Question): Event[] {
  const dates = datesOf(question)
  const end = hourOf(question.now) + HOUR
  return events.filter((event) => event.occurred_at < end && dates.includes(dateOf(event, question.zone)))
}

/** The same hours so many days earlier; only for zones without a change of clocks. */
export function inPeriodBefore(events: readonly Event[], { now, days, zone }: Question): Event[] {
  return inPeriod(
    events.map((event) => ({ ...event, occurred_at: event.occurred_at + days * DAY })),
    { now, days, zone },
  )
}

export function datesOf({ now, days, zone }: Question): string[] {
  const dates = [local(now, zone).date]
  for (let time = now; dates.length < days; time -= 6 * HOUR) {
    const { date } = local(time, zone)
    if (!dates.includes(date)) dates.unshift(date)
  }
  return dates
}

export function dateOf({ occurred_at }: Event, zone: string): string {
  return local(hourOf(occurred_at), zone).date
}

/** Monday is 0. */
export function weekHourOf({ occurred_at }: Event, zone: string): [weekday: number, hour: number] {
  const { weekday, hour } = local(hourOf(occurred_at), zone)
  return [['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].indexOf(weekday), hour]
}

export function tally<T>(rows: readonly T[], key: (row: T) => string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const row of rows) counts[key(row)] = (counts[key(row)] ?? 0) + 1
  return counts
}

export function severityCounts(events: readonly Event[]): Record<Severity, number> {
  return Object.fromEntries(
    SEVERITIES.map((severity) => [severity, events.filter((event) => event.severity === severity).length]),
  ) as Record<Severity, number>
}

/** The errors: events of one type, message and place. */
export function groupOf({ error_type, message, file }: Event): string {
  return `${error_type} ${message} ${file}`
}

export function distinct<T>(rows: readonly T[], key: (row: T) => string | null): string[] {
  return [...new Set(rows.map(key))].filter((one) => one !== null)
}

/** Pearson's coefficient by its other formula, with sums of products. */
export function correlation(a: readonly number[], b: readonly number[]): number {
  const n = a.length
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)
  const products = sum(a.map((x, i) => x * (b[i] ?? 0)))
  const spread = (values: readonly number[]) => n * sum(values.map((x) => x * x)) - sum(values) ** 2
  return (n * products - sum(a) * sum(b)) / Math.sqrt(spread(a) * spread(b))
}

export function hourOf(time: number): number {
  return Math.floor(time / HOUR) * HOUR
}

function local(time: number, timeZone: string): { date: string; weekday: string; hour: number } {
  const parts = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    hourCycle: 'h23',
    weekday: 'short',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
  }).formatToParts(time)
  const { year, month, day, weekday, hour } = Object.fromEntries(parts.map(({ type, value }) => [type, value]))
  return { date: `${year}-${month}-${day}`, weekday: String(weekday).replace('.', ''), hour: Number(hour) }
}
