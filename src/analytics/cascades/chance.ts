import type { Context } from '../../context.js'
import { DAY, HOUR, hourOf } from '../../model/time.js'
import { packedRows } from '../../store/packed-rows.js'

/** How long before the newest time it is looked how often an error comes. */
export const CHANCE_DAYS = 7

interface Candidate {
  id: number
  application_id: number
}

/**
 * How likely each error is to be met within a window around any moment of the last days: an error that happens all the
 * time is met everywhere. Taken from its sums by the hour, so that a storm counts as the hours it filled and not as its
 * thousands; hours before the application's first record do not count. Never zero.
 */
export async function chancesOfMeeting(
  context: Context,
  candidates: readonly Candidate[],
  { window, until }: { window: number; until: number },
): Promise<Map<number, number>> {
  const to = hourOf(until) + HOUR
  const from = to - CHANCE_DAYS * DAY
  const sums = await hourSums(context, candidates, { from: from - window - HOUR, to: to + window + HOUR })
  const begin = new Map<number, number>()
  for (const application_id of new Set(candidates.map((one) => one.application_id))) {
    const first = (await firstHour(context, application_id)) ?? from
    begin.set(application_id, Math.min(Math.max(from, first), to - HOUR))
  }
  return new Map(
    candidates.map(({ id, application_id }) => [
      id,
      chanceWithin(sums.get(id) ?? new Map(), { from: begin.get(application_id) ?? from, to, window }),
    ]),
  )
}

/** The mean over the hours of how likely one of the occurrences around the middle of the hour falls into the window. */
export function chanceWithin(
  counts: ReadonlyMap<number, number>,
  { from, to, window }: { from: number; to: number; window: number },
): number {
  const hours = (to - from) / HOUR
  let sum = 0
  for (let hour = from; hour < to; hour += HOUR) {
    const middle = hour + HOUR / 2
    let expected = 0
    for (let near = hourOf(middle - window); near < middle + window; near += HOUR) {
      const shared = Math.min(near + HOUR, middle + window) - Math.max(near, middle - window)
      expected += ((counts.get(near) ?? 0) * shared) / HOUR
    }
    sum += 1 - Math.exp(-expected)
  }
  const once = (1 - Math.exp(-Math.min(1, (2 * window) / HOUR))) / hours
  return Math.max(sum / hours, once)
}

async function hourSums(
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
