import * as v from 'valibot'
import type { Context } from '../context.js'
import { requiredFeatureCount, similarity } from '../model/grouping/similarity.js'
import { clampedInteger, fraction, id, optional } from '../model/input/input.js'
import { type Scope, scopeInput } from '../model/input/scope.js'
import * as r from '../model/result.js'
import { defineOperation } from '../operation.js'
import { sql } from '../store/kysely.js'
import { assertErrorExists } from './existing-error.js'
import { loadRankedErrors, RankedError } from './ranked-errors.js'
import { errorsInScope, isLimited } from './sums/scope-conditions.js'

export const SimilarError = r.object({
  error: RankedError,
  /** Jaccard similarity of frames and words, from 0 to 1. */
  similarity: r.number,
})
export type SimilarError = v.InferOutput<typeof SimilarError>

export const SIMILAR_THRESHOLD = 0.7
/** With fewer types, all errors would seem similar. */
const MIN_TYPES = 10
/** Features shared by more errors than this are not distinctive. Only the newest of these errors are compared. */
const MAX_ERRORS_PER_FEATURE = 500
/** Maximum number of errors to scan for errors of one scope. */
const MAX_SEARCHED_ERRORS = 4 * MAX_ERRORS_PER_FEATURE

/** Returns errors with mostly the same frames and words, most similar first. */
export const similarErrors = defineOperation({
  input: v.object({
    error_id: id(),
    threshold: v.optional(optional(fraction({ min: 0, max: 1 })), SIMILAR_THRESHOLD),
    limit: v.optional(optional(clampedInteger({ min: 1, max: 100 })), 10),
    ...scopeInput,
  }),
  async run(
    context,
    { error_id, threshold = SIMILAR_THRESHOLD, limit = 10, application_id, environment },
  ): Promise<SimilarError[]> {
    const scope = { application_id, environment }
    await assertErrorExists(context, error_id, scope)
    if (!context.config.enable_similar_errors) return []
    if (!(await hasEnoughTypes(context))) return []
    const features = await loadFeatures(context, error_id)
    if (features.length === 0) return []
    const rareFeatures = await findRarestFeatures(context, features, threshold)
    const candidates = await findCandidates(context, rareFeatures, { error_id, scope })
    if (candidates.length === 0) return []
    const compared = await compareCandidates(context, features, candidates)
    const similar = compared
      .filter(({ similarity }) => similarity >= threshold && similarity > 0)
      .sort((a, b) => b.similarity - a.similarity || b.error_id - a.error_id)
    const errors = await loadRankedErrors(
      context,
      similar.map((candidate) => candidate.error_id),
      scope,
    )
    return similar
      .flatMap((candidate) => {
        const error = errors.get(candidate.error_id)
        return error ? [{ error, similarity: candidate.similarity }] : []
      })
      .slice(0, limit)
  },
})

/** Checks the newest errors first, which usually suffices. */
async function hasEnoughTypes({ database }: Context): Promise<boolean> {
  const types = database.read.selectFrom('faultboard_errors').select('error_type')
  const newest = await types
    .orderBy('id', 'desc')
    .limit(20 * MIN_TYPES)
    .execute()
  if (new Set(newest.map(({ error_type }) => error_type)).size >= MIN_TYPES) return true
  return (await types.distinct().limit(MIN_TYPES).execute()).length >= MIN_TYPES
}

async function loadFeatures({ database }: Context, error_id: number): Promise<number[]> {
  const rows = await database.read
    .selectFrom('faultboard_error_features')
    .select('feature')
    .where('error_id', '=', error_id)
    .execute()
  return rows.map(({ feature }) => feature)
}

/** Finds the rarest features. Every sufficiently similar error shares at least one of them. */
async function findRarestFeatures(context: Context, features: readonly number[], threshold: number): Promise<number[]> {
  const [first, ...others] = features.map((feature) => countErrorsWithFeature(context, feature))
  if (!first) return []
  // One statement saves round trips.
  const counted = await others.reduce((union, query) => union.unionAll(query), first).execute()
  return counted
    .map(({ feature, total }) => ({ feature: Number(feature), count: Number(total) }))
    .sort((a, b) => a.count - b.count || a.feature - b.feature)
    .slice(0, requiredFeatureCount(features.length, threshold))
    .map(({ feature }) => feature)
}

/** Counts the errors with a feature, up to the limit. */
function countErrorsWithFeature({ database }: Context, feature: number) {
  return database.read
    .selectFrom(({ selectFrom }) =>
      selectFrom('faultboard_error_features')
        .select('feature')
        .where('feature', '=', feature)
        .limit(MAX_ERRORS_PER_FEATURE)
        .as('s'),
    )
    .select(({ fn }) => [fn.max<number>('s.feature').as('feature'), fn.countAll<number>().as('total')])
}

async function findCandidates(
  context: Context,
  features: readonly number[],
  { error_id, scope }: { error_id: number; scope: Scope },
): Promise<number[]> {
  const [first, ...others] = features.map((feature) => errorsWithFeature(context, feature, scope))
  if (!first) return []
  const rows = await others.reduce((union, query) => union.unionAll(query), first).execute()
  const found = new Set(rows.map((row) => row.error_id))
  found.delete(error_id)
  return [...found].slice(0, MAX_ERRORS_PER_FEATURE)
}

/** Newest errors with a feature. In a limited scope, only its errors count toward the limit. */
function errorsWithFeature(context: Context, feature: number, scope: Scope) {
  const { read } = context.database
  const all = read
    .selectFrom('faultboard_error_features as f')
    .select('f.error_id')
    .where('f.feature', '=', feature)
    .orderBy('f.error_id', 'desc')
  if (!isLimited(scope)) return read.selectFrom(all.limit(MAX_ERRORS_PER_FEATURE).as('h')).select('h.error_id')
  const own = read
    .selectFrom(all.limit(MAX_SEARCHED_ERRORS).as('a'))
    .innerJoin('faultboard_errors as e', 'e.id', 'a.error_id')
    .select('a.error_id')
    .where(errorsInScope(context, scope, { table: 'e' }))
    .orderBy('a.error_id', 'desc')
  return read.selectFrom(own.limit(MAX_ERRORS_PER_FEATURE).as('h')).select('h.error_id')
}

async function compareCandidates({ database }: Context, features: readonly number[], candidates: readonly number[]) {
  const shared = sql<number>`sum(case when ${sql.ref('feature')} in (${sql.join(features)}) then 1 else 0 end)`
  const rows = await database.read
    .selectFrom('faultboard_error_features')
    .select(({ fn }) => ['error_id', fn.countAll<number>().as('total'), shared.as('count')])
    .where('error_id', 'in', candidates)
    .groupBy('error_id')
    .execute()
  return rows.map(({ error_id, total, count }) => ({
    error_id,
    similarity: similarity(Number(count), features.length, Number(total)),
  }))
}
