import { SEVERITIES } from '../../model/severity.js'
import { TIMEFRAMES } from '../../model/time.js'
import { PRIORITIES, STATUSES } from '../../model/workflow.js'
import type { ErrorsFilter, ErrorsPage } from '../../triage/errors-list.js'
import { errorsListInput, errorsPage, SORT_FIELDS } from '../../triage/errors-list.js'
import { words } from '../components/badges.js'
import { ErrorRows } from '../components/error-rows.js'
import { SelectField, TextField } from '../components/forms.js'
import { Pagination, paginationLinks } from '../components/pagination.js'
import { formatCount } from '../components/time.js'
import { definePage, type Visit } from '../define.js'

/** The list: filters in the address, a page of rows, and what can be done to several at once. */
export const errors = definePage({
  path: '/errors',
  text: 'Paginated, filterable list',
  parameters: errorsListInput,
  load: (context, filter): Promise<ErrorsPage> => errorsPage(context, filter),
  title: ({ pagination }) => `${formatCount(pagination.total_count)} errors`,
  json: (page) => page,
  links: ({ pagination }, visit) => paginationLinks(pagination, visit),
  view: ({ errors: rows, pagination }, visit, filter) => (
    <>
      <h1>Errors</h1>
      <Filters filter={filter} visit={visit} />
      <ErrorRows errors={rows} visit={visit} form="batch" empty={<Nothing visit={visit} />} />
      {rows.length > 0 && <BatchForm visit={visit} />}
      <Pagination pagination={pagination} visit={visit} />
    </>
  ),
})

function Nothing({ visit }: { visit: Visit }) {
  return visit.query.size === 0 ? (
    <>
      Nothing was recorded yet. To see how it looks, throw in one of your routes, or call{' '}
      <code>{"Tracker.Commands.LogError.call({ exception: new Error('Hello') })"}</code>.
    </>
  ) : (
    <>
      No error fits these filters. <a href={`${visit.base}/errors`}>Show all</a>
    </>
  )
}

function Filters({ filter, visit }: { filter: ErrorsFilter; visit: Visit }) {
  const named = (list: readonly string[]) => list.map((word) => [word, words(word)] as const)
  return (
    <form class="filters" method="get" action={`${visit.base}/errors`}>
      <TextField name="search" label="Search" type="search" value={filter.search} />
      <SelectField
        name="severity"
        label="Severity"
        options={[['', 'any'], ...named(SEVERITIES)]}
        value={filter.severity}
      />
      <SelectField name="status" label="Status" options={[['', 'any'], ...named(STATUSES)]} value={filter.status} />
      <SelectField
        name="priority_level"
        label="Priority"
        options={[['', 'any'], ...PRIORITIES.map((word, level) => [String(level), word] as const)]}
        value={filter.priority_level?.toString()}
      />
      <TextField name="platform" label="Platform" value={filter.platform} />
      <TextField name="error_type" label="Type" value={filter.error_type} />
      <TextField name="assigned_to" label="Assignee" value={filter.assigned_to} />
      <SelectField
        name="timeframe"
        label="Seen"
        options={[['', 'at any time'], ...named(TIMEFRAMES)]}
        value={filter.timeframe}
      />
      <SelectField
        name="sort_by"
        label="Sort by"
        options={named(SORT_FIELDS)}
        value={filter.sort_by ?? 'occurred_at'}
      />
      <SelectField
        name="sort_direction"
        label="Order"
        options={[
          ['desc', 'descending'],
          ['asc', 'ascending'],
        ]}
        value={filter.sort_direction ?? 'desc'}
      />
      <label class="check">
        <input type="checkbox" name="unresolved" value="true" checked={filter.unresolved} />{' '}
        <span>Unresolved only</span>
      </label>
      <label class="check">
        <input type="checkbox" name="hide_snoozed" value="true" checked={filter.hide_snoozed} />{' '}
        <span>Hide snoozed</span>
      </label>
      {(['application_id', 'user_id', 'app_version', 'git_sha', 'per_page'] as const).map(
        (name) => filter[name] !== undefined && <input type="hidden" name={name} value={String(filter[name])} />,
      )}
      <button type="submit">Filter</button>
    </form>
  )
}

function BatchForm({ visit }: { visit: Visit }) {
  return (
    <form id="batch" class="batch" method="post" action={`${visit.base}/errors/batch_action`}>
      <TextField name="resolved_by_name" label="Your name" value={visit.user} />
      <TextField name="resolution_comment" label="Comment" />
      <button type="submit" name="action_type" value="resolve">
        Resolve chosen
      </button>
      <button type="submit" name="action_type" value="delete" class="danger">
        Delete chosen
      </button>
    </form>
  )
}
