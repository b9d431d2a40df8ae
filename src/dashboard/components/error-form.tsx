import type { ErrorRecord } from '../../triage/error-record.js'
import type { Rendered, Visit } from '../define.js'

export interface ErrorProps {
  record: ErrorRecord
  visit: Visit
}

/** A form that does something to this error and comes back to what was looked at; it works without any script. */
export function ErrorForm({
  record,
  visit,
  action,
  children,
}: ErrorProps & { action: string; children?: Rendered }): Rendered {
  const occurrence_id = visit.query.get('occurrence_id')
  return (
    <form method="post" action={`${visit.base}/errors/${record.id}/${action}`}>
      {visit.application_id !== null && (
        <input type="hidden" name="application_id" value={String(visit.application_id)} />
      )}
      {occurrence_id && record.occurrence && (
        <input type="hidden" name="occurrence_id" value={String(record.occurrence.id)} />
      )}
      {children}
    </form>
  )
}
