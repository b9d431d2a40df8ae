import { createHash } from 'node:crypto'
import { similarityFeatures } from '../../model/grouping/similarity.js'
import { HOUR, startOfHour } from '../../model/time.js'
import type { SqliteHandle } from '../dialects/sqlite-file.js'
import { searchText } from '../recording/search-history.js'

/** Error whose hourly sums contain fewer occurrences than its count. */
interface IncompleteError {
  id: number
  severity: string
  platform: string
  app_version: string
  first_seen_at: number
  missing: number
}

/**
 * Makes all sums of a salvaged file match the counts of its errors. Returns the number of occurrences whose hour is lost.
 * They are added to the first hour of their error, where they do not affect recent charts or trigger alerts.
 */
export function recountSums(target: SqliteHandle): number {
  target.exec('begin')
  removeDamagedJson(target)
  restorePayloads(target)
  const undated = restoreHours(target)
  for (const statement of DERIVED_SUMS) target.exec(statement)
  restoreUsers(target)
  restoreOrigins(target)
  restoreSearchData(target)
  target.exec('commit')
  return undated
}

const DAY_OF_HOUR = 'h.hour - h.hour % 86400000'
const HOURS_OF_ERRORS = 'from faultboard_error_hours h join faultboard_errors e on e.id = h.error_id'

/** Statements that rebuild all sums derived from the hourly sums of errors. */
const DERIVED_SUMS = [
  `delete from faultboard_application_hours;
   insert into faultboard_application_hours (application_id, hour, severity, platform, app_version, environment, count)
   select e.application_id, h.hour, h.severity, h.platform, h.app_version, e.environment, sum(h.count) ${HOURS_OF_ERRORS}
   group by 1, 2, 3, 4, 5, 6`,
  `delete from faultboard_application_days;
   insert into faultboard_application_days (application_id, day, severity, platform, app_version, environment, count)
   select e.application_id, ${DAY_OF_HOUR}, h.severity, h.platform, h.app_version, e.environment, sum(h.count) ${HOURS_OF_ERRORS}
   group by 1, 2, 3, 4, 5, 6`,
  `delete from faultboard_type_hours;
   insert into faultboard_type_hours (application_id, error_type, hour, environment, count)
   select e.application_id, e.error_type, h.hour, e.environment, sum(h.count) ${HOURS_OF_ERRORS} group by 1, 2, 3, 4`,
  `delete from faultboard_type_days;
   insert into faultboard_type_days (application_id, day, error_type, environment, count)
   select e.application_id, ${DAY_OF_HOUR}, e.error_type, e.environment, sum(h.count) ${HOURS_OF_ERRORS} group by 1, 2, 3, 4`,
  `delete from faultboard_error_versions;
   insert into faultboard_error_versions (application_id, app_version, error_id, count, first_hour, last_hour)
   select e.application_id, h.app_version, h.error_id, sum(h.count), min(h.hour), max(h.hour) ${HOURS_OF_ERRORS}
   group by 1, 2, 3`,
]

const JSON_COLUMNS = [
  ['faultboard_payloads', 'content'],
  ['faultboard_diagnostic_dumps', 'content'],
  ['faultboard_deliveries', 'payload'],
  ['faultboard_jobs', 'payload'],
]

/** Deletes text that is readable but no longer valid JSON, because pages would fail on it. */
function removeDamagedJson(target: SqliteHandle): void {
  for (const [table, column] of JSON_COLUMNS) target.exec(`delete from ${table} where not json_valid(${column})`)
  target.exec('update faultboard_occurrences set context = null where not json_valid(context)')
}

const NO_BACKTRACE = JSON.stringify({ backtrace: [], causes: [], signature_place: null })

/** Adds an empty payload for occurrences whose payload is lost. Otherwise, a new payload could reuse the id. */
function restorePayloads(target: SqliteHandle): void {
  // Compares the error too, because a payload inserted here can reuse the id of a lost payload.
  const isLost = `not exists (select 1 from faultboard_payloads own
    where own.id = faultboard_occurrences.payload_id and own.error_id = faultboard_occurrences.error_id)`
  const digest = createHash('sha256').update(NO_BACKTRACE).digest('hex')
  target
    .prepare(
      `insert or ignore into faultboard_payloads (error_id, digest, content)
       select distinct error_id, ?, ? from faultboard_occurrences where ${isLost}`,
    )
    .run(digest, NO_BACKTRACE)
  target
    .prepare(
      `update faultboard_occurrences set payload_id = (select p.id from faultboard_payloads p
         where p.error_id = faultboard_occurrences.error_id and p.digest = ?) where ${isLost}`,
    )
    .run(digest)
}

