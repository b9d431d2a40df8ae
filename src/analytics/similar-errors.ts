import * as v from 'valibot'
import type { Context } from '../context.js'
import { requiredFeatureCount, similarity } from '../model/grouping/similarity.js'
import { clampedInteger, fraction, id, optional } from '../model/input.js'
import { defineOperation } from '../operation.js'
import { sql } from '../store/kysely.js'
import { withoutIndex } from '../store/sort-order.js'
import { expectError } from './existing-error.js'
import { type RankedError, rankedErrors } from './ranked-errors.js'

export interface SimilarError {
  error: RankedError
  /** The part of the frames and words of both that they share, from 0 to 1. */
  similarity: number
}

export const SIMILAR_THRESHOLD = 0.7
/** With fewer types recorded, everything would resemble everything. */
const LEAST_TYPES = 10
/** A feature of more errors than these tells little; of those that share only such, the newest are looked at. */
const COMMON = 500
/** Among so many those of one application are looked for. */
const AMONG = 4 * COMMON

/** Errors with mostly the same frames and words, the most similar first. */
export const similarErrors = defineOperation({
  input: v.object({
    error_id: id(),
    threshold: v.optional(optional(fraction({ min: 0, max: 1 })), SIMILAR_THRESHOLD),
    limit: v.optional(optional(clampedInteger({ min: 1, max: 100 })), 10),
    application_id: optional(id()),
  }),
  async run(context, { error_id, threshold = SIMILAR_THRESHOLD, limit = 10, application_id }): Promise<SimilarError[]> {
    await expectError(context, { error_id, application_id })
    if (!context.config.enable_similar_errors) return []
    if (!(await hasEnoughTypes(context))) return []
    const features = await featuresOfError(context, error_id)
    if (features.length === 0) return []
    const asked = await rarest(context, features, threshold)
    const candidates = await sharingOne(context, asked, { error_id, application_id })
    if (candidates.length === 0) return []
    const found = await compared(context, features, candidates)
    const similar = found
      .filter((one) => one.similarity >= threshold && one.similarity > 0)
      .sort((a, b) => b.similarity - a.similarity || b.error_id - a.error_id)
    const errors = await rankedErrors(
      context,
      similar.map((one) => one.error_id),
      application_id,
    )
    return similar
      .flatMap((one) => {
        const error = errors.get(one.error_id)
        return error ? [{ error, similarity: one.similarity }] : []
      })
      .slice(0, limit)
  },
})

/** Nearly always the newest errors tell; only where they do not, all are looked at. */
async function hasEnoughTypes({ database }: Context): Promise<boolean> {
  const types = database.read.selectFrom('faultboard_errors').select('error_type')
  const newest = await types
    .orderBy('id', 'desc')
    .limit(20 * LEAST_TYPES)
    .execute()
  if (new Set(newest.map(({ error_type }) => error_type)).size >= LEAST_TYPES) return true
  return (await types.distinct().limit(LEAST_TYPES).execute()).length >= LEAST_TYPES
}

async function featuresOfError({ database }: Context, error_id: number): Promise<number[]> {
  const rows = await database.read
    .selectFrom('faultboard_error_features')
    .select('feature')
    .where('error_id', '=', error_id)
    .execute()
  return rows.map(({ feature }) => feature)
}

/** Those features by which no error of this similarity can be missed, and which the fewest errors have. */
async function rarest(context: Context, features: readonly number[], threshold: number): Promise<number[]> {
  const [first, ...others] = features.map((feature) => sharing(context, feature))
  if (!first) return []
  // All in one statement: each waits for the database once.
  const counted = await others.reduce((all, one) => all.unionAll(one), first).execute()
  return counted
    .map(({ feature, total }) => ({ feature: Number(feature), count: Number(total) }))
    .sort((a, b) => a.count - b.count || a.feature - b.feature)
    .slice(0, requiredFeatureCount(features.length, threshold))
    .map(({ feature }) => feature)
}

/** How many errors have a feature; of very many it is enough to know that they are. */
function sharing({ database }: Context, feature: number) {
  return database.read
    .selectFrom(({ selectFrom }) =>
      selectFrom('faultboard_error_features').select('feature').where('feature', '=', feature).limit(COMMON).as('s'),
    )
    .select(({ fn }) => [fn.max<number>('s.feature').as('feature'), fn.countAll<number>().as('total')])
}

async function sharingOne(
  { database }: Context,
  features: readonly number[],
  { error_id, application_id }: { error_id: number; application_id: number | undefined },
): Promise<number[]> {
  const [first, ...others] = features.map((feature) => having(database, feature, application_id))
  if (!first) return []
  const rows = await others.reduce((all, one) => all.unionAll(one), first).execute()
  const found = new Set(rows.map((row) => row.error_id))
  found.delete(error_id)
  return [...found].slice(0, COMMON)
}

/** The errors with a feature, of very many the newest; those of other applications do not use up their number. */
function having({ read, dialect }: Context['database'], feature: number, application_id: number | undefined) {
  const all = read
    .selectFrom('faultboard_error_features as f')
    .select('f.error_id')
    .where('f.feature', '=', feature)
    .orderBy('f.error_id', 'desc')
  if (application_id === undefined) return read.selectFrom(all.limit(COMMON).as('h')).select('h.error_id')
  const own = read
    .selectFrom(all.limit(AMONG).as('a'))
    .innerJoin('faultboard_errors as e', 'e.id', 'a.error_id')
    .select('a.error_id')
    .where(withoutIndex(dialect, 'e.application_id'), '=', application_id)
    .orderBy('a.error_id', 'desc')
  return read.selectFrom(own.limit(COMMON).as('h')).select('h.error_id')
}

async function compared({ database }: Context, features: readonly number[], candidates: readonly number[]) {
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
