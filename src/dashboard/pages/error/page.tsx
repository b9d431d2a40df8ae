import * as v from 'valibot'
import { cachedQuery } from '../../../analytics/cached-query.js'
import { choice, integer, optional } from '../../../model/input/input.js'
import * as r from '../../../model/result.js'
import { listAssignees } from '../../../triage/list/filter-choices.js'
import { requestCurl } from '../../../triage/queries/error-curl.js'
import { ErrorGrouping, explainGrouping } from '../../../triage/queries/error-grouping.js'
import { ErrorHistory, loadHistogram, loadShares } from '../../../triage/queries/error-history.js'
import { locationPhrase } from '../../../triage/queries/error-location.js'
import { errorMarkdown } from '../../../triage/queries/error-markdown.js'
import { findNeighbors } from '../../../triage/queries/error-neighbors.js'
import { ErrorRecord } from '../../../triage/queries/error-record.js'
import { ErrorUsers, loadTopUsers } from '../../../triage/queries/error-users.js'
import { findError } from '../../../triage/queries/find-error.js'
import { definePage, type Visit } from '../../define.js'
import { href } from '../../links/href.js'
import { listOriginInput, originFilter } from '../../links/list-origin.js'
import { formatCompact } from '../../ui/charts/charts.js'
import { CopyAs } from './actions/copy-as.js'
import { ErrorActions } from './actions/error-actions.js'
import { ErrorFacts, HISTOGRAMS, Histogram } from './error-facts.js'
import { ErrorHead } from './error-head.js'
import { ErrorShares } from './error-shares.js'
import { Grouping } from './grouping.js'
import { Breadcrumbs } from './occurrence/breadcrumbs.js'
import { OccurrenceStep, Occurrences } from './occurrence/occurrences.js'
import { OccurrenceDetails } from './occurrence/request-details.js'
import { Related, relatedParts } from './related/related.js'
import { loadStacks } from './stack/shown-stacks.js'
import { StackSection } from './stack/stack.js'
import { ActivityTrail } from './trail.js'

export const error = definePage({
  path: '/errors/:error_id{[0-9]+}',
  text: 'Details of one error',
  parameters: v.object({
    ...findError.input.entries,
    histogram: optional(choice(HISTOGRAMS)),
    wide_frame: optional(integer({ min: 1, max: 10 })),
    ...listOriginInput,
  }),
  async load(context, parameters, visit) {
    const record = await findError.run(context, parameters)
    const { id } = record
    const [histogram, shares, users, related] = await Promise.all([
      loadHistogram(context, id),
      cachedQuery(context, `shares of ${id}`, () => loadShares(context, id, Date.parse(record.occurred_at))),
      cachedQuery(context, `users of ${id}`, () => loadTopUsers(context, id)),
      relatedParts(context, record, visit),
    ])
    return {
      record,
      history: { ...histogram, ...shares.value },
      users: users.value,
      grouping: explainGrouping(record, context.config.project_root ?? ''),
      related,
    }
  },
  async loadForHtml(context, { record }, { application_id, list_query, list_page, wide_frame }, visit) {
    const filter = originFilter({ list_query, list_page })
    const [stacks, assignees, adjacent] = await Promise.all([
      loadStacks(context, record, { visit, wide_frame }),
      listAssignees(context, application_id ?? null),
      filter && findNeighbors(context, record.id, { ...filter, application_id }),
    ])
    return { stacks, assignees, adjacent }
  },
  title({ record }, { options }) {
    const location = locationPhrase(record, options.project_root)
    const summary = location ? `${record.error_type} ${location.relation} ${location.place}` : record.error_type
    return `(${formatCompact(record.occurrence_count)}) ${summary}`
  },
  response: r.object({
    error: r.named(
      'Error',
      r.object({
        ...ErrorRecord.entries,
        history: ErrorHistory,
        top_users: ErrorUsers,
        grouping: ErrorGrouping,
        related: Related,
      }),
    ),
  }),
  json: ({ record: { signature_place, ...record }, history, users, grouping, related }) => ({
    error: {
      ...record,
      history,
      top_users: users,
      grouping,
      // Sections without data are omitted, as on the page.
      related: Object.fromEntries(related.map(({ name, data }) => [name, data])),
    },
  }),
  view(
    { record, history, users, grouping, related, stacks, assignees, adjacent },
    visit,
    { histogram = '30d', ...list },
  ) {
    const props = { record, visit }
    const curl = requestCurl(record)
    return (
      <>
        <ErrorHead {...props} list={{ list_query: list.list_query, list_page: list.list_page }} neighbors={adjacent}>
          <ErrorActions {...props} assignees={assignees}>
            <CopyAs
              markdown={errorMarkdown(record, {
                url: shareableLink(visit, record.id),
                root: visit.options.project_root,
              })}
              curl={curl}
              json={href(visit, `/errors/${record.id}.json`, { occurrence_id: record.occurrence?.id })}
            />
          </ErrorActions>
        </ErrorHead>
        <div class="error-page">
          <aside class="error-now" aria-label="Occurrences and users">
            <ErrorFacts {...props} />
          </aside>
          <div class="error-main">
            <OccurrenceStep {...props} />
            <StackSection stack={stacks.stack} causes={stacks.causes} note={stacks.note} />
            <Breadcrumbs {...props} />
            <OccurrenceDetails record={record} curl={curl} stacks={stacks} visit={visit} />
            <Occurrences {...props} />
            <ActivityTrail {...props} />
          </div>
          {/* Below the stack on a phone. */}
          <aside class="error-more" aria-label="Trend, affected users and grouping">
            <Histogram history={history} range={histogram} visit={visit} />
            <ErrorShares history={history} users={users} visit={visit} />
            {related.map(({ title, view }) => (
              <section class="panel">
                <div class="panel-head">
                  <h2>{title}</h2>
                </div>
                {view(visit)}
              </section>
            ))}
            <Grouping grouping={grouping} hash_signature={record.hash_signature} />
          </aside>
        </div>
      </>
    )
  },
})

/** Link to share; absolute only if `dashboard_base_url` is set. */
function shareableLink({ base, options: { dashboard_base_url } }: Visit, error_id: number): string {
  return `${dashboard_base_url === null ? '' : new URL(dashboard_base_url).origin}${base}/errors/${error_id}`
}
