import type { Context } from '../context.js'
import { localDate } from '../model/time.js'
import { defineOperation } from '../operation.js'
import { daysInput, firstHour, localDays } from './days.js'
import { type HourSlice, hourSlices } from './hour-slices.js'

export const GUARD_KINDS = ['throttle', 'blocklist', 'track'] as const
export type GuardKind = (typeof GUARD_KINDS)[number]

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
    const by_day = new DaySums(localDays(days, now(), config.time_zone), config.time_zone)
    const rules = new Ranking()
    const addresses = new Ranking()
    const paths = new Ranking()
    for await (const slice of hourSlices(context, firstHour(days, now(), config.time_zone))) {
      for (const sum of await hoursWithin(context, slice, application_id)) by_day.add(sum)
      for (const { rule, kind, ip_address, path, count, last_hour } of await eventsWithin(
        context,
        slice,
        application_id,
      )) {
        rules.add(JSON.stringify([rule, kind]), count, last_hour)
        addresses.add(ip_address, count, last_hour)
        paths.add(path, count, last_hour)
      }
    }
    const by_kind = by_day.perKind()
    return {
      days,
      total_count: GUARD_KINDS.reduce((sum, kind) => sum + by_kind[kind], 0),
      by_kind,
      by_day: by_day.days,
      by_rule: rules.top().map(({ name, ...seen }) => {
        const [rule, kind] = JSON.parse(name) as [string, string]
        return { rule, kind, ...seen }
      }),
      by_address: addresses.top().map(({ name, ...seen }) => ({ ip_address: name, ...seen })),
      by_path: paths.top().map(({ name, ...seen }) => ({ path: name, ...seen })),
    }
  },
})

function hoursWithin(context: Context, slice: HourSlice, application_id: number | undefined) {
  return within(context, slice, application_id)
    .select(({ fn }) => ['hour', 'kind', fn.sum<number>('count').as('count')])
    .groupBy(['hour', 'kind'])
    .execute()
}

function eventsWithin(context: Context, slice: HourSlice, application_id: number | undefined) {
  return within(context, slice, application_id)
    .select(({ fn }) => [
      'rule',
      'kind',
      'ip_address',
      'path',
      fn.sum<number>('count').as('count'),
      fn.max<number>('hour').as('last_hour'),
    ])
    .groupBy(['rule', 'kind', 'ip_address', 'path'])
    .execute()
}

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
    this.days = starts.map((start) => ({ day: dayName(start, time_zone), ...noEvents() }))
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

class Ranking {
  readonly #seen = new Map<string, { count: number; last_hour: number }>()

  add(name: string, count: number, last_hour: number): void {
    const known = this.#seen.get(name)
    if (!known) this.#seen.set(name, { count, last_hour })
    else {
      known.count += count
      known.last_hour = Math.max(known.last_hour, last_hour)
    }
  }

  top() {
    return [...this.#seen]
      .sort(([, a], [, b]) => b.count - a.count || b.last_hour - a.last_hour)
      .slice(0, LISTED)
      .map(([name, { count, last_hour }]) => ({ name, count, last_seen_at: new Date(last_hour).toISOString() }))
  }
}

function dayName(start: number, zone: string): string {
  const { year, month, day } = localDate(start, zone)
  return [year, String(month).padStart(2, '0'), String(day).padStart(2, '0')].join('-')
}
