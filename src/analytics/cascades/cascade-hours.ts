import type { Context } from '../../context.js'
import { HOUR, hourOf } from '../../model/time.js'
import { CASCADE_HOURS, CASCADE_PARENTS } from '../../store/bulk-targets.js'
import type { Transaction } from '../../store/kysely.js'
import { CASCADES_AGAIN, CASCADES_UNTIL, moveMark, readMark } from '../../store/marks.js'
import { packedRows } from '../../store/packed-rows.js'
import type { Schema } from '../../store/schema.js'
import type { Span } from '../sums/period.js'
import { giveTurn, turns } from '../sums/turns.js'
import { CASCADE_WINDOW, CascadeSweep, mostOften } from './cascade-sweep.js'

const FROM = 'cascades swept from'
/** Occurrences per statement, and pairs stored per hour. */
const ROWS_PER_PAGE = 1500
const MOST_PAIRS = 500

/**
 * Looks at what was not looked at yet, an hour at a time, and again at hours that occurrences have come to since. Gives
 * the instant from which on all was looked at.
 */
export async function sweepUntil(
  context: Context,
  { from, reach, end }: { from: number; reach: number; end: number },
): Promise<number> {
  while (await forward(context, { from, reach: Math.min(from, reach), end }));
  // What lies before a gap was not forgotten yet.
  await forgetHours(context, (await marksOf(context, from)).from)
  while (await backward(context, from));
  await again(context, from)
  return (await marksOf(context, from)).from
}

/** Deletes what was found in the hours before, an hour at a time. */
export async function forgetHours({ database: { read } }: Context, before: number): Promise<void> {
  for (const table of ['faultboard_cascade_hours', 'faultboard_cascade_parents'] as const) {
    for (;;) {
      const { hour } = await read
        .selectFrom(table)
        .select(({ fn }) => fn.min<number | null>('hour').as('hour'))
        .executeTakeFirstOrThrow()
      if (hour === null || hour >= before) break
      await read.deleteFrom(table).where('hour', '=', hour).execute()
    }
  }
}

interface Marks {
  /** All of [from, until) was looked at; from is a whole hour. */
  from: number
  until: number
}

async function marksOf({ database }: Context, initial: number): Promise<Marks> {
  return database.write(async (trx) => {
    const until = await readMark(trx, database.dialect, CASCADES_UNTIL, initial)
    return { until, from: await readMark(trx, database.dialect, FROM, until) }
  })
}

/** Goes on where it ended, however short the look back is; unless that is longer ago than anything is counted. */
async function forward(
  context: Context,
  { from, reach, end }: { from: number; reach: number; end: number },
): Promise<boolean> {
  const marks = await marksOf(context, from)
  const start = Math.max(marks.until, reach)
  if (start >= end) return false
  const to = Math.min(end, hourOf(start) + HOUR)
  await replaceUnder(context, { from: start, to }, async (trx) => {
    if ((await readMark(trx, context.database.dialect, CASCADES_UNTIL, from)) !== marks.until) return false
    // What lies before a gap cannot be told from the gap any more: should anyone ask, it is looked at again.
    if (start > marks.until) await moveMark(trx, FROM, start)
    await moveMark(trx, CASCADES_UNTIL, to)
    return true
  })
  return true
}

async function backward(context: Context, from: number): Promise<boolean> {
  const marks = await marksOf(context, from)
  if (marks.from <= from) return false
  const start = marks.from - HOUR
  await replaceUnder(context, { from: start, to: marks.from }, async (trx) => {
    if ((await readMark(trx, context.database.dialect, FROM, from)) !== marks.from) return false
    await moveMark(trx, FROM, start)
    return true
  })
  return true
}

