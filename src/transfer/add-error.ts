import type { Context } from '../context.js'
import { moreSevere } from '../model/severity/severity.js'
import { isResolved } from '../model/workflow.js'
import { ACTIVITIES, FEATURES, GROUPS, SEARCH_HISTORY, SEARCH_TEXTS } from '../store/bulk/bulk-targets.js'
import type { BulkTarget, Dialect } from '../store/dialect.js'
import type { Transaction, Updateable } from '../store/kysely.js'
import { trimOccurrences } from '../store/recording/trim-occurrences.js'
import type { ErrorsTable, Schema } from '../store/schema.js'
import type { ErrorRow } from '../store/sql/row-locks.js'
import { addRows } from './add-rows.js'
import { type Application, findOrCreateApplication, IMPORT_MARKERS, importedRevision, lockGroup } from './group.js'
import { markerName } from './origin.js'
import type { ErrorLine, Outcome } from './record.js'

/** Adds an error with all its counts, once. Keeps the triage state of an existing error. */
export async function addError(context: Context, line: ErrorLine): Promise<Outcome> {
  const { database, now, config } = context
  const { dialect } = database
  const application = await findOrCreateApplication(database, line.application_name, now())
  const { outcome, error_id } = await database.write(async (trx) => {
    await insertEmptyGroup(trx, dialect, application, line)
    const row = await lockGroup(trx, database, application, line.error)
    if (!row) throw new Error('a group disappeared inside its own transaction')
    const isNew = row.occurrence_count === 0
    const revision = isNew ? null : await importedRevision(trx, application, row, line.origins)
    if (revision !== null) {
      return {
        outcome: revision === 'own' || revision === line.revision ? 'known' : 'outdated',
        error_id: row.id,
      } as const
    }
    await trx
      .updateTable('faultboard_errors')
      .set(isNew ? importedFields(line) : mergedFields(row, line))
      .where('id', '=', row.id)
      .execute()
    if (isNew) await addSearchData(trx, dialect, row.id, line)
    else await dialect.insertMany(trx, SEARCH_HISTORY, [[row.id, 'backtrace', line.revision, line.search_text]])
    await addRows(trx, dialect, { application_id: application.id, row, message: line.error.message, ...line })
    await addCommentsAndActivities(trx, dialect, row.id, line)
    const markerRows = [...new Set(line.origins)].sort().map((origin) => [markerName(row.id, origin), line.revision, 0])
    await dialect.insertMany(trx, IMPORT_MARKERS, markerRows)
    return { outcome: isNew ? 'created' : 'added', error_id: row.id } as const
  })
  if (outcome === 'added') await trimOccurrences(database, error_id, config.max_occurrences_per_error)
  return outcome
}

/** Inserts with a count of 0, which identifies a new group until the transaction commits. */
const NEW_GROUPS: BulkTarget = {
  table: GROUPS.table,
  columns: GROUPS.columns,
  onConflict: { key: ['application_id', 'environment', 'hash_signature'], update: [] },
}

async function insertEmptyGroup(
  trx: Transaction<Schema>,
  dialect: Dialect,
  application: Application,
  { error }: ErrorLine,
): Promise<void> {
  const { environment, hash_signature, error_type, message, place, severity, platform, app_version } = error
  await dialect.insertMany(trx, NEW_GROUPS, [
    [
      application.id,
      ...[environment, hash_signature, error_type, message, message, place, severity, platform, app_version],
      ...[error.first_app_version, error.git_sha, error.user_id, error.source],
      ...[0, error.first_seen_at, error.shown_at ?? error.occurred_at, error.occurred_at],
    ],
  ])
}

function importedFields({ error }: ErrorLine): Updateable<ErrorsTable> {
  return { ...error, resolved: isResolved(error.status) ? 1 : 0 }
}

/** Merges like a flush: the newest occurrence, the oldest, and the highest severity. */
function mergedFields(row: ErrorRow, { error }: ErrorLine): Updateable<ErrorsTable> {
  const [localShownAt, importedShownAt] = [row.shown_at ?? row.occurred_at, error.shown_at ?? error.occurred_at]
  const newest = importedShownAt >= localShownAt ? error : row
  const oldest = error.first_seen_at < row.first_seen_at ? error : row
  return {
    message: newest.message,
    place: newest.place,
    severity: moreSevere(row.severity, error.severity),
    platform: newest.platform,
    app_version: newest.app_version,
    git_sha: newest.git_sha,
    user_id: newest.user_id,
    first_app_version: oldest.first_app_version,
    occurrence_count: row.occurrence_count + error.occurrence_count,
    first_seen_at: oldest.first_seen_at,
    shown_at: Math.max(localShownAt, importedShownAt),
    occurred_at: Math.max(row.occurred_at, error.occurred_at),
  }
}

async function addSearchData(
  trx: Transaction<Schema>,
  dialect: Dialect,
  error_id: number,
  line: ErrorLine,
): Promise<void> {
  await dialect.insertMany(trx, SEARCH_TEXTS, [[error_id, line.search_text]])
  const features = [...new Set(line.features)].map((feature) => [error_id, feature])
  if (features.length > 0) await dialect.insertMany(trx, FEATURES, features)
}

const COMMENTS: BulkTarget = {
  table: 'faultboard_comments',
  columns: [
    { name: 'error_id', type: 'integer' },
    { name: 'author_name', type: 'text' },
    { name: 'body', type: 'text' },
    { name: 'created_at', type: 'integer' },
  ],
}

async function addCommentsAndActivities(
  trx: Transaction<Schema>,
  dialect: Dialect,
  error_id: number,
  line: ErrorLine,
): Promise<void> {
  const comments = line.comments.map(({ author_name, body, created_at }) => [error_id, author_name, body, created_at])
  if (comments.length > 0) await dialect.insertMany(trx, COMMENTS, comments)
  const activities = line.activities.map((activity) => [
    error_id,
    ...[activity.actor, activity.action, activity.from_value, activity.to_value, activity.comment, activity.created_at],
  ])
  if (activities.length > 0) await dialect.insertMany(trx, ACTIVITIES, activities)
}
