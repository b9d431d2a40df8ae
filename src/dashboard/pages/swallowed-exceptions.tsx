import { daysInput } from '../../diagnostics/days.js'
import {
  LISTED_LOCATIONS,
  type SwallowedExceptions,
  type SwallowingLocation,
  swallowedExceptions,
} from '../../diagnostics/swallowed-exceptions.js'
import { perform } from '../../operation.js'
import { words } from '../components/badges.js'
import { Empty } from '../components/empty.js'
import { formatShare } from '../components/measures.js'
import { PageHead } from '../components/page-head.js'
import { PlannedNote, StoredRange } from '../components/stored-range.js'
import { formatCount, Time } from '../components/time.js'
import { definePage, type Visit } from '../define.js'

/** Places in the code that catch exceptions and tell nobody. */
export const swallowedExceptionsPage = definePage({
  path: '/errors/swallowed_exceptions',
  text: 'Swallowed exceptions',
  needs: 'detect_swallowed_exceptions',
  parameters: daysInput,
  load: (context, parameters): Promise<SwallowedExceptions> => perform(swallowedExceptions, context, parameters),
  title: ({ total_count }) => (total_count > 0 ? `(${total_count}) Swallowed exceptions` : 'Swallowed exceptions'),
  json: (data) => data,
  view: (data, visit) => (
    <>
      <PageHead
        title="Swallowed exceptions"
        context={`Places where more than ${formatShare(data.threshold)} of what was raised was caught and never reported.`}
      >
        <StoredRange days={data.days} visit={visit} />
      </PageHead>
      {data.runtime.reason ? (
        <p class="callout" role="note">
          {data.runtime.reason}
        </p>
      ) : (
        <PlannedNote option="detect_swallowed_exceptions" />
      )}
      {data.locations.length === 0 ? <Nothing data={data} /> : <Places data={data} visit={visit} />}
    </>
  ),
})

function Nothing({ data: { days, threshold } }: { data: SwallowedExceptions }) {
  return (
    <Empty title={`Nothing was swallowed in ${days} days`} code="node --import faultboard/register app.js">
      Here stands every place whose exceptions are caught more often than <code>swallowed_exception_threshold</code>{' '}
      allows ({threshold}) without being reported. They are counted in code that is loaded after Faultboard, so start
      the process with it:
    </Empty>
  )
}

function Places({ data, visit }: { data: SwallowedExceptions; visit: Visit }) {
  return (
    <section class="stack" aria-label="Places">
      <ol class="records">
        {data.locations.map((location) => (
          <Place location={location} visit={visit} />
        ))}
      </ol>
      {data.total_count > LISTED_LOCATIONS && (
        <p class="muted">{`The ${LISTED_LOCATIONS} places that swallow most, of ${formatCount(data.total_count)}.`}</p>
      )}
    </section>
  )
}

function Place({ location, visit }: { location: SwallowingLocation; visit: Visit }) {
  return (
    <li class="record">
      <div class="record-main">
        <p>
          <strong>{location.error_type}</strong> <code class="muted">{location.raise_location}</code>
        </p>
        <ul class="handlers">
          {location.handlers.map(({ rescue_location, handler_kind, rescue_count }) => (
            <li>
              <span class="muted">{`caught ${formatCount(rescue_count)} times in`}</span>{' '}
              <code>{rescue_location || 'an unknown place'}</code>{' '}
              {handler_kind && <span class="badge">{KINDS[handler_kind] ?? words(handler_kind)}</span>}
            </li>
          ))}
        </ul>
      </div>
      <dl class="record-figures">
        <div>
          <dt>Swallowed</dt>
          <dd>{formatShare(location.rescue_ratio)}</dd>
        </div>
        <div>
          <dt>Raised</dt>
          <dd>{formatCount(location.raise_count)}</dd>
        </div>
        <div>
          <dt>Last seen</dt>
          <dd>
            <Time iso={location.last_seen_at} visit={visit} />
          </dd>
        </div>
      </dl>
    </li>
  )
}

/** What the code that catches does with it. */
const KINDS: Readonly<Record<string, string>> = {
  empty: 'empty catch',
  logs: 'only logs',
  value: 'returns a value',
  may_rethrow: 'may rethrow',
  may_report: 'may report',
}
