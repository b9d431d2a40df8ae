import { expect } from 'vitest'
import { startOfUtcDay } from '../../src/model/time.js'
import { withDatabase } from './tracker.js'

/** Counts stored in the database, by application and error type. */
export interface StoredCounts {
  counts: Record<string, number>
  /** Occurrences per user, by `error_type user_id`. */
  users: Record<string, number>
  /** `error_type git_sha`, for every commit in which an error occurred. */
  commits: string[]
  rows: number
}

/** Reads the counts and verifies that all sums are consistent and no row is orphaned. */
export async function verifiedCounts(url: string | object): Promise<StoredCounts> {
  return withDatabase(url, async ({ read }) => {
    const errors = await read
      .selectFrom('faultboard_errors as e')
      .innerJoin('faultboard_applications as a', 'a.id', 'e.application_id')
      .select(['e.id', 'e.application_id', 'e.error_type', 'e.hash_signature', 'e.occurrence_count', 'a.name'])
      .select(['e.user_count', 'e.git_sha', 'e.environment'])
      .execute()
    const hours = await read.selectFrom('faultboard_error_hours').selectAll().execute()
    const applicationHours = await read.selectFrom('faultboard_application_hours').selectAll().execute()
    const applicationDays = await read.selectFrom('faultboard_application_days').selectAll().execute()
    const typeHours = await read.selectFrom('faultboard_type_hours').selectAll().execute()
    const typeDays = await read.selectFrom('faultboard_type_days').selectAll().execute()
    const versions = await read.selectFrom('faultboard_error_versions').selectAll().execute()
    const users = await read.selectFrom('faultboard_error_users').selectAll().execute()
    const origins = await read.selectFrom('faultboard_error_origins').selectAll().execute()
    const tags = await read.selectFrom('faultboard_error_tags').select('error_id').execute()
    const occurrences = await read
      .selectFrom('faultboard_occurrences')
      .select(['error_id', 'payload_id', 'git_sha'])
      .execute()
    const payloads = await read.selectFrom('faultboard_payloads').select(['id', 'error_id']).execute()
    const texts = await read.selectFrom('faultboard_error_search').select('error_id').execute()
    const earlierTexts = await read.selectFrom('faultboard_search_history').select('error_id').execute()
    const comments = await read.selectFrom('faultboard_comments').select('error_id').execute()
    const activities = await read.selectFrom('faultboard_activities').select('error_id').execute()

    const byId = new Map(errors.map((error) => [Number(error.id), error]))
    const orphans = [
      ...hours,
      ...versions,
      ...users,
      ...origins,
      ...tags,
      ...occurrences,
      ...payloads,
      ...texts,
      ...earlierTexts,
      ...comments,
      ...activities,
    ].filter(({ error_id }) => !byId.has(error_id))
    expect(orphans).toEqual([])
    expect(
      new Set(errors.map((error) => `${error.application_id} ${error.environment} ${error.hash_signature}`)).size,
    ).toBe(errors.length)
    expect(sums(hours, ({ error_id }) => error_id)).toEqual(
      sums(
        errors,
        ({ id }) => id,
        ({ occurrence_count }) => occurrence_count,
      ),
    )
    expect(sums(applicationHours, ({ application_id, environment }) => `${application_id} ${environment}`)).toEqual(
      sums(
        errors,
        ({ application_id, environment }) => `${application_id} ${environment}`,
        ({ occurrence_count }) => occurrence_count,
      ),
    )
    const hoursWithError = hours.map((row) => ({ ...row, ...byId.get(row.error_id), count: row.count }))
    const dimensions = (row: Record<'severity' | 'platform' | 'app_version', string> & { environment?: string }) =>
      [row.severity, row.platform, row.app_version, row.environment].join()
    expect(sums(applicationDays, (row) => [row.application_id, row.day, dimensions(row)].join())).toEqual(
      sums(hoursWithError, (row) => [row.application_id, startOfUtcDay(row.hour), dimensions(row)].join()),
    )
    const withUsers = errors.filter(({ user_count }) => user_count)
    expect(
      sums(
        withUsers,
        ({ id }) => id,
        ({ user_count }) => user_count ?? 0,
      ),
    ).toEqual(
      sums(
        users,
        ({ error_id }) => error_id,
        () => 1,
      ),
    )
    expect(sums(typeHours, (row) => [row.application_id, row.hour, row.error_type, row.environment].join())).toEqual(
      sums(hoursWithError, (row) => [row.application_id, row.hour, row.error_type, row.environment].join()),
    )
    expect(sums(typeDays, (row) => [row.application_id, row.day, row.error_type, row.environment].join())).toEqual(
      sums(hoursWithError, (row) =>
        [row.application_id, startOfUtcDay(row.hour), row.error_type, row.environment].join(),
      ),
    )
    expect(sums(versions, (row) => [row.application_id, row.app_version, row.error_id].join())).toEqual(
      sums(hoursWithError, (row) => [row.application_id, row.app_version, row.error_id].join()),
    )
    const originsOfKind = (kind: string) =>
      origins.filter((row) => row.kind === kind).map(({ error_id, value }) => `${error_id} ${value}`)
    expect(originsOfKind('platform').sort()).toEqual(
      [...new Set(hours.map(({ error_id, platform }) => `${error_id} ${platform}`))].sort(),
    )
    const commits = new Set(originsOfKind('commit'))
    const occurredIn = [...errors, ...occurrences.map(({ error_id, git_sha }) => ({ id: error_id, git_sha }))]
    expect(occurredIn.filter(({ id, git_sha }) => git_sha !== null && !commits.has(`${id} ${git_sha}`))).toEqual([])
    const hourRanges = new Map<string, [number, number]>()
    for (const { error_id, app_version, hour } of hours) {
      const [first, last] = hourRanges.get(`${error_id} ${app_version}`) ?? [hour, hour]
      hourRanges.set(`${error_id} ${app_version}`, [Math.min(first, hour), Math.max(last, hour)])
    }
    for (const { error_id, app_version, first_hour, last_hour } of versions) {
      expect([first_hour, last_hour]).toEqual(hourRanges.get(`${error_id} ${app_version}`))
    }
    expect(texts.length).toBe(errors.length)
    const payloadKeys = new Set(payloads.map(({ id, error_id }) => `${error_id} ${id}`))
    expect(occurrences.filter(({ error_id, payload_id }) => !payloadKeys.has(`${error_id} ${payload_id}`))).toEqual([])
    return {
      counts: sums(
        errors,
        ({ name, error_type }) => `${name} ${error_type}`,
        ({ occurrence_count }) => occurrence_count,
      ),
      users: sums(users, ({ error_id, user_id }) => `${byId.get(error_id)?.error_type} ${user_id}`),
      commits: origins
        .filter(({ kind }) => kind === 'commit')
        .map(({ error_id, value }) => `${byId.get(error_id)?.error_type} ${value}`)
        .sort(),
      rows: occurrences.length,
    }
  })
}

export function sums<T>(
  rows: readonly T[],
  key: (row: T) => string | number,
  amount: (row: T) => number = (row) => (row as { count: number }).count,
): Record<string, number> {
  const result: Record<string, number> = {}
  for (const row of rows) result[key(row)] = (result[key(row)] ?? 0) + amount(row)
  return result
}
