import type { Database } from '../database.js'
import { lockErrors } from '../sql/row-locks.js'

/**
 * Deletes all but the newest occurrences of a group, and payloads that occurrences no longer use. Takes the row lock of
 * the group first, as every flush does, so that no flush refers to a deleted payload.
 */
export async function trimOccurrences(database: Database, error_id: number, keep: number): Promise<void> {
  await database.write(async (trx) => {
    const locked = await lockErrors(trx, database.dialect, [error_id])
    if (locked.length === 0) return
    const oldest = await trx
      .selectFrom('faultboard_occurrences')
      .select(['id', 'occurred_at'])
      .where('error_id', '=', error_id)
      .orderBy('occurred_at', 'desc')
      .orderBy('id', 'desc')
      .offset(keep)
      .limit(1)
      .executeTakeFirst()
    if (!oldest) return
    await trx
      .deleteFrom('faultboard_occurrences')
      .where('error_id', '=', error_id)
      .where(({ and, eb, or }) =>
        or([
          eb('occurred_at', '<', oldest.occurred_at),
          and([eb('occurred_at', '=', oldest.occurred_at), eb('id', '<=', oldest.id)]),
        ]),
      )
      .execute()
    await trx
      .deleteFrom('faultboard_payloads')
      .where('error_id', '=', error_id)
      .where('id', 'not in', (eb) =>
        eb.selectFrom('faultboard_occurrences').select('payload_id').where('error_id', '=', error_id),
      )
      .execute()
  })
}
