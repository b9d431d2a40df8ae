import type { Rendered } from '../../define.js'
import { formatCount } from '../time.js'

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const
const LEVELS = 5

/** Occurrences by weekday and hour, as a table with shaded cells. */
export function HeatMap({ title, counts }: { title: string; counts: readonly (readonly number[])[] }): Rendered {
  const max = darkestCount(counts.flat())
  return (
    <>
      <table class="heat">
        <caption class="hidden">{title}</caption>
        <thead>
          <tr>
            <th scope="col">
              <span class="hidden">Weekday</span>
            </th>
            {Array.from({ length: 24 }, (_, hour) => (
              <th scope="col">
                <span class={hour % 6 === 0 ? undefined : 'hidden'}>{hour}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {WEEKDAYS.map((weekday, day) => (
            <tr>
              <th scope="row">
                <abbr title={weekday}>{weekday.slice(0, 3)}</abbr>
              </th>
              {Array.from({ length: 24 }, (_, hour) => {
                const count = counts[day]?.[hour] ?? 0
                return (
                  <td class={`heat-${shadeLevel(count, max)}`} title={`${weekday} ${hour}:00: ${formatCount(count)}`}>
                    <span class="hidden">{formatCount(count)}</span>
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="heat-legend" aria-hidden="true">
        <span>0</span>
        {Array.from({ length: LEVELS + 1 }, (_, level) => (
          <span class={`heat-${level}`} />
        ))}
        <span>
          {formatCount(
            max,
            counts.flat().some((count) => count > max),
          )}
        </span>
      </p>
    </>
  )
}

/** Returns the 95th percentile, so that one hour of an outage does not make all other cells look alike. */
function darkestCount(counts: readonly number[]): number {
  const nonZero = counts.filter((count) => count > 0).sort((a, b) => a - b)
  return nonZero[Math.ceil((nonZero.length - 1) * 0.95)] ?? 1
}

/** Returns level 0 for zero, and at least level 1 for every other count. */
function shadeLevel(count: number, max: number): number {
  return count === 0 ? 0 : Math.min(LEVELS, Math.max(1, Math.ceil((count / max) * LEVELS)))
}
