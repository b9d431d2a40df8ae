import * as v from 'valibot'
import { id, optional } from '../model/input.js'
import { DAY, hourOf, startOfDay } from '../model/time.js'
import { defineOperation } from '../operation.js'

export interface DashboardStats {
  total_errors: number
  errors_today: number
  errors_last_7_days: number
  errors_last_30_days: number
  resolved_count: number
  unresolved_count: number
  total_occurrences: number
  occurrences_today: number
  occurrences_last_7_days: number
  occurrences_last_30_days: number
  top_errors: { error_type: string; count: number }[]
  errors_by_platform: Record<string, number>
}

const TOP = 10

/** The numbers of the overview. `errors_…` count records, `occurrences_…` count every event. */
export const dashboardStats = defineOperation({
  input: v.object({ application_id: optional(id()) }),
  async run({ database, config, now }, { application_id }): Promise<DashboardStats> {
    const { read } = database
    const today = startOfDay(now(), config.time_zone)
    const week = hourOf(now() - 7 * DAY)
    const month = hourOf(now() - 30 * DAY)

    const errors = read
      .selectFrom('faultboard_errors')
      .$if(application_id !== undefined, (query) => query.where('application_id', '=', application_id ?? 0))
    const counts = await errors
      .select(({ fn, eb }) => [
        fn.countAll<number>().as('total'),
        fn.sum<number>('occurrence_count').as('occurrences'),
        fn.sum<number>('resolved').as('resolved'),
        fn.sum<number>(eb.case().when('occurred_at', '>=', today).then(1).else(0).end()).as('today'),
        fn.sum<number>(eb.case().when('occurred_at', '>=', week).then(1).else(0).end()).as('week'),
        fn.sum<number>(eb.case().when('occurred_at', '>=', month).then(1).else(0).end()).as('month'),
      ])
      .executeTakeFirstOrThrow()
    const top = await errors
      .select(({ fn }) => ['error_type', fn.sum<number>('occurrence_count').as('count')])
      .groupBy('error_type')
      .orderBy('count', 'desc')
      .orderBy('error_type')
      .limit(TOP)
      .execute()
    const platforms = await errors
      .select(({ fn }) => ['platform', fn.countAll<number>().as('count')])
      .groupBy('platform')
      .orderBy('platform')
      .execute()

    // The sums know whole hours, so both spans begin with one.
    const hours = read
      .selectFrom('faultboard_application_hours')
      .$if(application_id !== undefined, (query) => query.where('application_id', '=', application_id ?? 0))
      .where('hour', '>=', month)
    const occurrences = await hours
      .select(({ fn, eb }) => [
        fn.sum<number>(eb.case().when('hour', '>=', today).then(eb.ref('count')).else(0).end()).as('today'),
        fn.sum<number>(eb.case().when('hour', '>=', week).then(eb.ref('count')).else(0).end()).as('week'),
        fn.sum<number>('count').as('month'),
      ])
      .executeTakeFirstOrThrow()

    const total_errors = Number(counts.total)
    const resolved_count = Number(counts.resolved ?? 0)
    return {
      total_errors,
      errors_today: Number(counts.today ?? 0),
      errors_last_7_days: Number(counts.week ?? 0),
      errors_last_30_days: Number(counts.month ?? 0),
      resolved_count,
      unresolved_count: total_errors - resolved_count,
      total_occurrences: Number(counts.occurrences ?? 0),
      occurrences_today: Number(occurrences.today ?? 0),
      occurrences_last_7_days: Number(occurrences.week ?? 0),
      occurrences_last_30_days: Number(occurrences.month ?? 0),
      top_errors: top.map(({ error_type, count }) => ({ error_type, count: Number(count) })),
      errors_by_platform: Object.fromEntries(platforms.map(({ platform, count }) => [platform, Number(count)])),
    }
  },
})
