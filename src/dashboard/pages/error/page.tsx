import * as v from 'valibot'
import { cachedQuery } from '../../../analytics/cached-query.js'
import { cachedReleaseTimes, markersWithin } from '../../../analytics/releases/release-markers.js'
import { chartSpan, chartSpanInput, fittingSpan } from '../../../model/chart-span.js'
import { integer, optional } from '../../../model/input/input.js'
import * as r from '../../../model/result.js'
import { readTags } from '../../../model/tags.js'
import { knownNames, mergeNames } from '../../../people/known-people.js'
import { listAssignees } from '../../../triage/list/filter-choices.js'
import { findableTags } from '../../../triage/list/tag-suggestions.js'
import { requestCurl } from '../../../triage/queries/error-curl.js'
import { ErrorGrouping, explainGrouping } from '../../../triage/queries/error-grouping.js'
import { ErrorHistory, loadHistogram, loadShares } from '../../../triage/queries/error-history.js'
import { errorMarkdown } from '../../../triage/queries/error-markdown.js'
import { findNeighbors } from '../../../triage/queries/error-neighbors.js'
import { ErrorRecord } from '../../../triage/queries/error-record.js'
import { ErrorUsers, loadTopUsers } from '../../../triage/queries/error-users.js'
import { findError } from '../../../triage/queries/find-error.js'
import { definePage } from '../../define.js'
import { currentPageWith, href } from '../../links/href.js'
import { listOriginInput, originFilter } from '../../links/list-origin.js'
import { shortLink } from '../../links/short-link.js'
import { Arrivals } from '../../ui/arrivals.js'
import { CopyAs } from './actions/copy-as.js'
import { ErrorActions, UndoResolve } from './actions/error-actions.js'
import { ErrorFacts, ErrorFigures, Histogram } from './error-facts.js'
import { ErrorHead, messageTitle } from './error-head.js'
import { ErrorShares } from './error-shares.js'
import { Grouping } from './grouping.js'
import { Breadcrumbs } from './occurrence/breadcrumbs.js'
import { CaptureDetails } from './occurrence/capture-details.js'
import { OccurrenceData } from './occurrence/occurrence-data.js'
import { OccurrenceStep, Occurrences } from './occurrence/occurrences.js'
import { ProcessDetails } from './occurrence/process-details.js'
import { RequestDetails } from './occurrence/request-details.js'
import { Related, relatedParts } from './related/related.js'
import { loadStacks } from './stack/shown-stacks.js'
import { StackSection } from './stack/stack.js'
import { ActivityTrail } from './trail.js'

export const error = definePage({
  path: '/errors/:error_id{[0-9]+}',
  text: 'Details of one error',
  role: 'viewer',
  parameters: v.object({
    ...findError.input.entries,
    ...chartSpanInput,
    wide_frame: optional(integer({ min: 1, max: 10 })),
    ...listOriginInput,
  }),
  async load(context, { range, from, to, ...parameters }, visit) {
    const record = await findError.run(context, parameters)
    const { id } = record
    const { now, time_zone } = visit
    const [first, last] = [Date.parse(record.first_seen_at), Date.parse(record.occurred_at)]
    const isSelected = [range, from, to].some((value) => value !== undefined)
    const selected = isSelected ? { range, from, to } : fittingSpan({ first, last }, now, time_zone)
    const span = chartSpan(selected, now, time_zone)
    const [histogram, shares, users, related] = await Promise.all([
      loadHistogram(context, id, span),
      cachedQuery(context, `shares of ${id}`, () => loadShares(context, id, Date.parse(record.occurred_at))),
      cachedQuery(context, `users of ${id}`, () => loadTopUsers(context, id)),
      relatedParts(context, record, visit),
    ])
    return {
      record,
      span,
      history: { ...histogram, ...shares.value },
      users: users.value,
      grouping: explainGrouping(record, context.config.project_root ?? ''),
      related,
    }
  },
  async loadForHtml(
    context,
    { record, span },
    { application_id, environment, list_query, list_page, wide_frame },
    visit,
  ) {
    const filter = originFilter({ list_query, list_page })
    const [stacks, releases, assignees, known, adjacent, findable] = await Promise.all([
      loadStacks(context, record, { visit, wide_frame }),
      cachedReleaseTimes(context, { application_id: record.application_id, environment: record.environment }),
      listAssignees(context, application_id ?? null),
      knownNames(context),
      filter && findNeighbors(context, record.id, { ...filter, application_id, environment }),
      findableTags(context, record.id, readTags(record.tags)),
    ])
    return {
      ...{ stacks, releases: markersWithin(releases, span), adjacent, findable },
      assignees: mergeNames(assignees, known),
    }
  },
  noticeAction: ({ record }, visit) => <UndoResolve record={record} visit={visit} />,
  title: ({ record }) => messageTitle(record),
  applicationName: ({ record }) => record.application_name,
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
    { record, span, history, users, grouping, related, stacks, releases, assignees, adjacent, findable },
    visit,
    list,
  ) {
    const props = { record, visit }
    const curl = requestCurl(record)
    return (
      <>
        <ErrorHead {...props} list={{ list_query: list.list_query, list_page: list.list_page }} neighbors={adjacent}>
          <ErrorActions {...props} assignees={assignees}>
            <CopyAs
              markdown={errorMarkdown(record, {
                url: shortLink(visit, record),
                root: visit.options.project_root,
              })}
              curl={curl}
              json={href(visit, `/errors/${record.id}.json`, { occurrence_id: record.occurrence?.id })}
            />
          </ErrorActions>
        </ErrorHead>
        <div
          class="error-page"
          data-live={`${visit.base}/errors/live`}
          data-changes={href(visit, '/errors/changes.json')}
          data-since={new Date(visit.now).toISOString()}
          data-error={record.id}
          data-occurrences={record.occurrence_count}
        >
          <Arrivals href={currentPageWith(visit, { occurrence_id: null })} />
          <div class="error-cause">
            <OccurrenceStep {...props} />
            <StackSection record={record} stacks={stacks} visit={visit} />
            <RequestDetails record={record} curl={curl} findable={findable} visit={visit} />
            <OccurrenceData record={record} others={stacks.other_variables} />
            <Breadcrumbs {...props} />
          </div>
          {/* Placed between both parts, because narrow screens show the trend after the breadcrumbs. */}
          <aside class="error-side" aria-label="Trend, affected users and state">
            <ErrorFigures record={record} />
            <Histogram bars={history.bars} releases={releases} span={span} visit={visit} />
            {related
              .filter(({ isUrgent }) => isUrgent)
              .map(({ title, view }) => (
                <section class="panel">
                  <div class="panel-head">
                    <h2>{title}</h2>
                  </div>
                  {view(visit)}
                </section>
              ))}
            <ErrorShares history={history} users={users} visit={visit} />
            <ErrorFacts {...props} history={history} users={users} />
          </aside>
          <div class="error-history">
            <ActivityTrail {...props} />
            <Occurrences {...props} />
          </div>
          <details class="panel error-more section-toggle">
            <summary>
              <h2>More about this error</h2>
            </summary>
            <div class="error-more-parts">
              {related
                .filter(({ isUrgent }) => !isUrgent)
                .map(({ title, view }) => (
                  <section class="panel">
                    <h3>{title}</h3>
                    {view(visit)}
                  </section>
                ))}
              <CaptureDetails details={record.details} />
              <Grouping grouping={grouping} hash_signature={record.hash_signature} />
              <ProcessDetails details={record.details} />
            </div>
          </details>
        </div>
      </>
    )
  },
})
