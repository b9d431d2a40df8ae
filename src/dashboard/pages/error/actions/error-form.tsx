import type { ErrorRecord } from '../../../../triage/queries/error-record.js'
import type { Rendered, Visit } from '../../../define.js'
import { listOriginInput } from '../../../links/list-origin.js'
import { ApplicationField } from '../../../ui/forms.js'

export interface ErrorProps {
  record: ErrorRecord
  visit: Visit
}

/** Form that posts an action on this error and returns to the same occurrence and list. */
export function ErrorForm({
  record,
  visit,
  action,
  children,
}: ErrorProps & { action: string; children?: Rendered }): Rendered {
  const occurrence_id = visit.query.get('occurrence_id')
  return (
    <form method="post" action={`${visit.base}/errors/${record.id}/${action}`} data-in-place>
      <ApplicationField visit={visit} />
      <ListOriginFields visit={visit} />
      {occurrence_id && record.occurrence && (
        <input type="hidden" name="occurrence_id" value={String(record.occurrence.id)} />
      )}
      {children}
    </form>
  )
}

/** Passes the originating list to an action, so that the link back is preserved. */
export function ListOriginFields({ visit: { query } }: { visit: Visit }): Rendered {
  return Object.keys(listOriginInput).map((name) => {
    const value = query.get(name)
    return value && <input type="hidden" name={name} value={value} />
  })
}
