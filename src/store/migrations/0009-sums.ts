import type { Dialect } from '../dialect.js'
import { sql } from '../kysely.js'
import { type AnyDatabase, index, type Migration, table } from './table.js'

/** Sums by type, by day and by version, so that questions over many errors need not add up the hours of each of them. */
export const sums: Migration = {
  async up(db, dialect) {
    if (dialect.name === 'sqlite') await keepInOrderOfKeys(db, dialect)

    await clustered(db, dialect, 'faultboard_type_hours')
      .addColumn('application_id', 'bigint', (column) => column.notNull())
      .addColumn('error_type', 'varchar(255)', (column) => column.notNull())
      .addColumn('hour', 'bigint', (column) => column.notNull())
      .addColumn('count', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('faultboard_type_hours_key', ['application_id', 'error_type', 'hour'])
      .execute()

    await clustered(db, dialect, 'faultboard_type_days')
      .addColumn('application_id', 'bigint', (column) => column.notNull())
      .addColumn('day', 'bigint', (column) => column.notNull())
      .addColumn('error_type', 'varchar(255)', (column) => column.notNull())
      .addColumn('count', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('faultboard_type_days_key', ['application_id', 'day', 'error_type'])
      .execute()

    await clustered(db, dialect, 'faultboard_application_days')
      .addColumn('application_id', 'bigint', (column) => column.notNull())
      .addColumn('day', 'bigint', (column) => column.notNull())
      .addColumn('severity', 'varchar(16)', (column) => column.notNull())
      .addColumn('app_version', 'varchar(128)', (column) => column.notNull())
      .addColumn('count', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('faultboard_application_days_key', ['application_id', 'day', 'severity', 'app_version'])
      .execute()

    await clustered(db, dialect, 'faultboard_error_versions')
      .addColumn('application_id', 'bigint', (column) => column.notNull())
      .addColumn('app_version', 'varchar(128)', (column) => column.notNull())
      .addColumn('error_id', 'bigint', (column) => column.notNull())
      .addColumn('count', 'bigint', (column) => column.notNull())
      .addColumn('first_hour', 'bigint', (column) => column.notNull())
      .addColumn('last_hour', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('faultboard_error_versions_key', ['application_id', 'app_version', 'error_id'])
      .execute()

    await fill(db, dialect)
    await index(db, dialect, 'faultboard_application_hours', ['application_id', 'app_version', 'hour'])
    // PostgreSQL writes every index of an error that occurs again.
    if (dialect.name === 'sqlite') {
      await index(db, dialect, 'faultboard_errors', ['first_app_version', 'application_id'])
    }
  },
}

/** On SQLite a table with a key of several columns is kept twice, as rows and as an index, unless it is told otherwise. */
function clustered(db: AnyDatabase, dialect: Dialect, name: string) {
  const builder = table(db, dialect, name)
  return dialect.name === 'sqlite' ? builder.modifyEnd(sql`without rowid`) : builder
}

/** The two tables that grow most: what is read by the key is found in one step, and a row is written once less. */
async function keepInOrderOfKeys(db: AnyDatabase, dialect: Dialect): Promise<void> {
  await db.schema.alterTable('faultboard_error_hours').renameTo('faultboard_error_hours_before').execute()
  await clustered(db, dialect, 'faultboard_error_hours')
    .addColumn('error_id', 'bigint', (column) => column.notNull())
    .addColumn('hour', 'bigint', (column) => column.notNull())
    .addColumn('severity', 'varchar(16)', (column) => column.notNull())
    .addColumn('platform', 'varchar(64)', (column) => column.notNull())
    .addColumn('app_version', 'varchar(128)', (column) => column.notNull())
    .addColumn('count', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('faultboard_error_hours_key', ['error_id', 'hour', 'severity', 'platform', 'app_version'])
    .execute()
  await moveRows(db, 'faultboard_error_hours', ['error_id', 'hour', 'severity', 'platform', 'app_version', 'count'])
  await index(db, dialect, 'faultboard_error_hours', ['hour', 'error_id', 'count'])

  await db.schema.alterTable('faultboard_error_users').renameTo('faultboard_error_users_before').execute()
  await clustered(db, dialect, 'faultboard_error_users')
    .addColumn('error_id', 'bigint', (column) => column.notNull())
    .addColumn('user_id', 'varchar(255)', (column) => column.notNull())
    .addColumn('count', 'bigint', (column) => column.notNull())
    .addColumn('first_seen_at', 'bigint', (column) => column.notNull())
    .addColumn('last_seen_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('faultboard_error_users_key', ['error_id', 'user_id'])
    .execute()
  await moveRows(db, 'faultboard_error_users', ['error_id', 'user_id', 'count', 'first_seen_at', 'last_seen_at'])
  await index(db, dialect, 'faultboard_error_users', ['user_id'])
  await index(db, dialect, 'faultboard_error_users', ['last_seen_at', 'user_id', 'error_id', 'first_seen_at'])
}

async function moveRows(db: AnyDatabase, name: string, columns: string[]): Promise<void> {
  await db
    .insertInto(name)
    .columns(columns)
    .expression(
      db
        .selectFrom(`${name}_before`)
        .select(columns)
        .orderBy(columns[0] as string)
        .orderBy(columns[1] as string),
    )
    .execute()
  // Its indexes go with it, and their names are free again.
  await db.schema.dropTable(`${name}_before`).execute()
}

/** From what is there. */
async function fill(db: AnyDatabase, dialect: Dialect): Promise<void> {
  const day = sql<number>`hour - hour % 86400000`
  if (dialect.name === 'mysql') {
    // What a run that failed later has left.
    for (const name of ['type_hours', 'type_days', 'application_days', 'error_versions']) {
      await db.deleteFrom(`faultboard_${name}`).execute()
    }
  }
  const count = sql`sum(${sql.ref('h.count')})`
  await sql`insert into faultboard_type_hours (application_id, error_type, hour, ${sql.ref('count')})
    select e.application_id, e.error_type, h.hour, ${count} from faultboard_error_hours h
    inner join faultboard_errors e on e.id = h.error_id group by e.application_id, e.error_type, h.hour`.execute(db)
  await sql`insert into faultboard_type_days (application_id, day, error_type, ${sql.ref('count')})
    select application_id, ${day}, error_type, ${count} from faultboard_type_hours h
    group by application_id, ${day}, error_type`.execute(db)
  await sql`insert into faultboard_application_days (application_id, day, severity, app_version, ${sql.ref('count')})
    select application_id, ${day}, severity, app_version, ${count} from faultboard_application_hours h
    group by application_id, ${day}, severity, app_version`.execute(db)
  await sql`insert into faultboard_error_versions (application_id, app_version, error_id, ${sql.ref('count')}, first_hour, last_hour)
    select e.application_id, h.app_version, h.error_id, ${count}, min(h.hour), max(h.hour) from faultboard_error_hours h
    inner join faultboard_errors e on e.id = h.error_id group by e.application_id, h.app_version, h.error_id`.execute(
    db,
  )
}
