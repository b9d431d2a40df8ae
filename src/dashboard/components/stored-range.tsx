import { type OptionName, optionRow } from '../../config/options.js'
import { DAYS } from '../../diagnostics/days.js'
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

/** Says so, while a switch is accepted whose feature this version does not have yet. */
export function PlannedNote({ option }: { option: OptionName }): Rendered {
  if (!optionRow(option).planned) return null
  return (
    <p class="callout" role="note">
      This version does not count them yet: <code>{option}</code> is accepted, and the page shows what is stored.
    </p>
  )
}
