import { sql } from '../kysely.js'
import { createIndex, type Migration } from './table.js'

const TABLE = 'faultboard_deliveries'

/** Adds the environment of the error to deliveries. Idempotent, because MySQL cannot roll back. */
export const deliveryEnvironments: Migration = {
  async up(db, dialect) {
    if ((await dialect.findColumn(TABLE, 'environment').execute(db)).rows.length === 0) {
      await sql.raw(`alter table ${TABLE} add column environment varchar(64)`).execute(db)
    }
    await sql
      .raw(
        `update ${TABLE} set environment = (select e.environment from faultboard_errors e where e.id = ${TABLE}.error_id)
         where environment is null and error_id is not null`,
      )
      .execute(db)
    // Covers the filters and counts of the delivery log, because the rows are wide.
    await createIndex(db, dialect, TABLE, {
      name: 'faultboard_deliveries_environment',
      columns: ['environment', 'state', 'channel', 'application_id', 'attempts'],
    })
  },
}
