import * as v from 'valibot'
import type { Context } from '../context.js'
import { clampedInteger, id, optional } from '../model/input.js'
import { MINUTE } from '../model/time.js'
import { defineOperation } from '../operation.js'
import { type RelatedError, relatedErrors } from './related-errors.js'

export interface CoOccurringError {
  error: RelatedError
  /** Of the occurrences looked at, those that had the other within the window. */
  together_count: number
  /** How many occurrences were looked at: the newest ones. */
  looked_at: number
  /** `together_count / looked_at`. */
  share: number
}

/** The newest occurrences tell what goes with an error now; all of a hot one would take minutes. */
const NEWEST = 500
/** Others that are read for one question at most, newest first. */
const MOST_ROWS = 20_000
const ROWS_PER_TIME = 200
/** Spans that one statement asks for: each statement costs a way to the database and back. */
const SPANS_AT_ONCE = 15

/** Errors that occur shortly before or after this one, those that do so most often first. */
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
    const window = window_minutes * MINUTE
    const times = await newestTimes(context, error_id, newest)
    const counts = countTogether(times, await othersNear(context, error_id, times, window), window)
    const best = [...counts].sort(([a, m], [b, n]) => n - m || a - b).slice(0, limit * 2)
    const errors = await relatedErrors(
      context,
      best.map(([id]) => id),
      application_id,
    )
    return best
      .flatMap(([id, together_count]) => {
        const error = errors.get(id)
        return error ? [{ error, together_count, looked_at: times.length, share: together_count / times.length }] : []
      })
      .slice(0, limit)
  },
})

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
  { database }: Context,
  error_id: number,
  times: readonly number[],
  window: number,
): Promise<Sighting[]> {
  const spans = spansAround(times, window).reverse()
  const most = Math.min(MOST_ROWS, times.length * ROWS_PER_TIME)
  const rows: Sighting[] = []
  for (let i = 0; i < spans.length && rows.length < most; i += SPANS_AT_ONCE) {
    const [first, ...others] = spans
      .slice(i, i + SPANS_AT_ONCE)
      .map(({ from, to }) =>
        database.read
          .selectFrom('faultboard_occurrences')
          .select(['error_id', 'occurred_at'])
          .where('occurred_at', '>=', from)
          .where('occurred_at', '<=', to)
          .where('error_id', '!=', error_id),
      )
    if (!first) break
    const all = others.reduce((all, one) => all.unionAll(one), first)
    rows.push(...(await all.limit(most - rows.length).execute()))
  }
  return rows
}

export function spansAround(times: readonly number[], window: number): { from: number; to: number }[] {
  const spans: { from: number; to: number }[] = []
  for (const time of times) {
    const last = spans.at(-1)
    if (last && time - window <= last.to) last.to = time + window
    else spans.push({ from: time - window, to: time + window })
  }
  return spans
}

/** For each other error, near how many of the times it occurred. Both lists may be in any order. */
export function countTogether(
  times: readonly number[],
  others: readonly Sighting[],
  window: number,
): Map<number, number> {
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

function near(times: readonly number[], others: readonly number[], window: number): number {
  let count = 0
  let next = 0
  for (const time of times) {
    while (next < others.length && (others[next] ?? 0) < time - window) next++
    if (next < others.length && (others[next] ?? 0) <= time + window) count++
  }
  return count
}
