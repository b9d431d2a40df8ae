import { MAX_DAYS } from '../../analytics/sums/period.js'
import type { Rendered, Visit } from '../define.js'
import { currentPageWith } from '../links/href.js'
import { RANGES, Tabs } from './layout/tabs.js'

/** Time range of a page: common ranges as links, any other through a form. */
export function DayRange({ days, visit }: { days: number; visit: Visit }): Rendered {
  const otherParameters = [...visit.query].filter(([name]) => name !== 'days')
  return (
    <>
      <Tabs
        label="Range"
        tabs={RANGES.map((range) => ({
          label: `${range} days`,
          href: currentPageWith(visit, { days: range }),
          current: range === days,
        }))}
      />
      <form class="range-form" action={`${visit.base}${visit.path}`}>
        {otherParameters.map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <input type="number" name="days" min="1" max={MAX_DAYS} value={days} aria-label="Days" required />
        <button type="submit">Apply</button>
      </form>
    </>
  )
}
