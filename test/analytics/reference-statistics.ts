import { SEVERITIES, type Severity } from '../../src/model/severity/severity.js'

/** Reference statistics, counted occurrence by occurrence without a database. */

const HOUR = 3_600_000
const DAY = 24 * HOUR

export interface TestOccurrence {
  error_type: string
  message: string
  /** File that throws the error. */
  file: string
  platform: string
  app_version: string
  severity: Severity
  user_id: string | null
  occurred_at: number
}

export interface PeriodInput {
  now: number
  days: number
  timeZone: string
}

/** Occurrences of the period. An hour belongs to the local day in which it starts. */
export function inPeriod(occurrences: readonly TestOccurrence[], input: PeriodInput): TestOccurrence[] {
  const dates = localDates(input)
  const end = hourOf(input.now) + HOUR
  return occurrences.filter(
    (occurrence) => occurrence.occurred_at < end && dates.includes(localDate(occurrence, input.timeZone)),
  )
}

/** Occurrences of the previous period, for zones without daylight saving time. */
export function inPeriodBefore(
  occurrences: readonly TestOccurrence[],
  { now, days, timeZone }: PeriodInput,
): TestOccurrence[] {
  return inPeriod(
    occurrences.map((occurrence) => ({ ...occurrence, occurred_at: occurrence.occurred_at + days * DAY })),
    { now, days, timeZone },
  )
}

export function localDates({ now, days, timeZone }: PeriodInput): string[] {
  const dates = [localParts(now, timeZone).date]
  for (let time = now; dates.length < days; time -= 6 * HOUR) {
    const { date } = localParts(time, timeZone)
    if (!dates.includes(date)) dates.unshift(date)
  }
  return dates
}

export function localDate({ occurred_at }: TestOccurrence, timeZone: string): string {
  return localParts(hourOf(occurred_at), timeZone).date
}

/** Weekday and local hour; Monday is 0. */
export function weekdayAndHour({ occurred_at }: TestOccurrence, timeZone: string): [weekday: number, hour: number] {
  const { weekday, hour } = localParts(hourOf(occurred_at), timeZone)
  return [['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].indexOf(weekday), hour]
}

export function countBy<T>(rows: readonly T[], key: (row: T) => string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const row of rows) counts[key(row)] = (counts[key(row)] ?? 0) + 1
  return counts
}

export function severityCounts(occurrences: readonly TestOccurrence[]): Record<Severity, number> {
  return Object.fromEntries(
    SEVERITIES.map((severity) => [
      severity,
      occurrences.filter((occurrence) => occurrence.severity === severity).length,
    ]),
  ) as Record<Severity, number>
}

/** Key of an error: occurrences with the same type, message and file. */
export function errorKey({ error_type, message, file }: TestOccurrence): string {
  return `${error_type} ${message} ${file}`
}

export function distinct<T>(rows: readonly T[], key: (row: T) => string | null): string[] {
  return [...new Set(rows.map(key))].filter((value) => value !== null)
}

/** Pearson's coefficient, calculated from sums of products. */
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

function localParts(time: number, timeZone: string): { date: string; weekday: string; hour: number } {
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
