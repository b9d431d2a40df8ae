import type { Dialect } from '../dialect.js'
import { sql } from '../kysely.js'
import { type AnyDatabase, addColumn, dropIndex, index, type Migration, table } from './table.js'

/** How many users met an error, days by platform, and two indexes that hold all that is asked of them. */
export const counts: Migration = {
  async up(db, dialect) {
    await addColumn(db, dialect, 'faultboard_errors', 'user_count', 'bigint')
    await sql`update faultboard_errors set user_count =
      (select count(*) from faultboard_error_users u where u.error_id = faultboard_errors.id)`.execute(db)

    await daysByPlatform(db, dialect)

    await index(db, dialect, 'faultboard_occurrences', ['occurred_at', 'id', 'error_id'])
    await dropIndex(db, dialect, 'faultboard_occurrences', 'faultboard_occurrences_occurred_at')

    // MySQL writes an index only when its columns change, and those of the old one never do.
    if (dialect.name === 'mysql') return
    await index(db, dialect, 'faultboard_error_users', ['user_id', 'last_seen_at', 'error_id', 'count'])
    await dropIndex(db, dialect, 'faultboard_error_users', 'faultboard_error_users_user_id')
  },
}

/** Made anew from the hours, because its key changes. */
async function daysByPlatform(db: AnyDatabase, dialect: Dialect): Promise<void> {
  const name = 'faultboard_application_days'
  await db.schema.dropTable(name).ifExists().execute()
  const builder = table(db, dialect, name)
  await (dialect.name === 'sqlite' ? builder.modifyEnd(sql`without rowid`) : builder)
    .addColumn('application_id', 'bigint', (column) => column.notNull())
    .addColumn('day', 'bigint', (column) => column.notNull())
    .addColumn('severity', 'varchar(16)', (column) => column.notNull())
    .addColumn('platform', 'varchar(64)', (column) => column.notNull())
    .addColumn('app_version', 'varchar(128)', (column) => column.notNull())
    .addColumn('count', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('faultboard_application_days_by_platform', [
      'application_id',
      'day',
      'severity',
      'platform',
      'app_version',
    ])
    .execute()
  const day = sql`hour - hour % 86400000`
  await sql`insert into ${sql.table(name)} (application_id, day, severity, platform, app_version, ${sql.ref('count')})
    select application_id, ${day}, severity, platform, app_version, sum(${sql.ref('h.count')})
    from faultboard_application_hours h group by application_id, ${day}, severity, platform, app_version`.execute(db)
}
