import type { Context } from '../../context.js'
import { HOUR, hourOf } from '../../model/time.js'
import { packedRows } from '../../store/packed-rows.js'
import { withoutIndex } from '../../store/sort-order.js'
import { type RankedError, rankedErrors } from '../ranked-errors.js'
import type { Scope } from '../sums/application-filter.js'
import { hourCountsOf } from '../sums/subject.js'
import { againstSums, type Burst, burstsIn, type Run } from './pattern-detector.js'

export interface ErrorBurst extends Burst {
  error: RankedError
}

export interface RecentBursts {
  bursts: ErrorBurst[]
  /** From when on occurrences were looked at. */
  since: string
  /** There were more in the period than were looked at. */
  is_lower_bound: boolean
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
  const { sightings, is_lower_bound } = await newest(context, application_id, from)
  const bursts = burstsByError(sightings)
    .sort((a, b) => b.started_at.localeCompare(a.started_at) || b.error_id - a.error_id)
    .slice(0, limit)
  const errors = await rankedErrors(
    context,
    bursts.map(({ error_id }) => error_id),
  )
  return {
    bursts: (await withSums(context, bursts, sightings)).flatMap(({ error_id, ...burst }) => {
      const error = errors.get(error_id)
      return error ? [{ ...burst, error }] : []
    }),
    since: new Date(is_lower_bound ? (sightings.at(-1)?.occurred_at ?? from) : from).toISOString(),
    is_lower_bound,
  }
}

async function newest({ database }: Context, application_id: number | undefined, from: number) {
  const sightings: Sighting[] = []
  let last: Sighting | undefined
  while (sightings.length < MOST) {
    const query = database.read
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
          .where(withoutIndex(database.dialect, 'e.application_id'), '=', application_id ?? 0),
      )
      .orderBy('o.occurred_at', 'desc')
      .orderBy('o.id', 'desc')
      .limit(AT_ONCE)
    const rows: Sighting[] = await packedRows(database, query, ['id', 'error_id', 'occurred_at'])
    rows.sort((a, b) => b.occurred_at - a.occurred_at || b.id - a.id)
    sightings.push(...rows)
    last = rows.at(-1)
    if (rows.length < AT_ONCE) return { sightings, is_lower_bound: false }
  }
  return { sightings, is_lower_bound: true }
}

type ErrorRun = Run & { error_id: number }

/** Each burst against the sums of its own hours. */
async function withSums(context: Context, bursts: readonly ErrorRun[], sightings: readonly Sighting[]) {
  const found: (ErrorRun & Burst)[] = []
  for (const burst of bursts) {
    const { error_id } = burst
    const from = hourOf(Date.parse(burst.started_at))
    const to = hourOf(Date.parse(burst.ended_at)) + HOUR
    const rows = await hourCountsOf(context, [error_id], undefined, { from, to })
    const sums = new Map(rows.map(({ hour, count }) => [hour, count]))
    const times = sightings.flatMap((one) => (one.error_id === error_id ? [one.occurred_at] : []))
    found.push(...againstSums([burst], times, sums))
  }
  return found
}

function burstsByError(sightings: readonly Sighting[]): ErrorRun[] {
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
