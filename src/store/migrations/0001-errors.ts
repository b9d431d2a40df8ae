import { index, type Migration, table, tableWithId } from './table.js'

/** Applications, groups, occurrences and their hourly sums. */
export const errors: Migration = {
  async up(db, dialect) {
    const { long_text } = dialect.columns

    await tableWithId(db, dialect, 'faultboard_applications')
      .addColumn('name', 'varchar(255)', (column) => column.notNull().unique())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()

    await tableWithId(db, dialect, 'faultboard_errors')
      .addColumn('application_id', 'bigint', (column) => column.notNull())
      .addColumn('hash_signature', 'varchar(64)', (column) => column.notNull())
      .addColumn('error_type', 'varchar(255)', (column) => column.notNull())
      .addColumn('message', long_text, (column) => column.notNull())
      .addColumn('place', 'varchar(500)')
      .addColumn('severity', 'varchar(16)', (column) => column.notNull())
      .addColumn('status', 'varchar(16)', (column) => column.notNull().defaultTo('new'))
      .addColumn('resolved', 'smallint', (column) => column.notNull().defaultTo(0))
      .addColumn('priority_level', 'smallint', (column) => column.notNull().defaultTo(0))
      .addColumn('assigned_to', 'varchar(255)')
      .addColumn('platform', 'varchar(64)', (column) => column.notNull())
      .addColumn('app_version', 'varchar(128)')
      .addColumn('first_app_version', 'varchar(128)')
      .addColumn('git_sha', 'varchar(64)')
      .addColumn('user_id', 'varchar(255)')
      .addColumn('occurrence_count', 'bigint', (column) => column.notNull())
      .addColumn('first_seen_at', 'bigint', (column) => column.notNull())
      .addColumn('occurred_at', 'bigint', (column) => column.notNull())
      .addColumn('snoozed_until', 'bigint')
      .addColumn('snooze_reason', long_text)
      .addColumn('resolved_at', 'bigint')
      .addColumn('resolved_by_name', 'varchar(255)')
      .addColumn('resolution_comment', long_text)
      .addColumn('resolution_reference', long_text)
      .addColumn('reopened_at', 'bigint')
      .addUniqueConstraint('faultboard_errors_signature', ['application_id', 'hash_signature'])
      .execute()
    await index(db, dialect, 'faultboard_errors', ['occurred_at'])
    await index(db, dialect, 'faultboard_errors', ['application_id', 'occurred_at'])

    await table(db, dialect, 'faultboard_error_search')
      .addColumn('error_id', 'bigint', (column) => column.primaryKey())
      .addColumn('search_text', long_text, (column) => column.notNull())
      .execute()

    await tableWithId(db, dialect, 'faultboard_payloads')
      .addColumn('error_id', 'bigint', (column) => column.notNull())
      .addColumn('digest', 'varchar(64)', (column) => column.notNull())
      .addColumn('content', long_text, (column) => column.notNull())
      .addUniqueConstraint('faultboard_payloads_digest', ['error_id', 'digest'])
      .execute()

    await tableWithId(db, dialect, 'faultboard_occurrences')
      .addColumn('error_id', 'bigint', (column) => column.notNull())
      .addColumn('payload_id', 'bigint', (column) => column.notNull())
      .addColumn('occurred_at', 'bigint', (column) => column.notNull())
      .addColumn('message', long_text)
      .addColumn('platform', 'varchar(64)', (column) => column.notNull())
      .addColumn('app_version', 'varchar(128)')
      .addColumn('git_sha', 'varchar(64)')
      .addColumn('user_id', 'varchar(255)')
      .addColumn('request_url', long_text)
      .addColumn('ip_address', 'varchar(64)')
      .addColumn('user_agent', 'varchar(512)')
      .addColumn('context', long_text)
      .execute()
    await index(db, dialect, 'faultboard_occurrences', ['error_id', 'occurred_at'])
    await index(db, dialect, 'faultboard_occurrences', ['occurred_at'])

    await table(db, dialect, 'faultboard_error_hours')
      .addColumn('error_id', 'bigint', (column) => column.notNull())
      .addColumn('hour', 'bigint', (column) => column.notNull())
      .addColumn('severity', 'varchar(16)', (column) => column.notNull())
      .addColumn('platform', 'varchar(64)', (column) => column.notNull())
      .addColumn('app_version', 'varchar(128)', (column) => column.notNull())
      .addColumn('count', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('faultboard_error_hours_key', [
        'error_id',
        'hour',
        'severity',
        'platform',
        'app_version',
      ])
      .execute()
    await index(db, dialect, 'faultboard_error_hours', ['hour'])

    await table(db, dialect, 'faultboard_application_hours')
      .addColumn('application_id', 'bigint', (column) => column.notNull())
      .addColumn('hour', 'bigint', (column) => column.notNull())
      .addColumn('severity', 'varchar(16)', (column) => column.notNull())
      .addColumn('platform', 'varchar(64)', (column) => column.notNull())
      .addColumn('app_version', 'varchar(128)', (column) => column.notNull())
      .addColumn('count', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('faultboard_application_hours_key', [
        'application_id',
        'hour',
        'severity',
        'platform',
        'app_version',
      ])
      .execute()

    await table(db, dialect, 'faultboard_error_users')
      .addColumn('error_id', 'bigint', (column) => column.notNull())
      .addColumn('user_id', 'varchar(255)', (column) => column.notNull())
      .addColumn('count', 'bigint', (column) => column.notNull())
      .addColumn('first_seen_at', 'bigint', (column) => column.notNull())
      .addColumn('last_seen_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('faultboard_error_users_key', ['error_id', 'user_id'])
      .execute()
    await index(db, dialect, 'faultboard_error_users', ['user_id'])

    await table(db, dialect, 'faultboard_batches')
      .addColumn('batch_id', 'varchar(64)', (column) => column.primaryKey())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
    await index(db, dialect, 'faultboard_batches', ['created_at'])
  },
}
