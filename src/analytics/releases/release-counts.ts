import type { Context } from '../../context.js'
import { HOUR, hourOf } from '../../model/time.js'
import { type RawBuilder, sql } from '../../store/kysely.js'
import { packedRows } from '../../store/packed-rows.js'
import { withoutIndex } from '../../store/sort-order.js'
import type { Span } from '../sums/period.js'
import { daysOf, type Release } from './releases.js'

export const WORSE = 2
export const LEAST_OCCURRENCES = 5

/** How often an error occurred in a release, and in the one before it. */
export interface ReleaseCount {
  id: number
  is_new: boolean
  count: number
  before_count: number
}

/** The errors that are new, gone or worse in a release. Only they leave the database. */
export async function releaseCounts(
  context: Context,
  release: Release,
  before: Release | null,
): Promise<ReleaseCount[]> {
  const span = spanOf(context, release, before)
  const news = await newErrors(context, release, before, span)
  const known = new Set(news.map(({ id }) => id))
  const others = before ? await changedErrors(context, release, before, span) : []
  return [...news, ...others.filter(({ id }) => !known.has(id))]
}

/** From the first sight of the two until now. */
function spanOf({ now }: Context, release: Release, before: Release | null): Span {
  return {
    from: Math.min(release.first_hour, before?.first_hour ?? release.first_hour),
    to: hourOf(now()) + HOUR,
  }
}

/** An error is worse when it occurs so many times as often as in the release before, over the same time. */
export function worseFrom(release: Release, before: Release): number {
  return (WORSE * daysOf(release)) / daysOf(before)
}

const COUNTED = ['id', 'count', 'before_count', 'beyond'] as const

/** The errors first seen in this release. */
async function newErrors(
  context: Context,
  release: Release,
  before: Release | null,
  span: Span,
): Promise<ReleaseCount[]> {
  const { database } = context
  const query = database.read
    .selectFrom('faultboard_errors as e')
    .leftJoin('faultboard_error_versions as a', (join) =>
      join
        .onRef('a.error_id', '=', 'e.id')
        .on('a.application_id', '=', release.application_id)
        .on('a.app_version', '=', release.app_version),
    )
    .leftJoin('faultboard_error_versions as b', (join) =>
      join
        .onRef('b.error_id', '=', 'e.id')
        .on('b.application_id', '=', release.application_id)
        .on('b.app_version', '=', before?.app_version ?? ''),
    )
    .select(['e.id', 'a.count', 'b.count as before_count', reachesBeyond(span).as('beyond')])
    .where('e.first_app_version', '=', release.app_version)
    .where(withoutIndex(database.dialect, 'e.application_id'), '=', release.application_id)
  const rows = await packedRows(database, query, COUNTED)
  return (await exactly(context, rows, release, before, span)).map((row) => ({ ...row, is_new: true }))
}

/** The errors of the release before that are gone, or worse. */
async function changedErrors(context: Context, release: Release, before: Release, span: Span): Promise<ReleaseCount[]> {
  const threshold = worseFrom(release, before)
  const beyond = reachesBeyond(span)
  const query = context.database.read
    .selectFrom('faultboard_error_versions as b')
    .leftJoin('faultboard_error_versions as a', (join) =>
      join
        .onRef('a.error_id', '=', 'b.error_id')
        .on('a.application_id', '=', release.application_id)
        .on('a.app_version', '=', release.app_version),
    )
    .select(['b.error_id as id', 'a.count', 'b.count as before_count', beyond.as('beyond')])
    .where('b.application_id', '=', release.application_id)
    .where('b.app_version', '=', before.app_version)
    .where(({ eb, and, or }) =>
      or([
        eb('a.count', 'is', null),
        and([eb('a.count', '>=', LEAST_OCCURRENCES), isWorseBy(threshold)]),
        eb(beyond, '=', 1),
      ]),
    )
  const rows = await packedRows(context.database, query, COUNTED)
  const isWorse = ({ count, before_count }: Counted) =>
    before_count > 0 && count >= LEAST_OCCURRENCES && count >= threshold * before_count
  const counted = await exactly(context, rows, release, before, span)
  return counted
    .filter((row) => row.count === 0 || !row.beyond || isWorse(row))
    .map((row) => ({ ...row, is_new: false }))
}

/** Of the counts of a release (a) and of the one before (b). */
export function isWorseBy(threshold: number): RawBuilder<boolean> {
  // The decimal keeps PostgreSQL from taking the threshold for an integer.
  return sql<boolean>`${sql.ref('a.count')} >= ${threshold} * (${sql.ref('b.count')} * 1.0)`
}

/** Whether an error met one of the two releases also outside the span: then its sums tell too much. */
function reachesBeyond({ from, to }: Span): RawBuilder<number> {
  const beyond = (table: string) =>
    sql`${sql.ref(`${table}.first_hour`)} < ${from} or ${sql.ref(`${table}.last_hour`)} >= ${to}`
  return sql<number>`case when ${beyond('a')} or ${beyond('b')} then 1 else 0 end`
}

interface Counted {
  id: number
  count: number
  before_count: number
  beyond: boolean
}

/** The counts within the span; errors that met neither release in it are left out. Before the first one there was nothing. */
async function exactly(
  context: Context,
  rows: readonly { id: number; count: number | null; before_count: number | null; beyond: number }[],
  release: Release,
  before: Release | null,
  span: Span,
): Promise<Counted[]> {
  const ids = rows.filter(({ beyond }) => Number(beyond) === 1).map(({ id }) => id)
  const counts = await countsWithin(context, ids, release.app_version, span)
  const counts_before = before ? await countsWithin(context, ids, before.app_version, span) : new Map<number, number>()
  return rows
    .map(({ id, count, before_count, beyond }) =>
      Number(beyond) === 1
        ? { id, count: counts.get(id) ?? 0, before_count: counts_before.get(id) ?? 0, beyond: true }
        : { id, count: count ?? 0, before_count: (before && before_count) ?? 0, beyond: false },
    )
    .filter(({ count, before_count }) => count > 0 || before_count > 0)
}

async function countsWithin(
  { database }: Context,
  ids: readonly number[],
  app_version: string,
  { from, to }: Span,
): Promise<Map<number, number>> {
  if (ids.length === 0) return new Map()
  const rows = await database.read
    .selectFrom('faultboard_error_hours')
    .select(({ fn }) => ['error_id', fn.sum<number>('count').as('count')])
    .where('error_id', 'in', ids)
    .where('app_version', '=', app_version)
    .where('hour', '>=', from)
    .where('hour', '<', to)
    .groupBy('error_id')
    .execute()
  return new Map(rows.map(({ error_id, count }) => [error_id, count]))
}
