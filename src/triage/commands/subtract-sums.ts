import { startOfUtcDay } from '../../model/utc-day.js'
import { APPLICATION_DAYS, APPLICATION_HOURS, TYPE_DAYS, TYPE_HOURS } from '../../store/bulk-targets.js'
import type { Database } from '../../store/database.js'
import type { BulkTarget } from '../../store/dialect.js'
import type { Transaction } from '../../store/kysely.js'
import { locking } from '../../store/lock.js'
import type { Schema } from '../../store/schema.js'
import type { DeletedError } from './take-hours.js'
import { type DeletedHour, takeHours } from './take-hours.js'

const ROWS_PER_TRANSACTION = 5000
/** A transaction blocks a host with SQLite, and each row updates four tables. */
const SQLITE_ROWS_PER_TRANSACTION = 100

/**
 * Takes a part of the share of deleted errors out of all sums that they had in common with others, and deletes the
 * hours it was read from; gives whether there may be more. Whoever holds their marks is the only one to do so.
 */
export async function subtractSums(
  database: Database,
  errors: readonly DeletedError[],
  marks: readonly string[],
): Promise<boolean> {
  const { dialect } = database
  const limit = dialect.blocks_host ? SQLITE_ROWS_PER_TRANSACTION : ROWS_PER_TRANSACTION
  return database.write(async (trx) => {
    const held = trx.selectFrom('faultboard_leases').select('name').where('name', 'in', marks).orderBy('name')
    await locking(held, dialect).execute()
    const { hours, has_more } = await takeHours(trx, errors, limit)
    for (const application_id of new Set(hours.map((row) => row.application_id))) {
      const own = hours.filter((row) => row.application_id === application_id)
      await subtract(trx, database, application_id, own)
      await deleteEmpty(trx, application_id, own)
      await deleteVersions(trx, application_id, own)
    }
    return has_more
  })
}

/** In the order in which a flush adds to them, so that the two wait for each other rather than deadlock. */
async function subtract(trx: Transaction<Schema>, { dialect }: Database, application_id: number, hours: DeletedHour[]) {
  const from = async (target: BulkTarget, key: (row: DeletedHour) => (string | number)[]) => {
    const shares = new Map<string, { values: (string | number)[]; count: number }>()
    for (const row of hours) {
      const values = key(row)
      const share = shares.get(values.join('\n'))
      if (share) share.count += row.count
      else shares.set(values.join('\n'), { values, count: row.count })
    }
    const inOrder = [...shares].sort(([a], [b]) => (a < b ? -1 : 1))
    const rows = inOrder.map(([, { values, count }]) => [application_id, ...values, -count])
    await dialect.insertMany(trx, target, rows)
  }
  await from(TYPE_HOURS, ({ hour, error_type }) => [error_type, hour])
  await from(TYPE_DAYS, ({ hour, error_type }) => [startOfUtcDay(hour), error_type])
  await from(APPLICATION_HOURS, (row) => [row.hour, row.severity, row.platform, row.app_version])
  await from(APPLICATION_DAYS, (row) => [startOfUtcDay(row.hour), row.severity, row.platform, row.app_version])
}

/** Looks only where something was subtracted: an application has years of other sums. */
async function deleteEmpty(
  trx: Transaction<Schema>,
  application_id: number,
  hours: readonly DeletedHour[],
): Promise<void> {
  for (const error_type of new Set(hours.map((row) => row.error_type))) {
    const own = timesOf(hours.filter((row) => row.error_type === error_type))
    await trx
      .deleteFrom('faultboard_type_hours')
      .where('application_id', '=', application_id)
      .where('error_type', '=', error_type)
      .where('hour', 'in', own.hours)
      .where('count', '<=', 0)
      .execute()
    await trx
      .deleteFrom('faultboard_type_days')
      .where('application_id', '=', application_id)
      .where('error_type', '=', error_type)
      .where('day', 'in', own.days)
      .where('count', '<=', 0)
      .execute()
  }
  const all = timesOf(hours)
  const severities = [...new Set(hours.map(({ severity }) => severity))]
  await trx
    .deleteFrom('faultboard_application_hours')
    .where('application_id', '=', application_id)
    .where('hour', 'in', all.hours)
    .where('severity', 'in', severities)
    .where('count', '<=', 0)
    .execute()
  await trx
    .deleteFrom('faultboard_application_days')
    .where('application_id', '=', application_id)
    .where('day', 'in', all.days)
    .where('severity', 'in', severities)
    .where('count', '<=', 0)
    .execute()
}

function timesOf(rows: readonly DeletedHour[]): { hours: number[]; days: number[] } {
  const hours = [...new Set(rows.map(({ hour }) => hour))]
  return { hours, days: [...new Set(hours.map(startOfUtcDay))] }
}

/** Found by their key, which begins with the version. */
async function deleteVersions(
  trx: Transaction<Schema>,
  application_id: number,
  hours: readonly DeletedHour[],
): Promise<void> {
  await trx
    .deleteFrom('faultboard_error_versions')
    .where('application_id', '=', application_id)
    .where('app_version', 'in', [...new Set(hours.map(({ app_version }) => app_version))])
    .where('error_id', 'in', [...new Set(hours.map(({ error_id }) => error_id))])
    .execute()
}
