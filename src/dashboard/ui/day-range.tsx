import type { Rendered, Visit } from '../define.js'
import { currentPageWith } from '../links/href.js'
import { Tabs } from './layout/tabs.js'

const COMMON_DAYS = [7, 30, 90]

/** Time range of a page in days. An uncommon range from the URL gets its own tab. */
export function DayRange({ days, visit }: { days: number; visit: Visit }): Rendered {
  const ranges = [...new Set([...COMMON_DAYS, days])].sort((a, b) => a - b)
  return (
    <Tabs
      label="Range"
      tabs={ranges.map((range) => ({
        label: `${range} d`,
        href: currentPageWith(visit, { days: range, from: null, to: null }),
        current: range === days,
      }))}
    />
  )
}
