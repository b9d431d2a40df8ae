import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import { packedRows } from '../../store/bulk/packed-rows.js'
import { ID_LIST_LIMITS, timedRanges } from '../../store/sql/timed-ranges.js'
import type { Span } from '../sums/period.js'
import { errorsInScope } from '../sums/scope-conditions.js'

/** Occurrences of an error on a platform. */
export interface ErrorPlatform {
  error_id: number
  platform: string
  count: number
}

/** Occurrences of every error in the span, per platform. */
export async function errorPlatforms(context: Context, scope: Scope, span: Span): Promise<ErrorPlatform[]> {
  const { database } = context
  if (!database.dialect.blocksHost)
    return platformSums(context, span)
      .where('error_id', 'in', seenErrors(context, scope, span))
      .execute()
  const rows = await packedRows(database, seenErrors(context, scope, span), ['id'])
  const ids = rows.map(({ id }) => id).sort((a, b) => a - b)
  const found: ErrorPlatform[] = []
  for await (const { from, to } of timedRanges(database, ids.length, ID_LIST_LIMITS)) {
    const query = platformSums(context, span).where('error_id', 'in', ids.slice(from, to))
    found.push(...(await packedRows(database, query, ['error_id', 'platform', 'count'])))
  }
  return found
}

/** Skips errors last seen before the span. */
function seenErrors(context: Context, scope: Scope, { from }: Span) {
  return context.database.read
    .selectFrom('faultboard_errors')
    .select('id')
    .where('occurred_at', '>=', from)
    .where(errorsInScope(context, scope, { usesIndex: true }))
}

function platformSums({ database }: Context, { from, to }: Span) {
  return database.read
    .selectFrom('faultboard_error_hours')
    .select(({ fn }) => ['error_id', 'platform', fn.sum<number>('count').as('count')])
    .where('hour', '>=', from)
    .where('hour', '<', to)
    .groupBy(['error_id', 'platform'])
}
