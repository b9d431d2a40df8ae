import type { Context } from '../../context.js'
import { HOUR } from '../../model/time.js'
import { packedRows } from '../../store/bulk/packed-rows.js'
import { sql } from '../../store/kysely.js'
import { periodicYield } from '../sums/event-loop-yield.js'
import type { Span } from '../sums/period.js'
import { timedHours } from '../sums/timed-hours.js'
import { CASCADE_WINDOW_MS, mostFrequentPairs } from './cascade-sweep.js'
import { firstHour } from './expected-probability.js'

export interface StrongPair {
  parent_error_id: number
  child_error_id: number
  parent_count: number
  followed_count: number
  /** Probability that the child occurs within the window after any moment of the span. */
  expected_probability: number
  delay_ms: number
}

type FollowedPair = Omit<StrongPair, 'parent_count' | 'expected_probability'>

/** Minimum number of times a child must follow its parent. */
const MIN_FOLLOWED = 3
const MAX_PAIRS = 1000
/** Limits the pairs compared with chance. Frequent errors follow all other errors, so most pairs are coincidences. */
const MAX_COMPARED_PAIRS = 5 * MAX_PAIRS
/** Minimum ratio of observed to expected probability. A lift of 1 is a coincidence. */
const MIN_LIFT = 2

/**
 * Pairs within one application whose child followed often enough, and at least twice as often as expected by chance.
 */
export async function strongPairs(context: Context, span: Span): Promise<StrongPair[]> {
  const frequentPairs = mostFrequentPairs(await loadFrequentPairs(context, span), MAX_COMPARED_PAIRS)
  const pairs = await withinApplications(context, frequentPairs)
  if (pairs.length === 0) return []
  const ids = new Set(pairs.flatMap(({ parent_error_id, child_error_id }) => [parent_error_id, child_error_id]))
  const counts = await countErrors(context, span, ids)
  const hours = await countApplicationHours(context, span, new Set(pairs.map(({ application_id }) => application_id)))
  const strong = pairs.flatMap(({ application_id, ...pair }): StrongPair[] => {
    const parent_count = counts.get(pair.parent_error_id)?.count ?? pair.followed_count
    const covered = Math.max(CASCADE_WINDOW_MS, counts.get(pair.child_error_id)?.covered_ms ?? 0)
    const expected_probability = Math.min(1, covered / HOUR / (hours.get(application_id) ?? 1))
    const lift = pair.followed_count / parent_count / expected_probability
    return lift < MIN_LIFT ? [] : [{ ...pair, parent_count, expected_probability }]
  })
  return mostFrequentPairs(strong, MAX_PAIRS).sort(
    (a, b) => a.parent_error_id - b.parent_error_id || a.child_error_id - b.child_error_id,
  )
}

async function loadFrequentPairs(context: Context, span: Span): Promise<FollowedPair[]> {
  const { database } = context
  const isServer = !database.dialect.blocksHost
  const sums = new Map<number, Map<number, FollowedPair>>()
  const yieldIfDue = periodicYield()
  for await (const { from, to } of timedHours(context, span)) {
    const query = database.read
      .selectFrom('faultboard_cascade_hours')
      .select(({ fn }) => [
        'parent_error_id',
        'child_error_id',
        fn.sum<number>('followed_count').as('followed_count'),
        fn.sum<number>('delay_ms').as('delay_ms'),
      ])
      .where('hour', '>=', from)
      .where('hour', '<', to)
      .groupBy(['parent_error_id', 'child_error_id'])
      // Servers sum up the whole span and filter rare pairs in SQL.
      .$if(isServer, (query) =>
        query
          .having(({ fn }) => fn.sum('followed_count'), '>=', MIN_FOLLOWED)
          .orderBy(({ fn }) => fn.sum('followed_count'), 'desc')
          .limit(MAX_COMPARED_PAIRS),
      )
    const rows: FollowedPair[] = await packedRows(database, query, [
      'parent_error_id',
      'child_error_id',
      'followed_count',
      'delay_ms',
    ])
    for (const row of rows) addPair(sums, row)
  }
  const frequentPairs: FollowedPair[] = []
  for (const children of sums.values()) {
    await yieldIfDue()
    for (const pair of children.values()) if (pair.followed_count >= MIN_FOLLOWED) frequentPairs.push(pair)
  }
  return frequentPairs
}

