import type { Context } from '../context.js'
import { HOUR } from '../model/time.js'
import { packedRows } from '../store/packed-rows.js'
import { mostOften } from './cascade-sweep.js'
import type { Span } from './period.js'
import { timedHours } from './timed-hours.js'
import { turns } from './turns.js'

export interface StrongPair {
  parent_error_id: number
  child_error_id: number
  parent_count: number
  followed_count: number
  delay_ms: number
}

type Followed = Omit<StrongPair, 'parent_count'>

/** How often a child must have followed. */
const LEAST = 3
const MOST = 1000

/** The pairs of one application of which the child followed often enough in the hours of the span. */
export async function strongPairs(context: Context, span: Span): Promise<StrongPair[]> {
  const often = mostOften(await followedOften(context, span), MOST)
  const pairs = await withinApplications(context, often)
  if (pairs.length === 0) return []
  const counts = await parentCounts(context, span, new Set(pairs.map(({ parent_error_id }) => parent_error_id)))
  return pairs
    .map((pair) => ({ ...pair, parent_count: counts.get(pair.parent_error_id) ?? pair.followed_count }))
    .sort((a, b) => a.parent_error_id - b.parent_error_id || a.child_error_id - b.child_error_id)
}

async function followedOften(context: Context, span: Span): Promise<Followed[]> {
  const { database } = context
  const isServer = database.dialect.rows_at_once === null
  const sums = new Map<number, Map<number, Followed>>()
  const turn = turns()
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
      // A server adds up the whole span, and keeps what is too little to itself.
      .$if(isServer, (query) =>
        query
          .having(({ fn }) => fn.sum('followed_count'), '>=', LEAST)
          .orderBy(({ fn }) => fn.sum('followed_count'), 'desc')
          .limit(MOST),
      )
    const rows: Followed[] = await packedRows(database, query, [
      'parent_error_id',
      'child_error_id',
      'followed_count',
      'delay_ms',
    ])
    for (const row of rows) add(sums, row)
  }
  const often: Followed[] = []
  for (const children of sums.values()) {
    await turn()
    for (const pair of children.values()) if (pair.followed_count >= LEAST) often.push(pair)
  }
  return often
}

function add(sums: Map<number, Map<number, Followed>>, row: Followed): void {
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

/** Both must still be there; what two applications do at the same time has nothing to do with each other. */
async function withinApplications({ database }: Context, pairs: readonly Followed[]): Promise<Followed[]> {
  if (pairs.length === 0) return []
  const ids = new Set(pairs.flatMap(({ parent_error_id, child_error_id }) => [parent_error_id, child_error_id]))
  const rows = await database.read
    .selectFrom('faultboard_errors')
    .select(['id', 'application_id'])
    .where('id', 'in', [...ids])
    .execute()
  const applications = new Map(rows.map(({ id, application_id }) => [id, application_id]))
  return pairs.filter(({ parent_error_id, child_error_id }) => {
    const application_id = applications.get(parent_error_id)
    return application_id !== undefined && application_id === applications.get(child_error_id)
  })
}

/** All of an hour are read and the wanted ones kept: a list of a thousand ids costs more than the rows do. */
async function parentCounts(context: Context, span: Span, wanted: ReadonlySet<number>): Promise<Map<number, number>> {
  const { database } = context
  const counts = new Map<number, number>()
  for await (const { from, to } of timedHours(context, span, 24 * HOUR)) {
    const query = database.read
      .selectFrom('faultboard_cascade_parents')
      .select(({ fn }) => ['error_id', fn.sum<number>('count').as('count')])
      .where('hour', '>=', from)
      .where('hour', '<', to)
      .groupBy('error_id')
    for (const { error_id, count } of await packedRows(database, query, ['error_id', 'count'])) {
      if (wanted.has(error_id)) counts.set(error_id, (counts.get(error_id) ?? 0) + count)
    }
  }
  return counts
}
