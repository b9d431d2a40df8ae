import type { Rendered } from '../define.js'
import { formatCount } from './time.js'

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const
const LEVELS = 5

/** Occurrences by weekday and hour: a table in which the shade of a cell says what its number says. */
export function HeatMap({ title, counts }: { title: string; counts: readonly (readonly number[])[] }): Rendered {
  const most = strongest(counts.flat())
  return (
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
                <td class={`heat-${levelOf(count, most)}`} title={`${weekday} ${hour}:00: ${formatCount(count)}`}>
                  <span class="hidden">{formatCount(count)}</span>
                </td>
              )
            })}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** From where on a shade is the strongest: one hour of an outage must not make all others look alike. */
function strongest(counts: readonly number[]): number {
  const seen = counts.filter((count) => count > 0).sort((a, b) => a - b)
  return seen[Math.ceil((seen.length - 1) * 0.95)] ?? 1
}

/** Nothing is 0; anything at all is at least 1. */
function levelOf(count: number, most: number): number {
  return count === 0 ? 0 : Math.min(LEVELS, Math.max(1, Math.ceil((count / most) * LEVELS)))
}
