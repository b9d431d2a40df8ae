import { startOfUtcDay } from '../../model/time.js'
import {
  APPLICATION_DAYS,
  APPLICATION_HOURS,
  ERROR_HOURS,
  ERROR_ORIGINS,
  ERROR_USERS,
  ERROR_VERSIONS,
  OCCURRENCES,
  TYPE_DAYS,
  TYPE_HOURS,
} from '../bulk/bulk-targets.js'
import { insertAll } from '../bulk/insert-all.js'
import type { BulkInsert, BulkRow, BulkTarget, Dialect } from '../dialect.js'
import type { Transaction } from '../kysely.js'
import type { Schema } from '../schema.js'
import type { GroupRow } from './batch.js'
import { type AddedUser, countUsers } from './count-users.js'
import type { FoldedGroup } from './folded-group.js'
import { RepeatedRows } from './stored-cache.js'

/**
 * Adds a batch to all sums, and inserts its occurrences with them. Runs late in the transaction, with the application
 * sums last: every group shares their rows, so their locks should be held as briefly as possible.
 */
export async function addSums(
  trx: Transaction<Schema>,
  dialect: Dialect,
  groups: readonly Pick<FoldedGroup, 'key' | 'environment' | 'hours' | 'users' | 'commits'>[],
  rows: ReadonlyMap<string, Pick<GroupRow, 'id' | 'error_type'>>,
  application_id: number,
  occurrences: readonly BulkRow[] = [],
  repeatedRows = new RepeatedRows(dialect),
): Promise<void> {
  const errorHours: (string | number)[][] = []
  const errorVersions: (string | number)[][] = []
  const errorUsers: AddedUser[] = []
  const errorOrigins: (string | number)[][] = []
  const addOrigin = (origin: [error_id: number, kind: 'platform' | 'commit', value: string]) => {
    const key = `origin\n${origin.join('\n')}`
    if (repeatedRows.has(key)) return
    repeatedRows.add(key)
    errorOrigins.push(origin)
  }
  const typeHours = new SharedSums(TYPE_HOURS)
  const typeDays = new SharedSums(TYPE_DAYS)
  const applicationHours = new SharedSums(APPLICATION_HOURS)
  const applicationDays = new SharedSums(APPLICATION_DAYS)
  for (const group of groups) {
    // With `custom_fingerprint`, the types of the events may differ from the type of their group.
    const { environment } = group
    const { id: error_id, error_type } = rows.get(group.key) ?? { id: 0, error_type: '' }
    const versions = new Map<string, (string | number)[]>()
    for (const [key, { hour, severity, platform, app_version, count }] of group.hours) {
      const day = startOfUtcDay(hour)
      errorHours.push([error_id, hour, severity, platform, app_version, count])
      addVersion(versions, [application_id, app_version, error_id, count, hour, hour])
      typeHours.add(`${error_type}\n${hour}\n${environment}`, [application_id, error_type, hour, environment], count)
      typeDays.add(`${day}\n${error_type}\n${environment}`, [application_id, day, error_type, environment], count)
      applicationHours.add(
        `${key}\n${environment}`,
        [application_id, hour, severity, platform, app_version, environment],
        count,
      )
      applicationDays.add(
        `${day}\n${severity}\n${platform}\n${app_version}\n${environment}`,
        [application_id, day, severity, platform, app_version, environment],
        count,
      )
    }
    errorVersions.push(...versions.values())
    const platforms = new Set([...group.hours.values()].map(({ platform }) => platform))
    for (const platform of platforms) addOrigin([error_id, 'platform', platform])
    for (const commit of group.commits) addOrigin([error_id, 'commit', commit])
    for (const { user_id, count, first_seen_at, last_seen_at } of group.users.values()) {
      errorUsers.push([error_id, user_id, count, first_seen_at, last_seen_at])
    }
  }
  if (errorUsers.length > 0) {
    await countUsers(trx, dialect, errorUsers, await dialect.insertMany(trx, ERROR_USERS, errorUsers))
  }
  await insertAll(trx, dialect, [
    [OCCURRENCES, occurrences],
    [ERROR_HOURS, errorHours],
    [ERROR_VERSIONS, errorVersions],
    [ERROR_ORIGINS, errorOrigins],
    ...[typeHours, typeDays, applicationHours, applicationDays].map((sums) => sums.toInsert()),
  ])
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

/** Sums shared by many groups. The count is the last column of the target. */
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

  /** Sorts the sums by key, so that concurrent flushes cannot deadlock. */
  toInsert(): BulkInsert {
    const sorted = [...this.#rows].sort(([a], [b]) => (a < b ? -1 : 1))
    return [this.#target, sorted.map(([, { values, count }]) => [...values, count])]
  }
}