/** Hours that occurrences came to after they were looked at. */
async function again(context: Context, initial: number): Promise<void> {
  const { database } = context
  const late = await database.read
    .selectFrom('faultboard_leases')
    .select(['name', 'expires_at as count'])
    .where('name', 'like', `${CASCADES_AGAIN}%`)
    .orderBy('name')
    .execute()
  for (const { name, count } of late) {
    const hour = Number(name.slice(CASCADES_AGAIN.length))
    const { from, until } = await marksOf(context, initial)
    // Another batch may have come to the hour meanwhile, or another process may be at it: then the note stays as it is.
    const strike = async (trx: Transaction<Schema>) => {
      const { numDeletedRows } = await trx
        .deleteFrom('faultboard_leases')
        .where('name', '=', name)
        .where('expires_at', '=', count)
        .executeTakeFirst()
      return numDeletedRows > 0
    }
    if (hour < from || hour >= until) await database.write(strike)
    else {
      await replaceUnder(context, { from: hour, to: Math.min(hour + HOUR, until) }, async (trx) => {
        const isSame = (await readMark(trx, database.dialect, CASCADES_UNTIL, initial)) === until
        return isSame && (await strike(trx))
      })
    }
  }
}

/**
 * Looks through the span of one hour, and writes what was found, in place of what was known from there on, if nobody else
 * did so meanwhile.
 */
async function replaceUnder(
  context: Context,
  span: Span,
  claim: (trx: Transaction<Schema>) => Promise<boolean>,
): Promise<void> {
  const { database } = context
  await giveTurn()
  const found = await gather(context, span)
  await giveTurn()
  const hour = hourOf(span.from)
  const pairs = mostOften([...found.pairs()], MOST_PAIRS).sort((a, b) => a.parent - b.parent || a.child - b.child)
  const parents = [...found.parents].sort(([a], [b]) => a - b)
  await database.write(async (trx) => {
    if (!(await claim(trx))) return
    if (span.from === hour) {
      await trx.deleteFrom('faultboard_cascade_hours').where('hour', '=', hour).execute()
      await trx.deleteFrom('faultboard_cascade_parents').where('hour', '=', hour).execute()
    }
    if (parents.length > 0) {
      const rows = parents.map(([id, count]) => [hour, id, count, found.covered.get(id) ?? 0])
      await database.dialect.insertMany(trx, CASCADE_PARENTS, rows)
    }
    if (pairs.length > 0) {
      const rows = pairs.map(({ parent, child, followed_count, delay_ms }) => [
        hour,
        parent,
        child,
        followed_count,
        delay_ms,
      ])
      await database.dialect.insertMany(trx, CASCADE_HOURS, rows)
    }
  })
}

interface Row {
  id: number
  error_id: number
  occurred_at: number
}

async function gather(context: Context, span: Span): Promise<CascadeSweep> {
  const found = new CascadeSweep(span)
  const applications = new Map<number, number>()
  const turn = turns()
  let last: Row | null = null
  do {
    const rows = await rowsBefore(context, span, last)
    await learnApplications(context, applications, rows)
    for (const { error_id, occurred_at } of rows) {
      await turn()
      const application_id = applications.get(error_id)
      if (application_id !== undefined) found.see({ application_id, error_id, occurred_at })
    }
    last = rows.length < ROWS_PER_PAGE ? null : (rows.at(-1) ?? null)
  } while (last)
  return found
}

async function rowsBefore({ database }: Context, { from, to }: Span, last: Row | null): Promise<Row[]> {
  const query = database.read
    .selectFrom('faultboard_occurrences')
    .select(['id', 'error_id', 'occurred_at'])
    .where('occurred_at', '>=', from)
    .where('occurred_at', '<=', last?.occurred_at ?? to + CASCADE_WINDOW)
    .$if(last !== null, (query) =>
      query.where(({ eb, or }) => or([eb('occurred_at', '<', last?.occurred_at ?? 0), eb('id', '<', last?.id ?? 0)])),
    )
    .orderBy('occurred_at', 'desc')
    .orderBy('id', 'desc')
    .limit(ROWS_PER_PAGE)
  const rows: Row[] = await packedRows(database, query, ['id', 'error_id', 'occurred_at'])
  return rows.sort((a, b) => b.occurred_at - a.occurred_at || b.id - a.id)
}

async function learnApplications(
  { database }: Context,
  known: Map<number, number>,
  rows: readonly Row[],
): Promise<void> {
  const unknown = [...new Set(rows.map(({ error_id }) => error_id))].filter((id) => !known.has(id))
  if (unknown.length === 0) return
  const errors = await database.read
    .selectFrom('faultboard_errors')
    .select(['id', 'application_id'])
    .where('id', 'in', unknown)
    .execute()
  for (const { id, application_id } of errors) known.set(id, application_id)
}
