import type { Context } from '../context.js'
import { withoutIndex } from '../store/sort-order.js'
import { applicationIds, dayParts, daySlices } from './day-parts.js'
import type { Scope } from './hour-sums.js'
import type { Span } from './period.js'

export interface TypeCount {
  error_type: string
  count: number
  /** How many errors of this type there were. */
  error_count: number
}

/** Occurrences per error type, most frequent first. */
export async function typeCounts(context: Context, scope: Scope, span: Span): Promise<TypeCount[]> {
  const { days, missing, too_many } = await dayParts(context, scope, span)
  const counts = new Map<string, number>()
  const add = (rows: readonly { error_type: string; count: number }[], sign = 1) => {
    for (const { error_type, count } of rows) counts.set(error_type, (counts.get(error_type) ?? 0) + sign * count)
  }
  const ids = await applicationIds(context, scope)
  for (const slice of daySlices(context, days)) add(await inDays(context, ids, slice))
  for (const part of missing) add(await inHours(context, scope, part))
  for (const part of too_many) add(await inHours(context, scope, part), -1)
  const errors = await errorCounts(context, scope, span)
  return [...counts]
    .filter(([, count]) => count > 0)
    .map(([error_type, count]) => ({ error_type, count, error_count: errors.get(error_type) ?? 0 }))
    .sort((a, b) => b.count - a.count || (a.error_type < b.error_type ? -1 : 1))
}

async function inDays({ database }: Context, application_ids: readonly number[], { from, to }: Span) {
  return database.read
    .selectFrom('faultboard_type_days')
    .select(({ fn }) => ['error_type', fn.sum<number>('count').as('count')])
    .where('application_id', 'in', application_ids)
    .where('day', '>=', from)
    .where('day', '<', to)
    .groupBy('error_type')
    .execute()
}

/** Found by the hour, of which there are a few. */
async function inHours({ database }: Context, { application_id }: Scope, { from, to }: Span) {
  return database.read
    .selectFrom('faultboard_error_hours as h')
    .innerJoin('faultboard_errors as e', 'e.id', 'h.error_id')
    .select(({ fn }) => ['e.error_type', fn.sum<number>('h.count').as('count')])
    .where('h.hour', '>=', from)
    .where('h.hour', '<', to)
    .$if(application_id !== undefined, (query) =>
      query.where(withoutIndex(database.dialect, 'e.application_id'), '=', application_id ?? 0),
    )
    .groupBy('e.error_type')
    .execute()
}

/** An error was met in the span when its newest occurrence lies there; only one that is newer still is asked for more. */
async function errorCounts(
  { database }: Context,
  { application_id }: Scope,
  { from, to }: Span,
): Promise<Map<string, number>> {
  const rows = await database.read
    .selectFrom('faultboard_errors as e')
    .select(({ fn }) => ['e.error_type', fn.countAll<number>().as('error_count')])
    .where(withoutIndex(database.dialect, 'e.occurred_at'), '>=', from)
    .where(({ eb, or, exists, selectFrom }) =>
      or([
        eb('e.occurred_at', '<', to),
        exists(
          selectFrom('faultboard_error_hours as h')
            .select('h.hour')
            .whereRef('h.error_id', '=', 'e.id')
            .where('h.hour', '>=', from)
            .where('h.hour', '<', to),
        ),
      ]),
    )
    .$if(application_id !== undefined, (query) =>
      query.where(withoutIndex(database.dialect, 'e.application_id'), '=', application_id ?? 0),
    )
    .groupBy('e.error_type')
    .execute()
  return new Map(rows.map(({ error_type, error_count }) => [error_type, error_count]))
}
