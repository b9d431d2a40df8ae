import type { AuditEntry } from '../../../audit/audit-entries.js'
import type { Rendered, Visit } from '../../define.js'
import { currentPageWith, href } from '../../links/href.js'
import { shortName } from '../../links/short-link.js'
import { formatIdentifier } from '../../ui/badges.js'
import { formatCount, Time } from '../../ui/time.js'
import { ACTION_LABELS, KIND_LABELS } from './labels.js'

interface EntryProps {
  entry: AuditEntry
  visit: Visit
}

/** Changes, newest first. */
export function Entries({ entries, visit }: { entries: readonly AuditEntry[]; visit: Visit }): Rendered {
  return (
    <table class="audit-entries">
      <thead>
        <tr>
          <th scope="col" class="audit-time">
            Time
          </th>
          <th scope="col">Person</th>
          <th scope="col">Change</th>
          <th scope="col">Target</th>
          <th scope="col" class="audit-origin">
            Sign-in
          </th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <Row entry={entry} visit={visit} />
        ))}
      </tbody>
    </table>
  )
}

function Row({ entry, visit }: EntryProps) {
  return (
    <tr>
      <td class="audit-time">
        <Time iso={entry.created_at} visit={visit} />
      </td>
      <td class="audit-actor">
        <a href={currentPageWith(visit, { actor: entry.actor })}>
          <bdi>{entry.actor}</bdi>
        </a>
      </td>
      <td class="audit-action">
        {ACTION_LABELS[entry.action] ?? formatIdentifier(entry.action)}
        {entry.detail !== null && (
          <>
            {' '}
            <bdi class="muted">{entry.action === 'set_status' ? formatIdentifier(entry.detail) : entry.detail}</bdi>
          </>
        )}
      </td>
      <td>
        <Target entry={entry} visit={visit} />
      </td>
      <td class="audit-origin">
        {KIND_LABELS[entry.kind] ?? entry.kind}
        {entry.address !== null && <small>{entry.address}</small>}
      </td>
    </tr>
  )
}

/** Link to the error, or the name of another record with the number of changed records. */
function Target({ entry: { error_id, application_name, target, count, action }, visit }: EntryProps): Rendered {
  if (error_id !== null && application_name !== null) {
    // Entries cover all applications and environments.
    const link = href(visit, `/errors/${error_id}`, { application_id: null, environment: null })
    return <a href={link}>{shortName({ id: error_id, application_name })}</a>
  }
  if (error_id !== null) return <span class="muted">{`error ${error_id} (deleted)`}</span>
  const number = count === null ? null : countText(count, action)
  if (target === null) return number
  return (
    <>
      <bdi>{target}</bdi>
      {number !== null && <small>{number}</small>}
    </>
  )
}

function countText(count: number, action: AuditEntry['action']): string {
  const noun = action === 'delete_source_maps' ? 'source map' : 'error'
  return `${formatCount(count)} ${count === 1 ? noun : `${noun}s`}`
}
