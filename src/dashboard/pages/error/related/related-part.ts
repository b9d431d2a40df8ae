import type * as v from 'valibot'
import type { Context } from '../../../../context.js'
import type { ErrorRecord } from '../../../../triage/queries/error-record.js'
import type { Rendered, Visit } from '../../../define.js'

/** Section of the error page about related errors or the pattern of occurrences. */
export interface RelatedPart<Data = unknown> {
  /** Field name in the JSON. */
  name: string
  title: string
  /** Schema of the data. */
  response: v.GenericSchema<Data>
  /** Returns null to omit the section. */
  load(context: Context, record: ErrorRecord, visit: Visit): Promise<Data | null>
  view(data: Data, visit: Visit): Rendered
}
