import * as v from 'valibot'
import type { Context } from '../context.js'
import { DAY, HOUR, hourOf } from '../model/time.js'
import { defineOperation } from '../operation.js'
import { BASELINES } from '../store/bulk-targets.js'
import { baselineOf } from './baseline-statistics.js'

export interface BaselineCalculation {
  /** Baselines that were calculated, by hour and by day. */
  calculated: number
  /** Kinds of errors with too short a history, or too few occurrences, to say what is usual. */
  too_little_history: number
}

const HISTORY = 28 * DAY
const LEAST_HISTORY = 7 * DAY
const LEAST_OCCURRENCES = 10

/**
 * What is usual for every type of error on every platform of every application: occurrences per hour, and per day, over
 * four weeks with their empty hours. Only hours that are over count.
 */
export const calculateAllBaselines = defineOperation({
  input: v.object({}),
  async run(context): Promise<BaselineCalculation> {
    const now = context.now()
    const end = hourOf(now)
    const kinds = await gather(context, end - HISTORY, end)
    const rows = kinds.flatMap((kind) => baselinesOf(kind, end, now))
    await replaceAll(context, rows, now)
    return { calculated: rows.length, too_little_history: kinds.length - rows.length / 2 }
  },
})

/** The occurrences of one type on one platform, by the hour. */
interface Kind {
  application_id: number
  error_type: string
  platform: string
  hours: Map<number, number>
  first_hour: number
  total: number
}

/** Reads a day at a time: an embedded database blocks the host's thread. */
async function gather({ database }: Context, from: number, end: number): Promise<Kind[]> {
  const kinds = new Map<string, Kind>()
  for (let day = from; day < end; day += DAY) {
    const rows = await database.read
      .selectFrom('faultboard_error_hours as h')
      .innerJoin('faultboard_errors as e', 'e.id', 'h.error_id')
      .select(({ fn }) => [
        'e.application_id',
        'e.error_type',
        'h.platform',
        'h.hour',
        fn.sum<number>('h.count').as('count'),
      ])
      .where('h.hour', '>=', day)
      .where('h.hour', '<', Math.min(day + DAY, end))
      .groupBy(['e.application_id', 'e.error_type', 'h.platform', 'h.hour'])
      .execute()
    for (const { application_id, error_type, platform, hour, count } of rows) {
      const key = JSON.stringify([application_id, error_type, platform])
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

function baselinesOf(kind: Kind, end: number, now: number): BaselineRow[] {
  const { application_id, error_type, platform, first_hour, total } = kind
  if (end - first_hour < LEAST_HISTORY || total < LEAST_OCCURRENCES) return []
  return (['hour', 'day'] as const).map((granularity) => {
    const { mean, std_dev, sample_count } = baselineOf(countsOf(kind, end, granularity === 'hour' ? HOUR : DAY))
    return [application_id, error_type, platform, granularity, mean, std_dev, sample_count, total, now]
  })
}

/** The counts of all whole steps back from the end, as far as the kind is known. */
function countsOf({ hours, first_hour }: Kind, end: number, step: number): number[] {
  const steps = Math.floor((end - first_hour) / step)
  const counts = new Array<number>(steps).fill(0)
  for (const [hour, count] of hours) {
    const index = steps - 1 - Math.floor((end - HOUR - hour) / step)
    if (index >= 0) counts[index] = (counts[index] ?? 0) + count
  }
  return counts
}

/** What has no baseline any more, because nothing of it is left within four weeks, must not be compared with. */
async function replaceAll({ database }: Context, rows: readonly BaselineRow[], now: number): Promise<void> {
  const CHUNK = 200
  for (let i = 0; i < rows.length; i += CHUNK) {
    await database.write((trx) => database.dialect.insertMany(trx, BASELINES, rows.slice(i, i + CHUNK)))
  }
  await database.read.deleteFrom('faultboard_baselines').where('calculated_at', '<', now).execute()
}
