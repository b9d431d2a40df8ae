import { placeWords } from '../../../triage/queries/error-place.js'
import type { ErrorRecord } from '../../../triage/queries/error-record.js'
import type { Neighbours } from '../../../triage/queries/neighbours.js'
import type { Rendered, Visit } from '../../define.js'
import { href, openErrors } from '../../href.js'
import { type ListPlace, listBehind } from '../../list-place.js'
import { PriorityBadge, RegressionBadge, SeverityBadge, StatusBadge } from '../../ui/badges.js'
import { CopyButton } from '../../ui/copy.js'
import { Icon } from '../../ui/icons.js'
import { formatCount } from '../../ui/time.js'
import { MutedBadge } from './muted.js'

/** More than this is folded away until somebody wants it. */
const FOLDED_LINES = 12
const FOLDED_CHARACTERS = 1200

/** What went wrong and where, and below it what can be done about it. */
export function ErrorHead({
  record,
  visit,
  list,
  beside,
  children,
}: {
  record: ErrorRecord
  visit: Visit
  /** The list that somebody came from. */
  list: ListPlace
  /** The errors beside it in that list. */
  beside: Neighbours | null
  children?: Rendered
}): Rendered {
  const where = placeWords(record, visit.options.project_root)
  const other = (id: number) => href(visit, `/errors/${id}`, { ...list })
  return (
    <header class="error-head">
      <nav class="error-where" aria-label="Where this is">
        <ol class="error-path">
          <li>
            <a href={listBehind(visit, list) ?? openErrors(visit)}>Errors</a>
          </li>
          <li>{`${record.application_name} #${record.id}`}</li>
        </ol>
        {beside && (beside.previous_id !== null || beside.next_id !== null) && (
          <div class="error-beside">
            {beside.previous_id !== null && (
              <a rel="prev" href={other(beside.previous_id)}>
                <Icon name="fold" />
                Previous error
              </a>
            )}
            {beside.next_id !== null && (
              <a rel="next" href={other(beside.next_id)}>
                Next error
                <Icon name="unfold" />
              </a>
            )}
          </div>
        )}
      </nav>
      <h1 dir="auto">{record.error_type}</h1>
      <Message text={record.message} />
      <p class="error-badges">
        <SeverityBadge severity={record.severity} /> <StatusBadge status={record.status} />{' '}
        <PriorityBadge level={record.priority_level} /> <RegressionBadge version={record.regressed_in_version} />{' '}
        {record.snoozed && <span class="badge">snoozed</span>} <MutedBadge error={record} visit={visit} />{' '}
        {record.comments.length > 0 && (
          <a href="#activity">
            {record.comments.length === 1 ? '1 comment' : `${formatCount(record.comments.length)} comments`}
          </a>
        )}{' '}
        {where && (
          <span class="error-place muted">
            {where.relation === 'caused at' && 'caused at '}
            <code>{where.place}</code>
          </span>
        )}
      </p>
      {children}
    </header>
  )
}

function Message({ text }: { text: string }): Rendered {
  if (text === '') return <p class="muted">(no message)</p>
  const isLong = text.length > FOLDED_CHARACTERS || text.split('\n', FOLDED_LINES + 1).length > FOLDED_LINES
  return (
    <div class={isLong ? 'error-message long' : 'error-message'}>
      <pre id="error-message" dir="auto">
        {text}
      </pre>
      <div class="error-message-tools">
        {isLong && (
          <details class="message-unfold">
            <summary>
              <span class="while-folded">{`Show all ${formatCount(text.length)} characters`}</span>
              <span class="while-open">Show less</span>
            </summary>
          </details>
        )}
        <CopyButton from="error-message" label="Copy message" />
      </div>
    </div>
  )
}
