import type * as v from 'valibot'
import { readOptions } from '../../config/options.js'
import type { Context } from '../../context.js'
import * as r from '../../model/result.js'
import { defineOperation } from '../../operation.js'
import { daysInput } from '../hourly/days.js'
import { type HourCondition, hourSlices, sumsPerHour } from '../hourly/hour-slices.js'
import { DayCount, DayTotals } from '../hourly/per-day.js'
import { nPlusOneOptions } from './options.js'

const StatementCaller = r.object({
  route: r.text,
  place: r.text,
  request_count: r.integer,
  worst_count: r.integer,
})
type StatementCaller = v.InferOutput<typeof StatementCaller>

export const RepeatedStatement = r.object({
  /** SQL without values. */
  statement: r.text,
  request_count: r.integer,
  statement_count: r.integer,
  /** Executions in the worst request. */
  worst_count: r.integer,
  /** Total of all executions. */
  duration_ms: r.number,
  last_seen_at: r.time,
  callers: r.list(StatementCaller),
})
export type RepeatedStatement = v.InferOutput<typeof RepeatedStatement>

export const NPlusOneQueries = r.object({
  days: r.integer,
  /** Minimum number of executions per request or job for a statement to count. */
  threshold: r.integer,
  /** Number of distinct statements, including unlisted statements. */
  total_count: r.integer,
  /** Repeated statements per local day, oldest first. Each counts once per request or job. */
  by_day: r.list(DayCount),
  /** Statements by number of executions, most first. */
  statements: r.list(RepeatedStatement),
})
export type NPlusOneQueries = v.InferOutput<typeof NPlusOneQueries>

export const MAX_STATEMENTS = 100
const MAX_CALLERS = 10
/** Rows per range of hours. SQLite splits long ranges, so its result can be incomplete above this limit. */
const MAX_ROWS = 2000

/** Lists statements that one request or job ran repeatedly. */
export const nPlusOneQueries = defineOperation({
  input: daysInput,
  async run(context, { days, application_id, environment }): Promise<NPlusOneQueries> {
    const { config, now } = context
    const dayTotals = new DayTotals(days, now(), config.time_zone)
    const totals = new Map<string, StatementTotals>()
    for await (const condition of hourSlices(context, { days, application_id, environment })) {
      for (const sum of await sumsPerHour(context, 'faultboard_repeated_statement_hours', 'request_count', condition))
        dayTotals.add(sum)
      for (const sum of await readSums(context, condition)) addSum(totals, sum)
    }
    const statements = [...totals.values()].sort((a, b) => b.statement_count - a.statement_count)
    return {
      days,
      threshold: readOptions(config, nPlusOneOptions).n_plus_one_threshold,
      total_count: statements.length,
      by_day: dayTotals.days,
      statements: statements.slice(0, MAX_STATEMENTS).map(toStatement),
    }
  },
})

type StatementSum = Awaited<ReturnType<typeof readSums>>[number]

function readSums({ database: { read } }: Context, condition: HourCondition) {
  return read
    .selectFrom('faultboard_repeated_statement_hours')
    .where(condition)
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
    .limit(MAX_ROWS)
    .execute()
}

type StatementTotals = Omit<RepeatedStatement, 'last_seen_at' | 'callers'> & {
  last_seen_at: number
  callers: Map<string, StatementCaller>
}

function addSum(statements: Map<string, StatementTotals>, sum: StatementSum): void {
  const { statement, route, place, request_count, worst_count } = sum
  let total = statements.get(statement)
  if (!total) {
    const zero = { request_count: 0, statement_count: 0, worst_count: 0, duration_ms: 0, last_seen_at: 0 }
    total = { statement, ...zero, callers: new Map() }
    statements.set(statement, total)
  }
  total.request_count += request_count
  total.statement_count += sum.statement_count
  total.worst_count = Math.max(total.worst_count, worst_count)
  total.duration_ms += sum.duration_ms
  total.last_seen_at = Math.max(total.last_seen_at, sum.last_seen_at)
  const key = `${route}\0${place}`
  const caller = total.callers.get(key)
  if (!caller) total.callers.set(key, { route, place, request_count, worst_count })
  else {
    caller.request_count += request_count
    caller.worst_count = Math.max(caller.worst_count, worst_count)
  }
}

function toStatement({ last_seen_at, callers, ...sums }: StatementTotals): RepeatedStatement {
  return {
    ...sums,
    last_seen_at: new Date(last_seen_at).toISOString(),
    callers: [...callers.values()].sort((a, b) => b.request_count - a.request_count).slice(0, MAX_CALLERS),
  }
}
