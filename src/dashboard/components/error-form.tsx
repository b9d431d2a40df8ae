import type { ErrorRecord } from '../../triage/error-record.js'
import type { Rendered, Visit } from '../define.js'
import { ApplicationField } from './forms.js'

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
      <ApplicationField visit={visit} />
      {occurrence_id && record.occurrence && (
        <input type="hidden" name="occurrence_id" value={String(record.occurrence.id)} />
      )}
      {children}
    </form>
  )
}
