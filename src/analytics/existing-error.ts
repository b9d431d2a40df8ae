import type { Context } from '../context.js'
import { errorNotFound } from '../model/errors.js'
import type { Scope } from '../model/input/scope.js'
import { errorsInScope } from './sums/scope-conditions.js'

/** Throws if an error does not exist or is not in the scope. */
export async function assertErrorExists(context: Context, error_id: number, scope: Scope): Promise<void> {
  const row = await context.database.read
    .selectFrom('faultboard_errors')
    .select('id')
    .where('id', '=', error_id)
    .where(errorsInScope(context, scope))
    .executeTakeFirst()
  if (!row) throw errorNotFound(error_id)
}