/** Uses the highest of an error's count, hourly sums and occurrence rows, because damage only removes rows. */
function restoreHours(target: SqliteHandle): number {
  target.exec(`update faultboard_errors set occurrence_count = max(1, occurrence_count,
    coalesce((select sum(count) from faultboard_error_hours where error_id = faultboard_errors.id), 0),
    (select count(*) from faultboard_occurrences where error_id = faultboard_errors.id))`)
  const incomplete = target
    .prepare(
      `select e.id, e.severity, e.platform, coalesce(e.first_app_version, '') as app_version, e.first_seen_at,
              e.occurrence_count - coalesce(sum(h.count), 0) as missing
         from faultboard_errors e left join faultboard_error_hours h on h.error_id = e.id
        group by e.id having missing > 0`,
    )
    .all() as IncompleteError[]
  const add = target.prepare(
    `insert into faultboard_error_hours (error_id, hour, severity, platform, app_version, count) values (?, ?, ?, ?, ?, ?)
     on conflict (error_id, hour, severity, platform, app_version) do update set count = count + excluded.count`,
  )
  const uncounted = target.prepare(
    `select o.hour, o.platform, o.app_version, o.count - coalesce(sum(h.count), 0) as missing
       from (select occurred_at - occurred_at % ${HOUR} as hour, platform, coalesce(app_version, '') as app_version,
                    count(*) as count
               from faultboard_occurrences where error_id = ? group by 1, 2, 3) o
       left join faultboard_error_hours h
         on h.error_id = ? and h.hour = o.hour and h.platform = o.platform and h.app_version = o.app_version
      group by o.hour, o.platform, o.app_version having missing > 0 order by o.hour desc`,
  )
  let undated = 0
  for (const { id, severity, platform, app_version, first_seen_at, missing } of incomplete) {
    let remaining = missing
    for (const row of uncounted.all(id, id) as (Omit<IncompleteError, 'id'> & { hour: number })[]) {
      const count = Math.min(remaining, row.missing)
      if (count === 0) break
      add.run(id, row.hour, severity, row.platform, row.app_version, count)
      remaining -= count
    }
    if (remaining > 0) add.run(id, startOfHour(first_seen_at), severity, platform, app_version, remaining)
    undated += remaining
  }
  return undated
}

/** Restores affected users from their occurrences. */
function restoreUsers(target: SqliteHandle): void {
  target.exec(`insert or ignore into faultboard_error_users (error_id, user_id, count, first_seen_at, last_seen_at)
    select error_id, user_id, count(*), min(occurred_at), max(occurred_at)
    from faultboard_occurrences where user_id is not null group by error_id, user_id`)
  target.exec(`update faultboard_errors set user_count =
    nullif((select count(*) from faultboard_error_users u where u.error_id = faultboard_errors.id), 0)`)
}

/** Restores platforms from the hourly sums, and commits from the errors and their occurrences. */
function restoreOrigins(target: SqliteHandle): void {
  target.exec(`delete from faultboard_error_origins where error_id not in (select id from faultboard_errors);
    insert or ignore into faultboard_error_origins (error_id, kind, value)
      select h.error_id, 'platform', h.platform ${HOURS_OF_ERRORS};
    insert or ignore into faultboard_error_origins (error_id, kind, value)
      select id, 'commit', git_sha from faultboard_errors where git_sha is not null;
    insert or ignore into faultboard_error_origins (error_id, kind, value)
      select error_id, 'commit', git_sha from faultboard_occurrences where git_sha is not null`)
}

/** Restores search texts and similarity features, which searches and similar errors depend on. */
function restoreSearchData(target: SqliteHandle): void {
  const errors = target
    .prepare(
      `select e.id, e.error_type, coalesce(e.first_message, e.message) as message,
              (select content from faultboard_payloads p where p.error_id = e.id order by p.id limit 1) as content
         from faultboard_errors e
        where e.id not in (select error_id from faultboard_error_search)
           or e.id not in (select error_id from faultboard_error_features)`,
    )
    .all() as { id: number; error_type: string; message: string; content: string | null }[]
  const addText = target.prepare('insert or ignore into faultboard_error_search (error_id, search_text) values (?, ?)')
  const addFeature = target.prepare('insert or ignore into faultboard_error_features (error_id, feature) values (?, ?)')
  for (const { id, error_type, message, content } of errors) {
    const backtrace = parseBacktrace(content)
    addText.run(id, searchText([error_type, message, ...backtrace]))
    for (const feature of similarityFeatures(message, backtrace)) addFeature.run(id, feature)
  }
}

function parseBacktrace(content: string | null): string[] {
  const { backtrace } = JSON.parse(content ?? NO_BACKTRACE)
  return Array.isArray(backtrace) ? backtrace.map(String) : []
}
