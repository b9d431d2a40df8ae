import type { Context } from '../context.js'
import type { Scope } from './hour-sums.js'
import { type Burst, burstsIn } from './pattern-detector.js'
import { type RelatedError, relatedErrors } from './related-errors.js'

export interface ErrorBurst extends Burst {
  error: RelatedError
}

export interface RecentBursts {
  bursts: ErrorBurst[]
  /** From when on occurrences were looked at. */
  since: string
  /** There were more in the period than were looked at. */
  is_bound: boolean
}

interface Sighting {
  id: number
  error_id: number
  occurred_at: number
}

/** So many occurrences are looked at, newest first, and so many in one go: an embedded database holds the thread. */
const MOST = 10_000
const AT_ONCE = 2500

/** The newest bursts of any error since then. */
export async function recentBursts(
  context: Context,
  { application_id }: Scope,
  from: number,
  limit: number,
): Promise<RecentBursts> {
  const { sightings, is_bound } = await newest(context, application_id, from)
  const bursts = burstsByError(sightings)
    .sort((a, b) => b.started_at.localeCompare(a.started_at) || b.error_id - a.error_id)
    .slice(0, limit)
  const errors = await relatedErrors(
    context,
    bursts.map(({ error_id }) => error_id),
  )
  return {
    bursts: bursts.flatMap(({ error_id, ...burst }) => {
      const error = errors.get(error_id)
      return error ? [{ ...burst, error }] : []
    }),
    since: new Date(is_bound ? (sightings.at(-1)?.occurred_at ?? from) : from).toISOString(),
    is_bound,
  }
}

async function newest({ database }: Context, application_id: number | undefined, from: number) {
  const sightings: Sighting[] = []
  let last: Sighting | undefined
  while (sightings.length < MOST) {
    const rows: Sighting[] = await database.read
      .selectFrom('faultboard_occurrences as o')
      .select(['o.id', 'o.error_id', 'o.occurred_at'])
      .where('o.occurred_at', '>=', from)
      .$if(last !== undefined, (query) =>
        query
          .where('o.occurred_at', '<=', last?.occurred_at ?? 0)
          .where(({ eb, or }) =>
            or([eb('o.occurred_at', '<', last?.occurred_at ?? 0), eb('o.id', '<', last?.id ?? 0)]),
          ),
      )
      .$if(application_id !== undefined, (query) =>
        query
          .innerJoin('faultboard_errors as e', 'e.id', 'o.error_id')
          .where('e.application_id', '=', application_id ?? 0),
      )
      .orderBy('o.occurred_at', 'desc')
      .orderBy('o.id', 'desc')
      .limit(AT_ONCE)
      .execute()
    sightings.push(...rows)
    last = rows.at(-1)
    if (rows.length < AT_ONCE) return { sightings, is_bound: false }
  }
  return { sightings, is_bound: true }
}

function burstsByError(sightings: readonly Sighting[]): (Burst & { error_id: number })[] {
  const times = new Map<number, number[]>()
  for (const { error_id, occurred_at } of sightings) {
    const known = times.get(error_id)
    if (known) known.push(occurred_at)
    else times.set(error_id, [occurred_at])
  }
  return [...times].flatMap(([error_id, newest_first]) =>
    burstsIn(newest_first.reverse()).map((burst) => ({ ...burst, error_id })),
  )
}
