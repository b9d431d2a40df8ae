import { setImmediate } from 'node:timers/promises'
import type { Context } from '../../context.js'
import { HOUR } from '../../model/time.js'
import { type RawBuilder, sql } from '../../store/kysely.js'
import { firstHour } from './days.js'

/** Whose sums are asked for, and of how many days. */
export interface AskedDays {
  days: number
  application_id?: number | undefined
}

/** The condition that finds the rows of some hours in any of the tables. */
export type Within = RawBuilder<boolean>

const FEWEST_HOURS = 6
const WANTED_MS = 8
const MOST_GROWTH = 4

/**
 * The hours of the last days in slices, each as long as can be asked about in a few milliseconds: an embedded database
 * blocks the host's thread, and between two slices the host has its turn. However busy the host is, a slice never
 * becomes so short that there would be very many. A server is asked for all at once.
 */
export async function* hourSlices(context: Context, { days, application_id }: AskedDays): AsyncGenerator<Within> {
  const { config, database, now } = context
  const first = firstHour(days, now(), config.time_zone)
  const end = now() + HOUR
  let hours = database.dialect.rows_at_once === null ? (end - first) / HOUR : FEWEST_HOURS
  for (let from = first; from < end; ) {
    const to = Math.min(end, from + hours * HOUR)
    const begun = performance.now()
    yield within({ from, to }, application_id)
    const speed = WANTED_MS / Math.max(0.1, performance.now() - begun)
    hours = Math.max(FEWEST_HOURS, Math.floor(hours * Math.min(MOST_GROWTH, speed)))
    from = to
    await setImmediate()
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
