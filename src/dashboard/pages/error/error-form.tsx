import type { ErrorRecord } from '../../../triage/queries/error-record.js'
import type { Rendered, Visit } from '../../define.js'
import { listPlaceInput } from '../../list-place.js'
import { ApplicationField } from '../../ui/forms.js'

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
      <ListPlaceFields visit={visit} />
      {occurrence_id && record.occurrence && (
        <input type="hidden" name="occurrence_id" value={String(record.occurrence.id)} />
      )}
      {children}
    </form>
  )
}

/** Tells an action which list is behind the error, so that it stays there. */
export function ListPlaceFields({ visit: { query } }: { visit: Visit }): Rendered {
  return Object.keys(listPlaceInput).map((name) => {
    const value = query.get(name)
    return value && <input type="hidden" name={name} value={value} />
  })
}
