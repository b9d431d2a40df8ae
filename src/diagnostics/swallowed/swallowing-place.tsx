import type { Rendered, Visit } from '../../dashboard/define.js'
import { openErrorsLink } from '../../dashboard/href.js'
import { words } from '../../dashboard/ui/badges.js'
import { SourceCode, type SourceLines } from '../../dashboard/ui/source-code.js'
import { formatCount, Time } from '../../dashboard/ui/time.js'
import { formatPercent } from '../../dashboard/ui/units.js'
import { OTHERS } from '../../model/others.js'
import type { SwallowingHandler, SwallowingLocation } from './query.js'

interface SwallowingPlaceProps {
  location: SwallowingLocation
  source: SourceLines | null
  visit: Visit
}

/** A place that raises, with its figures and the handlers that tell nobody. */
export function SwallowingPlace({ location, source, visit }: SwallowingPlaceProps): Rendered {
  const { error_type, raise_location, raise_count, rescue_count, vanished_count, rescue_ratio, handlers } = location
  return (
    <li class="record swallowing">
      <div class="record-main">
        <p>
          <strong>{error_type === OTHERS ? 'All others together' : error_type}</strong>{' '}
          <Raised location={raise_location} visit={visit} />
        </p>
        <ul class="handlers">
          {handlers.map((handler) => (
            <Handler handler={handler} />
          ))}
        </ul>
      </div>
      <dl class="record-figures swallowed-figures">
        <div>
          <dt>Raised</dt>
          <dd>{formatCount(raise_count)}</dd>
        </div>
        <div>
          <dt>Swallowed</dt>
          <dd>{formatCount(rescue_count)}</dd>
        </div>
        <div>
          <dt>Ratio</dt>
          <dd>{formatPercent(rescue_ratio)}</dd>
        </div>
        <div title="Neither caught by your own code nor reported">
          <dt>Vanished</dt>
          <dd>{formatCount(vanished_count)}</dd>
        </div>
        <div>
          <dt>Last seen</dt>
          <dd>
            <Time iso={location.last_seen_at} visit={visit} />
          </dd>
        </div>
      </dl>
      {source && (
        <details class="handler-source">
          <summary>Show the handler</summary>
          <SourceCode source={source} />
        </details>
      )}
    </li>
  )
}

/** Where it was thrown, or below which handler, should only that be known. */
function Raised({ location, visit }: { location: string; visit: Visit }): Rendered {
  if (location === OTHERS) return null
  const is_below = location.startsWith('~')
  const place = is_below ? location.slice(1) : location
  return (
    <>
      {is_below && <span class="muted">somewhere below </span>}
      <a
        href={openErrorsLink(visit, { search: place.replace(/(?::\d+){1,2}$/, '') })}
        title="Open errors that go through this file"
      >
        <code>{place}</code>
      </a>
    </>
  )
}

function Handler({
  handler: { rescue_location, handler_kind, rescue_count },
}: {
  handler: SwallowingHandler
}): Rendered {
  return (
    <li>
      <span class="muted">
        {rescue_count === 1 ? 'caught once in' : `caught ${formatCount(rescue_count)} times in`}
      </span>{' '}
      <code>{rescue_location || 'an unknown place'}</code>{' '}
      {handler_kind && <span class="badge">{KINDS[handler_kind] ?? words(handler_kind)}</span>}
    </li>
  )
}

/** What the code that catches does with it. */
const KINDS: Readonly<Record<string, string>> = {
  empty: 'empty catch',
  logs: 'only logs',
  value: 'goes on with a value',
  may_rethrow: 'may rethrow',
  may_report: 'may report',
  reference: 'a function by its name',
  other: 'does something else',
}
