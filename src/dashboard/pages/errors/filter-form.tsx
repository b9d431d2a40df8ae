import type { QueryError } from '../../../model/search-query.js'
import { SEVERITIES } from '../../../model/severity/severity.js'
import { TIMEFRAMES } from '../../../model/time.js'
import { PRIORITIES, STATUSES } from '../../../model/workflow.js'
import { type ErrorsFilter, SORT_FIELDS, tagLines, UNASSIGNED } from '../../../triage/list/errors-list.js'
import type { FilterChoices, RecentValue } from '../../../triage/list/filter-choices.js'
import type { Rendered, Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { capitalize, formatIdentifier } from '../../ui/badges.js'
import { FilterSelect, labeledOptions, valueOptions } from '../../ui/filter-select.js'
import { SelectField, TextField } from '../../ui/forms.js'
import { Menu } from '../../ui/menu.js'
import { filterChips } from './filter-chips.js'
import { SearchBox } from './search-box.js'

const names = (list: readonly RecentValue[]) => list.map(({ value }) => value)

type Choice = readonly [value: string, text: string]

/** Filter controls of the list. A GET form; JavaScript submits it on change. */
export function FilterForm({
  filter,
  choices,
  types,
  problem,
  visit,
}: {
  filter: ErrorsFilter
  choices: FilterChoices
  /** Types of the listed errors, for suggestions. */
  types: readonly RecentValue[]
  /** Problem of a malformed query. */
  problem?: QueryError
  visit: Visit
}): Rendered {
  const count = filterChips(filter, visit.user).filter(({ name }) => name !== 'query' && name !== 'search').length
  return (
    <search>
      <form class="filters" method="get" action={`${visit.base}/errors`} data-filters autocomplete="off">
        {(['application_id', 'environment', 'unresolved', 'hide_snoozed', 'snoozed', 'regressed'] as const).map(
          (name) => filter[name] && <input type="hidden" name={name} value={String(filter[name])} />,
        )}
        <SearchBox filter={filter} choices={choices} types={types} problem={problem} visit={visit} />
        {/* Narrow screens show the controls only while this element is open. */}
        <details class="menu filter-toggle">
          <summary class="button">{count === 0 ? 'Filters' : `Filters (${count})`}</summary>
        </details>
        <div class="filter-controls">
          <FilterSelect
            name="severity"
            label="Severity"
            value={filter.severity}
            choices={labeledOptions('Severity', SEVERITIES)}
          />
          <FilterSelect
            name="platform"
            label="Platform"
            value={filter.platform}
            choices={[['', 'Platform'], ...valueOptions(names(choices.platforms), filter.platform)]}
          />
          <FilterSelect
            name="assigned_to"
            label="Assignee"
            value={filter.assigned_to}
            choices={[
              ['', 'Assignee'],
              [UNASSIGNED, 'Unassigned'],
              ...valueOptions(choices.assignees, filter.assigned_to === UNASSIGNED ? undefined : filter.assigned_to),
            ]}
          />
          <FilterSelect
            name="timeframe"
            label="Seen"
            value={filter.timeframe}
            choices={labeledOptions('Any time', TIMEFRAMES)}
          />
          <button type="submit" data-apply>
            Filter
          </button>
          <MoreFilters filter={filter} choices={choices} visit={visit} />
        </div>
      </form>
    </search>
  )
}

function MoreFilters({ filter, choices, visit }: { filter: ErrorsFilter; choices: FilterChoices; visit: Visit }) {
  return (
    <Menu label="More">
      <div class="more">
        <TextField name="error_type" label="Type" value={filter.error_type} />
        <SelectField
          name="status"
          label="Status"
          options={[['', 'Any'], ...STATUSES.map((status) => [status, capitalize(formatIdentifier(status))] as const)]}
          value={filter.status}
        />
        <SelectField
          name="priority_level"
          label="Priority"
          options={[['', 'Any'], ...PRIORITIES.map((option, level) => [String(level), capitalize(option)] as const)]}
          value={filter.priority_level?.toString()}
        />
        <SelectField
          name="app_version"
          label="Version"
          options={[['', 'Any'], ...valueOptions(names(choices.app_versions), filter.app_version)]}
          value={filter.app_version}
        />
        <TextField name="user_id" label="User" value={filter.user_id} />
        {/* The select "Any time" has the presets. */}
        <details class="custom-day">
          <summary>
            <span class="label">Day</span>
            <span class="button">{filter.day ?? 'Any'}</span>
          </summary>
          <input name="day" type="date" value={filter.day} aria-label="Day" />
        </details>
        <TextField name="git_sha" label="Git SHA" value={filter.git_sha} />
        {tagLines(filter.tag).map((tag) => (
          <input type="hidden" name="tag" value={tag} />
        ))}
        <div>
          <TextField
            name="tag"
            label={filter.tag === undefined ? 'Tag (key:value)' : 'Another tag (key:value)'}
            placeholder="city:Berlin"
            list="tags"
            aria-describedby="tag-hint"
          />
          {/* The script adds suggestions. */}
          <datalist id="tags" data-tags={href(visit, '/errors/tags.json')} />
          <small id="tag-hint" class="muted">
            Can be repeated. All tags must match.
          </small>
        </div>
        <SelectField
          name="sort_by"
          label="Sort by"
          options={SORT_FIELDS.map((field) => [field === 'occurred_at' ? '' : field, SORT_LABELS[field]])}
          value={filter.sort_by === 'occurred_at' ? '' : filter.sort_by}
        />
        <SelectField
          name="sort_direction"
          label="Order"
          options={[
            ['', 'Descending'],
            ['asc', 'Ascending'],
          ]}
          value={filter.sort_direction === 'asc' ? 'asc' : ''}
        />
        <SelectField
          name="per_page"
          label="Rows per page"
          options={pageSizeOptions(filter.per_page)}
          value={filter.per_page === 25 ? '' : filter.per_page?.toString()}
        />
        <button type="submit" class="primary">
          Apply
        </button>
      </div>
    </Menu>
  )
}

const SORT_LABELS: Record<(typeof SORT_FIELDS)[number], string> = {
  occurred_at: 'Last seen',
  first_seen_at: 'First seen',
  occurrence_count: 'Occurrences',
  error_type: 'Type',
  platform: 'Platform',
  severity: 'Severity',
  priority_level: 'Priority',
  status: 'Status',
  app_version: 'Version',
}

function pageSizeOptions(selected: number | undefined): Choice[] {
  const sizes = [...new Set([25, 50, 100, selected ?? 25])].sort((a, b) => a - b)
  return sizes.map((size) => [size === 25 ? '' : String(size), String(size)])
}
