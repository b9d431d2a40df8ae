import type { Context } from '../context.js'
import { errorNotFound } from '../model/errors.js'

/** Refuses a question about an error that does not exist, or not in the application named. */
export async function expectError(
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
