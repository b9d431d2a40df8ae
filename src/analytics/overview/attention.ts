import type * as v from 'valibot'
import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import { startOfLastDays } from '../../model/time.js'
import { sql } from '../../store/kysely.js'
import { hasRegressed } from '../../store/sql/regressed.js'
import { withoutIndex } from '../../store/sql/sort-order.js'
import { hasBaselines } from '../baselines/above-baseline.js'
import { Spike, type SpikeWithSeverity, spikingErrors } from '../baselines/spiking-errors.js'
import { loadRankedErrors, RankedError } from '../ranked-errors.js'
import { errorsInScope } from '../sums/scope-conditions.js'

/** Errors that need attention for one reason. */
export interface AttentionGroup {
  count: number
  /** True when `count` is a lower bound. */
  is_lower_bound?: true
  ids: number[]
}

export interface AttentionGroups {
  /** First seen since the last visit or within one day. */
  new_errors: AttentionGroup
  /** Regressed within seven days. */
  reopened: AttentionGroup
  /** Critical or high, unassigned. */
  unattended: AttentionGroup
}

const MAX_LISTED_ERRORS = 5
/** Limits the cost of counting. The page shows larger counts as "1,000+". */
const MAX_COUNTED_ERRORS = 1000

/** Collects open errors that need attention and are not snoozed. */
export async function loadAttentionGroups(
  context: Context,
  { scope, since }: { scope: Scope; since: number },
): Promise<AttentionGroups> {
  const activeErrors = openErrors(context, scope)
  const weekStart = startOfLastDays(7, context.now(), context.config.time_zone)
  return {
    new_errors: await loadGroup(context, activeErrors.where('first_seen_at', '>=', since), (errors) =>
      errors.orderBy('first_seen_at', 'desc'),
    ),
    reopened: await loadGroup(
      context,
      activeErrors.where('reopened_at', '>=', weekStart).where(hasRegressed),
      (errors) => errors.orderBy('reopened_at', 'desc'),
    ),
    unattended: await loadUnattendedErrors(context, scope),
  }
}

/**
 * Critical or high, unassigned; critical errors first. Repeats the exact condition of the partial index, which SQLite
 * requires to use it.
 */
async function loadUnattendedErrors(context: Context, scope: Scope): Promise<AttentionGroup> {
  const { database, now } = context
  // Without the partial index, the index on assignees would find nearly all errors, and read them one by one.
  const isUnassigned = database.dialect.hasPartialIndexes
    ? sql`assigned_to is null`
    : sql`coalesce(assigned_to, '') = ''`
  const errors = database.read
    .selectFrom('faultboard_errors')
    .where(sql<boolean>`resolved = 0 and ${isUnassigned} and severity in ('critical', 'high')`)
    .where(({ eb, or }) => or([eb('snoozed_until', 'is', null), eb('snoozed_until', '<=', now())]))
    .where(errorsInScope(context, scope))
  const ids: number[] = []
  for (const severity of ['critical', 'high'] as const) {
    const rows = await errors
      .select('id')
      .where('severity', '=', severity)
      .orderBy('occurred_at', 'desc')
      .orderBy('id', 'desc')
      .limit(MAX_LISTED_ERRORS - ids.length)
      .execute()
    ids.push(...rows.map(({ id }) => id))
    if (ids.length === MAX_LISTED_ERRORS) break
  }
  return countGroup(context, errors, ids)
}

async function loadGroup(
  context: Context,
  errors: OpenErrors,
  order: (errors: OpenErrors) => OpenErrors,
): Promise<AttentionGroup> {
  const rows = await order(errors).select('id').orderBy('id', 'desc').limit(MAX_LISTED_ERRORS).execute()
  return countGroup(
    context,
    errors,
    rows.map(({ id }) => id),
  )
}

async function countGroup(context: Context, errors: OpenErrors, ids: number[]): Promise<AttentionGroup> {
  if (ids.length < MAX_LISTED_ERRORS) return { count: ids.length, ids }
  const { count } = await context.database.read
    .selectFrom(
      errors
        .select('id')
        .limit(MAX_COUNTED_ERRORS + 1)
        .as('errors'),
    )
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count > MAX_COUNTED_ERRORS ? { count: MAX_COUNTED_ERRORS, is_lower_bound: true, ids } : { count, ids }
}

/** Error types above their baseline. Null when there are no baselines. */
export async function loadSpikes(context: Context, scope: Scope): Promise<SpikeWithSeverity[] | null> {
  const spikes = await spikingErrors(context, scope)
  return spikes.length > 0 || (await hasBaselines(context)) ? spikes : null
}

export const OpenSpike = r.named(
  'OpenSpike',
  r.object({
    ...Spike.entries,
    /** Highest severity of the type within the hour. */
    severity: r.severity,
    /** Error of the type with the most occurrences within the hour. Null if it is not open, or snoozed. */
    error: r.nullable(RankedError),
  }),
)
export type OpenSpike = v.InferOutput<typeof OpenSpike>

/** Spikes with at least one open error that is not snoozed. */
export async function openSpikes(context: Context, spikes: readonly SpikeWithSeverity[]): Promise<OpenSpike[]> {
  const open: (Omit<OpenSpike, 'error'> & { error_id: number | null })[] = []
  for (const { top_error_id, ...spike } of spikes) {
    const errors = openErrors(context, spike).where('error_type', '=', spike.error_type).select('id')
    const top = await errors.where('id', '=', top_error_id).executeTakeFirst()
    const any = top ?? (await errors.limit(1).executeTakeFirst())
    if (any && open.push({ ...spike, error_id: top?.id ?? null }) === MAX_LISTED_ERRORS) break
  }
  const errors = await loadRankedErrors(
    context,
    open.flatMap(({ error_id }) => error_id ?? []),
  )
  return open.map(({ error_id, ...spike }) => ({ ...spike, error: errors.get(error_id ?? 0) ?? null }))
}

type OpenErrors = ReturnType<typeof openErrors>

function openErrors(context: Context, scope: Scope) {
  const { database, now } = context
  return (
    database.read
      .selectFrom('faultboard_errors')
      .where(errorsInScope(context, scope))
      // Nearly all errors are open, so using the index on `resolved` would only prevent the use of a better index.
      .where(withoutIndex(database.dialect, 'resolved'), '=', 0)
      .where(({ eb, or }) => or([eb('snoozed_until', 'is', null), eb('snoozed_until', '<=', now())]))
  )
}
