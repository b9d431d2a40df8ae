import type { Context } from '../context.js'
import { errorNotFound } from '../model/errors.js'

/** Throws if an error does not exist or belongs to another application. */
export async function assertErrorExists(
  { database }: Context,
  { error_id, application_id }: { error_id: number; application_id?: number | undefined },
): Promise<void> {
  const row = await database.read
    .selectFrom('faultboard_errors')
    .select('id')
    .where('id', '=', error_id)
    .$if(application_id !== undefined, (query) => query.where('application_id', '=', application_id ?? 0))
    .executeTakeFirst()
  if (!row) throw errorNotFound(error_id)
}
