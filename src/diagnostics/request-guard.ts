import type { Context } from '../context.js'
import { GUARD_KINDS, type GuardKind } from '../model/guard-kinds.js'
import { dayOf, lastDays } from '../model/time.js'
import { defineOperation } from '../operation.js'
import { daysInput, firstHour } from './days.js'
import { Ranking } from './guard-ranking.js'
import { type HourSlice, hourSlices } from './hour-slices.js'

export interface RequestGuardSummary {
  days: number
  total_count: number
  by_kind: Record<GuardKind, number>
  /** Events per local day, oldest first, days without any included. */
  by_day: ({ day: string } & Record<GuardKind, number>)[]
  by_rule: GuardedRule[]
  by_address: GuardedAddress[]
  by_path: GuardedPath[]
}

export interface GuardedRule {
  rule: string
  kind: string
  count: number
  /** The last hour in which it came. */
  last_seen_at: string
}

export interface GuardedAddress {
  ip_address: string
  count: number
  last_seen_at: string
}

export interface GuardedPath {
  path: string
  count: number
  last_seen_at: string
}

export const LISTED = 50

/** What the host's rate limiters refused or watched, by rule, kind, address and path. */
export const requestGuardSummary = defineOperation({
  input: daysInput,
  async run(context, { days, application_id }): Promise<RequestGuardSummary> {
    const { config, now } = context
    const by_day = new DaySums(lastDays(days, now(), config.time_zone), config.time_zone)
    const rules = new Ranking(['rule', 'kind'])
    const addresses = new Ranking(['ip_address'])
    const paths = new Ranking(['path'])
    for await (const slice of hourSlices(context, firstHour(days, now(), config.time_zone))) {
      const events = within(context, slice, application_id)
      for (const sum of await hourSums(events)) by_day.add(sum)
      for (const ranking of [rules, addresses, paths]) await ranking.add(events)
    }
    const by_kind = by_day.perKind()
    return {
      days,
      total_count: GUARD_KINDS.reduce((sum, kind) => sum + by_kind[kind], 0),
      by_kind,
      by_day: by_day.days,
      by_rule: rules.first(LISTED),
      by_address: addresses.first(LISTED),
      by_path: paths.first(LISTED),
    }
  },
})

function hourSums(events: GuardEvents) {
  return events
    .select(({ fn }) => ['hour', 'kind', fn.sum<number>('count').as('count')])
    .groupBy(['hour', 'kind'])
    .execute()
}

export type GuardEvents = ReturnType<typeof within>

function within({ database: { read } }: Context, { from, to }: HourSlice, application_id: number | undefined) {
  const rows = read.selectFrom('faultboard_request_guard_hours').where('hour', '>=', from).where('hour', '<', to)
  // The key begins with the application, so that naming all of them finds the hours by it.
  return application_id === undefined
    ? rows.where('application_id', 'in', read.selectFrom('faultboard_applications').select('id'))
    : rows.where('application_id', '=', application_id)
}

const noEvents = (): Record<GuardKind, number> => ({ throttle: 0, blocklist: 0, track: 0 })

class DaySums {
  readonly days: RequestGuardSummary['by_day']
  readonly #starts: readonly number[]

  constructor(starts: readonly number[], time_zone: string) {
    this.#starts = starts
    this.days = starts.map((start) => ({ day: dayOf(start, time_zone), ...noEvents() }))
  }

  add({ hour, kind, count }: { hour: number; kind: string; count: number }): void {
    const day = this.days[this.#starts.findLastIndex((start) => start <= hour)]
    // Whatever a newer version may count beside these three is watched, not refused.
    if (day) day[GUARD_KINDS.find((one) => one === kind) ?? 'track'] += count
  }

  perKind(): Record<GuardKind, number> {
    const sums = noEvents()
    for (const kind of GUARD_KINDS) for (const day of this.days) sums[kind] += day[kind]
    return sums
  }
}
