import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import { packedRows } from '../../store/bulk/packed-rows.js'
import { ID_LIST_LIMITS, timedRanges } from '../../store/sql/timed-ranges.js'
import type { Span } from './period.js'
import { errorsInScope, hoursInScope, occurrencesInScope, sumsInScope } from './scope-conditions.js'

/** Subject of a query: one error, or all errors of a type, optionally on one platform. */
export interface Subject {
  error_id?: number | undefined
  error_type?: string | undefined
  platform?: string | undefined
  scope: Scope
}

const MAX_TIMES = 20_000
/** On SQLite, reading all times in one statement would block the host for about 18 ms. */
const TIMES_PER_PAGE = 2500

interface HourCount {
  hour: number
  count: number
}

/** Hourly counts within the span, read from the table of sums with the fewest rows. */
export async function countsByHour(context: Context, subject: Subject, span: Span): Promise<Map<number, number>> {
  const counts = new Map<number, number>()
  const add = (rows: readonly HourCount[]) => {
    for (const { hour, count } of rows) counts.set(hour, (counts.get(hour) ?? 0) + count)
  }
  if (subject.error_id === undefined && subject.error_type === undefined) {
    add(await applicationHourCounts(context, subject, span))
  } else if (subject.error_id === undefined && subject.platform === undefined) {
    add(await typeHourCounts(context, subject, span))
  } else {
    const ids = await findErrorIds(context, subject, span.from)
    for await (const { from, to } of timedRanges(context.database, ids.length, ID_LIST_LIMITS)) {
      add(await loadErrorHourCounts(context, ids.slice(from, to), subject.platform, span))
    }
  }
  return counts
}

async function applicationHourCounts(
  context: Context,
  { scope, platform }: Subject,
  { from, to }: Span,
): Promise<HourCount[]> {
  const query = context.database.read
    .selectFrom('faultboard_application_hours')
    .select(({ fn }) => ['hour', fn.sum<number>('count').as('count')])
    .where(await hoursInScope(context, scope))
    .where('hour', '>=', from)
    .where('hour', '<', to)
    .$if(platform !== undefined, (query) => query.where('platform', '=', platform ?? ''))
    .groupBy('hour')
  return packedRows(context.database, query, ['hour', 'count'])
}

async function typeHourCounts(context: Context, subject: Subject, { from, to }: Span): Promise<HourCount[]> {
  const query = context.database.read
    .selectFrom('faultboard_type_hours')
    .select(({ fn }) => ['hour', fn.sum<number>('count').as('count')])
    .where(await sumsInScope(context, subject.scope))
    .where('error_type', '=', subject.error_type ?? '')
    .where('hour', '>=', from)
    .where('hour', '<', to)
    .groupBy('hour')
  return packedRows(context.database, query, ['hour', 'count'])
}

/** Hourly counts of these errors. */
export async function loadErrorHourCounts(
  { database }: Context,
  ids: readonly number[],
  platform: string | undefined,
  { from, to }: Span,
): Promise<HourCount[]> {
  const query = database.read
    .selectFrom('faultboard_error_hours')
    .select(({ fn }) => ['hour', fn.sum<number>('count').as('count')])
    .where('error_id', 'in', ids)
    .where('hour', '>=', from)
    .where('hour', '<', to)
    .$if(platform !== undefined, (query) => query.where('platform', '=', platform ?? ''))
    .groupBy('hour')
  return packedRows(database, query, ['hour', 'count'])
}

/** Errors of the subject that occurred since a time. */
async function findErrorIds(context: Context, subject: Subject, from: number): Promise<number[]> {
  const { error_id, error_type, scope } = subject
  const query = context.database.read
    .selectFrom('faultboard_errors')
    .select('id')
    .where('occurred_at', '>=', from)
    .$if(error_id !== undefined, (query) => query.where('id', '=', error_id ?? 0))
    .$if(error_type !== undefined, (query) => query.where('error_type', '=', error_type ?? ''))
    .where(errorsInScope(context, scope, { usesIndex: true }))
  return (await packedRows(context.database, query, ['id'])).map(({ id }) => id)
}

/** Times of the newest stored occurrences since a time, oldest first. */
export async function occurrenceTimes(context: Context, subject: Subject, from: number): Promise<number[]> {
  if (subject.error_id === undefined && subject.error_type === undefined) return loadNewestTimes(context, subject, from)
  let newest: number[] = []
  let since = from
  const ids = await findErrorIds(context, subject, from)
  for await (const range of timedRanges(context.database, ids.length, ID_LIST_LIMITS)) {
    newest.push(...(await loadTimes(context, ids.slice(range.from, range.to), subject.platform, since)))
    if (newest.length < MAX_TIMES) continue
    // Older times of the remaining errors cannot be among the newest.
    newest = newest.sort((a, b) => b - a).slice(0, MAX_TIMES)
    since = newest.at(-1) ?? from
  }
  return newest.sort((a, b) => a - b)
}

async function loadTimes({ database }: Context, ids: readonly number[], platform: string | undefined, from: number) {
  const query = database.read
    .selectFrom('faultboard_occurrences')
    .select('occurred_at')
    .where('error_id', 'in', ids)
    .where('occurred_at', '>=', from)
    .$if(platform !== undefined, (query) => query.where('platform', '=', platform ?? ''))
    .orderBy('occurred_at', 'desc')
    .limit(MAX_TIMES)
  return (await packedRows(database, query, ['occurred_at'])).map(({ occurred_at }) => occurred_at)
}

/** Times of the newest occurrences of all errors, read backward page by page. */
async function loadNewestTimes(context: Context, { scope, platform }: Subject, from: number): Promise<number[]> {
  const { database } = context
  const times: number[] = []
  let last: { id: number; occurred_at: number } | null = null
  do {
    const before: { id: number; occurred_at: number } = last ?? { id: 0, occurred_at: Number.MAX_SAFE_INTEGER }
    const query = database.read
      .selectFrom('faultboard_occurrences as o')
      .select(['o.id', 'o.occurred_at'])
      .where('o.occurred_at', '>=', from)
      .where('o.occurred_at', '<=', before.occurred_at)
      .where(({ eb, or }) => or([eb('o.occurred_at', '<', before.occurred_at), eb('o.id', '<', before.id)]))
      .$if(platform !== undefined, (query) => query.where('o.platform', '=', platform ?? ''))
      .where(occurrencesInScope(context, 'o.error_id', scope))
      .orderBy('o.occurred_at', 'desc')
      .orderBy('o.id', 'desc')
      .limit(TIMES_PER_PAGE)
    const rows = await packedRows(database, query, ['id', 'occurred_at'])
    rows.sort((a, b) => b.occurred_at - a.occurred_at || b.id - a.id)
    for (const { occurred_at } of rows) times.push(occurred_at)
    last = rows.length < TIMES_PER_PAGE ? null : (rows.at(-1) ?? null)
  } while (last && times.length < MAX_TIMES)
  return times.reverse()
}
