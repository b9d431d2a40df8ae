import type { Database } from '../../store/database.js'

const TABLES_WITH_ID = [
  'faultboard_search_history',
  'faultboard_occurrences',
  'faultboard_payloads',
  'faultboard_comments',
  'faultboard_activities',
] as const
const TABLES_WITHOUT_ID = [
  'faultboard_error_search',
  'faultboard_error_users',
  'faultboard_error_features',
  'faultboard_error_origins',
  'faultboard_error_tags',
] as const
const CASCADE_TABLES = ['faultboard_cascades', 'faultboard_cascade_hours'] as const
/** Deleting blocks the host's event loop on SQLite, so batches are small. */
const ROWS_PER_STATEMENT = 100

/** Deletes all data of errors whose rows are already deleted. Idempotent: no process adds data to a deleted error. */
export async function deleteErrorData(database: Database, ids: readonly number[]): Promise<void> {
  if (database.dialect.blocksHost) await deleteInBatches(database, ids)
  else await deleteOnServer(database, ids)
}

async function deleteOnServer({ write }: Database, ids: readonly number[]): Promise<void> {
  for (const table of [...TABLES_WITH_ID, ...TABLES_WITHOUT_ID, 'faultboard_cascade_parents'] as const) {
    await write((trx) => trx.deleteFrom(table).where('error_id', 'in', ids).execute())
  }
  for (const table of CASCADE_TABLES) {
    await write((trx) =>
      trx
        .deleteFrom(table)
        .where(({ eb, or }) => or([eb('parent_error_id', 'in', ids), eb('child_error_id', 'in', ids)]))
        .execute(),
    )
  }
}

async function deleteInBatches(database: Database, ids: readonly number[]): Promise<void> {
  const { read } = database
  for (const id of ids) {
    await deleteUsers(database, id)
    await read.deleteFrom('faultboard_error_search').where('error_id', '=', id).execute()
    await read.deleteFrom('faultboard_error_features').where('error_id', '=', id).execute()
    await read.deleteFrom('faultboard_error_origins').where('error_id', '=', id).execute()
    await read.deleteFrom('faultboard_error_tags').where('error_id', '=', id).execute()
    await read.deleteFrom('faultboard_cascades').where('parent_error_id', '=', id).execute()
    await read.deleteFrom('faultboard_cascades').where('child_error_id', '=', id).execute()
  }
  await deleteCascadeHours(database, ids)
  for (const table of TABLES_WITH_ID) await deleteById(database, table, ids)
}

async function deleteById(
  { read }: Database,
  table: (typeof TABLES_WITH_ID)[number],
  ids: readonly number[],
): Promise<void> {
  for (;;) {
    const rows = await read
      .selectFrom(table)
      .select('id')
      .where('error_id', 'in', ids)
      .limit(ROWS_PER_STATEMENT)
      .execute()
    if (rows.length === 0) return
    const batch = rows.map(({ id }) => id)
    await read.deleteFrom(table).where('id', 'in', batch).execute()
  }
}

async function deleteUsers({ read }: Database, error_id: number): Promise<void> {
  const users = read.deleteFrom('faultboard_error_users').where('error_id', '=', error_id)
  for (;;) {
    const next = await read
      .selectFrom('faultboard_error_users')
      .select('user_id')
      .where('error_id', '=', error_id)
      .orderBy('user_id')
      .offset(ROWS_PER_STATEMENT)
      .limit(1)
      .executeTakeFirst()
    await (next ? users.where('user_id', '<', next.user_id) : users).execute()
    if (!next) return
  }
}

/** Deletes hour by hour, because the primary keys start with the hour. Deleting by id would scan the tables. */
async function deleteCascadeHours({ read }: Database, ids: readonly number[]): Promise<void> {
  for (let after = -1; ; ) {
    const hours = await Promise.all(
      (['faultboard_cascade_parents', 'faultboard_cascade_hours'] as const).map((table) =>
        read
          .selectFrom(table)
          .select(({ fn }) => fn.min<number | null>('hour').as('hour'))
          .where('hour', '>', after)
          .executeTakeFirst(),
      ),
    )
    const hour = Math.min(...hours.map((row) => row?.hour ?? Number.POSITIVE_INFINITY))
    if (hour === Number.POSITIVE_INFINITY) return
    await read.deleteFrom('faultboard_cascade_parents').where('hour', '=', hour).where('error_id', 'in', ids).execute()
    await read
      .deleteFrom('faultboard_cascade_hours')
      .where('hour', '=', hour)
      .where(({ eb, or }) => or([eb('parent_error_id', 'in', ids), eb('child_error_id', 'in', ids)]))
      .execute()
    after = hour
  }
}
