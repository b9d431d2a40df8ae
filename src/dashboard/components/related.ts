import type { Context } from '../../context.js'
import type { ErrorRecord } from '../../triage/error-record.js'
import type { Rendered, Visit } from '../define.js'

/** A part of the error's page that tells of other errors. */
export interface RelatedPart<Data = unknown> {
  title: string
  /** Null where there is nothing to tell; the part is then left out. */
  load(context: Context, record: ErrorRecord, visit: Visit): Promise<Data | null>
  view(data: Data, visit: Visit): Rendered
}

/** In the order in which the page shows them. */
export const RELATED: readonly RelatedPart[] = []

export interface LoadedPart {
  title: string
  view(visit: Visit): Rendered
}

export async function relatedParts(context: Context, record: ErrorRecord, visit: Visit): Promise<LoadedPart[]> {
  const loaded: LoadedPart[] = []
  for (const part of RELATED) {
    const data = await part.load(context, record, visit)
    if (data !== null) loaded.push({ title: part.title, view: (at) => part.view(data, at) })
  }
  return loaded
}
