import { PRIORITIES } from '../../../model/workflow.js'
import { type ErrorsFilter, tagLines, UNASSIGNED } from '../../../triage/list/errors-list.js'
import { currentTab } from '../../../triage/list/list-tabs.js'
import type { Rendered, Visit } from '../../define.js'
import { listLink } from '../../links/list-link.js'
import { formatIdentifier } from '../../ui/badges.js'

/** Filters with a select in the bar. Style sheets hide their chips while the selects are visible. */
const SELECTS: ReadonlySet<keyof ErrorsFilter> = new Set(['severity', 'platform', 'assigned_to', 'timeframe'])

/**
 * Active filters, each with a link that removes it. Omits filters that a tab or a switcher shows, and the query, which the
 * search box shows.
 */
export function FilterChips({ filter, visit }: { filter: ErrorsFilter; visit: Visit }): Rendered {
  const chips = filterChips(filter, visit.user)
  const shown = chips.filter(({ name }) => name !== 'query')
  if (shown.length === 0) return null
  const cleared = Object.fromEntries(chips.map(({ name }) => [name, null]))
  return (
    <ul class="chips" aria-label="Active filters">
      {shown.map(({ name, label, value, rest = null }) => (
        <li class={SELECTS.has(name) ? 'in-select' : undefined}>
          <a class="chip" href={listLink(visit, filter, { [name]: rest })} title="Remove filter">
            {label && <span class="chip-label">{`${label} `}</span>}
            {value && <bdi>{value}</bdi>}
            <span aria-hidden="true" class="cross" />
            <span class="hidden">, remove</span>
          </a>
        </li>
      ))}
      <li class={shown.every(({ name }) => SELECTS.has(name)) ? 'in-select' : undefined}>
        <a class="clear" href={listLink(visit, filter, cleared)}>
          Clear all
        </a>
      </li>
    </ul>
  )
}

interface Chip {
  name: keyof ErrorsFilter
  label: string
  value: string
  /** Filter after this chip is removed. */
  rest?: string | null
}

/** Filter in words, such as `severity critical`. A query needs no label. */
export function chipText({ label, value }: Chip): string {
  return label === 'Query' ? value : `${label.toLowerCase()} ${value}`.trimEnd()
}

/** Chips in the order of the controls. */
export function filterChips(filter: ErrorsFilter, user: string): Chip[] {
  const chips: Chip[] = []
  const add = (name: keyof ErrorsFilter, label: string, value: string | undefined) => {
    if (value !== undefined) chips.push({ name, label, value })
  }
  const tab = currentTab(filter, user)
  const isOpenTab = tab === 'open' || tab === 'mine'
  if (filter.unresolved && !isOpenTab) add('unresolved', 'Unresolved', '')
  if (filter.hide_snoozed && !isOpenTab) add('hide_snoozed', 'Not snoozed', '')
  if (filter.snoozed && tab !== 'snoozed') add('snoozed', 'Snoozed', '')
  if (tab !== 'resolved') add('status', 'Status', filter.status && formatIdentifier(filter.status))
  add('query', 'Query', filter.query)
  add('search', 'Search', filter.search)
  add('severity', 'Severity', filter.severity)
  add('platform', 'Platform', filter.platform)
  if (tab !== 'mine')
    add('assigned_to', 'Assignee', filter.assigned_to === UNASSIGNED ? 'Unassigned' : filter.assigned_to)
  add('timeframe', 'Seen', filter.timeframe && formatIdentifier(filter.timeframe))
  add('day', 'Day', filter.day)
  add('error_type', 'Type', filter.error_type)
  add('priority_level', 'Priority', filter.priority_level === undefined ? undefined : PRIORITIES[filter.priority_level])
  add('app_version', 'Version', filter.app_version)
  add('user_id', 'User', filter.user_id)
  add('git_sha', 'Git SHA', filter.git_sha)
  const tags = tagLines(filter.tag)
  for (const value of tags) {
    chips.push({ name: 'tag', label: 'Tag', value, rest: tags.filter((tag) => tag !== value).join('\n') || null })
  }
  return chips
}
