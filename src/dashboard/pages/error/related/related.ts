import { cachedQuery } from '../../../../analytics/cached-query.js'
import type { Context } from '../../../../context.js'
import { scopeKey } from '../../../../model/input/scope.js'
import * as r from '../../../../model/result.js'
import type { ErrorRecord } from '../../../../triage/queries/error-record.js'
import type { Rendered, Visit } from '../../../define.js'
import { burstsPart } from '../../analytics/bursts.js'
import { cascadesPart } from '../../analytics/cascades.js'
import { baselinePart } from './baseline.js'
import { coOccurringPart } from './co-occurring.js'
import { patternPart } from './pattern.js'
import { type RelatedPart, relatedScope } from './related-part.js'
import { similarPart } from './similar.js'

/** In display order. */
const RELATED: readonly RelatedPart[] = [
  cascadesPart,
  coOccurringPart,
  similarPart,
  baselinePart,
  patternPart,
  burstsPart,
]

/** Omits sections without data. */
export const Related = r.object(Object.fromEntries(RELATED.map(({ name, response }) => [name, r.optional(response)])))

export interface LoadedPart {
  name: string
  title: string
  data: unknown
  isUrgent: boolean
  view(visit: Visit): Rendered
}

export async function relatedParts(context: Context, record: ErrorRecord, visit: Visit): Promise<LoadedPart[]> {
  // Database servers run the queries concurrently.
  const loaded = await Promise.all(
    RELATED.map((part) =>
      cachedQuery(context, `${part.name} of ${record.id} ${scopeKey(relatedScope(visit))}`, () =>
        part.load(context, record, visit),
      ),
    ),
  )
  return RELATED.flatMap(({ name, title, view, isUrgent = () => false }, i) => {
    const data = loaded[i]?.value ?? null
    return data === null ? [] : [{ name, title, data, isUrgent: isUrgent(data), view: (visit) => view(data, visit) }]
  })
}
