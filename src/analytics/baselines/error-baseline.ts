import * as v from 'valibot'
import type { Context } from '../../context.js'
import { id } from '../../model/input/input.js'
import { scopeInput } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import { HOUR, startOfHour } from '../../model/time.js'
import { defineOperation } from '../../operation.js'
import { assertErrorExists } from '../existing-error.js'
import { deviationsAbove, isAboveBaseline } from './baseline-statistics.js'

/** Baseline of an error's type and platform in its environment, and the count of the current hour. */
export const ErrorBaseline = r.object({
  error_type: r.text,
  platform: r.text,
  /** Occurrences per hour and per local day. */
  hour: r.nullable(r.object({ mean: r.number, std_dev: r.number })),
  day: r.nullable(r.object({ mean: r.number, std_dev: r.number })),
  /** Occurrences of the type in the current hour so far. */
  count: r.integer,
  /** Occurrences of this error among them. */
  own_count: r.integer,
  /** Standard deviations above the hourly baseline; null for a baseline without any occurrence. */
  deviations: r.nullable(r.number),
  is_above: r.boolean,
  calculated_at: r.time,
})
export type ErrorBaseline = v.InferOutput<typeof ErrorBaseline>

/** Returns the baseline of an error's type and platform, or null if there is not enough history. */
export const errorBaseline = defineOperation({
  input: v.object({ error_id: id(), ...scopeInput }),
  async run(context, { error_id, application_id, environment }): Promise<ErrorBaseline | null> {
    const scope = { application_id, environment }
    await assertErrorExists(context, error_id, scope)
    const { database, config } = context
    const rows = await database.read
      .selectFrom('faultboard_errors as e')
      .innerJoin('faultboard_baselines as b', (join) =>
        join
          .onRef('b.application_id', '=', 'e.application_id')
          .onRef('b.environment', '=', 'e.environment')
          .onRef('b.error_type', '=', 'e.error_type')
          .onRef('b.platform', '=', 'e.platform'),
      )
      .select(['b.application_id', 'b.environment', 'b.error_type', 'b.platform', 'b.granularity'])
      .select(['b.mean', 'b.std_dev', 'b.calculated_at'])
      .where('e.id', '=', error_id)
      .execute()
    const [first] = rows
    if (!first) return null
    const findBaseline = (granularity: string) => {
      const row = rows.find((candidate) => candidate.granularity === granularity)
      return row ? { mean: Number(row.mean), std_dev: Number(row.std_dev) } : null
    }
    const hour = findBaseline('hour')
    const { count, own_count } = await countThisHour(context, first, error_id)
    const { error_type, platform, calculated_at } = first
    return {
      error_type,
      platform,
      hour,
      day: findBaseline('day'),
      count,
      own_count,
      deviations: hour && deviationsAbove(hour, count),
      is_above: hour !== null && isAboveBaseline(hour, count, config.baseline_alert_threshold_std_devs),
      calculated_at: new Date(calculated_at).toISOString(),
    }
  },
})

interface BaselineScope {
  application_id: number
  environment: string
  error_type: string
  platform: string
}

async function countThisHour(
  { database, now }: Context,
  { application_id, environment, error_type, platform }: BaselineScope,
  error_id: number,
): Promise<{ count: number; own_count: number }> {
  const hour = startOfHour(now())
  const { count, own_count } = await database.read
    .selectFrom('faultboard_errors as e')
    .innerJoin('faultboard_error_hours as h', 'h.error_id', 'e.id')
    .select(({ fn }) => fn.sum<number | null>('h.count').as('count'))
    .select(({ fn, eb }) =>
      fn
        .sum<number | null>(eb.case().when('e.id', '=', error_id).then(eb.ref('h.count')).else(0).end())
        .as('own_count'),
    )
    .where('e.application_id', '=', application_id)
    .where('e.environment', '=', environment)
    .where('e.error_type', '=', error_type)
    .where('e.occurred_at', '>=', hour)
    .where('h.hour', '>=', hour)
    .where('h.hour', '<', hour + HOUR)
    .where('h.platform', '=', platform)
    .executeTakeFirstOrThrow()
  return { count: count ?? 0, own_count: own_count ?? 0 }
}
