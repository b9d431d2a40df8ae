import type { Context } from '../../context.js'
import { HOUR, startOfHour } from '../../model/time.js'
import { packedRows } from '../../store/bulk/packed-rows.js'
import { type RawBuilder, sql } from '../../store/kysely.js'
import { withoutIndex } from '../../store/sql/sort-order.js'
import type { Span } from '../sums/period.js'
import { errorIdInEnvironment } from '../sums/scope-conditions.js'
import { lifetimeDays, type Release } from './releases.js'

export const WORSE_RATIO = 2
export const MIN_OCCURRENCES = 5

/** Occurrences of an error in a release and its predecessor. */
export interface ReleaseCount {
  id: number
  is_new: boolean
  count: number
  before_count: number
}

export interface ReleaseComparison {
  release: Release
  before: Release | null
  environment: string | undefined
  /** False if the user selected another release to compare with. */
  isPrevious: boolean
}

/**
 * Errors that are new, gone or worse in a release. Filters them in the database. If the compared release is not the
 * previous release, every error missing from the compared release is new.
 */
export async function releaseCounts(
  context: Context,
  { release, before, environment, isPrevious }: ReleaseComparison,
): Promise<ReleaseCount[]> {
  const inScope = (error_id: string) => errorIdInEnvironment(context, error_id, { environment })
  const span = comparedSpan(context, release, before)
  const newCounts =
    before && !isPrevious
      ? await findAbsentErrors(context, release, before, span, inScope('a.error_id'))
      : await findNewErrors(context, release, before, span, inScope('e.id'))
  const known = new Set(newCounts.map(({ id }) => id))
  const others = before ? await findChangedErrors(context, release, before, span, inScope('b.error_id')) : []
  return [...newCounts, ...others.filter(({ id }) => !known.has(id))]
}

/** From the first occurrence of either release until now. */
function comparedSpan({ now }: Context, release: Release, before: Release | null): Span {
  return {
    from: Math.min(release.first_hour, before?.first_hour ?? release.first_hour),
    to: startOfHour(now()) + HOUR,
  }
}

/** Minimum ratio of counts for an error to count as worse, adjusted for the lifetimes of both releases. */
export function minWorseRatio(release: Release, before: Release): number {
  return (WORSE_RATIO * lifetimeDays(release)) / lifetimeDays(before)
}

const COUNT_COLUMNS = ['id', 'count', 'before_count', 'beyond_span'] as const

/** Errors first seen in this release. */
async function findNewErrors(
  context: Context,
  release: Release,
  before: Release | null,
  span: Span,
  isInScope: RawBuilder<boolean>,
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
    .select(['e.id', 'a.count', 'b.count as before_count', extendsBeyondSpan(span).as('beyond_span')])
    .where('e.first_app_version', '=', release.app_version)
    .where(withoutIndex(database.dialect, 'e.application_id'), '=', release.application_id)
    .where(isInScope)
  const rows = await packedRows(database, query, COUNT_COLUMNS)
  return countExactly(context, rows, release, before, span, true)
}

/** Errors of a release that did not occur in the other release. */
async function findAbsentErrors(
  context: Context,
  release: Release,
  before: Release,
  span: Span,
  isInScope: RawBuilder<boolean>,
): Promise<ReleaseCount[]> {
  const beyond = extendsBeyondSpan(span)
  const query = context.database.read
    .selectFrom('faultboard_error_versions as a')
    .leftJoin('faultboard_error_versions as b', (join) =>
      join
        .onRef('b.error_id', '=', 'a.error_id')
        .on('b.application_id', '=', release.application_id)
        .on('b.app_version', '=', before.app_version),
    )
    .select(['a.error_id as id', 'a.count', 'b.count as before_count', beyond.as('beyond_span')])
    .where('a.application_id', '=', release.application_id)
    .where('a.app_version', '=', release.app_version)
    .where(isInScope)
    .where(({ eb, or }) => or([eb('b.count', 'is', null), eb(beyond, '=', 1)]))
  const rows = await packedRows(context.database, query, COUNT_COLUMNS)
  const counted = await countExactly(context, rows, release, before, span, true)
  return counted.filter(({ before_count }) => before_count === 0)
}

/** Errors of the previous release that are gone or worse. */
async function findChangedErrors(
  context: Context,
  release: Release,
  before: Release,
  span: Span,
  isInScope: RawBuilder<boolean>,
): Promise<ReleaseCount[]> {
  const threshold = minWorseRatio(release, before)
  const beyond = extendsBeyondSpan(span)
  const query = context.database.read
    .selectFrom('faultboard_error_versions as b')
    .leftJoin('faultboard_error_versions as a', (join) =>
      join
        .onRef('a.error_id', '=', 'b.error_id')
        .on('a.application_id', '=', release.application_id)
        .on('a.app_version', '=', release.app_version),
    )
    .select(['b.error_id as id', 'a.count', 'b.count as before_count', beyond.as('beyond_span')])
    .where('b.application_id', '=', release.application_id)
    .where('b.app_version', '=', before.app_version)
    .where(isInScope)
    .where(({ eb, and, or }) =>
      or([
        eb('a.count', 'is', null),
        and([eb('a.count', '>=', MIN_OCCURRENCES), exceedsThreshold(threshold)]),
        eb(beyond, '=', 1),
      ]),
    )
  const rows = await packedRows(context.database, query, COUNT_COLUMNS)
  const isWorse = ({ count, before_count }: ExactCount) =>
    before_count > 0 && count >= MIN_OCCURRENCES && count >= threshold * before_count
  const counted = await countExactly(context, rows, release, before, span, false)
  return counted.filter((row) => row.count === 0 || !row.beyond_span || isWorse(row))
}

/** Compares the counts of a release (a) and its predecessor (b). */
export function exceedsThreshold(threshold: number): RawBuilder<boolean> {
  // The decimal prevents PostgreSQL from treating the threshold as an integer.
  return sql<boolean>`${sql.ref('a.count')} >= ${threshold} * (${sql.ref('b.count')} * 1.0)`
}

/** Flags errors whose sums are too high, because they occurred in one of the releases outside the span. */
function extendsBeyondSpan({ from, to }: Span): RawBuilder<number> {
  const beyond = (table: string) =>
    sql`${sql.ref(`${table}.first_hour`)} < ${from} or ${sql.ref(`${table}.last_hour`)} >= ${to}`
  return sql<number>`case when ${beyond('a')} or ${beyond('b')} then 1 else 0 end`
}

interface ExactCount extends ReleaseCount {
  beyond_span: boolean
}

/** Exact counts within the span. Omits errors without occurrences in it. */
async function countExactly(
  context: Context,
  rows: readonly { id: number; count: number | null; before_count: number | null; beyond_span: number }[],
  release: Release,
  before: Release | null,
  span: Span,
  is_new: boolean,
): Promise<ExactCount[]> {
  const ids = rows.filter(({ beyond_span }) => Number(beyond_span) === 1).map(({ id }) => id)
  const counts = await countInHours(context, ids, release.app_version, span)
  const countsBefore = before ? await countInHours(context, ids, before.app_version, span) : new Map<number, number>()
  return rows
    .map(({ id, count, before_count, beyond_span }) =>
      Number(beyond_span) === 1
        ? { id, is_new, count: counts.get(id) ?? 0, before_count: countsBefore.get(id) ?? 0, beyond_span: true }
        : { id, is_new, count: count ?? 0, before_count: (before && before_count) ?? 0, beyond_span: false },
    )
    .filter(({ count, before_count }) => count > 0 || before_count > 0)
}

async function countInHours(
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
