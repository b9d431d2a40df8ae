import type * as v from 'valibot'
import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import { HOUR, startOfHour } from '../../model/time.js'
import { packedRows } from '../../store/bulk/packed-rows.js'
import { sql } from '../../store/kysely.js'
import { loadRankedErrors, RankedError } from '../ranked-errors.js'
import { occurrencesInScope } from '../sums/scope-conditions.js'
import { loadErrorHourCounts } from '../sums/subject.js'
import { Burst, compareWithSums, findBursts, type OccurrenceRun } from './pattern-detector.js'

const ErrorBurst = r.object({
  ...Burst.entries,
  error: RankedError,
})

export const RecentBursts = r.object({
  bursts: r.list(ErrorBurst),
  /** Start of the examined period. */
  since: r.time,
  /** True when the period contains more occurrences than the limit. */
  is_lower_bound: r.boolean,
})
export type RecentBursts = v.InferOutput<typeof RecentBursts>

interface StoredOccurrence {
  id: number
  error_id: number
  occurred_at: number
}

type ReadOccurrence = StoredOccurrence & { in_scope: number }

/** Maximum number of occurrences to examine, newest first. */
const MAX_OCCURRENCES = 10_000
/** Maximum number of occurrences to read if most belong to other applications or environments. */
const MAX_READ_OCCURRENCES = 30_000
/** Limits how long one query blocks the event loop on SQLite. */
const ROWS_PER_QUERY = 2500

/** Returns the newest bursts of any error since a time. */
export async function recentBursts(context: Context, scope: Scope, from: number, limit: number): Promise<RecentBursts> {
  const { occurrences, since } = await loadNewest(context, scope, from)
  const bursts = burstsByError(occurrences)
    .sort((a, b) => Date.parse(b.started_at) - Date.parse(a.started_at) || b.error_id - a.error_id)
    .slice(0, limit)
  const errors = await loadRankedErrors(
    context,
    bursts.map(({ error_id }) => error_id),
  )
  return {
    bursts: (await compareEachWithSums(context, bursts, occurrences)).flatMap(({ error_id, ...burst }) => {
      const error = errors.get(error_id)
      return error ? [{ ...burst, error }] : []
    }),
    since: new Date(since ?? from).toISOString(),
    is_lower_bound: since !== null,
  }
}

/** Reads occurrences backward, page by page. `since` is the oldest time read, or null if the whole period was read. */
async function loadNewest(context: Context, scope: Scope, from: number) {
  const { database } = context
  const occurrences: StoredOccurrence[] = []
  let last: StoredOccurrence | undefined
  for (let read = 0; read < MAX_READ_OCCURRENCES && occurrences.length < MAX_OCCURRENCES; read += ROWS_PER_QUERY) {
    const query = database.read
      .selectFrom('faultboard_occurrences as o')
      .select(['o.id', 'o.error_id', 'o.occurred_at'])
      // Not a `where` condition: for a small application, it would scan all occurrences of the period.
      .select(
        sql<number>`case when ${occurrencesInScope(context, 'o.error_id', scope)} then 1 else 0 end`.as('in_scope'),
      )
      .where('o.occurred_at', '>=', from)
      .$if(last !== undefined, (query) =>
        query
          .where('o.occurred_at', '<=', last?.occurred_at ?? 0)
          .where(({ eb, or }) =>
            or([eb('o.occurred_at', '<', last?.occurred_at ?? 0), eb('o.id', '<', last?.id ?? 0)]),
          ),
      )
      .orderBy('o.occurred_at', 'desc')
      .orderBy('o.id', 'desc')
      .limit(ROWS_PER_QUERY)
    const rows: ReadOccurrence[] = await packedRows(database, query, ['id', 'error_id', 'occurred_at', 'in_scope'])
    rows.sort((a, b) => b.occurred_at - a.occurred_at || b.id - a.id)
    occurrences.push(...rows.filter(({ in_scope }) => in_scope === 1))
    last = rows.at(-1)
    if (rows.length < ROWS_PER_QUERY) return { occurrences, since: null }
  }
  return { occurrences, since: last?.occurred_at ?? null }
}

type ErrorRun = OccurrenceRun & { error_id: number }

/** Compares each burst with the sums of its hours. */
async function compareEachWithSums(
  context: Context,
  bursts: readonly ErrorRun[],
  occurrences: readonly StoredOccurrence[],
) {
  const found: (ErrorRun & Burst)[] = []
  for (const burst of bursts) {
    const { error_id } = burst
    const from = startOfHour(Date.parse(burst.started_at))
    const to = startOfHour(Date.parse(burst.ended_at)) + HOUR
    const rows = await loadErrorHourCounts(context, [error_id], undefined, { from, to })
    const sums = new Map(rows.map(({ hour, count }) => [hour, count]))
    const times = occurrences.filter((row) => row.error_id === error_id).map(({ occurred_at }) => occurred_at)
    found.push(...compareWithSums([burst], times, sums))
  }
  return found
}

function burstsByError(occurrences: readonly StoredOccurrence[]): ErrorRun[] {
  const times = new Map<number, number[]>()
  for (const { error_id, occurred_at } of occurrences) {
    const errorTimes = times.get(error_id)
    if (errorTimes) errorTimes.push(occurred_at)
    else times.set(error_id, [occurred_at])
  }
  return [...times].flatMap(([error_id, newestFirst]) =>
    findBursts(newestFirst.reverse()).map((burst) => ({ ...burst, error_id })),
  )
}
