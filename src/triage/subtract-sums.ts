import { utcDayOf } from '../model/utc-day.js'
import { APPLICATION_DAYS, APPLICATION_HOURS, TYPE_DAYS, TYPE_HOURS } from '../store/bulk-targets.js'
import type { BulkTarget, Dialect } from '../store/dialect.js'
import type { Transaction } from '../store/kysely.js'
import type { Schema } from '../store/schema.js'

interface DeletedError {
  id: number
  error_type: string
}

/**
 * Takes the share of some errors of an application, which are being deleted, out of all sums that they had in common
 * with others: in the order in which a flush adds to them, so that the two wait for each other rather than deadlock.
 */
export async function subtractSums(
  trx: Transaction<Schema>,
  dialect: Dialect,
  application_id: number,
  errors: readonly DeletedError[],
): Promise<void> {
  const types = new Map(errors.map(({ id, error_type }) => [id, error_type]))
  const hours = await hoursOf(trx, [...types.keys()])
  const subtract = async (target: BulkTarget, key: (row: Hour, error_type: string) => (string | number)[]) => {
    const shares = new Map<string, { values: (string | number)[]; count: number }>()
    for (const row of hours) {
      const values = key(row, types.get(row.error_id) ?? '')
      const share = shares.get(values.join('\n'))
      if (share) share.count += row.count
      else shares.set(values.join('\n'), { values, count: row.count })
    }
    const inOrder = [...shares].sort(([a], [b]) => (a < b ? -1 : 1))
    const rows = inOrder.map(([, { values, count }]) => [application_id, ...values, -count])
    if (rows.length > 0) await dialect.insertMany(trx, target, rows)
  }
  await subtract(TYPE_HOURS, ({ hour }, error_type) => [error_type, hour])
  await subtract(TYPE_DAYS, ({ hour }, error_type) => [utcDayOf(hour), error_type])
  await subtract(APPLICATION_HOURS, (row) => [row.hour, row.severity, row.platform, row.app_version])
  await subtract(APPLICATION_DAYS, (row) => [utcDayOf(row.hour), row.severity, row.app_version])
  await deleteEmpty(trx, application_id, [...new Set(types.values())])
  await deleteVersions(trx, application_id, [...types.keys()], [...new Set(hours.map((row) => row.app_version))])
}

type Hour = Awaited<ReturnType<typeof hoursOf>>[number]

async function hoursOf(trx: Transaction<Schema>, ids: readonly number[]) {
  return trx
    .selectFrom('faultboard_error_hours')
    .select(['error_id', 'hour', 'severity', 'platform', 'app_version', 'count'])
    .where('error_id', 'in', ids)
    .execute()
}

async function deleteEmpty(trx: Transaction<Schema>, application_id: number, types: readonly string[]): Promise<void> {
  for (const table of ['faultboard_type_hours', 'faultboard_type_days'] as const) {
    await trx
      .deleteFrom(table)
      .where('application_id', '=', application_id)
      .where('error_type', 'in', types)
      .where('count', '<=', 0)
      .execute()
  }
  for (const table of ['faultboard_application_hours', 'faultboard_application_days'] as const) {
    await trx.deleteFrom(table).where('application_id', '=', application_id).where('count', '<=', 0).execute()
  }
}

/** Found by their key, which begins with the version. */
async function deleteVersions(
  trx: Transaction<Schema>,
  application_id: number,
  ids: readonly number[],
  versions: readonly string[],
): Promise<void> {
  if (versions.length === 0) return
  await trx
    .deleteFrom('faultboard_error_versions')
    .where('application_id', '=', application_id)
    .where('app_version', 'in', versions)
    .where('error_id', 'in', ids)
    .execute()
}
