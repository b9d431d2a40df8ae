import { inEnvironment } from '../../analytics/sums/scope-conditions.js'
import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import { HOUR } from '../../model/time.js'
import type { HourTableName } from '../../store/counters/define-hour-table.js'
import { type RawBuilder, sql } from '../../store/kysely.js'
import type { ColumnName } from '../../store/schema.js'
import { timedRanges } from '../../store/sql/timed-ranges.js'
import { firstHour } from './days.js'

export interface DaysFilter extends Scope {
  days: number
}

/** Condition that selects a range of hours. Applies to all hourly tables. */
export type HourCondition = RawBuilder<boolean>

/** Prevents very short ranges on a busy host. */
const MIN_HOURS = 6

/** Conditions for the hours of the last days, one per range of `timedRanges`. */
export async function* hourSlices(context: Context, { days, ...scope }: DaysFilter): AsyncGenerator<HourCondition> {
  const { config, now } = context
  yield* hoursBetween(context, { from: firstHour(days, now(), config.time_zone), to: now() + HOUR }, scope)
}

/** Conditions for the hours of a span, one per range of `timedRanges`. */
export async function* hoursBetween(
  { database }: Context,
  { from: first, to: end }: { from: number; to: number },
  scope: Scope,
): AsyncGenerator<HourCondition> {
  const hours = Math.ceil((end - first) / HOUR)
  for await (const { from, to } of timedRanges(database, hours, { minSize: MIN_HOURS })) {
    yield hourCondition({ from: first + from * HOUR, to: first + to * HOUR }, scope)
  }
}

/** Sums a column per hour. */
export async function sumsPerHour<Table extends HourTableName>(
  { database: { read } }: Context,
  table: Table,
  column: ColumnName<Table>,
  condition: HourCondition,
): Promise<{ hour: number; count: number }[]> {
  const { rows } = await sql<{ hour: number; count: number }>`
    select hour, sum(${sql.ref(column)}) as count from ${sql.table(table)} where ${condition} group by hour`.execute(
    read,
  )
  return rows
}

function hourCondition({ from, to }: { from: number; to: number }, scope: Scope): HourCondition {
  const { application_id } = scope
  // Lists all applications, because the primary key starts with the application.
  const application =
    application_id === undefined
      ? sql`application_id in (select id from faultboard_applications)`
      : sql`application_id = ${application_id}`
  return sql<boolean>`${application} and hour >= ${from} and hour < ${to} and ${inEnvironment(scope)}`
}
