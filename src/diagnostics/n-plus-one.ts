import type { Context } from '../context.js'
import { defineOperation } from '../operation.js'
import { daysInput, firstHour } from './days.js'
import { type HourSlice, hourSlices } from './hour-slices.js'
import { type DayCount, PerDay } from './per-day.js'

export interface NPlusOneQueries {
  days: number
  /** From how many times in one request or job on it counts. */
  threshold: number
  /** Different statements, should they be more than are listed. */
  total_count: number
  /** Requests and jobs that ran one of them, per local day, oldest first; each statement of a request counts. */
  by_day: DayCount[]
  /** Those that ran most often first. */
  statements: RepeatedStatement[]
}

export interface RepeatedStatement {
  /** Without values. */
  statement: string
  request_count: number
  statement_count: number
  /** How often it ran in the worst request. */
  worst_count: number
  /** Of all of them together. */
  duration_ms: number
  /** The last hour in which it came. */
  last_seen_at: string
  callers: StatementCaller[]
}

export interface StatementCaller {
  route: string
  place: string
  request_count: number
  worst_count: number
}

export const LISTED_STATEMENTS = 100
const LISTED_CALLERS = 10
/** Only what came most often is kept of each slice; a server is asked for all in one, and is exact. */
const KEPT = 2000

/** Statements that one request or job ran again and again. */
export const nPlusOneQueries = defineOperation({
  input: daysInput,
  async run(context, { days, application_id }): Promise<NPlusOneQueries> {
    const { config, now } = context
    const per_day = new PerDay(days, now(), config.time_zone)
    const found = new Map<string, Found>()
    for await (const slice of hourSlices(context, firstHour(days, now(), config.time_zone))) {
      const rows = within(context, slice, application_id)
      for (const sum of await perHour(rows)) per_day.add(sum)
      for (const sum of await sumsOf(rows)) add(found, sum)
    }
    const statements = [...found.values()].sort((a, b) => b.statement_count - a.statement_count)
    return {
      days,
      threshold: config.n_plus_one_threshold,
      total_count: statements.length,
      by_day: per_day.days,
      statements: statements.slice(0, LISTED_STATEMENTS).map(statementOf),
    }
  },
})

type Rows = ReturnType<typeof within>

function within({ database: { read } }: Context, { from, to }: HourSlice, application_id: number | undefined) {
  const rows = read.selectFrom('faultboard_repeated_statement_hours').where('hour', '>=', from).where('hour', '<', to)
  // The key begins with the application, so that naming all of them finds the hours by it.
  return application_id === undefined
    ? rows.where('application_id', 'in', read.selectFrom('faultboard_applications').select('id'))
    : rows.where('application_id', '=', application_id)
}

function perHour(rows: Rows) {
  return rows
    .select(({ fn }) => ['hour', fn.sum<number>('request_count').as('count')])
    .groupBy('hour')
    .execute()
}

type Sum = Awaited<ReturnType<typeof sumsOf>>[number]

function sumsOf(rows: Rows) {
  return rows
    .select(({ fn }) => [
      'statement',
      'route',
      'place',
      fn.sum<number>('request_count').as('request_count'),
      fn.sum<number>('statement_count').as('statement_count'),
      fn.max<number>('worst_count').as('worst_count'),
      fn.sum<number>('duration_ms').as('duration_ms'),
      fn.max<number>('hour').as('last_hour'),
    ])
    .groupBy(['statement', 'route', 'place'])
    .orderBy('statement_count', 'desc')
    .limit(KEPT)
    .execute()
}

type Found = Omit<RepeatedStatement, 'last_seen_at' | 'callers'> & {
  last_hour: number
  callers: Map<string, StatementCaller>
}

function add(found: Map<string, Found>, sum: Sum): void {
  const { statement, route, place, request_count, worst_count } = sum
  let one = found.get(statement)
  if (!one) {
    const none = { request_count: 0, statement_count: 0, worst_count: 0, duration_ms: 0, last_hour: 0 }
    one = { statement, ...none, callers: new Map() }
    found.set(statement, one)
  }
  one.request_count += request_count
  one.statement_count += sum.statement_count
  one.worst_count = Math.max(one.worst_count, worst_count)
  one.duration_ms += sum.duration_ms
  one.last_hour = Math.max(one.last_hour, sum.last_hour)
  const key = `${route}\0${place}`
  const caller = one.callers.get(key)
  if (!caller) one.callers.set(key, { route, place, request_count, worst_count })
  else {
    caller.request_count += request_count
    caller.worst_count = Math.max(caller.worst_count, worst_count)
  }
}

function statementOf({ last_hour, callers, ...sums }: Found): RepeatedStatement {
  return {
    ...sums,
    last_seen_at: new Date(last_hour).toISOString(),
    callers: [...callers.values()].sort((a, b) => b.request_count - a.request_count).slice(0, LISTED_CALLERS),
  }
}
