import type { Context } from '../../context.js'
import { withoutIndex } from '../../store/sort-order.js'
import type { Scope } from '../sums/application-filter.js'
import { errorsOf } from '../sums/application-filter.js'
import { type Release, releaseKey } from './releases.js'

/** The errors that came back in a release, those that did so last at the front. */
export async function regressedIn(
  context: Context,
  { application_id, app_version }: Pick<Release, 'application_id' | 'app_version'>,
): Promise<{ id: number }[]> {
  return regressed(context, { application_id })
    .select('id')
    .where('regressed_in_version', '=', app_version)
    .orderBy('reopened_at', 'desc')
    .orderBy('id')
    .execute()
}

/** How many errors came back in each release, by its key. */
export async function regressionCounts(context: Context, scope: Scope): Promise<Map<string, number>> {
  const rows = await regressed(context, scope)
    .select(({ fn }) => ['application_id', 'regressed_in_version', fn.countAll<number>().as('error_count')])
    .where('regressed_in_version', 'is not', null)
    .groupBy([withoutIndex(context.database.dialect, 'application_id'), 'regressed_in_version'])
    .execute()
  return new Map(
    rows.map(({ application_id, regressed_in_version, error_count }) => [
      releaseKey({ application_id, app_version: regressed_in_version ?? '' }),
      error_count,
    ]),
  )
}

/** What was ever reopened: by that, the few that are wanted are found in an index. */
function regressed(context: Context, { application_id }: Scope) {
  return context.database.read
    .selectFrom('faultboard_errors')
    .where('reopened_at', 'is not', null)
    .where(errorsOf(context, application_id))
}
