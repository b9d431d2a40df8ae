import type { Context } from '../context.js'
import { moreSevere } from '../model/severity.js'
import { isResolved } from '../model/workflow.js'
import { ACTIVITIES, FEATURES, GROUPS, SEARCH_HISTORY, SEARCH_TEXTS } from '../store/bulk-targets.js'
import type { BulkTarget, Dialect } from '../store/dialect.js'
import type { Transaction, Updateable } from '../store/kysely.js'
import type { ErrorRow } from '../store/lock.js'
import { trimOccurrences } from '../store/recording/trim-occurrences.js'
import type { ErrorsTable, Schema } from '../store/schema.js'
import { addRows } from './add-rows.js'
import { type Application, applicationOf, IMPORTS, knownRevision, lockedGroup } from './group.js'
import { markOf } from './origin.js'
import type { ErrorLine, Outcome } from './record.js'

/** Adds an error with all its counts, once. Triage decisions made here are kept. */
export async function addError(context: Context, line: ErrorLine): Promise<Outcome> {
  const { database, now, config } = context
  const { dialect } = database
  const application = await applicationOf(database, line.application_name, now())
  const { outcome, error_id } = await database.write(async (trx) => {
    await makeGroup(trx, dialect, application, line)
    const row = await lockedGroup(trx, database, application, line.error.hash_signature)
    if (!row) throw new Error('a group disappeared inside its own transaction')
    const is_new = row.occurrence_count === 0
    const known = is_new ? null : await knownRevision(trx, application, row, line.origins)
    if (known !== null) {
      return { outcome: known === 'own' || known === line.revision ? 'known' : 'outdated', error_id: row.id } as const
    }
    await trx
      .updateTable('faultboard_errors')
      .set(is_new ? asItWas(line) : together(row, line))
      .where('id', '=', row.id)
      .execute()
    if (is_new) await addSought(trx, dialect, row.id, line)
    else await dialect.insertMany(trx, SEARCH_HISTORY, [[row.id, 'backtrace', line.revision, line.search_text]])
    await addRows(trx, dialect, { application_id: application.id, row, message: line.error.message, ...line })
    await addTrail(trx, dialect, row.id, line)
    const marks = [...new Set(line.origins)].sort().map((origin) => [markOf(row.id, origin), line.revision, 0])
    await dialect.insertMany(trx, IMPORTS, marks)
    return { outcome: is_new ? 'created' : 'added', error_id: row.id } as const
  })
  if (outcome === 'added') await trimOccurrences(database, error_id, config.max_occurrences_per_error)
  return outcome
}

/** A row without counts shows within the transaction that it is new; no other process can interfere. */
const NEW_GROUPS: BulkTarget = {
  table: GROUPS.table,
  columns: GROUPS.columns,
  onConflict: { key: ['application_id', 'hash_signature'], update: [] },
}

async function makeGroup(
  trx: Transaction<Schema>,
  dialect: Dialect,
  application: Application,
  { error }: ErrorLine,
): Promise<void> {
  const { hash_signature, error_type, message, place, severity, platform, app_version } = error
  await dialect.insertMany(trx, NEW_GROUPS, [
    [
      application.id,
      ...[hash_signature, error_type, message, message, place, severity, platform, app_version],
      ...[error.first_app_version, error.git_sha, error.user_id, error.source],
      ...[0, error.first_seen_at, error.shown_at ?? error.occurred_at, error.occurred_at],
    ],
  ])
}

function asItWas({ error }: ErrorLine): Updateable<ErrorsTable> {
  return { ...error, resolved: isResolved(error.status) ? 1 : 0 }
}

/** Merges like a flush: the newest occurrence, the oldest, and the highest severity. */
function together(row: ErrorRow, { error }: ErrorLine): Updateable<ErrorsTable> {
  const [shownHere, shownThere] = [row.shown_at ?? row.occurred_at, error.shown_at ?? error.occurred_at]
  const shown = shownThere >= shownHere ? error : row
  const oldest = error.first_seen_at < row.first_seen_at ? error : row
  return {
    message: shown.message,
    place: shown.place,
    severity: moreSevere(row.severity, error.severity),
    platform: shown.platform,
    app_version: shown.app_version,
    git_sha: shown.git_sha,
    user_id: shown.user_id,
    first_app_version: oldest.first_app_version,
    occurrence_count: row.occurrence_count + error.occurrence_count,
    first_seen_at: oldest.first_seen_at,
    shown_at: Math.max(shownHere, shownThere),
    occurred_at: Math.max(row.occurred_at, error.occurred_at),
  }
}

async function addSought(trx: Transaction<Schema>, dialect: Dialect, error_id: number, line: ErrorLine): Promise<void> {
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

async function addTrail(trx: Transaction<Schema>, dialect: Dialect, error_id: number, line: ErrorLine): Promise<void> {
  const comments = line.comments.map(({ author_name, body, created_at }) => [error_id, author_name, body, created_at])
  if (comments.length > 0) await dialect.insertMany(trx, COMMENTS, comments)
  const activities = line.activities.map((one) => [
    error_id,
    ...[one.actor, one.action, one.from_value, one.to_value, one.comment, one.created_at],
  ])
  if (activities.length > 0) await dialect.insertMany(trx, ACTIVITIES, activities)
}
