import type { Context } from '../../../context.js'
import type { ErrorRecord } from '../../../triage/queries/error-record.js'
import type { Rendered, Visit } from '../../define.js'

/** A part of the error's page that tells of other errors, or of the error among its own occurrences. */
export interface RelatedPart<Data = unknown> {
  /** What programs call it. */
  name: string
  title: string
  /** Null where there is nothing to tell; the part is then left out. */
  load(context: Context, record: ErrorRecord, visit: Visit): Promise<Data | null>
  view(data: Data, visit: Visit): Rendered
}
