import { cachedQuery } from '../analytics/cached-query.js'
import type { Context } from '../context.js'
import { listEnvironments } from '../triage/list/filter-choices.js'

/** Cached environments of one or all applications, at most a few minutes old. */
export async function cachedEnvironments(context: Context, application_id: number | null): Promise<readonly string[]> {
  const cacheKey = `environments ${application_id}`
  return (await cachedQuery(context, cacheKey, () => listEnvironments(context, application_id))).value
}
