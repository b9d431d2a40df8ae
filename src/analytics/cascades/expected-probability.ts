import type { Context } from '../../context.js'
import { DAY, HOUR, startOfHour } from '../../model/time.js'
import { packedRows } from '../../store/bulk/packed-rows.js'

/** Period over which the frequency of an error is measured. */
export const MEASURED_DAYS = 7

interface Candidate {
  id: number
  application_id: number
}

/**
 * Probability that each error occurs within a window around any moment of the last days. Uses hourly counts, so that a
 * storm counts only as the hours in which it occurred. Ignores hours before the application's first record. Never zero.
 */
export async function expectedProbabilities(
  context: Context,
  candidates: readonly Candidate[],
  { window, until }: { window: number; until: number },
): Promise<Map<number, number>> {
  const to = startOfHour(until) + HOUR
  const from = to - MEASURED_DAYS * DAY
  const sums = await loadHourSums(context, candidates, { from: from - window - HOUR, to: to + window + HOUR })
  const startByApplication = new Map<number, number>()
  for (const application_id of new Set(candidates.map((candidate) => candidate.application_id))) {
    const first = (await firstHour(context, application_id)) ?? from
    startByApplication.set(application_id, Math.min(Math.max(from, first), to - HOUR))
  }
  return new Map(
    candidates.map(({ id, application_id }) => [
      id,
      expectedProbability(sums.get(id) ?? new Map(), {
        from: startByApplication.get(application_id) ?? from,
        to,
        window,
      }),
    ]),
  )
}

/** Mean, over all hours, of the probability of an occurrence within the window around the middle of the hour. */
export function expectedProbability(
  counts: ReadonlyMap<number, number>,
  { from, to, window }: { from: number; to: number; window: number },
): number {
  const hours = (to - from) / HOUR
  let sum = 0
  for (let hour = from; hour < to; hour += HOUR) {
    const middle = hour + HOUR / 2
    let expected = 0
    for (let nearbyHour = startOfHour(middle - window); nearbyHour < middle + window; nearbyHour += HOUR) {
      const overlap = Math.min(nearbyHour + HOUR, middle + window) - Math.max(nearbyHour, middle - window)
      expected += ((counts.get(nearbyHour) ?? 0) * overlap) / HOUR
    }
    sum += 1 - Math.exp(-expected)
  }
  const singleProbability = (1 - Math.exp(-Math.min(1, (2 * window) / HOUR))) / hours
  return Math.max(sum / hours, singleProbability)
}

async function loadHourSums(
  { database }: Context,
  candidates: readonly Candidate[],
  { from, to }: { from: number; to: number },
): Promise<Map<number, Map<number, number>>> {
  const sums = new Map<number, Map<number, number>>(candidates.map(({ id }) => [id, new Map()]))
  if (candidates.length === 0) return sums
  const query = database.read
    .selectFrom('faultboard_error_hours')
    .select(({ fn }) => ['error_id', 'hour', fn.sum<number>('count').as('count')])
    .where('error_id', 'in', [...sums.keys()])
    .where('hour', '>=', from)
    .where('hour', '<', to)
    .groupBy(['error_id', 'hour'])
  const rows = await packedRows(database, query, ['error_id', 'hour', 'count'])
  for (const { error_id, hour, count } of rows) sums.get(error_id)?.set(hour, count)
  return sums
}

/** Hour of the first record of an application. */
export async function firstHour({ database }: Context, application_id: number): Promise<number | undefined> {
  const first = await database.read
    .selectFrom('faultboard_application_hours')
    .select('hour')
    .where('application_id', '=', application_id)
    .orderBy('hour')
    .limit(1)
    .executeTakeFirst()
  return first?.hour
}
