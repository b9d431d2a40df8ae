import type * as v from 'valibot'
import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import { isResolved, STATUSES } from '../../model/workflow.js'
import { sql } from '../../store/kysely.js'
import type { Span } from '../sums/period.js'
import { errorsInScope } from '../sums/scope-conditions.js'

/** Number of unresolved errors including snoozed errors, and of errors opened and closed in the period. */
export const Backlog = r.object({ count: r.integer, snoozed: r.integer, opened: r.integer, closed: r.integer })
export type Backlog = v.InferOutput<typeof Backlog>

/**
 * Unresolved errors that are snoozed now, and errors first seen and resolved in a period. An error that was reopened does
 * not count as closed.
 */
export async function loadBacklogChanges(context: Context, scope: Scope, span: Span): Promise<Omit<Backlog, 'count'>> {
  return {
    snoozed: await countSnoozed(context, scope),
    opened: await countWithin(context, scope, 'first_seen_at', span),
    closed: await countWithin(context, scope, 'resolved_at', span),
  }
}

const OPEN_STATUSES = STATUSES.filter((status) => !isResolved(status))

async function countSnoozed(context: Context, scope: Scope): Promise<number> {
  const { count } = await context.database.read
    .selectFrom('faultboard_errors')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    // With the time, a range of an index.
    .where('status', 'in', OPEN_STATUSES)
    .where('snoozed_until', '>', context.now())
    .where(errorsInScope(context, scope))
    .executeTakeFirstOrThrow()
  return Number(count)
}

async function countWithin(
  context: Context,
  scope: Scope,
  column: 'first_seen_at' | 'resolved_at',
  { from, to }: Span,
): Promise<number> {
  const { count } = await context.database.read
    .selectFrom('faultboard_errors')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where(column, '>=', from)
    .where(column, '<', to)
    .where(errorsInScope(context, scope))
    .executeTakeFirstOrThrow()
  return Number(count)
}

export const TimeToResolve = r.object({
  /** Number of errors resolved in the period. The durations are null if there are none. */
  count: r.integer,
  median_ms: r.nullable(r.number),
  mean_ms: r.nullable(r.number),
  /** Figures of the previous period. Null if it is not stored in full. */
  before: r.nullable(r.object({ count: r.integer, median_ms: r.nullable(r.number), mean_ms: r.nullable(r.number) })),
})
export type TimeToResolve = v.InferOutput<typeof TimeToResolve>

/** Time from the first occurrence of an error until it is resolved. */
export async function loadTimeToResolve(
  context: Context,
  scope: Scope,
  { period, before }: { period: Span; before: Span | null },
): Promise<TimeToResolve> {
  return {
    ...(await resolutionTimes(context, scope, period)),
    before: before && (await resolutionTimes(context, scope, before)),
  }
}

const RESOLUTION_TIME = sql<number>`${sql.ref('resolved_at')} - ${sql.ref('first_seen_at')}`

async function resolutionTimes(context: Context, scope: Scope, { from, to }: Span) {
  const resolved = context.database.read
    .selectFrom('faultboard_errors')
    .where('resolved_at', '>=', from)
    .where('resolved_at', '<', to)
    .where(errorsInScope(context, scope))
  const { count, total } = await resolved
    .select(({ fn }) => [fn.countAll<number>().as('count'), sql<number | null>`sum(${RESOLUTION_TIME})`.as('total')])
    .executeTakeFirstOrThrow()
  if (count === 0) return { count, median_ms: null, mean_ms: null }
  const middle = await resolved
    .select(RESOLUTION_TIME.as('duration_ms'))
    .orderBy('duration_ms')
    .limit(2 - (count % 2))
    .offset(Math.floor((count - 1) / 2))
    .execute()
  const median = middle.reduce((sum, { duration_ms }) => sum + Number(duration_ms), 0) / Math.max(1, middle.length)
  return { count, median_ms: Math.round(median), mean_ms: Math.round(Number(total ?? 0) / count) }
}
