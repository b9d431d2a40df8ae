import { DAYS } from '../../diagnostics/hourly/days.js'
import type { Rendered, Visit } from '../define.js'
import { currentPageWith } from '../links/href.js'
import { Tabs } from './layout/tabs.js'

/** Time range of a page with daily totals. */
export function StoredRange({ days, visit }: { days: number; visit: Visit }): Rendered {
  return (
    <Tabs
      label="Range"
      tabs={DAYS.map((range) => ({
        label: `${range} days`,
        href: currentPageWith(visit, { days: range }),
        current: range === days,
      }))}
    />
  )
}
