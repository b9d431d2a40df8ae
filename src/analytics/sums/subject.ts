import type { Context } from '../../context.js'
import { packedRows } from '../../store/packed-rows.js'
import { askedApplications, hoursOf, occurrencesOf } from './application-filter.js'
import { daySlices } from './day-parts.js'
import type { Span } from './period.js'
import { timedSlices } from './timed-slices.js'

/** What a question is about: one error, or all of a type, on a platform or on all. */
export interface Subject {
  error_id?: number | undefined
  error_type?: string | undefined
  platform?: string | undefined
  application_id?: number | undefined
}

const MOST_TIMES = 20_000
const TIMES_AT_ONCE = 2500

interface HourCount {
  hour: number
  count: number
}

/** How often it occurred in each hour of the span, from the sums that hold the answer with the fewest rows. */
export async function countsByHour(context: Context, subject: Subject, span: Span): Promise<Map<number, number>> {
  const counts = new Map<number, number>()
  for await (const rows of hourCounts(context, subject, span)) {
    for (const { hour, count } of rows) counts.set(hour, (counts.get(hour) ?? 0) + count)
  }
  return counts
}

async function* hourCounts(context: Context, subject: Subject, span: Span): AsyncGenerator<HourCount[]> {
  const { error_type, platform } = subject
  if (subject.error_id === undefined && error_type === undefined) yield* ofApplications(context, subject, span)
  else if (subject.error_id === undefined && platform === undefined) yield* ofType(context, subject, span)
  else {
    for (const ids of timedSlices(await errorIds(context, subject, span.from))) {
      yield await hourCountsOf(context, ids, platform, span)
    }
  }
}

async function* ofApplications(
  context: Context,
  { application_id, platform }: Subject,
  span: Span,
): AsyncGenerator<HourCount[]> {
  const condition = await hoursOf(context, application_id)
  for (const { from, to } of daySlices(context, span)) {
    const query = context.database.read
      .selectFrom('faultboard_application_hours')
      .select(({ fn }) => ['hour', fn.sum<number>('count').as('count')])
      .where(condition)
      .where('hour', '>=', from)
      .where('hour', '<', to)
      .$if(platform !== undefined, (query) => query.where('platform', '=', platform ?? ''))
      .groupBy('hour')
    yield await packedRows(context.database, query, ['hour', 'count'])
  }
}

async function* ofType(context: Context, subject: Subject, span: Span): AsyncGenerator<HourCount[]> {
  const ids = await askedApplications(context, { application_id: subject.application_id })
  for (const { from, to } of daySlices(context, span, MANY_DAYS)) {
    const query = context.database.read
      .selectFrom('faultboard_type_hours')
      .select(({ fn }) => ['hour', fn.sum<number>('count').as('count')])
      .where('application_id', 'in', ids)
      .where('error_type', '=', subject.error_type ?? '')
      .where('hour', '>=', from)
      .where('hour', '<', to)
      .groupBy('hour')
    yield await packedRows(context.database, query, ['hour', 'count'])
  }
}

/** A type has one row an hour in each application. */
const MANY_DAYS = 120

/** The same of these errors. */
export async function hourCountsOf(
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

/** The errors that a question is about, as far as they occurred since then. */
async function errorIds(context: Context, subject: Subject, from: number): Promise<number[]> {
  const { error_id, error_type, application_id } = subject
  const query = context.database.read
    .selectFrom('faultboard_errors')
    .select('id')
    .where('occurred_at', '>=', from)
    .$if(error_id !== undefined, (query) => query.where('id', '=', error_id ?? 0))
    .$if(error_type !== undefined, (query) => query.where('error_type', '=', error_type ?? ''))
    .$if(application_id !== undefined, (query) => query.where('application_id', '=', application_id ?? 0))
  return (await packedRows(context.database, query, ['id'])).map(({ id }) => id)
}

/** When it occurred since then, oldest first; of very many the newest. Only occurrences that are kept have a time. */
export async function occurrenceTimes(context: Context, subject: Subject, from: number): Promise<number[]> {
  if (subject.error_id === undefined && subject.error_type === undefined) return anyTimes(context, subject, from)
  let newest: number[] = []
  let since = from
  for (const ids of timedSlices(await errorIds(context, subject, from))) {
    newest.push(...(await timesOf(context, ids, subject.platform, since)))
    if (newest.length < MOST_TIMES) continue
    // What is older than the newest so many need not be read of the others.
    newest = newest.sort((a, b) => b - a).slice(0, MOST_TIMES)
    since = newest.at(-1) ?? from
  }
  return newest.sort((a, b) => a - b)
}

async function timesOf({ database }: Context, ids: readonly number[], platform: string | undefined, from: number) {
  const query = database.read
    .selectFrom('faultboard_occurrences')
    .select('occurred_at')
    .where('error_id', 'in', ids)
    .where('occurred_at', '>=', from)
    .$if(platform !== undefined, (query) => query.where('platform', '=', platform ?? ''))
    .orderBy('occurred_at', 'desc')
    .limit(MOST_TIMES)
  return (await packedRows(database, query, ['occurred_at'])).map(({ occurred_at }) => occurred_at)
}

/** Of any error: back from the newest, a part at a time. */
async function anyTimes(context: Context, { application_id, platform }: Subject, from: number): Promise<number[]> {
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
      .where(occurrencesOf(context, 'o.error_id', application_id))
      .orderBy('o.occurred_at', 'desc')
      .orderBy('o.id', 'desc')
      .limit(TIMES_AT_ONCE)
    const rows = await packedRows(database, query, ['id', 'occurred_at'])
    rows.sort((a, b) => b.occurred_at - a.occurred_at || b.id - a.id)
    for (const { occurred_at } of rows) times.push(occurred_at)
    last = rows.length < TIMES_AT_ONCE ? null : (rows.at(-1) ?? null)
  } while (last && times.length < MOST_TIMES)
  return times.reverse()
}
