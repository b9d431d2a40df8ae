import type { Context } from '../context.js'
import { DAY } from '../model/time.js'

/** Deleting blocks the host's event loop on SQLite, so batches are small. */
const ROWS_PER_DELETE = 500

/** Deletes entries older than `audit_retention_days`. Nothing else deletes or changes an entry. */
export async function deleteOldAuditEntries({ database, config, now }: Context): Promise<void> {
  const cutoff = now() - config.audit_retention_days * DAY
  for (;;) {
    const rows = await database.read
      .selectFrom('faultboard_audit_entries')
      .select('id')
      .where('created_at', '<', cutoff)
      .limit(ROWS_PER_DELETE)
      .execute()
    if (rows.length === 0) return
    const ids = rows.map(({ id }) => id)
    await database.write((trx) => trx.deleteFrom('faultboard_audit_entries').where('id', 'in', ids).execute())
  }
}
