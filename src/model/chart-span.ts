import type * as v from 'valibot'
import { TrackerError } from './errors.js'
import { choice, instant, optional } from './input/input.js'
import { DAY, firstHourFrom, HOUR, lastDays, MINUTE, startOfDay, startOfHour } from './time.js'

export const CHART_RANGES = ['1h', '24h', '7d', '30d', '90d'] as const
export type ChartRange = (typeof CHART_RANGES)[number]

/** Length of a bar. Five-minute bars are counted from stored occurrences, because rollups are hourly. */
export type ChartStep = 'five_minutes' | 'hour' | 'quarter_day' | 'day'

/** Time span of a chart, divided into bars. */
export interface ChartSpan {
  /** Null for a zoomed span. */
  range: ChartRange | null
  from: number
  /** End of the last bar, which can be in the future. */
  to: number
  step: ChartStep
  /** Start of each bar, ascending. */
  starts: readonly number[]
}

/** Parameters that select the span: a range that ends now, or instants. Without `to`, the span ends now. */
export const chartSpanInput = {
  range: optional(choice(CHART_RANGES)),
  from: optional(instant()),
  to: optional(instant()),
}
/** Parameters that zoom into a part of a chart. */
export const zoomInput = { from: chartSpanInput.from, to: chartSpanInput.to }
type ChartSpanInput = v.InferOutput<v.ObjectSchema<typeof chartSpanInput, undefined>>

const DEFAULT_RANGE: ChartRange = '30d'
const STEP_MS = { five_minutes: 5 * MINUTE, hour: HOUR, quarter_day: 6 * HOUR } as const
/** Longest span for each step. Keeps a chart below 80 bars, and shows a day with 25 hours in hourly bars. */
const MAX_FIVE_MINUTES_SPAN_MS = 3 * HOUR
const MAX_HOUR_SPAN_MS = 50 * HOUR
const MAX_QUARTER_SPAN_MS = 15 * DAY
/** Length of a span without a start. */
const DEFAULT_SPAN_MS = 30 * DAY
const MAX_SPAN_MS = 366 * DAY

/**
 * Parameters of the chart of an error. A new error gets the shortest range that contains its first occurrence, so that
 * the chart has more than one bar. From the default range on, containing the last occurrence is enough. An older error
 * gets the 30 days up to its last occurrence.
 */
export function fittingSpan(
  { first, last }: { first: number; last: number },
  now: number,
  zone: string,
): Pick<ChartSpanInput, 'range' | 'from' | 'to'> {
  const shortest = CHART_RANGES.find((range, index) => {
    const start = rangeSpan(range, now, zone).from
    return start <= first || (start <= last && index >= CHART_RANGES.indexOf(DEFAULT_RANGE))
  })
  return shortest ? { range: shortest } : { from: last - DEFAULT_SPAN_MS, to: last + 1 }
}

/** Returns the selected span. Throws `invalid_input` if the instants do not form a span. */
export function chartSpan({ range, from, to }: ChartSpanInput, now: number, zone: string): ChartSpan {
  if (from === undefined && to === undefined) return rangeSpan(range ?? DEFAULT_RANGE, now, zone)
  const end = to ?? now
  const start = from ?? end - DEFAULT_SPAN_MS
  if (end <= start || start >= now) throw new TrackerError('invalid_input', 'from must be before to, and in the past.')
  if (end - start > MAX_SPAN_MS) {
    throw new TrackerError('invalid_input', 'from must be at most 366 days before to.')
  }
  return zoomedSpan(start, Math.min(end, now + DAY), now, zone)
}

function rangeSpan(range: ChartRange, now: number, zone: string): ChartSpan {
  switch (range) {
    case '1h': {
      const to = roundDown(now, STEP_MS.five_minutes) + STEP_MS.five_minutes
      return { range, ...divideSpan('five_minutes', to - HOUR, to) }
    }
    case '24h': {
      const to = startOfHour(now) + HOUR
      return { range, ...divideSpan('hour', to - DAY, to) }
    }
    case '7d':
      return { range, ...divideDays('quarter_day', lastDays(7, now, zone), now, zone) }
    case '30d':
    case '90d':
      return { range, ...divideDays('day', lastDays(Number.parseInt(range, 10), now, zone), now, zone) }
  }
}

/** Span of the last local days, with one bar per day. */
export function daysSpan(days: number, now: number, zone: string): ChartSpan {
  return { range: null, ...divideDays('day', lastDays(days, now, zone), now, zone) }
}

/** Aligns the span to its bars. Bars that start in the future are omitted. */
function zoomedSpan(from: number, to: number, now: number, zone: string): ChartSpan {
  const length = to - from
  if (length <= MAX_FIVE_MINUTES_SPAN_MS) {
    const step = STEP_MS.five_minutes
    const end = Math.min(roundDown(to + step - 1, step), roundDown(now, step) + step)
    return { range: null, ...divideSpan('five_minutes', roundDown(from, step), end) }
  }
  if (length <= MAX_HOUR_SPAN_MS) {
    const end = Math.min(firstHourFrom(to), startOfHour(now) + HOUR)
    return { range: null, ...divideSpan('hour', Math.min(firstHourFrom(from), end - HOUR), end) }
  }
  const step = length <= MAX_QUARTER_SPAN_MS ? 'quarter_day' : 'day'
  return { range: null, ...divideDays(step, daysBetween(from, Math.min(to, now + 1), zone), now, zone) }
}

type Division = Omit<ChartSpan, 'range'>

function divideSpan(step: 'five_minutes' | 'hour', from: number, to: number): Division {
  const count = Math.round((to - from) / STEP_MS[step])
  return { step, from, to, starts: Array.from({ length: count }, (_, i) => from + i * STEP_MS[step]) }
}

function divideDays(step: 'quarter_day' | 'day', days: readonly number[], now: number, zone: string): Division {
  const [from = now, last = now] = [days[0], days.at(-1)]
  const endOfLastDay = nextDay(last, zone)
  if (step === 'day') return { step, from, to: endOfLastDay, starts: days }
  const starts = days.flatMap((start, i) =>
    [0, 1, 2, 3]
      .map((quarter) => start + quarter * STEP_MS.quarter_day)
      .filter((time) => time < (days[i + 1] ?? endOfLastDay) && time <= now),
  )
  return { step, from, to: Math.min(endOfLastDay, (starts.at(-1) ?? from) + STEP_MS.quarter_day), starts }
}

function daysBetween(from: number, to: number, zone: string): number[] {
  const days = [startOfDay(from, zone)]
  for (let day = nextDay(days[0] ?? from, zone); day < to; day = nextDay(day, zone)) days.push(day)
  return days
}

/** 36 hours is longer than the longest day and shorter than the two shortest days together. */
function nextDay(day: number, zone: string): number {
  return startOfDay(day + 36 * HOUR, zone)
}

function roundDown(time: number, step: number): number {
  return Math.floor(time / step) * step
}

/** End of a bar. */
export function barEnd({ starts, to }: Pick<ChartSpan, 'starts' | 'to'>, index: number): number {
  return starts[index + 1] ?? to
}

/** Span of equal length directly before the elapsed part of this span. */
export function spanBefore({ from, to }: Pick<ChartSpan, 'from' | 'to'>, now: number): { from: number; to: number } {
  // A span can start now.
  const length = Math.max(1, Math.min(to, now) - from)
  return { from: from - length, to: from }
}
