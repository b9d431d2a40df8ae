import * as v from 'valibot'
import { cachedQuery } from '../../../analytics/cached-query.js'
import type { Context } from '../../../context.js'
import { unknownEnvironmentText } from '../../../model/environment.js'
import { choice, optional } from '../../../model/input/input.js'
import { parseQuery, QueryError } from '../../../model/search-query.js'
import { cleanText } from '../../../model/text.js'
import { knownNames, mergeNames } from '../../../people/known-people.js'
import { type ErrorsFilter, ErrorsPage, errorsListInput, readErrorsPage } from '../../../triage/list/errors-list.js'
import { downloadedErrors } from '../../../triage/list/export-errors.js'
import {
  distinctValues,
  type FilterChoices,
  listAssignees,
  listEnvironments,
  recentOrigins,
} from '../../../triage/list/filter-choices.js'
import { currentTab, type TabCounts, type TabName, tabCounts } from '../../../triage/list/list-tabs.js'
import { type FoundText, findText } from '../../../triage/list/matching-errors.js'
import { searchedTexts } from '../../../triage/list/search-text.js'
import { listQuery, listSavedViews, type SavedView } from '../../../triage/saved-views.js'
import { allows } from '../../access.js'
import { cachedEnvironments } from '../../cached-environments.js'
import { definePage, type Visit } from '../../define.js'
import { listLink } from '../../links/list-link.js'
import { currentListOrigin } from '../../links/list-origin.js'
import { PageHead } from '../../ui/layout/page-head.js'
import { formatTotal, Pagination, paginationLinks } from '../../ui/pagination.js'
import { BATCH_FORM, BatchBar } from './batch-bar.js'
import { ErrorRows } from './error-rows.js'
import { chipText, FilterChips, filterChips } from './filter-chips.js'
import { FilterForm } from './filter-form.js'
import { ListTabs } from './list-tabs.js'
import { LiveList } from './live-list.js'
import { NoErrors } from './no-errors.js'
import { SavedViews } from './saved-views.js'

const parameters = v.object({
  ...errorsListInput.entries,
  // Preselects all rows of the page, for browsers without JavaScript.
  select: optional(choice(['page'])),
})

type PageParameters = v.InferOutput<typeof parameters>

interface ErrorsData {
  page: ErrorsPage
  /** Null for JSON, which contains only the page. */
  controls: Controls | null
  /** Explains an empty list by an environment that no error has. */
  hint: string | null
}

interface Controls {
  counts: TabCounts
  choices: FilterChoices
  views: SavedView[]
}

export const errors = definePage({
  path: '/errors',
  text: 'Paginated, filterable list',
  role: 'viewer',
  parameters,
  async load(context, { select, ...filter }, { user }, wantsJson): Promise<ErrorsData> {
    await context.ready()
    const found = await findText(context, filter)
    // At the same time, because a server takes longest to count the matching errors.
    const [page, controls] = await Promise.all([
      readErrorsPage(context, filter, found),
      wantsJson ? null : loadControls(context, filter, user, found),
    ])
    const hint = controls && page.errors.length === 0 ? await environmentHint(context, filter) : null
    return { page, controls, hint }
  },
  async rejected(error, context, visit) {
    if (!(error instanceof QueryError)) return null
    const { query, ...others } = Object.fromEntries(visit.query)
    const result = v.safeParse(parameters, others)
    if (!result.success) return null
    await context.ready()
    const { select, ...filter } = result.output
    const choices = await loadChoices(context, filter.application_id ?? null)
    return (
      <>
        <PageHead title="Errors" />
        <FilterForm filter={{ ...filter, query }} choices={choices} types={[]} problem={error} visit={visit} />
      </>
    )
  },
  title: ({ page }, { user }, { select, ...filter }) => {
    const title = [listTitle(filter, user), ...filterChips(filter, user).map(chipText)].join(', ')
    return `(${formatTotal(page.pagination)}) ${cleanText(title, MAX_TITLE_LENGTH)}`
  },
  response: ErrorsPage,
  json: ({ page }) => page,
  links: ({ page }, visit) => paginationLinks(page.pagination, visit),
  csv: (context, { select, ...filter }) => downloadedErrors(context, filter),
  view: ({ page, controls, hint }, visit, { select, ...filter }) =>
    controls && (
      <>
        <PageHead title={listTitle(filter, visit.user)} context={countSummary(page)}>
          <SavedViews views={controls.views} list_query={listQuery(String(visit.query))} visit={visit} />
          <a class="button" href={exportLink(visit)} download>
            Export
          </a>
        </PageHead>
        <ListTabs filter={filter} counts={controls.counts} visit={visit} />
        <FilterForm
          filter={filter}
          choices={controls.choices}
          types={distinctValues(
            page.errors.map(({ error_type, application_id }) => ({ value: error_type, application_id })),
          )}
          visit={visit}
        />
        <FilterChips filter={filter} visit={visit} />
        <List {...{ page, controls, hint, filter, visit }} allSelected={select === 'page'} />
      </>
    ),
})

