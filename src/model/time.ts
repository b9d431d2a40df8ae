export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export const TIMEFRAMES = ['last_hour', 'today', 'yesterday', 'last_7_days', 'last_30_days', 'last_90_days'] as const
export type Timeframe = (typeof TIMEFRAMES)[number]

/** The first instant of the hour, as the rollups key it. */
export function hourOf(time: number): number {
  return time - (((time % HOUR) + HOUR) % HOUR)
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
      return { from: now - 7 * DAY, to: null }
    case 'last_30_days':
      return { from: now - 30 * DAY, to: null }
    case 'last_90_days':
      return { from: now - 90 * DAY, to: null }
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