function addPair(sums: Map<number, Map<number, FollowedPair>>, row: FollowedPair): void {
  let children = sums.get(row.parent_error_id)
  if (!children) {
    children = new Map()
    sums.set(row.parent_error_id, children)
  }
  const known = children.get(row.child_error_id)
  if (known) {
    known.followed_count += row.followed_count
    known.delay_ms += row.delay_ms
  } else children.set(row.child_error_id, row)
}

/** Keeps pairs whose errors still exist and belong to one application. */
async function withinApplications(
  { database }: Context,
  pairs: readonly FollowedPair[],
): Promise<(FollowedPair & { application_id: number })[]> {
  const ids = [...new Set(pairs.flatMap(({ parent_error_id, child_error_id }) => [parent_error_id, child_error_id]))]
  const applications = new Map<number, number>()
  for (let i = 0; i < ids.length; i += IDS_PER_STATEMENT) {
    const rows = await database.read
      .selectFrom('faultboard_errors')
      .select(['id', 'application_id'])
      .where('id', 'in', ids.slice(i, i + IDS_PER_STATEMENT))
      .execute()
    for (const { id, application_id } of rows) applications.set(id, application_id)
  }
  return pairs.flatMap((pair) => {
    const application_id = applications.get(pair.parent_error_id)
    const isSameApplication = application_id !== undefined && application_id === applications.get(pair.child_error_id)
    return isSameApplication ? [{ ...pair, application_id }] : []
  })
}

const IDS_PER_STATEMENT = 1000
const WINDOWS_PER_HOUR = HOUR / CASCADE_WINDOW_MS

interface ErrorCount {
  count: number
  /** Milliseconds covered by the windows before the occurrences. Overlapping windows count once. */
  covered_ms: number
}

/** Reads all errors of an hour and filters in code, because a list of thousands of ids is slower. */
async function countErrors(
  context: Context,
  span: Span,
  errorIds: ReadonlySet<number>,
): Promise<Map<number, ErrorCount>> {
  const { database } = context
  const counts = new Map<number, ErrorCount>()
  // Hours stored by an earlier version have no covered time. The upper bound is one window per occurrence.
  const maxWindows = sql`case when ${sql.ref('count')} < ${WINDOWS_PER_HOUR} then ${sql.ref('count')} else ${WINDOWS_PER_HOUR} end`
  const coveredMs = sql<number>`sum(coalesce(${sql.ref('covered_ms')}, (${maxWindows}) * ${CASCADE_WINDOW_MS}))`
  for await (const { from, to } of timedHours(context, span, 24)) {
    const query = database.read
      .selectFrom('faultboard_cascade_parents')
      .select(({ fn }) => ['error_id', fn.sum<number>('count').as('count')])
      .select(coveredMs.as('covered_ms'))
      .where('hour', '>=', from)
      .where('hour', '<', to)
      .groupBy('error_id')
    for (const row of await packedRows(database, query, ['error_id', 'count', 'covered_ms'])) {
      if (!errorIds.has(row.error_id)) continue
      const known = counts.get(row.error_id) ?? { count: 0, covered_ms: 0 }
      counts.set(row.error_id, {
        count: known.count + row.count,
        covered_ms: known.covered_ms + Number(row.covered_ms),
      })
    }
  }
  return counts
}

/** Counts the hours of the span since the first record of each application. */
async function countApplicationHours(
  context: Context,
  { from, to }: Span,
  application_ids: ReadonlySet<number>,
): Promise<Map<number, number>> {
  const hours = new Map<number, number>()
  for (const application_id of application_ids) {
    const first = (await firstHour(context, application_id)) ?? from
    hours.set(application_id, Math.max(1, (to - Math.max(from, first)) / HOUR))
  }
  return hours
}
