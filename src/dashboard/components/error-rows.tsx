import type { ErrorSummary } from '../../triage/error-record.js'
import type { Rendered, Visit } from '../define.js'
import { PriorityBadge, SeverityBadge, StatusBadge } from './badges.js'
import { formatCount, Time } from './time.js'

/** Errors as rows of two lines; with `form`, each has a checkbox that belongs to that form. */
export function ErrorRows({
  errors,
  visit,
  empty,
  form,
}: {
  errors: readonly ErrorSummary[]
  visit: Visit
  empty: Rendered
  form?: string
}): Rendered {
  if (errors.length === 0) return <p class="empty">{empty}</p>
  return (
    <table class="errors">
      <thead>
        <tr>
          {form && (
            <th scope="col">
              <span class="hidden">Choose</span>
            </th>
          )}
          <th scope="col">Error</th>
          <th scope="col">State</th>
          <th scope="col" class="number">
            Events
          </th>
          <th scope="col" class="number">
            Users
          </th>
          <th scope="col">Last seen</th>
        </tr>
      </thead>
      <tbody>
        {errors.map((error) => (
          <tr>
            {form && (
              <td>
                <input
                  type="checkbox"
                  name="error_ids[]"
                  value={String(error.id)}
                  form={form}
                  aria-label={`Choose ${error.error_type} ${error.id}`}
                />
              </td>
            )}
            <td class="what">
              <a href={`${visit.base}/errors/${error.id}`}>
                <strong>{error.error_type}</strong>
              </a>{' '}
              <code class="muted">{error.place}</code>
              <p class="message">{error.message}</p>
            </td>
            <td>
              <SeverityBadge severity={error.severity} /> <StatusBadge status={error.status} />{' '}
              <PriorityBadge level={error.priority_level} />
              <p class="muted">
                {[error.application_name, error.platform, error.app_version, error.assigned_to]
                  .filter(Boolean)
                  .join(' · ')}
                {error.snoozed && ' · snoozed'}
              </p>
            </td>
            <td class="number">{formatCount(error.occurrence_count)}</td>
            <td class="number">{formatCount(error.user_count)}</td>
            <td>
              <Time iso={error.occurred_at} visit={visit} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
