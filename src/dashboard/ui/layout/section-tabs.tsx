import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { findPosition, isEnabled } from './navigation.js'
import { Tabs } from './tabs.js'

/** Tabs of a section with several pages. */
export function SectionTabs({ visit }: { visit: Visit }): Rendered {
  const { section, tab: current } = findPosition(visit) ?? {}
  if (!section?.tabs?.length) return null
  return (
    <div class="section-tabs">
      <Tabs
        label={section.label}
        tabs={section.tabs.map((tab) => ({
          label: isEnabled(tab, visit.switches) ? tab.label : `${tab.label} (off)`,
          href: href(visit, tab.path, tab.query),
          current: tab.path === current?.path,
        }))}
      />
    </div>
  )
}
