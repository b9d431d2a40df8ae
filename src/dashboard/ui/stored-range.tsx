import { DAYS } from '../../diagnostics/hourly/days.js'
import type { Rendered, Visit } from '../define.js'
import { sameWith } from '../href.js'
import { Tabs } from './tabs.js'

/** The choice of how many days back a page over stored sums looks. */
export function StoredRange({ days, visit }: { days: number; visit: Visit }): Rendered {
  return (
    <Tabs
      label="Range"
      tabs={DAYS.map((one) => ({ label: `${one} days`, href: sameWith(visit, { days: one }), current: one === days }))}
    />
  )
}
