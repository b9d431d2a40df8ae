import * as v from 'valibot'
import {
  type AuditFilter,
  AuditPage,
  auditActors,
  auditCsv,
  auditEntries,
  auditInput,
} from '../../../audit/audit-entries.js'
import { id, optional } from '../../../model/input/input.js'
import { AUDIT_ACTIONS, AUDIT_KINDS } from '../../../model/people/audit.js'
import { TIMEFRAMES } from '../../../model/time.js'
import { definePage, type Rendered, type Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { Empty } from '../../ui/empty.js'
import { FilterSelect, labeledOptions, valueOptions } from '../../ui/filter-select.js'
import { ApplicationField } from '../../ui/forms.js'
import { PageHead } from '../../ui/layout/page-head.js'
import { Pagination, paginationLinks } from '../../ui/pagination.js'
import { Entries } from './entries.js'
import { ACTION_LABELS, KIND_LABELS } from './labels.js'

/** Filters, without the position in the list. */
const FILTERS = ['actor', 'action', 'kind', 'timeframe', 'error_id'] as const

export const audit = definePage({
  path: '/settings/audit',
  text: 'Changes by people, programs and the tracker: who, what, when and from which address',
  role: 'admin',
  parameters: v.object({ ...auditInput.entries, application_id: optional(id()) }),
  load: (context, filter) => auditEntries.run(context, filter),
  loadForHtml: async (context) => ({ actors: await auditActors.run(context, {}) }),
  title: () => 'Audit',
  response: AuditPage,
  json: (data) => data,
  csv: (context, filter) => auditCsv(context, filter),
  links: ({ pagination }, visit) => paginationLinks(pagination, visit),
  view: ({ entries, pagination, actors }, visit, filter) => (
    <>
      <PageHead title="Audit" context="Changes by people, agents and Faultboard in all applications">
        {entries.length > 0 && (
          <a class="button" href={csvLink(visit)} download>
            Export
          </a>
        )}
      </PageHead>
      <Filters filter={filter} actors={actors} visit={visit} />
      {entries.length === 0 ? (
        <NoEntries filter={filter} visit={visit} />
      ) : (
        <div class="audit-log">
          <Entries entries={entries} visit={visit} />
        </div>
      )}
      <Pagination pagination={pagination} visit={visit} />
    </>
  ),
})

function Filters({
  filter,
  actors,
  visit,
}: {
  filter: AuditFilter
  actors: readonly string[]
  visit: Visit
}): Rendered {
  return (
    <search>
      <form class="filters" method="get" action={`${visit.base}/settings/audit`} data-filters autocomplete="off">
        <ApplicationField visit={visit} />
        <div class="filter-controls">
          <FilterSelect
            name="actor"
            label="Person"
            value={filter.actor}
            choices={[['', 'Person'], ...valueOptions(actors, filter.actor)]}
          />
          <FilterSelect
            name="action"
            label="Action"
            value={filter.action}
            choices={[['', 'Action'], ...AUDIT_ACTIONS.map((action) => [action, ACTION_LABELS[action]] as const)]}
          />
          <FilterSelect
            name="kind"
            label="Sign-in"
            value={filter.kind}
            choices={[['', 'Sign-in'], ...AUDIT_KINDS.map((kind) => [kind, KIND_LABELS[kind]] as const)]}
          />
          <FilterSelect
            name="timeframe"
            label="Time"
            value={filter.timeframe}
            choices={labeledOptions('Any time', TIMEFRAMES)}
          />
          <label class="audit-error">
            <span class="hidden">Error id</span>
            <input name="error_id" type="text" inputmode="numeric" placeholder="Error id" value={filter.error_id} />
          </label>
          <button type="submit" data-apply>
            Filter
          </button>
        </div>
      </form>
    </search>
  )
}

function NoEntries({ filter, visit }: { filter: AuditFilter; visit: Visit }): Rendered {
  if (FILTERS.every((name) => filter[name] === undefined)) {
    return <Empty title="No changes yet">Changes appear here, such as resolving or assigning an error.</Empty>
  }
  return (
    <Empty title="No matching changes">
      <a href={href(visit, '/settings/audit')}>Show all changes</a>
    </Empty>
  )
}

function csvLink({ base, query }: Visit): string {
  const filters = new URLSearchParams(query)
  filters.delete('page')
  return `${base}/settings/audit.csv${filters.size > 0 ? `?${filters}` : ''}`
}
