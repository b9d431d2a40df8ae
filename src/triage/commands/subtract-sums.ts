import type { Severity } from '../../model/severity/severity.js'
import { startOfUtcDay } from '../../model/time.js'
import { APPLICATION_DAYS, APPLICATION_HOURS, TYPE_DAYS, TYPE_HOURS } from '../../store/bulk/bulk-targets.js'
import type { Database } from '../../store/database.js'
import type { BulkTarget } from '../../store/dialect.js'
import type { Transaction } from '../../store/kysely.js'
import type { Schema } from '../../store/schema.js'
import { withRowLocks } from '../../store/sql/row-locks.js'

/** Error whose row is deleted, but whose counts may still be part of the sums. */
export interface DeletedError {
  id: number
  application_id: number
  environment: string
  error_type: string
}

const ROWS_PER_TRANSACTION = 5000
/** Small, because a transaction blocks the host's event loop on SQLite and each row updates four tables. */
const SQLITE_ROWS_PER_TRANSACTION = 100

/**
 * Subtracts part of the counts of deleted errors from all shared sums and deletes the processed hours. Returns true if
 * more hours may remain. The row locks on the markers make this exclusive.
 */
export async function subtractSums(
  database: Database,
  errors: readonly DeletedError[],
  markers: readonly string[],
): Promise<boolean> {
  const { dialect } = database
  const limit = dialect.blocksHost ? SQLITE_ROWS_PER_TRANSACTION : ROWS_PER_TRANSACTION
  return database.write(async (trx) => {
    const lockedMarkers = trx
      .selectFrom('faultboard_leases')
      .select('name')
      .where('name', 'in', markers)
      .orderBy('name')
    await withRowLocks(lockedMarkers, dialect).execute()
    const { hours, hasMore } = await takeHours(trx, errors, limit)
    for (const application_id of new Set(hours.map((row) => row.application_id))) {
      const own = hours.filter((row) => row.application_id === application_id)
      await subtractCounts(trx, database, application_id, own)
      await deleteEmptySums(trx, application_id, own)
      await deleteVersions(trx, application_id, own)
    }
    return hasMore
  })
}

/** Uses the same order as a flush to avoid deadlocks. */
async function subtractCounts(
  trx: Transaction<Schema>,
  { dialect }: Database,
  application_id: number,
  hours: DeletedHour[],
) {
  const subtractFrom = async (target: BulkTarget, key: (row: DeletedHour) => (string | number)[]) => {
    const shares = new Map<string, { values: (string | number)[]; count: number }>()
    for (const row of hours) {
      const values = key(row)
      const share = shares.get(values.join('\n'))
      if (share) share.count += row.count
      else shares.set(values.join('\n'), { values, count: row.count })
    }
    const sortedShares = [...shares].sort(([a], [b]) => (a < b ? -1 : 1))
    const rows = sortedShares.map(([, { values, count }]) => [application_id, ...values, -count])
    await dialect.insertMany(trx, target, rows)
  }
  await subtractFrom(TYPE_HOURS, ({ hour, error_type, environment }) => [error_type, hour, environment])
  await subtractFrom(TYPE_DAYS, ({ hour, error_type, environment }) => [startOfUtcDay(hour), error_type, environment])
  await subtractFrom(APPLICATION_HOURS, (row) => [row.hour, ...dimensionValues(row)])
  await subtractFrom(APPLICATION_DAYS, (row) => [startOfUtcDay(row.hour), ...dimensionValues(row)])
}

function dimensionValues({ severity, platform, app_version, environment }: DeletedHour): string[] {
  return [severity, platform, app_version, environment]
}

/** Deletes empty sums of the affected hours and types only, because an application may have years of other sums. */
async function deleteEmptySums(
  trx: Transaction<Schema>,
  application_id: number,
  hours: readonly DeletedHour[],
): Promise<void> {
  for (const error_type of new Set(hours.map((row) => row.error_type))) {
    const own = hoursAndDays(hours.filter((row) => row.error_type === error_type))
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
  const affected = hoursAndDays(hours)
  const severities = [...new Set(hours.map(({ severity }) => severity))]
  await trx
    .deleteFrom('faultboard_application_hours')
    .where('application_id', '=', application_id)
    .where('hour', 'in', affected.hours)
    .where('severity', 'in', severities)
    .where('count', '<=', 0)
    .execute()
  await trx
    .deleteFrom('faultboard_application_days')
    .where('application_id', '=', application_id)
    .where('day', 'in', affected.days)
    .where('severity', 'in', severities)
    .where('count', '<=', 0)
    .execute()
}

function hoursAndDays(rows: readonly DeletedHour[]): { hours: number[]; days: number[] } {
  const hours = [...new Set(rows.map(({ hour }) => hour))]
  return { hours, days: [...new Set(hours.map(startOfUtcDay))] }
}

/** Deletes by the primary key, which starts with the version. */
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

/** Hour of a deleted error with the columns that identify its sums. */
export interface DeletedHour {
  error_id: number
  application_id: number
  environment: string
  error_type: string
  hour: number
  severity: Severity
  platform: string
  app_version: string
  count: number
}

/** Reads and deletes the next hours. Never splits an hour, so one hour may exceed the limit. */
async function takeHours(
  trx: Transaction<Schema>,
  errors: readonly DeletedError[],
  limit: number,
): Promise<{ hours: DeletedHour[]; hasMore: boolean }> {
  const errorById = new Map(errors.map((error) => [error.id, error]))
  const ids = [...errorById.keys()]
  const last = await trx
    .selectFrom('faultboard_error_hours')
    .select(['error_id', 'hour'])
    .where('error_id', 'in', ids)
    .orderBy('error_id')
    .orderBy('hour')
    .offset(limit - 1)
    .limit(1)
    .executeTakeFirst()
  const completeIds = last ? ids.filter((id) => id < last.error_id) : ids
  const ranges = completeIds.length > 0 ? [{ error_ids: completeIds, until: Number.MAX_SAFE_INTEGER }] : []
  if (last) ranges.push({ error_ids: [last.error_id], until: last.hour })
  const hours: DeletedHour[] = []
  for (const { error_ids, until } of ranges) {
    const rows = await trx
      .selectFrom('faultboard_error_hours')
      .selectAll()
      .where('error_id', 'in', error_ids)
      .where('hour', '<=', until)
      .execute()
    await trx
      .deleteFrom('faultboard_error_hours')
      .where('error_id', 'in', error_ids)
      .where('hour', '<=', until)
      .execute()
    for (const row of rows) {
      const error = errorById.get(row.error_id)
      if (error) hours.push({ ...error, ...row })
    }
  }
  return { hours, hasMore: last !== undefined }
}
