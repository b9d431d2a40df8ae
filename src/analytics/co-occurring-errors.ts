import * as v from 'valibot'
import type { Context } from '../context.js'
import { clampedInteger, id, optional } from '../model/input.js'
import { MINUTE } from '../model/time.js'
import { defineOperation } from '../operation.js'
import { chancesOfMeeting } from './cascades/chance.js'
import { expectError } from './existing-error.js'
import { type RankedError, rankedErrors } from './ranked-errors.js'
import { occurrencesOf } from './sums/application-filter.js'

export interface CoOccurringError {
  error: RankedError
  /** Of the occurrences looked at, those that had the other within the window. */
  together_count: number
  /** At how many separate moments that was: what lies within one window of the first of it is one, however much it is. */
  moment_count: number
  /** How many occurrences were looked at: the newest ones. */
  looked_at: number
  /** `together_count / looked_at`. */
  share: number
  /** The share that chance alone would give, by how much of the last days the other fills. */
  expected_share: number
  /** `share / expected_share`: 1 is chance, and an error that happens all the time is near everything by chance. */
  lift: number
}

/** The newest occurrences tell what goes with an error now; all of a hot one would take minutes. */
const NEWEST = 500
/** Others that are read for one question at most, newest first. */
const MOST_ROWS = 20_000
const ROWS_PER_TIME = 200
/** Saves round trips, and stays below SQLite's limit of 500 united queries. */
const SPANS_PER_STATEMENT = 15
/** The others that are compared with chance: those that were near most often. */
const MOST_CANDIDATES = 20
/** What was near only once stands behind all that was near more often, unless there is no more to look at. */
const LEAST_TOGETHER = 2

/** Errors that occur shortly before or after this one, those first that do so most beyond chance. */
export const coOccurringErrors = defineOperation({
  input: v.object({
    error_id: id(),
    window_minutes: v.optional(optional(clampedInteger({ min: 1, max: 60 })), 5),
    newest: v.optional(optional(clampedInteger({ min: 1, max: NEWEST })), NEWEST),
    limit: v.optional(optional(clampedInteger({ min: 1, max: 100 })), 10),
    application_id: optional(id()),
  }),
  async run(
    context,
    { error_id, window_minutes = 5, newest = NEWEST, limit = 10, application_id },
  ): Promise<CoOccurringError[]> {
    await expectError(context, { error_id, application_id })
    const window = window_minutes * MINUTE
    const times = await newestTimes(context, error_id, newest)
    const counts = countTogether(times, await othersNear(context, { error_id, application_id }, times, window), window)
    const most = [...counts]
      .sort(([a, m], [b, n]) => n.together_count - m.together_count || a - b)
      .slice(0, Math.max(MOST_CANDIDATES, limit))
    const errors = await rankedErrors(
      context,
      most.map(([id]) => id),
      application_id,
    )
    const chances = await chancesOfMeeting(context, [...errors.values()], { window, until: times.at(-1) ?? 0 })
    const looked_at = times.length
    const found = most.flatMap(([id, meetings]): CoOccurringError[] => {
      const error = errors.get(id)
      const expected_share = chances.get(id)
      if (!error || expected_share === undefined) return []
      const share = meetings.together_count / looked_at
      return [{ error, ...meetings, looked_at, share, expected_share, lift: share / expected_share }]
    })
    return found.sort(byEvidence(Math.min(LEAST_TOGETHER, looked_at))).slice(0, limit)
  },
})

function byEvidence(least: number) {
  const isEnough = ({ together_count }: CoOccurringError) => Number(together_count >= least)
  return (a: CoOccurringError, b: CoOccurringError) =>
    isEnough(b) - isEnough(a) || b.lift - a.lift || b.together_count - a.together_count || a.error.id - b.error.id
}

async function newestTimes({ database }: Context, error_id: number, limit: number): Promise<number[]> {
  const rows = await database.read
    .selectFrom('faultboard_occurrences')
    .select('occurred_at')
    .where('error_id', '=', error_id)
    .orderBy('occurred_at', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ occurred_at }) => occurred_at).reverse()
}

export interface Sighting {
  error_id: number
  occurred_at: number
}

/** What else occurred within the windows around these times; windows that touch are asked for as one. */
async function othersNear(
  context: Context,
  { error_id, application_id }: { error_id: number; application_id: number | undefined },
  times: readonly number[],
  window: number,
): Promise<Sighting[]> {
  const spans = spansAround(times, window).reverse()
  const most = Math.min(MOST_ROWS, times.length * ROWS_PER_TIME)
  const rows: Sighting[] = []
  for (let i = 0; i < spans.length && rows.length < most; i += SPANS_PER_STATEMENT) {
    const [first, ...others] = spans.slice(i, i + SPANS_PER_STATEMENT).map(({ from, to }) =>
      context.database.read
        .selectFrom('faultboard_occurrences as o')
        .select(['o.error_id', 'o.occurred_at'])
        .where('o.occurred_at', '>=', from)
        .where('o.occurred_at', '<=', to)
        .where('o.error_id', '!=', error_id)
        // What other applications did must not use up what is read.
        .where(occurrencesOf(context, 'o.error_id', application_id)),
    )
    if (!first) break
    const all = others.reduce((all, one) => all.unionAll(one), first)
    rows.push(...(await all.limit(most - rows.length).execute()))
  }
  return rows
}

function spansAround(times: readonly number[], window: number): { from: number; to: number }[] {
  const spans: { from: number; to: number }[] = []
  for (const time of times) {
    const last = spans.at(-1)
    if (last && time - window <= last.to) last.to = time + window
    else spans.push({ from: time - window, to: time + window })
  }
  return spans
}

type Meetings = Pick<CoOccurringError, 'together_count' | 'moment_count'>

/** For each other error, near how many of the times it occurred. Both lists may be in any order. */
function countTogether(times: readonly number[], others: readonly Sighting[], window: number): Map<number, Meetings> {
  const byError = new Map<number, number[]>()
  for (const { error_id, occurred_at } of others) {
    const known = byError.get(error_id)
    if (known) known.push(occurred_at)
    else byError.set(error_id, [occurred_at])
  }
  const sorted = [...times].sort((a, b) => a - b)
  return new Map(
    [...byError].map(([error_id, theirs]) => [
      error_id,
      near(
        sorted,
        theirs.sort((a, b) => a - b),
        window,
      ),
    ]),
  )
}

function near(times: readonly number[], others: readonly number[], window: number): Meetings {
  const met = { together_count: 0, moment_count: 0 }
  let next = 0
  let moment = Number.NEGATIVE_INFINITY
  for (const time of times) {
    while (next < others.length && (others[next] ?? 0) < time - window) next++
    if (next === others.length || (others[next] ?? 0) > time + window) continue
    met.together_count++
    if (time - moment <= window) continue
    met.moment_count++
    moment = time
  }
  return met
}
