import type * as v from 'valibot'
import type { Context } from '../../context.js'
import * as r from '../../model/result.js'
import { HOUR, lastDays, localDay } from '../../model/time.js'
import { defineOperation } from '../../operation.js'
import { applicationIds } from '../../store/applications.js'
import { daysInput, firstHour } from '../hourly/days.js'
import { type DaysFilter, type HourCondition, hourSlices } from '../hourly/hour-slices.js'
import { GUARD_KINDS, type GuardKind } from './guard-kinds.js'
import { type GuardName, type RankedRow, Ranking } from './guard-ranking.js'
import { type GuardRow, guardRows } from './guard-rows.js'

const GuardedRule = r.object({
  rule: r.text,
  kind: r.text,
  count: r.integer,
  last_seen_at: r.time,
})

const GuardedAddress = r.object({
  ip_address: r.text,
  count: r.integer,
  last_seen_at: r.time,
})

const GuardedPath = r.object({
  path: r.text,
  count: r.integer,
  last_seen_at: r.time,
})

const KIND_COUNTS = { throttle: r.integer, blocklist: r.integer, track: r.integer } satisfies Record<GuardKind, unknown>

export const RequestGuardSummary = r.object({
  days: r.integer,
  total_count: r.integer,
  by_kind: r.object(KIND_COUNTS),
  /** Events per local day, oldest first, including days without events. */
  by_day: r.list(r.object({ day: r.day, ...KIND_COUNTS })),
  by_rule: r.list(GuardedRule),
  by_address: r.list(GuardedAddress),
  by_path: r.list(GuardedPath),
})
export type RequestGuardSummary = v.InferOutput<typeof RequestGuardSummary>

export const MAX_LISTED_ROWS = 50

/** Summarizes events of rate limiters by rule, kind, address and path. */
export const requestGuardSummary = defineOperation({
  input: daysInput,
  async run(context, { days, application_id, environment }): Promise<RequestGuardSummary> {
    const { config, now } = context
    const by_day = new DayKindTotals(lastDays(days, now(), config.time_zone), config.time_zone)
    const rules = new Ranking(['rule', 'kind'])
    const addresses = new Ranking(['ip_address'])
    const paths = new Ranking(['path'])
    if (!context.database.dialect.blocksHost) {
      for await (const condition of hourSlices(context, { days, application_id, environment })) {
        for (const sum of await eventsPerHour(context, condition)) by_day.add(sum)
        await addTopRows(context, condition, rules)
        await addTopRows(context, condition, addresses)
        await addTopRows(context, condition, paths)
      }
    } else {
      for await (const rows of embeddedRows(context, { days, application_id, environment })) {
        for (const row of rows) by_day.add(row)
        for (const ranking of [rules, addresses, paths]) for (const row of rows) ranking.add(row)
      }
    }
    const by_kind = by_day.totalsByKind()
    return {
      days,
      total_count: GUARD_KINDS.reduce((sum, kind) => sum + by_kind[kind], 0),
      by_kind,
      by_day: by_day.days,
      by_rule: rules.top(MAX_LISTED_ROWS),
      by_address: addresses.top(MAX_LISTED_ROWS),
      by_path: paths.top(MAX_LISTED_ROWS),
    }
  },
})

/** Reads all rows once, which is faster in an embedded database than four aggregations. */
async function* embeddedRows(
  context: Context,
  { days, application_id, environment }: DaysFilter,
): AsyncGenerator<GuardRow[]> {
  const { config, now } = context
  const hours = { from: firstHour(days, now(), config.time_zone), to: now() + HOUR }
  const ids = application_id === undefined ? await applicationIds(context.database) : [application_id]
  for (const id of ids) yield* guardRows(context, id, { ...hours, environment })
}

/** Events per hour and kind. */
export async function eventsPerHour(
  { database: { read } }: Context,
  condition: HourCondition,
): Promise<{ hour: number; kind: GuardKind; count: number }[]> {
  const rows = await read
    .selectFrom('faultboard_request_guard_hours')
    .select(({ fn }) => ['hour', 'kind', fn.sum<number>('count').as('count')])
    .where(condition)
    .groupBy(['hour', 'kind'])
    .execute()
  return rows.map(({ kind, ...row }) => ({ ...row, kind: knownKind(kind) }))
}

/** Kinds from newer versions count as tracked. */
function knownKind(kind: string): GuardKind {
  return GUARD_KINDS.find((name) => name === kind) ?? 'track'
}

/** Lets the database server aggregate and returns only the most frequent values. */
async function addTopRows<Name extends GuardName>(
  { database: { read } }: Context,
  condition: HourCondition,
  ranking: Ranking<Name>,
): Promise<void> {
  const names: GuardName[] = ranking.names.filter((name) => name !== undefined)
  const rows = await read
    .selectFrom('faultboard_request_guard_hours')
    .select(names)
    .select(({ fn }) => [
      fn.sum<number>('count').as('count'),
      fn.max<number>(fn.coalesce('last_seen_at', 'hour')).as('last_seen_at'),
    ])
    .where(condition)
    .groupBy(names)
    .orderBy('count', 'desc')
    .orderBy('last_seen_at', 'desc')
    .limit(MAX_LISTED_ROWS)
    .execute()
  for (const row of rows) ranking.add(row as RankedRow<Name>)
}

const noEvents = (): Record<GuardKind, number> => ({ throttle: 0, blocklist: 0, track: 0 })

class DayKindTotals {
  readonly days: RequestGuardSummary['by_day']
  readonly #starts: readonly number[]
  /** Day of the last row. Cached, because rows are sorted by hour. */
  #current: { hour: number; day: RequestGuardSummary['by_day'][number] | undefined } | null = null

  constructor(starts: readonly number[], timeZone: string) {
    this.#starts = starts
    this.days = starts.map((start) => ({ day: localDay(start, timeZone), ...noEvents() }))
  }

  add({ hour, kind, count }: { hour: number; kind: string; count: number }): void {
    if (this.#current?.hour !== hour) {
      this.#current = { hour, day: this.days[this.#starts.findLastIndex((start) => start <= hour)] }
    }
    const { day } = this.#current
    if (day) day[knownKind(kind)] += count
  }

  totalsByKind(): Record<GuardKind, number> {
    const sums = noEvents()
    for (const kind of GUARD_KINDS) for (const day of this.days) sums[kind] += day[kind]
    return sums
  }
}
