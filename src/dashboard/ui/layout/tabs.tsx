import type { Rendered } from '../../define.js'
import { formatCount } from '../time.js'

export interface Tab {
  label: string
  href: string
  current: boolean
  /** Text for a lower bound, such as `10,000+`. */
  count?: number | string | undefined
}

/** Row of links with the current page marked. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }): Rendered {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <a href={tab.href} aria-current={tab.current ? 'page' : undefined}>
          {tab.label}
          {tab.count !== undefined && (
            <span class="count">{typeof tab.count === 'number' ? formatCount(tab.count) : tab.count}</span>
          )}
        </a>
      ))}
    </nav>
  )
}
