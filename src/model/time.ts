export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export const TIMEFRAMES = ['last_hour', 'today', 'yesterday', 'last_7_days', 'last_30_days', 'last_90_days'] as const
export type Timeframe = (typeof TIMEFRAMES)[number]

/** The year 5138 in seconds, 1973 in milliseconds. */
const MAX_EPOCH_SECONDS = 100_000_000_000

/** Converts a time in seconds or milliseconds since 1970 to milliseconds. */
export function epochMilliseconds(time: number): number {
  return time < MAX_EPOCH_SECONDS ? time * 1000 : time
}

/** Formats a time for JSON: ISO 8601 in UTC, or null. */
export function isoTime(time: number): string
export function isoTime(time: number | null): string | null
export function isoTime(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}

/** Start of the hour, the key of hourly rollups. */
export function startOfHour(time: number): number {
  return time - (((time % HOUR) + HOUR) % HOUR)
}

/** Start of the day in UTC, the key of daily rollups. */
export function startOfUtcDay(time: number): number {
  return time - (((time % DAY) + DAY) % DAY)
}

/**
 * First hour that starts at or after this instant. Rollups store whole hours. Where midnight splits an hour, as in
 * Asia/Kolkata, the hour belongs to the local day in which it starts.
 */
export function firstHourFrom(time: number): number {
  return startOfHour(time + HOUR - 1)
}

/** Half-open span `[from, to)` of a timeframe at this instant in this time zone. */
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

/** Start of the local day that contains `time`. Days have 23 or 25 hours when the clocks change. */
export function startOfDay(time: number, zone: string): number {
  const { year, month, day } = localDateTime(time, zone)
  const midnightAsUtc = Date.UTC(year, month - 1, day)
  // Needs two passes: the offset at the first guess can differ from the offset at midnight.
  const guess = midnightAsUtc - zoneOffset(midnightAsUtc, zone)
  const start = midnightAsUtc - zoneOffset(guess, zone)
  // If a clock change repeats midnight, the day starts with the first one.
  if (localDateTime(start - HOUR, zone).day === day) return start - HOUR
  // If a clock change skips midnight, the day starts at the first instant with its date.
  return localDateTime(start, zone).day === day ? start : start + HOUR
}

/** Local date of an instant, `YYYY-MM-DD`. */
export function localDay(time: number, zone: string): string {
  const { year, month, day } = localDateTime(time, zone)
  return new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10)
}

/** Half-open span of a local day. Empty for a day that the zone skipped, as Samoa did when it crossed the date line. */
export function daySpan(day: string, zone: string): { from: number; to: number } {
  const noon = Date.parse(`${day}T12:00:00Z`)
  // Noon UTC can fall on an adjacent local day in zones beyond UTC±12.
  const time = [noon, noon - DAY / 2, noon + DAY / 2].find((candidate) => localDay(candidate, zone) === day)
  if (time === undefined) return { from: noon, to: noon }
  const from = startOfDay(time, zone)
  // 36 hours is longer than the longest day and shorter than the two shortest days together.
  return { from, to: startOfDay(from + 36 * HOUR, zone) }
}

let cachedDays: { zone: string; starts: readonly number[] } = { zone: '', starts: [] }

/** Start of each of the last local days, oldest first, ending with today. */
export function lastDays(count: number, now: number, zone: string): number[] {
  const today = startOfDay(now, zone)
  // Computing a month takes milliseconds, and the result is valid until midnight.
  if (cachedDays.zone !== zone || cachedDays.starts.at(-1) !== today || cachedDays.starts.length < count) {
    const starts = [today]
    while (starts.length < count) starts.unshift(startOfDay((starts[0] ?? 0) - 1, zone))
    cachedDays = { zone, starts }
  }
  return cachedDays.starts.slice(-count)
}

/** Start of "the last N days": today and the N - 1 local days before it. */
export function startOfLastDays(count: number, now: number, zone: string): number {
  return lastDays(count, now, zone)[0] ?? now
}

interface LocalDateTime {
  year: number
  month: number
  day: number
  hour: number
  minute: number
  second: number
}

function zoneOffset(time: number, zone: string): number {
  const { year, month, day, hour, minute, second } = localDateTime(time, zone)
  return Date.UTC(year, month - 1, day, hour, minute, second) - (time - (((time % 1000) + 1000) % 1000))
}

export function localDateTime(time: number, zone: string): LocalDateTime {
  if (zone === 'UTC') return utcDateTime(new Date(time))
  // American English, which every build of Node.js has. `formatToParts` takes 2.5 times as long.
  const numbers = formatterFor(zone).format(time).match(/\d+/g) ?? []
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = numbers.map(Number)
  return { year, month, day, hour, minute, second }
}

/** Avoids the formatter in the default time zone. Formatting the days of a chart takes a millisecond. */
function utcDateTime(date: Date): LocalDateTime {
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  }
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
