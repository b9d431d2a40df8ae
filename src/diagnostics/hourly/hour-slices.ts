import type { Context } from '../../context.js'
import { HOUR } from '../../model/time.js'
import { type RawBuilder, sql } from '../../store/kysely.js'
import { timedRanges } from '../../store/timed-ranges.js'
import { firstHour } from './days.js'

/** Whose sums are asked for, and of how many days. */
export interface AskedDays {
  days: number
  application_id?: number | undefined
}

/** The condition that finds the rows of some hours in any of the tables. */
export type Within = RawBuilder<boolean>

/** Prevents very short ranges on a busy host. */
const SMALLEST_HOURS = 6

/** Conditions for the hours of the last days, one per range of `timedRanges`. */
export async function* hourSlices(context: Context, { days, application_id }: AskedDays): AsyncGenerator<Within> {
  const { config, database, now } = context
  const first = firstHour(days, now(), config.time_zone)
  const hours = Math.ceil((now() + HOUR - first) / HOUR)
  for await (const { from, to } of timedRanges(database, hours, { smallest: SMALLEST_HOURS })) {
    yield within({ from: first + from * HOUR, to: first + to * HOUR }, application_id)
  }
}

/** What a column sums up to in each hour. */
export async function sumsPerHour(
  { database: { read } }: Context,
  table: 'faultboard_repeated_statement_hours' | 'faultboard_deprecation_hours',
  column: string,
  within: Within,
): Promise<{ hour: number; count: number }[]> {
  const { rows } = await sql<{ hour: number; count: number }>`
    select hour, sum(${sql.ref(column)}) as count from ${sql.table(table)} where ${within} group by hour`.execute(read)
  return rows
}

function within({ from, to }: { from: number; to: number }, application_id: number | undefined): Within {
  const hours = sql<boolean>`hour >= ${from} and hour < ${to}`
  // The key begins with the application, so that naming all of them finds the hours by it.
  return application_id === undefined
    ? sql<boolean>`application_id in (select id from faultboard_applications) and ${hours}`
    : sql<boolean>`application_id = ${application_id} and ${hours}`
}
