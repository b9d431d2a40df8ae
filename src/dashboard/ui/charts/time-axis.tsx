import { DAY, HOUR, localDateTime, localDay, MINUTE } from '../../../model/time.js'
import type { Rendered } from '../../define.js'
import { clockTime, shortDate } from '../time.js'

/** Label below a bar. */
interface Tick {
  index: number
  label: string
  /** True if a narrow chart omits the label. */
  isMinor: boolean
}

/** Labels of a chart over time, at round times. */
export interface TimeAxis {
  ticks: readonly Tick[]
  /** Start of the first bar, length of a bar and distance of the labels, for scripts that show local times. */
  local: { from: number; step: number; interval: number } | null
}

/** Distances of labels. Weeks start on Monday. */
const INTERVALS = [
  ...[1, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 7, 14, 28, 56].map((days) => days * DAY),
]
/** Fits on a wide page. Allows eight intervals of three hours in a day of 25 hours. */
const MAX_INTERVALS = 8.5
/** Fits on a phone. */
const MAX_NARROW_LABELS = 5
/** Monday, January 5, 1970. */
const FIRST_MONDAY = 4 * DAY

/** Returns labels for bars that start at these times. If `isLocal` is true, scripts replace the labels. */
export function timeAxis(
  starts: readonly number[],
  { step, time_zone, isLocal = false }: { step: number; time_zone: string; isLocal?: boolean },
): TimeAxis {
  const span = starts.length * step
  const interval = INTERVALS.find((length) => length >= step && span / length <= MAX_INTERVALS) ?? 56 * DAY
  const origin = interval % (7 * DAY) === 0 ? FIRST_MONDAY : 0
  const times = starts.map((start) => clockMilliseconds(start, time_zone))
  const ticks = starts.flatMap((start, index): Tick[] => {
    const time = times[index] ?? 0
    const [number, previous] = [time, times[index - 1] ?? time - step].map((at) => Math.floor((at - origin) / interval))
    if (number === undefined || previous === undefined || number <= previous) return []
    const label = interval < DAY ? clockTime(start, time_zone) : shortDate(localDay(start, time_zone))
    return [{ index, label, isMinor: number % 2 !== 0 }]
  })
  const fitting = ticks.length > MAX_NARROW_LABELS ? ticks : ticks.map((tick) => ({ ...tick, isMinor: false }))
  return { ticks: fitting, local: isLocal ? { from: starts[0] ?? 0, step, interval } : null }
}

/** Local time of the zone, expressed as if it were UTC. */
function clockMilliseconds(time: number, time_zone: string): number {
  const { year, month, day, hour, minute } = localDateTime(time, time_zone)
  return Date.UTC(year, month - 1, day, hour, minute)
}

/** Labels centered below their bars. */
export function TimeLabels({ axis: { ticks }, count }: { axis: TimeAxis; count: number }): Rendered {
  return (
    <svg class="x-axis" width="100%" height="16" aria-hidden="true" focusable="false">
      {ticks.map(({ index, label, isMinor }) => (
        <text x={`${Math.round(((index + 0.5) / count) * 10_000) / 100}%`} y="12" class={isMinor ? 'minor' : undefined}>
          {label}
        </text>
      ))}
    </svg>
  )
}

/** Attribute for the script that shows local times. */
export function localTimes({ local }: TimeAxis): string | undefined {
  return local ? `${local.from} ${local.step} ${local.interval}` : undefined
}
