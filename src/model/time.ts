export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export const TIMEFRAMES = ['last_hour', 'today', 'yesterday', 'last_7_days', 'last_30_days', 'last_90_days'] as const
export type Timeframe = (typeof TIMEFRAMES)[number]

/** In seconds this is the year 5138, in milliseconds 1973. */
const SECONDS_BELOW = 100_000_000_000

/** A time since 1970 in milliseconds, given in seconds or in milliseconds. */
export function epochMilliseconds(time: number): number {
  return time < SECONDS_BELOW ? time * 1000 : time
}

/** As answers tell it: ISO 8601 in UTC, or that there is none. */
export function isoTime(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}

/** The first instant of the hour, as the rollups key it. */
export function hourOf(time: number): number {
  return time - (((time % HOUR) + HOUR) % HOUR)
}

/**
 * The first hour that begins at or after this instant. The rollups know whole hours, and where midnight cuts one, as in
 * Asia/Kolkata, an hour belongs to the local day in which it begins: wherever single days are shown from sums of hours.
 */
export function firstHourFrom(time: number): number {
  return hourOf(time + HOUR - 1)
}

/** The half-open span `[from, to)` a timeframe means at this instant in this time zone. */
export function timeframeSpan(timeframe: Timeframe, now: number, zone: string): { from: number; to: number | null } {
  const today = startOfDay(now, zone)
  switch (timeframe) {
    case 'last_hour':
      return { from: now - HOUR, to: null }
    case 'today':
      return { from: today, to: null }
    case 'yesterday':
      return { from: startOfDay(today - 1, zone), to: today }
    case 'last_7_days':
      return { from: startOfLastDays(7, now, zone), to: null }
    case 'last_30_days':
      return { from: startOfLastDays(30, now, zone), to: null }
    case 'last_90_days':
      return { from: startOfLastDays(90, now, zone), to: null }
  }
}

/** The instant the local day that contains `time` began; days are 23 or 25 hours long when the clocks change. */
export function startOfDay(time: number, zone: string): number {
  const { year, month, day } = localDate(time, zone)
  const midnightAsUtc = Date.UTC(year, month - 1, day)
  // Two passes: the offset at the first guess may differ from the one in force at midnight itself.
  const guess = midnightAsUtc - zoneOffset(midnightAsUtc, zone)
  const start = midnightAsUtc - zoneOffset(guess, zone)
  // Where midnight itself is skipped by a clock change, the day starts at the first instant that carries its date.
  return localDate(start, zone).day === day ? start : start + HOUR
}

/** The local date of an instant, `YYYY-MM-DD`. */
export function dayOf(time: number, zone: string): string {
  const { year, month, day } = localDate(time, zone)
  return new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10)
}

/** The half-open span of a local day. A day that a zone left out, as Samoa did when it crossed the date line, is empty. */
export function daySpan(day: string, zone: string): { from: number; to: number } {
  const noon = Date.parse(`${day}T12:00:00Z`)
  // Noon of Greenwich is another day at both ends of the world.
  const time = [noon, noon - DAY / 2, noon + DAY / 2].find((one) => dayOf(one, zone) === day)
  if (time === undefined) return { from: noon, to: noon }
  const from = startOfDay(time, zone)
  // Past the end of the longest day, and before that of the shortest two.
  return { from, to: startOfDay(from + 36 * HOUR, zone) }
}

let known: { zone: string; starts: readonly number[] } = { zone: '', starts: [] }

/** When each of the last local days began, oldest first; the last one is today. */
export function lastDays(count: number, now: number, zone: string): number[] {
  const today = startOfDay(now, zone)
  // A month of them takes milliseconds to find, and they stay the same until midnight.
  if (known.zone !== zone || known.starts.at(-1) !== today || known.starts.length < count) {
    const starts = [today]
    while (starts.length < count) starts.unshift(startOfDay((starts[0] ?? 0) - 1, zone))
    known = { zone, starts }
  }
  return known.starts.slice(-count)
}

/** Start of "the last N days": local calendar days, today and the N - 1 days before it. */
export function startOfLastDays(count: number, now: number, zone: string): number {
  return lastDays(count, now, zone)[0] ?? now
}

interface LocalDate {
  year: number
  month: number
  day: number
  hour: number
  minute: number
  second: number
}

function zoneOffset(time: number, zone: string): number {
  const { year, month, day, hour, minute, second } = localDate(time, zone)
  return Date.UTC(year, month - 1, day, hour, minute, second) - (time - (((time % 1000) + 1000) % 1000))
}

export function localDate(time: number, zone: string): LocalDate {
  const parts = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0 }
  for (const { type, value } of formatterFor(zone).formatToParts(time)) {
    if (type in parts) parts[type as keyof LocalDate] = Number(value)
  }
  return parts
}

const formatters = new Map<string, Intl.DateTimeFormat>()

function formatterFor(zone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(zone)
  if (!formatter) {
    formatter = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    formatters.set(zone, formatter)
  }
  return formatter
}
