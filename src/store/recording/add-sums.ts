import { startOfUtcDay } from '../../model/utc-day.js'
import {
  APPLICATION_DAYS,
  APPLICATION_HOURS,
  ERROR_HOURS,
  ERROR_USERS,
  ERROR_VERSIONS,
  TYPE_DAYS,
  TYPE_HOURS,
} from '../bulk-targets.js'
import type { BulkTarget, Dialect } from '../dialect.js'
import type { Transaction } from '../kysely.js'
import type { Schema } from '../schema.js'
import type { GroupRow } from './batch.js'
import { type AddedUser, countUsers } from './count-users.js'
import type { FoldedGroup } from './fold.js'

/**
 * Adds a batch to all sums. They come last in its transaction, those of whole applications at the very end: their rows
 * are shared by all groups, and are locked the shortest that way.
 */
export async function addSums(
  trx: Transaction<Schema>,
  dialect: Dialect,
  groups: readonly Pick<FoldedGroup, 'hash_signature' | 'hours' | 'users'>[],
  rows: ReadonlyMap<string, Pick<GroupRow, 'id' | 'error_type'>>,
  application_id: number,
): Promise<void> {
  const ofErrors: (string | number)[][] = []
  const ofVersions: (string | number)[][] = []
  const ofUsers: AddedUser[] = []
  const typeHours = new SharedSums(TYPE_HOURS)
  const typeDays = new SharedSums(TYPE_DAYS)
  const applicationHours = new SharedSums(APPLICATION_HOURS)
  const applicationDays = new SharedSums(APPLICATION_DAYS)
  for (const group of groups) {
    // The type of the group, which those of its events may differ from where the host groups by itself.
    const { id: error_id, error_type } = rows.get(group.hash_signature) ?? { id: 0, error_type: '' }
    const versions = new Map<string, (string | number)[]>()
    for (const [key, { hour, severity, platform, app_version, count }] of group.hours) {
      const day = startOfUtcDay(hour)
      ofErrors.push([error_id, hour, severity, platform, app_version, count])
      addVersion(versions, [application_id, app_version, error_id, count, hour, hour])
      typeHours.add(`${error_type}\n${hour}`, [application_id, error_type, hour], count)
      typeDays.add(`${day}\n${error_type}`, [application_id, day, error_type], count)
      applicationHours.add(key, [application_id, hour, severity, platform, app_version], count)
      applicationDays.add(
        `${day}\n${severity}\n${platform}\n${app_version}`,
        [application_id, day, severity, platform, app_version],
        count,
      )
    }
    ofVersions.push(...versions.values())
    for (const { user_id, count, first_seen_at, last_seen_at } of group.users.values()) {
      ofUsers.push([error_id, user_id, count, first_seen_at, last_seen_at])
    }
  }
  await dialect.insertMany(trx, ERROR_HOURS, ofErrors)
  await dialect.insertMany(trx, ERROR_VERSIONS, ofVersions)
  if (ofUsers.length > 0) await countUsers(trx, dialect, ofUsers, await dialect.insertMany(trx, ERROR_USERS, ofUsers))
  for (const sums of [typeHours, typeDays, applicationHours, applicationDays]) await sums.write(trx, dialect)
}

type VersionRow = [
  application_id: number,
  app_version: string,
  error_id: number,
  count: number,
  first_hour: number,
  last_hour: number,
]

function addVersion(versions: Map<string, (string | number)[]>, row: VersionRow): void {
  const [, app_version, , count, hour] = row
  const known = versions.get(app_version)
  if (!known) {
    versions.set(app_version, row)
    return
  }
  known[3] = Number(known[3]) + count
  known[4] = Math.min(Number(known[4]), hour)
  known[5] = Math.max(Number(known[5]), hour)
}

/** Sums to which many groups add; the count is the last of the target's columns. */
class SharedSums {
  readonly #target: BulkTarget
  readonly #rows = new Map<string, { values: (string | number)[]; count: number }>()

  constructor(target: BulkTarget) {
    this.#target = target
  }

  add(key: string, values: (string | number)[], count: number): void {
    const sum = this.#rows.get(key)
    if (sum) sum.count += count
    else this.#rows.set(key, { values, count })
  }

  /** In one order for every process, so that two flushes wait for each other rather than deadlock. */
  async write(trx: Transaction<Schema>, dialect: Dialect): Promise<void> {
    const inOrder = [...this.#rows].sort(([a], [b]) => (a < b ? -1 : 1))
    await dialect.insertMany(
      trx,
      this.#target,
      inOrder.map(([, { values, count }]) => [...values, count]),
    )
  }
}
