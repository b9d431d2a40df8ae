import { MAX_DAYS } from '../../analytics/sums/period.js'
import type { Rendered, Visit } from '../define.js'
import { sameWith } from '../href.js'
import { RANGES, Tabs } from './tabs.js'

/** How many days back a page looks: the usual numbers as links, any other by a small form. */
export function DayRange({ days, visit }: { days: number; visit: Visit }): Rendered {
  const others = [...visit.query].filter(([name]) => name !== 'days')
  return (
    <>
      <Tabs
        label="Range"
        tabs={RANGES.map((one) => ({
          label: `${one} days`,
          href: sameWith(visit, { days: one }),
          current: one === days,
        }))}
      />
      <form class="range-form" action={`${visit.base}${visit.path}`}>
        {others.map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <input type="number" name="days" min="1" max={MAX_DAYS} value={days} aria-label="Days" required />
        <button type="submit">Show days</button>
      </form>
    </>
  )
}
