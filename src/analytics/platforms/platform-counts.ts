import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import type { RawBuilder } from '../../store/kysely.js'
import type { Span } from '../sums/period.js'
import { sumsInScope } from '../sums/scope-conditions.js'
import { splitIntoDays } from '../sums/split-into-days.js'

/** Occurrences per platform. */
export async function platformCounts(context: Context, scope: Scope, span: Span): Promise<Map<string, number>> {
  const { days, missing, extra } = await splitIntoDays(context, scope, span)
  const isInScope = await sumsInScope(context, scope)
  const counts = new Map<string, number>()
  const add = (rows: readonly { platform: string; count: number }[], sign = 1) => {
    for (const { platform, count } of rows) counts.set(platform, (counts.get(platform) ?? 0) + sign * count)
  }
  add(await sumDays(context, isInScope, days))
  for (const part of missing) add(await sumHours(context, isInScope, part))
  for (const part of extra) add(await sumHours(context, isInScope, part), -1)
  return new Map([...counts].filter(([, count]) => count > 0))
}

async function sumDays({ database }: Context, isInScope: RawBuilder<boolean>, { from, to }: Span) {
  return database.read
    .selectFrom('faultboard_application_days')
    .select(({ fn }) => ['platform', fn.sum<number>('count').as('count')])
    .where(isInScope)
    .where('day', '>=', from)
    .where('day', '<', to)
    .groupBy('platform')
    .execute()
}

async function sumHours({ database }: Context, isInScope: RawBuilder<boolean>, { from, to }: Span) {
  return database.read
    .selectFrom('faultboard_application_hours')
    .select(({ fn }) => ['platform', fn.sum<number>('count').as('count')])
    .where(isInScope)
    .where('hour', '>=', from)
    .where('hour', '<', to)
    .groupBy('platform')
    .execute()
}
