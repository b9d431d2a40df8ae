import type { Context } from '../../context.js'
import type { Scope } from '../../model/input/scope.js'
import { withoutIndex } from '../../store/sql/sort-order.js'
import { errorsInScope } from '../sums/scope-conditions.js'
import { releaseKey } from './releases.js'

/** Errors of an application that regressed in a release, most recent first. */
export async function findRegressedErrors(
  context: Context,
  scope: Scope,
  app_version: string,
): Promise<{ id: number }[]> {
  return reopenedErrors(context, scope)
    .select('id')
    .where('regressed_in_version', '=', app_version)
    .orderBy('reopened_at', 'desc')
    .orderBy('id')
    .execute()
}

/** Counts regressed errors per release, by release key. */
export async function countRegressions(context: Context, scope: Scope): Promise<Map<string, number>> {
  const rows = await reopenedErrors(context, scope)
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

/** Limits the rows to errors that were ever reopened, which an index covers. */
function reopenedErrors(context: Context, scope: Scope) {
  return context.database.read
    .selectFrom('faultboard_errors')
    .where('reopened_at', 'is not', null)
    .where(errorsInScope(context, scope))
}
