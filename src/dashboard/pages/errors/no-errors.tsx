import { queriesWithoutOneTerm, unknownOperator } from '../../../model/search-query.js'
import type { ErrorsFilter } from '../../../triage/list/errors-list.js'
import { currentTab, type TabName, withoutTab } from '../../../triage/list/list-tabs.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { listLink } from '../../links/list-link.js'
import { Empty } from '../../ui/empty.js'
import { FirstRun } from '../../ui/first-run.js'
import { filterChips } from './filter-chips.js'
import { countText, type ListTabsProps } from './list-tabs.js'

/** Empty state of the list with the next step. */
export function NoErrors({ filter, counts, hint, visit }: ListTabsProps & { hint: string | null }): Rendered {
  if (filterChips(filter, visit.user).length > 0) {
    const removable = withoutOneTerm(filter, visit)
    return (
      <Empty title="No errors match your filters.">
        {hint ? <span class="empty-line hint">{hint}</span> : <UnknownOperatorHint filter={filter} visit={visit} />}
        {removable.length > 0 && (
          <span class="empty-line">
            {'All terms must match. Search without '}
            <Links links={removable} separator=" or " />
          </span>
        )}
        <span class="empty-line">
          <Links links={nextSteps({ filter, counts, visit })} separator=" · " />
        </span>
      </Empty>
    )
  }
  if (counts.all.count === 0) return <FirstRun visit={visit} />
  return (
    <Empty title={EMPTY_TITLES[currentTab(filter, visit.user) ?? 'all']}>
      <a href={listLink(visit, withoutTab(filter, visit.user))}>{`Show all ${countText(counts.all) ?? ''}`}</a>
    </Empty>
  )
}

/** Explains a word that looks like an operator, with a link to the corrected query. */
function UnknownOperatorHint({ filter, visit }: { filter: ErrorsFilter; visit: Visit }) {
  const found = unknownOperator(filter.query ?? '')
  if (!found) return null
  const { name, nearest, replacement, corrected } = found
  const suggestion = <code dir="auto">{corrected === null && nearest ? `${nearest}:` : replacement}</code>
  return (
    <span class="empty-line hint">
      <code>{`${name}:`}</code>
      {` is not an operator, so it was searched as text. ${nearest ? 'Did you mean' : 'To find a tag, search for'} `}
      {corrected === null ? suggestion : <a href={listLink(visit, filter, { query: corrected })}>{suggestion}</a>}
      {nearest ? '?' : '.'}
    </span>
  )
}

interface Step {
  label: Rendered
  link: string
}

function Links({ links, separator }: { links: readonly Step[]; separator: string }): Rendered {
  return links.map(({ label, link }, i) => (
    <>
      {i > 0 && separator}
      <a href={link}>{label}</a>
    </>
  ))
}

/** A long query has too many variants to be useful. */
const MAX_REMOVABLE_TERMS = 5

/** Links to the same list without one of the terms of the query. */
function withoutOneTerm(filter: ErrorsFilter, visit: Visit): Step[] {
  const queries = queriesWithoutOneTerm(filter.query ?? '')
  if (queries.length > MAX_REMOVABLE_TERMS) return []
  return queries.map(({ removed, rest }) => ({
    label: <code dir="auto">{removed}</code>,
    link: listLink(visit, filter, { query: rest }),
  }))
}

/** Links that keep the search and remove other limits. */
function nextSteps({ filter, counts, visit }: ListTabsProps): Step[] {
  const others = withoutTab(filter, visit.user)
  const { count } = counts.all
  const matches = count === 1 ? '1 matching error' : `${countText(counts.all)} matching errors`
  const isScoped = visit.application_id !== null || visit.environment !== null
  return [
    ...(count ? [{ label: `Show ${matches} in All`, link: listLink(visit, others) }] : []),
    ...(!count && isScoped ? [{ label: 'Search everywhere', link: listLink(visit, others, UNSCOPED) }] : []),
    { label: 'Clear filters', link: href(visit, '/errors') },
  ]
}

/** Selects all applications and environments. */
const UNSCOPED = { application_id: null, environment: null }

const EMPTY_TITLES: Record<TabName, string> = {
  open: 'No open errors',
  mine: 'No open errors are assigned to you',
  regressed: 'No errors have regressed',
  snoozed: 'No errors are snoozed',
  resolved: 'No errors are resolved',
  all: 'No errors',
}
