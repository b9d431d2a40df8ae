import { readOptions } from '../../config/options.js'
import type { Context } from '../../context.js'
import { defineOperation } from '../../operation.js'
import { daysInput } from '../hourly/days.js'
import { hourSlices, sumsPerHour, type Within } from '../hourly/hour-slices.js'
import { type DayCount, PerDay } from '../hourly/per-day.js'
import { nPlusOneOptions } from './options.js'

export interface NPlusOneQueries {
  days: number
  /** From how many times in one request or job on it counts. */
  threshold: number
  /** Different statements, should they be more than are listed. */
  total_count: number
  /** Per local day, oldest first: each statement that a request or job ran again and again counts once. */
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
    for await (const within of hourSlices(context, { days, application_id })) {
      for (const sum of await sumsPerHour(context, 'faultboard_repeated_statement_hours', 'request_count', within))
        per_day.add(sum)
      for (const sum of await sumsOf(context, within)) add(found, sum)
    }
    const statements = [...found.values()].sort((a, b) => b.statement_count - a.statement_count)
    return {
      days,
      threshold: readOptions(config, nPlusOneOptions).n_plus_one_threshold,
      total_count: statements.length,
      by_day: per_day.days,
      statements: statements.slice(0, LISTED_STATEMENTS).map(statementOf),
    }
  },
})

type Sum = Awaited<ReturnType<typeof sumsOf>>[number]

function sumsOf({ database: { read } }: Context, within: Within) {
  return read
    .selectFrom('faultboard_repeated_statement_hours')
    .where(within)
    .select(({ fn }) => [
      'statement',
      'route',
      'place',
      fn.sum<number>('request_count').as('request_count'),
      fn.sum<number>('statement_count').as('statement_count'),
      fn.max<number>('worst_count').as('worst_count'),
      fn.sum<number>('duration_ms').as('duration_ms'),
      fn.max<number>('last_seen_at').as('last_seen_at'),
    ])
    .groupBy(['statement', 'route', 'place'])
    .orderBy('statement_count', 'desc')
    .limit(KEPT)
    .execute()
}

type Found = Omit<RepeatedStatement, 'last_seen_at' | 'callers'> & {
  last_seen_at: number
  callers: Map<string, StatementCaller>
}

function add(found: Map<string, Found>, sum: Sum): void {
  const { statement, route, place, request_count, worst_count } = sum
  let one = found.get(statement)
  if (!one) {
    const none = { request_count: 0, statement_count: 0, worst_count: 0, duration_ms: 0, last_seen_at: 0 }
    one = { statement, ...none, callers: new Map() }
    found.set(statement, one)
  }
  one.request_count += request_count
  one.statement_count += sum.statement_count
  one.worst_count = Math.max(one.worst_count, worst_count)
  one.duration_ms += sum.duration_ms
  one.last_seen_at = Math.max(one.last_seen_at, sum.last_seen_at)
  const key = `${route}\0${place}`
  const caller = one.callers.get(key)
  if (!caller) one.callers.set(key, { route, place, request_count, worst_count })
  else {
    caller.request_count += request_count
    caller.worst_count = Math.max(caller.worst_count, worst_count)
  }
}

function statementOf({ last_seen_at, callers, ...sums }: Found): RepeatedStatement {
  return {
    ...sums,
    last_seen_at: new Date(last_seen_at).toISOString(),
    callers: [...callers.values()].sort((a, b) => b.request_count - a.request_count).slice(0, LISTED_CALLERS),
  }
}