/** Exceeds the width of a browser tab. */
const MAX_TITLE_LENGTH = 100

const TAB_TITLES: Record<TabName, string> = {
  open: 'Open errors',
  mine: 'My open errors',
  regressed: 'Regressed errors',
  snoozed: 'Snoozed errors',
  resolved: 'Resolved errors',
  all: 'All errors',
}

function listTitle(filter: ErrorsFilter, user: string): string {
  const tab = currentTab(filter, user)
  return tab === null ? 'Errors' : TAB_TITLES[tab]
}

async function loadControls(context: Context, filter: ErrorsFilter, user: string, found: FoundText): Promise<Controls> {
  const [counts, choices, views] = await Promise.all([
    tabCounts(context, filter, { user, found }),
    loadChoices(context, filter.application_id ?? null),
    listSavedViews.run(context, {}),
  ])
  return { counts, choices, views }
}

/** Message about an environment of the query that no error has, or null. */
async function environmentHint(context: Context, { query, application_id }: ErrorsFilter): Promise<string | null> {
  if (!query) return null
  const names = parseQuery(query).flatMap(({ key, parts, isNegated }) =>
    key === 'environment' && !isNegated ? parts.join('*') : [],
  )
  // Not cached, because the cached list may lack a new environment.
  const known = names.length > 0 ? await listEnvironments(context, application_id ?? null) : []
  const problem = names.map((name) => unknownEnvironmentText(name, known)).find(Boolean)
  return problem ? `${problem}.` : null
}

async function loadChoices(context: Context, application_id: number | null): Promise<FilterChoices> {
  const [origins, environments, assignees, known] = await Promise.all([
    cachedQuery(context, `origins ${application_id}`, () => recentOrigins(context, application_id)),
    cachedEnvironments(context, application_id),
    listAssignees(context, application_id),
    knownNames(context),
  ])
  return { ...origins.value, environments: [...environments], assignees, people: mergeNames(assignees, known) }
}

function List({
  page: { errors: rows, pagination },
  controls: { counts, choices },
  hint,
  filter,
  visit,
  allSelected,
}: {
  page: ErrorsPage
  controls: Controls
  hint: string | null
  filter: Omit<PageParameters, 'select'>
  visit: Visit
  allSelected: boolean
}) {
  return (
    <LiveList visit={visit} filter={filter}>
      <ErrorRows
        errors={rows}
        visit={visit}
        form={allows(visit, 'responder') ? BATCH_FORM : undefined}
        sort={{
          field: filter.sort_by ?? 'occurred_at',
          direction: filter.sort_direction ?? 'desc',
          linkFor: (sort_by, sort_direction) => listLink(visit, filter, { sort_by, sort_direction }),
        }}
        allSelected={allSelected}
        origin={currentListOrigin(visit, pagination.page)}
        matches={searchedTexts(filter)}
        empty={<NoErrors filter={filter} counts={counts} hint={hint} visit={visit} />}
      />
      <Pagination pagination={pagination} visit={visit} />
      {rows.length > 0 && allows(visit, 'responder') && (
        <BatchBar
          visit={visit}
          list_query={listQuery(String(visit.query))}
          pagination={pagination}
          assignees={choices.people}
          select_all={listLink(visit, filter, { page: pagination.page, select: 'page' })}
        />
      )}
    </LiveList>
  )
}

function countSummary({ pagination }: ErrorsPage): string {
  return `${formatTotal(pagination)} ${pagination.total_count === 1 ? 'error' : 'errors'}`
}

function exportLink(visit: Visit): string {
  const query = listQuery(String(visit.query))
  return `${visit.base}/errors.csv${query && `?${query}`}`
}
