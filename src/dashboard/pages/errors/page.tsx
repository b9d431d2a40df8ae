import * as v from 'valibot'
import type { Context } from '../../../context.js'
import { choice, optional } from '../../../model/input.js'
import { type ErrorsPage, errorsListInput, readErrorsPage } from '../../../triage/list/errors-list.js'
import { downloadedErrors } from '../../../triage/list/export-errors.js'
import { type FilterChoices, filterChoices } from '../../../triage/list/filter-choices.js'
import { type FoundText, findText } from '../../../triage/list/matching-errors.js'
import { type StatusCounts, statusCounts } from '../../../triage/list/status-counts.js'
import { listQuery, listSavedViews, type SavedView } from '../../../triage/saved-views.js'
import { definePage, type Visit } from '../../define.js'
import { listAddress } from '../../list-address.js'
import { thisList } from '../../list-place.js'
import { PageHead } from '../../ui/page-head.js'
import { Pagination, paginationLinks, totalOf } from '../../ui/pagination.js'
import { BATCH_FORM, BatchBar } from './batch-bar.js'
import { ErrorRows } from './error-rows.js'
import { FilterChips } from './filter-chips.js'
import { FilterForm } from './filter-form.js'
import { LiveList } from './live-list.js'
import { NoErrors } from './no-errors.js'
import { SavedViews } from './saved-views.js'
import { countText, StatusTabs } from './status-tabs.js'

const parameters = v.object({
  ...errorsListInput.entries,
  // All rows of the page chosen beforehand, for those without script.
  choose: optional(choice(['page'])),
})

type Parameters = v.InferOutput<typeof parameters>

interface ErrorsData {
  page: ErrorsPage
  found: FoundText
}

interface Controls {
  counts: StatusCounts
  choices: FilterChoices
  views: SavedView[]
}

/** The list: filters in the address, a page of rows, and what can be done to several at once. */
export const errors = definePage({
  path: '/errors',
  text: 'Paginated, filterable list',
  parameters,
  async load(context, { choose, ...filter }): Promise<ErrorsData> {
    await context.ready()
    const found = await findText(context, filter)
    return { page: await readErrorsPage(context, filter, found), found }
  },
  furnish: loadControls,
  title: ({ page }) => `(${totalOf(page.pagination)}) Errors`,
  json: ({ page }) => page,
  links: ({ page }, visit) => paginationLinks(page.pagination, visit),
  csv: (context, { choose, ...filter }) => downloadedErrors(context, filter),
  view: (data, visit, { choose, ...filter }) => (
    <>
      <PageHead title="Errors" context={contextOf(data)}>
        <SavedViews views={data.views} list_query={listQuery(String(visit.query))} visit={visit} />
        <a class="button" href={exportAddress(visit)} download>
          Export
        </a>
      </PageHead>
      <StatusTabs filter={filter} counts={data.counts} visit={visit} />
      <FilterForm filter={filter} choices={data.choices} visit={visit} />
      <FilterChips filter={filter} visit={visit} />
      <List data={data} filter={filter} visit={visit} all_chosen={choose === 'page'} />
    </>
  ),
})

async function loadControls(
  context: Context,
  { found }: ErrorsData,
  { choose, ...filter }: Parameters,
): Promise<Controls> {
  const [counts, choices, views] = await Promise.all([
    statusCounts(context, filter, { found }),
    filterChoices(context, filter.application_id),
    listSavedViews.run(context, {}),
  ])
  return { counts, choices, views }
}

function List({
  data: { page, counts, choices },
  filter,
  visit,
  all_chosen,
}: {
  data: ErrorsData & Controls
  filter: Omit<Parameters, 'choose'>
  visit: Visit
  all_chosen: boolean
}) {
  const { errors: rows, pagination } = page
  return (
    <LiveList visit={visit} filter={filter}>
      <ErrorRows
        errors={rows}
        visit={visit}
        form={BATCH_FORM}
        sort={{
          field: filter.sort_by ?? 'occurred_at',
          direction: filter.sort_direction ?? 'desc',
          address: (sort_by, sort_direction) => listAddress(visit, filter, { sort_by, sort_direction }),
        }}
        all_chosen={all_chosen}
        behind={thisList(visit, pagination.page)}
        empty={<NoErrors filter={filter} counts={counts} visit={visit} />}
      />
      <Pagination pagination={pagination} visit={visit} />
      {rows.length > 0 && (
        <BatchBar
          visit={visit}
          list_query={listQuery(String(visit.query))}
          page={pagination.page}
          assignees={choices.assignees}
          choose_all={listAddress(visit, filter, { page: pagination.page, choose: 'page' })}
        />
      )}
    </LiveList>
  )
}

function contextOf({ page: { pagination }, counts: { snoozed } }: ErrorsData & Controls): string {
  const fitting = `${totalOf(pagination)} ${pagination.total_count === 1 ? 'error' : 'errors'}`
  return snoozed.count ? `${fitting} · ${countText(snoozed)} snoozed` : fitting
}

function exportAddress(visit: Visit): string {
  const query = listQuery(String(visit.query))
  return `${visit.base}/errors.csv${query && `?${query}`}`
}
