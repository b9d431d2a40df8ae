import type * as v from 'valibot'
import type { Context } from '../../../../context.js'
import type { Scope } from '../../../../model/input/scope.js'
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
  /** True if the section is shown next to the trend instead of under "More about this error". */
  isUrgent?(data: Data): boolean
}

/** Limits related errors to the selected application and environment. */
export function relatedScope({ application_id, environment }: Visit): Scope {
  return { application_id: application_id ?? undefined, environment: environment ?? undefined }
}
