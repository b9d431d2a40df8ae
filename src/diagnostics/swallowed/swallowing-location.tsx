import type { Rendered, Visit } from '../../dashboard/define.js'
import { openErrorsLink } from '../../dashboard/links/href.js'
import { formatIdentifier } from '../../dashboard/ui/badges.js'
import { formatCount, Time } from '../../dashboard/ui/time.js'
import { samplePercent } from '../../dashboard/ui/units.js'
import { SourceCode, type SourceLines } from '../../dashboard/ui/values/source-code.js'
import { OTHERS } from '../../model/frequent-names.js'
import type { SwallowingHandler, SwallowingLocation } from './query.js'

/** Tooltip of the exceptions that are not swallowed and not reported. */
export const UNACCOUNTED_NOTE = 'Neither caught by your code nor reported, for example dropped by a library'

/** Columns with a value in at least one row. */
export interface ShownColumns {
  ratio: boolean
  unaccounted: boolean
}

export function shownColumns(locations: readonly SwallowingLocation[]): ShownColumns {
  return {
    ratio: locations.some((location) => ratioText(location) !== undefined),
    unaccounted: locations.some(({ unaccounted_count }) => unaccounted_count > 0),
  }
}

/** Returns undefined if there are too few exceptions for a percentage. */
function ratioText({ rescue_ratio, raise_count }: SwallowingLocation): string | undefined {
  return samplePercent(rescue_ratio, raise_count)
}

interface SwallowingLocationItemProps {
  location: SwallowingLocation
  columns: ShownColumns
  source: SourceLines | null
  /** Shows the source of the handler. */
  open: boolean
  visit: Visit
}

/** List item with the figures and handlers of one raise location. */
export function SwallowingLocationItem({
  location,
  columns,
  source,
  open,
  visit,
}: SwallowingLocationItemProps): Rendered {
  const { error_type, raise_location, raise_count, rescue_count, unaccounted_count, handlers } = location
  return (
    <li class="record swallowing">
      <div class="record-main">
        <p>
          <strong>{error_type === OTHERS ? 'Other (combined)' : error_type}</strong>{' '}
          <RaiseLocation location={raise_location} visit={visit} />
        </p>
        <ul class="handlers">
          {handlers.map((handler) => (
            <Handler handler={handler} />
          ))}
        </ul>
      </div>
      <dl class="record-figures swallowed-figures">
        <div>
          <dt>Thrown</dt>
          <dd>{formatCount(raise_count)}</dd>
        </div>
        <div>
          <dt>Swallowed</dt>
          <dd>{formatCount(rescue_count)}</dd>
        </div>
        {columns.ratio && (
          <div>
            <dt>Ratio</dt>
            <dd>{ratioText(location) ?? '–'}</dd>
          </div>
        )}
        {columns.unaccounted && (
          <div title={UNACCOUNTED_NOTE}>
            <dt>Unaccounted</dt>
            <dd>{formatCount(unaccounted_count)}</dd>
          </div>
        )}
        <div>
          <dt>Last seen</dt>
          <dd>
            <Time iso={location.last_seen_at} visit={visit} />
          </dd>
        </div>
      </dl>
      {source && (
        <details class="handler-source" open={open}>
          <summary>Show handler</summary>
          <SourceCode source={source} />
        </details>
      )}
    </li>
  )
}

/** Location of the `throw`. A leading `~` means that only the handler is known. */
function RaiseLocation({ location, visit }: { location: string; visit: Visit }): Rendered {
  if (location === OTHERS) return null
  const isHandler = location.startsWith('~')
  const path = isHandler ? location.slice(1) : location
  return (
    <>
      {isHandler && <span class="muted">thrown below </span>}
      <a
        href={openErrorsLink(visit, { search: path.replace(/(?::\d+){1,2}$/, '') })}
        title="Show errors with this file in the stack trace"
      >
        <code>{path}</code>
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
      <code>{rescue_location || 'an unknown location'}</code>{' '}
      {handler_kind && <span class="badge">{HANDLER_LABELS[handler_kind] ?? formatIdentifier(handler_kind)}</span>}
    </li>
  )
}

const HANDLER_LABELS: Readonly<Record<string, string>> = {
  empty: 'empty catch',
  logs: 'only logs',
  value: 'uses a fallback value',
  may_rethrow: 'may rethrow',
  may_report: 'may report',
  reference: 'function reference',
  other: 'other code',
}
