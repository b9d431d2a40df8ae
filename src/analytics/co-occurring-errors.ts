import * as v from 'valibot'
import type { Context } from '../context.js'
import { clampedInteger, id, optional } from '../model/input/input.js'
import { type Scope, scopeInput } from '../model/input/scope.js'
import * as r from '../model/result.js'
import { MINUTE } from '../model/time.js'
import { defineOperation } from '../operation.js'
import { expectedProbabilities } from './cascades/expected-probability.js'
import { assertErrorExists } from './existing-error.js'
import { loadRankedErrors, RankedError } from './ranked-errors.js'
import { occurrencesInScope } from './sums/scope-conditions.js'

export const CoOccurringError = r.object({
  error: RankedError,
  /** Checked occurrences with the other error within the window. */
  together_count: r.integer,
  /** Number of separate moments. A moment includes all occurrences within one window of its first occurrence. */
  moment_count: r.integer,
  /** Number of checked occurrences, newest first. */
  checked_count: r.integer,
  /** `together_count / checked_count`. */
  share: r.number,
  /** Share expected by chance, based on the time that the other error covers. */
  expected_share: r.number,
  /** `share / expected_share`. 1 means no relation: a constantly occurring error is near every other error. */
  lift: r.number,
})
export type CoOccurringError = v.InferOutput<typeof CoOccurringError>

/** Checks the newest occurrences only. All occurrences of a frequent error would take minutes. */
const MAX_OCCURRENCES = 500
/** Maximum number of rows of other errors per call, newest first. */
const MAX_ROWS = 20_000
const ROWS_PER_TIME = 200
/** Saves round trips. SQLite allows at most 500 queries in a union. */
const SPANS_PER_STATEMENT = 15
/** Number of errors compared with chance, most frequent first. */
const MAX_CANDIDATES = 20
/** Errors seen together only once are ranked last, unless there is only one occurrence. */
const MIN_TOGETHER_COUNT = 2

/** Returns errors that occur shortly before or after an error, ranked by how far they exceed chance. */
export const coOccurringErrors = defineOperation({
  input: v.object({
    error_id: id(),
    window_minutes: v.optional(optional(clampedInteger({ min: 1, max: 60 })), 5),
    newest: v.optional(optional(clampedInteger({ min: 1, max: MAX_OCCURRENCES })), MAX_OCCURRENCES),
    limit: v.optional(optional(clampedInteger({ min: 1, max: 100 })), 10),
    ...scopeInput,
  }),
  async run(
    context,
    { error_id, window_minutes = 5, newest = MAX_OCCURRENCES, limit = 10, application_id, environment },
  ): Promise<CoOccurringError[]> {
    const scope = { application_id, environment }
    await assertErrorExists(context, error_id, scope)
    const window = window_minutes * MINUTE
    const times = await loadNewestTimes(context, error_id, newest)
    const counts = countTogetherByError(
      times,
      await loadNearbyOccurrences(context, { error_id, scope }, times, window),
      window,
    )
    const mostFrequent = [...counts]
      .sort(([a, m], [b, n]) => n.together_count - m.together_count || a - b)
      .slice(0, Math.max(MAX_CANDIDATES, limit))
    const errors = await loadRankedErrors(
      context,
      mostFrequent.map(([id]) => id),
      scope,
    )
    const expectedShares = await expectedProbabilities(context, [...errors.values()], {
      window,
      until: times.at(-1) ?? 0,
    })
    const checked_count = times.length
    const found = mostFrequent.flatMap(([id, togetherCounts]): CoOccurringError[] => {
      const error = errors.get(id)
      const expected_share = expectedShares.get(id)
      if (!error || expected_share === undefined) return []
      const share = togetherCounts.together_count / checked_count
      return [{ error, ...togetherCounts, checked_count, share, expected_share, lift: share / expected_share }]
    })
    return found.sort(byEvidence(Math.min(MIN_TOGETHER_COUNT, checked_count))).slice(0, limit)
  },
})

function byEvidence(minTogether: number) {
  const isEnough = ({ together_count }: CoOccurringError) => Number(together_count >= minTogether)
  return (a: CoOccurringError, b: CoOccurringError) =>
    isEnough(b) - isEnough(a) || b.lift - a.lift || b.together_count - a.together_count || a.error.id - b.error.id
}

async function loadNewestTimes({ database }: Context, error_id: number, limit: number): Promise<number[]> {
  const rows = await database.read
    .selectFrom('faultboard_occurrences')
    .select('occurred_at')
    .where('error_id', '=', error_id)
    .orderBy('occurred_at', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ occurred_at }) => occurred_at).reverse()
}

export interface NearbyOccurrence {
  error_id: number
  occurred_at: number
}

/** Loads occurrences of other errors within the windows around these times. Merges overlapping windows. */
async function loadNearbyOccurrences(
  context: Context,
  { error_id, scope }: { error_id: number; scope: Scope },
  times: readonly number[],
  window: number,
): Promise<NearbyOccurrence[]> {
  const spans = mergeWindows(times, window).reverse()
  const maxRows = Math.min(MAX_ROWS, times.length * ROWS_PER_TIME)
  const rows: NearbyOccurrence[] = []
  for (let i = 0; i < spans.length && rows.length < maxRows; i += SPANS_PER_STATEMENT) {
    const [first, ...others] = spans.slice(i, i + SPANS_PER_STATEMENT).map(({ from, to }) =>
      context.database.read
        .selectFrom('faultboard_occurrences as o')
        .select(['o.error_id', 'o.occurred_at'])
        .where('o.occurred_at', '>=', from)
        .where('o.occurred_at', '<=', to)
        .where('o.error_id', '!=', error_id)
        // Prevents other applications and environments from using up the row limit.
        .where(occurrencesInScope(context, 'o.error_id', scope)),
    )
    if (!first) break
    const query = others.reduce((union, query) => union.unionAll(query), first)
    rows.push(...(await query.limit(maxRows - rows.length).execute()))
  }
  return rows
}

function mergeWindows(times: readonly number[], window: number): { from: number; to: number }[] {
  const spans: { from: number; to: number }[] = []
  for (const time of times) {
    const last = spans.at(-1)
    if (last && time - window <= last.to) last.to = time + window
    else spans.push({ from: time - window, to: time + window })
  }
  return spans
}

type TogetherCounts = Pick<CoOccurringError, 'together_count' | 'moment_count'>

/** Counts, for every other error, the times with an occurrence of that error nearby. Accepts lists in any order. */
function countTogetherByError(
  times: readonly number[],
  others: readonly NearbyOccurrence[],
  window: number,
): Map<number, TogetherCounts> {
  const byError = new Map<number, number[]>()
  for (const { error_id, occurred_at } of others) {
    const errorTimes = byError.get(error_id)
    if (errorTimes) errorTimes.push(occurred_at)
    else byError.set(error_id, [occurred_at])
  }
  const sorted = [...times].sort((a, b) => a - b)
  return new Map(
    [...byError].map(([error_id, otherTimes]) => [
      error_id,
      countNearby(
        sorted,
        otherTimes.sort((a, b) => a - b),
        window,
      ),
    ]),
  )
}

function countNearby(times: readonly number[], others: readonly number[], window: number): TogetherCounts {
  const counts = { together_count: 0, moment_count: 0 }
  let next = 0
  let moment = Number.NEGATIVE_INFINITY
  for (const time of times) {
    while (next < others.length && (others[next] ?? 0) < time - window) next++
    if (next === others.length || (others[next] ?? 0) > time + window) continue
    counts.together_count++
    if (time - moment <= window) continue
    counts.moment_count++
    moment = time
  }
  return counts
}
