import * as v from 'valibot'
import type { Context } from '../../context.js'
import { nextTurn } from '../../model/event-loop-turns.js'
import { DAY, firstHourFrom, HOUR, lastDays, startOfHour } from '../../model/time.js'
import { defineOperation } from '../../operation.js'
import { BASELINES } from '../../store/bulk/bulk-targets.js'
import { packedRows } from '../../store/bulk/packed-rows.js'
import { periodicYield } from '../sums/event-loop-yield.js'
import { timedHours } from '../sums/timed-hours.js'
import { calculateBaseline } from './baseline-statistics.js'

export interface BaselineCalculation {
  /** Number of baselines calculated, per hour and per day. */
  calculated: number
  /** Error types and platforms with too little history for a baseline. */
  insufficient_history: number
}

const HISTORY_DAYS = 28
const MIN_HISTORY_MS = 7 * DAY
const MIN_OCCURRENCES = 10

/**
 * Calculates hourly and daily baselines for each error type, platform and environment of every application. Covers four
 * weeks, including empty hours. Excludes the current hour and day.
 */
export const calculateAllBaselines = defineOperation({
  input: v.object({}),
  async run(context): Promise<BaselineCalculation> {
    const now = context.now()
    const history = historyUntil(now, context.config.time_zone)
    const typeHistories = await loadHistories(context, history)
    const rows: BaselineRow[] = []
    const yieldIfDue = periodicYield()
    for (const typeHistory of typeHistories) {
      await yieldIfDue()
      rows.push(...baselineRows(typeHistory, history, now))
    }
    await replaceBaselines(context, rows, now)
    return { calculated: rows.length, insufficient_history: typeHistories.length - rows.length / 2 }
  },
})

interface History {
  /** First hour of each complete local day, and of today. */
  days: number[]
  /** Start of the current hour. */
  end: number
}

function historyUntil(now: number, timeZone: string): History {
  return { days: lastDays(HISTORY_DAYS + 1, now, timeZone).map(firstHourFrom), end: startOfHour(now) }
}

/** Hourly occurrences of one type on one platform in one environment. */
interface TypeHistory {
  application_id: number
  error_type: string
  platform: string
  environment: string
  hours: Map<number, number>
  firstHour: number
  total: number
}

/** Reads a few hours per query, because SQLite blocks the host's event loop. */
async function loadHistories(context: Context, { days, end }: History): Promise<TypeHistory[]> {
  const { database } = context
  const typeHistories = new Map<string, TypeHistory>()
  for await (const { from, to } of timedHours(context, { from: days[0] ?? end, to: end }, 24)) {
    const query = database.read
      .selectFrom('faultboard_error_hours as h')
      .innerJoin('faultboard_errors as e', 'e.id', 'h.error_id')
      .select(({ fn }) => [
        'e.application_id',
        'e.environment',
        'e.error_type',
        'h.platform',
        'h.hour',
        fn.sum<number>('h.count').as('count'),
      ])
      .where('h.hour', '>=', from)
      .where('h.hour', '<', to)
      .groupBy(['e.application_id', 'e.environment', 'e.error_type', 'h.platform', 'h.hour'])
    const columns = ['application_id', 'environment', 'error_type', 'platform', 'hour', 'count'] as const
    for (const { hour, count, ...type } of await packedRows(database, query, columns)) {
      const key = `${type.application_id}\n${type.environment}\n${type.platform}\n${type.error_type}`
      let typeHistory = typeHistories.get(key)
      if (!typeHistory) {
        typeHistory = { ...type, hours: new Map(), firstHour: hour, total: 0 }
        typeHistories.set(key, typeHistory)
      }
      typeHistory.hours.set(hour, count)
      typeHistory.firstHour = Math.min(typeHistory.firstHour, hour)
      typeHistory.total += count
    }
  }
  return [...typeHistories.values()]
}

type BaselineRow = (string | number)[]

function baselineRows(typeHistory: TypeHistory, history: History, now: number): BaselineRow[] {
  const { application_id, error_type, platform, environment, firstHour, total } = typeHistory
  if (history.end - firstHour < MIN_HISTORY_MS || total < MIN_OCCURRENCES) return []
  const samples = { hour: hourSamples(typeHistory, history), day: daySamples(typeHistory, history) }
  return (['hour', 'day'] as const).map((granularity) => {
    const { mean, std_dev, sample_count } = calculateBaseline(samples[granularity])
    return [
      ...[application_id, error_type, platform, environment, granularity, mean, std_dev, sample_count, total, now],
    ]
  })
}

/** Counts of all hours since the first occurrence. */
function hourSamples({ hours, firstHour }: TypeHistory, { end }: History): number[] {
  const counts = new Array<number>((end - firstHour) / HOUR).fill(0)
  for (const [hour, count] of hours) counts[(hour - firstHour) / HOUR] = count
  return counts
}

/** Counts of complete local days since the first occurrence. */
function daySamples({ hours, firstHour }: TypeHistory, { days }: History): number[] {
  const completeDays = days.filter((day) => day >= firstHour)
  const counts = new Array<number>(Math.max(0, completeDays.length - 1)).fill(0)
  for (const [hour, count] of hours) {
    const index = completeDays.findLastIndex((day) => day <= hour)
    if (index >= 0 && index < counts.length) counts[index] = (counts[index] ?? 0) + count
  }
  return counts
}

/** Stores the baselines. Deletes baselines of types without occurrences in the last four weeks. */
async function replaceBaselines({ database }: Context, rows: readonly BaselineRow[], now: number): Promise<void> {
  const ROWS_PER_INSERT = 200
  for (let i = 0; i < rows.length; i += ROWS_PER_INSERT) {
    await database.write((trx) => database.dialect.insertMany(trx, BASELINES, rows.slice(i, i + ROWS_PER_INSERT)))
    await nextTurn()
  }
  await database.read.deleteFrom('faultboard_baselines').where('calculated_at', '<', now).execute()
}
