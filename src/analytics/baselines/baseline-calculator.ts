import * as v from 'valibot'
import type { Context } from '../../context.js'
import { DAY, firstHourFrom, HOUR, hourOf, lastDays } from '../../model/time.js'
import { defineOperation } from '../../operation.js'
import { BASELINES } from '../../store/bulk-targets.js'
import { packedRows } from '../../store/packed-rows.js'
import { timedHours } from '../sums/timed-hours.js'
import { giveTurn, turns } from '../sums/turns.js'
import { baselineOf } from './baseline-statistics.js'

export interface BaselineCalculation {
  /** Baselines that were calculated, by hour and by day. */
  calculated: number
  /** Kinds of errors with too short a history, or too few occurrences, to say what is usual. */
  too_little_history: number
}

const HISTORY_DAYS = 28
const LEAST_HISTORY = 7 * DAY
const LEAST_OCCURRENCES = 10

/**
 * What is usual for every type of error on every platform of every application: occurrences per hour, and per local day,
 * over four weeks with their empty hours. Only hours and days that are over count.
 */
export const calculateAllBaselines = defineOperation({
  input: v.object({}),
  async run(context): Promise<BaselineCalculation> {
    const now = context.now()
    const history = historyAt(now, context.config.time_zone)
    const kinds = await gather(context, history)
    const rows: BaselineRow[] = []
    const turn = turns()
    for (const kind of kinds) {
      await turn()
      rows.push(...baselinesOf(kind, history, now))
    }
    await replaceAll(context, rows, now)
    return { calculated: rows.length, too_little_history: kinds.length - rows.length / 2 }
  },
})

interface History {
  /** The first hour of each local day that is over, and last that of today. */
  days: number[]
  /** The hour that is running. */
  end: number
}

function historyAt(now: number, zone: string): History {
  return { days: lastDays(HISTORY_DAYS + 1, now, zone).map(firstHourFrom), end: hourOf(now) }
}

/** The occurrences of one type on one platform, by the hour. */
interface Kind {
  application_id: number
  error_type: string
  platform: string
  hours: Map<number, number>
  first_hour: number
  total: number
}

/** Reads a few hours at a time: an embedded database blocks the host's thread. */
async function gather(context: Context, { days, end }: History): Promise<Kind[]> {
  const { database } = context
  const kinds = new Map<string, Kind>()
  for await (const { from, to } of timedHours(context, { from: days[0] ?? end, to: end }, 24)) {
    const query = database.read
      .selectFrom('faultboard_error_hours as h')
      .innerJoin('faultboard_errors as e', 'e.id', 'h.error_id')
      .select(({ fn }) => [
        'e.application_id',
        'e.error_type',
        'h.platform',
        'h.hour',
        fn.sum<number>('h.count').as('count'),
      ])
      .where('h.hour', '>=', from)
      .where('h.hour', '<', to)
      .groupBy(['e.application_id', 'e.error_type', 'h.platform', 'h.hour'])
    const rows = await packedRows(database, query, ['application_id', 'error_type', 'platform', 'hour', 'count'])
    for (const { application_id, error_type, platform, hour, count } of rows) {
      const key = `${application_id}\n${platform}\n${error_type}`
      let kind = kinds.get(key)
      if (!kind) {
        kind = { application_id, error_type, platform, hours: new Map(), first_hour: hour, total: 0 }
        kinds.set(key, kind)
      }
      kind.hours.set(hour, count)
      kind.first_hour = Math.min(kind.first_hour, hour)
      kind.total += count
    }
  }
  return [...kinds.values()]
}

type BaselineRow = (string | number)[]

function baselinesOf(kind: Kind, history: History, now: number): BaselineRow[] {
  const { application_id, error_type, platform, first_hour, total } = kind
  if (history.end - first_hour < LEAST_HISTORY || total < LEAST_OCCURRENCES) return []
  const samples = { hour: hoursOf(kind, history), day: daysOf(kind, history) }
  return (['hour', 'day'] as const).map((granularity) => {
    const { mean, std_dev, sample_count } = baselineOf(samples[granularity])
    return [application_id, error_type, platform, granularity, mean, std_dev, sample_count, total, now]
  })
}

/** The counts of all hours, as far as the kind is known. */
function hoursOf({ hours, first_hour }: Kind, { end }: History): number[] {
  const counts = new Array<number>((end - first_hour) / HOUR).fill(0)
  for (const [hour, count] of hours) counts[(hour - first_hour) / HOUR] = count
  return counts
}

/** The counts of whole local days, as far as the kind is known. */
function daysOf({ hours, first_hour }: Kind, { days }: History): number[] {
  const whole = days.filter((day) => day >= first_hour)
  const counts = new Array<number>(Math.max(0, whole.length - 1)).fill(0)
  for (const [hour, count] of hours) {
    const index = whole.findLastIndex((day) => day <= hour)
    if (index >= 0 && index < counts.length) counts[index] = (counts[index] ?? 0) + count
  }
  return counts
}

/** What has no baseline any more, because nothing of it is left within four weeks, must not be compared with. */
async function replaceAll({ database }: Context, rows: readonly BaselineRow[], now: number): Promise<void> {
  const CHUNK = 200
  for (let i = 0; i < rows.length; i += CHUNK) {
    await database.write((trx) => database.dialect.insertMany(trx, BASELINES, rows.slice(i, i + CHUNK)))
    await giveTurn()
  }
  await database.read.deleteFrom('faultboard_baselines').where('calculated_at', '<', now).execute()
}
