import type { Context } from '../../context.js'
import { nextTurn } from '../../model/event-loop-turns.js'
import { HOUR, startOfHour } from '../../model/time.js'
import { CASCADE_HOURS, CASCADE_PARENTS } from '../../store/bulk/bulk-targets.js'
import { packedRows } from '../../store/bulk/packed-rows.js'
import { advanceCheckpoint, CASCADES_LATE_HOUR, CASCADES_UNTIL, readCheckpoint } from '../../store/checkpoints.js'
import type { Transaction } from '../../store/kysely.js'
import type { Schema } from '../../store/schema.js'
import { periodicYield } from '../sums/event-loop-yield.js'
import type { Span } from '../sums/period.js'
import { CASCADE_WINDOW_MS, CascadeSweep, mostFrequentPairs } from './cascade-sweep.js'

const CASCADES_FROM = 'cascades swept from'
/** Occurrences per query. */
const ROWS_PER_PAGE = 1500
/** Pairs stored per hour, most frequent first. */
const MAX_PAIRS_PER_HOUR = 500

/**
 * Processes new hours one by one, and reprocesses hours with late occurrences. Returns the start of the processed
 * range.
 */
export async function processHours(
  context: Context,
  { from, earliest, end }: { from: number; earliest: number; end: number },
): Promise<number> {
  while (await processNextHour(context, { from, earliest: Math.min(from, earliest), end }));
  // After a gap, the processed range starts later. Deletes the results before it.
  await deleteHoursBefore(context, (await loadProcessedRange(context, from)).from)
  while (await processPreviousHour(context, from));
  await reprocessLateHours(context, from)
  return (await loadProcessedRange(context, from)).from
}

/** Deletes the results of earlier hours, one hour per statement. */
export async function deleteHoursBefore({ database: { read } }: Context, before: number): Promise<void> {
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

/** Half-open range of processed times. `from` is a full hour. */
interface ProcessedRange {
  from: number
  until: number
}

async function loadProcessedRange({ database }: Context, initial: number): Promise<ProcessedRange> {
  return database.write(async (trx) => {
    const until = await readCheckpoint(trx, database.dialect, CASCADES_UNTIL, initial)
    return { until, from: await readCheckpoint(trx, database.dialect, CASCADES_FROM, until) }
  })
}

/** Continues after the last processed hour, unless that hour is older than the covered period. */
async function processNextHour(
  context: Context,
  { from, earliest, end }: { from: number; earliest: number; end: number },
): Promise<boolean> {
  const processed = await loadProcessedRange(context, from)
  const start = Math.max(processed.until, earliest)
  if (start >= end) return false
  const to = Math.min(end, startOfHour(start) + HOUR)
  await replaceHour(context, { from: start, to }, async (trx) => {
    if ((await readCheckpoint(trx, context.database.dialect, CASCADES_UNTIL, from)) !== processed.until) return false
    // Discards everything before a gap. Later lookbacks process those hours again.
    if (start > processed.until) await advanceCheckpoint(trx, CASCADES_FROM, start)
    await advanceCheckpoint(trx, CASCADES_UNTIL, to)
    return true
  })
  return true
}

async function processPreviousHour(context: Context, from: number): Promise<boolean> {
  const processed = await loadProcessedRange(context, from)
  if (processed.from <= from) return false
  const start = processed.from - HOUR
  await replaceHour(context, { from: start, to: processed.from }, async (trx) => {
    if ((await readCheckpoint(trx, context.database.dialect, CASCADES_FROM, from)) !== processed.from) return false
    await advanceCheckpoint(trx, CASCADES_FROM, start)
    return true
  })
  return true
}

/** Reprocesses hours that received late occurrences. */
async function reprocessLateHours(context: Context, initial: number): Promise<void> {
  const { database } = context
  const lateHours = await database.read
    .selectFrom('faultboard_leases')
    .select(['name', 'expires_at as count'])
    .where('name', 'like', `${CASCADES_LATE_HOUR}%`)
    .orderBy('name')
    .execute()
  for (const { name, count } of lateHours) {
    const hour = Number(name.slice(CASCADES_LATE_HOUR.length))
    const { from, until } = await loadProcessedRange(context, initial)
    // Keeps the marker if another batch or process changed it concurrently.
    const deleteMarker = async (trx: Transaction<Schema>) => {
      const { numDeletedRows } = await trx
        .deleteFrom('faultboard_leases')
        .where('name', '=', name)
        .where('expires_at', '=', count)
        .executeTakeFirst()
      return numDeletedRows > 0
    }
    if (hour < from || hour >= until) await database.write(deleteMarker)
    else {
      await replaceHour(context, { from: hour, to: Math.min(hour + HOUR, until) }, async (trx) => {
        const isSame = (await readCheckpoint(trx, database.dialect, CASCADES_UNTIL, initial)) === until
        return isSame && (await deleteMarker(trx))
      })
    }
  }
}

/** Processes the span of one hour and replaces its stored results, unless a concurrent process has done so. */
async function replaceHour(
  context: Context,
  span: Span,
  claim: (trx: Transaction<Schema>) => Promise<boolean>,
): Promise<void> {
  const { database } = context
  await nextTurn()
  const found = await sweepOccurrences(context, span)
  await nextTurn()
  const hour = startOfHour(span.from)
  const pairs = mostFrequentPairs([...found.pairs()], MAX_PAIRS_PER_HOUR).sort(
    (a, b) => a.parent - b.parent || a.child - b.child,
  )
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

async function sweepOccurrences(context: Context, span: Span): Promise<CascadeSweep> {
  const found = new CascadeSweep(span)
  const scopes = new Map<number, string>()
  const yieldIfDue = periodicYield()
  let last: Row | null = null
  do {
    const rows = await loadRowsBefore(context, span, last)
    await loadScopes(context, scopes, rows)
    for (const { error_id, occurred_at } of rows) {
      await yieldIfDue()
      const scope = scopes.get(error_id)
      if (scope !== undefined) found.addOccurrence({ scope, error_id, occurred_at })
    }
    last = rows.length < ROWS_PER_PAGE ? null : (rows.at(-1) ?? null)
  } while (last)
  return found
}

async function loadRowsBefore({ database }: Context, { from, to }: Span, last: Row | null): Promise<Row[]> {
  const query = database.read
    .selectFrom('faultboard_occurrences')
    .select(['id', 'error_id', 'occurred_at'])
    .where('occurred_at', '>=', from)
    .where('occurred_at', '<=', last?.occurred_at ?? to + CASCADE_WINDOW_MS)
    .$if(last !== null, (query) =>
      query.where(({ eb, or }) => or([eb('occurred_at', '<', last?.occurred_at ?? 0), eb('id', '<', last?.id ?? 0)])),
    )
    .orderBy('occurred_at', 'desc')
    .orderBy('id', 'desc')
    .limit(ROWS_PER_PAGE)
  const rows: Row[] = await packedRows(database, query, ['id', 'error_id', 'occurred_at'])
  return rows.sort((a, b) => b.occurred_at - a.occurred_at || b.id - a.id)
}

async function loadScopes({ database }: Context, known: Map<number, string>, rows: readonly Row[]): Promise<void> {
  const unknownIds = [...new Set(rows.map(({ error_id }) => error_id))].filter((id) => !known.has(id))
  if (unknownIds.length === 0) return
  const errors = await database.read
    .selectFrom('faultboard_errors')
    .select(['id', 'application_id', 'environment'])
    .where('id', 'in', unknownIds)
    .execute()
  for (const { id, application_id, environment } of errors) known.set(id, `${application_id}\n${environment}`)
}
