import type { Context } from '../context.js'
import { isoTime } from '../model/time.js'
import type { ErrorRow } from '../store/sql/row-locks.js'
import { exportedParts } from './export-parts.js'
import { digestJson, originId } from './origin.js'
import { type ExportedLine, FORMAT_VERSION } from './record.js'
import { MAX_TEXT_LENGTH } from './values.js'

/** Lines of one error; none if it was deleted during the export. */
export async function* exportError(
  context: Context,
  error_id: number,
  imported: readonly string[],
): AsyncGenerator<ExportedLine> {
  const { read } = context.database
  // Reads the hours first. Occurrences recorded later are not counted, so the sums are consistent.
  const hours = await read
    .selectFrom('faultboard_error_hours')
    .select(['hour', 'severity', 'platform', 'app_version', 'count'])
    .where('error_id', '=', error_id)
    .orderBy('hour')
    .execute()
  const row = await read.selectFrom('faultboard_errors').selectAll().where('id', '=', error_id).executeTakeFirst()
  if (!row || hours.length === 0) return
  const application = await read
    .selectFrom('faultboard_applications')
    .select(['name', 'created_at'])
    .where('id', '=', row.application_id)
    .executeTakeFirstOrThrow()
  const errorData = {
    error: { ...exportedFields(row), occurrence_count: hours.reduce((sum, { count }) => sum + count, 0) },
    hours: hours.map((entry) => ({ ...entry, hour: isoTime(entry.hour) })),
    comments: await loadComments(context, error_id),
    activities: await loadActivities(context, error_id),
  }
  const origin = originId({
    application_name: application.name,
    application_created_at: application.created_at,
    hash_signature: row.hash_signature,
    error_id,
  })
  const common = {
    version: FORMAT_VERSION,
    application_name: application.name,
    origins: [origin, ...imported],
    revision: digestJson(errorData),
  }
  let part = 1
  for await (const rows of exportedParts(context, row)) {
    if (part === 1)
      yield { ...common, kind: 'error', ...errorData, ...(await loadSearchData(context, error_id)), ...rows }
    else yield { ...common, kind: 'more', ...partFields(row), part, ...rows }
    part++
  }
}

function partFields({ hash_signature, environment, message }: ErrorRow) {
  return { hash_signature, environment, message }
}

function exportedFields(row: ErrorRow) {
  const { id, application_id, resolved, user_count, occurrence_count, first_message, ...fields } = row
  return {
    ...fields,
    first_seen_at: isoTime(row.first_seen_at),
    occurred_at: isoTime(row.occurred_at),
    shown_at: isoTime(row.shown_at),
    snoozed_until: isoTime(row.snoozed_until),
    resolved_at: isoTime(row.resolved_at),
    reopened_at: isoTime(row.reopened_at),
    muted_at: isoTime(row.muted_at),
    muted_until: isoTime(row.muted_until),
  }
}

async function loadComments({ database }: Context, error_id: number) {
  const rows = await database.read
    .selectFrom('faultboard_comments')
    .select(['author_name', 'body', 'created_at'])
    .where('error_id', '=', error_id)
    .orderBy('id')
    .execute()
  return rows.map((row) => ({ ...row, created_at: isoTime(row.created_at) }))
}

async function loadActivities({ database }: Context, error_id: number) {
  const rows = await database.read
    .selectFrom('faultboard_activities')
    .select(['actor', 'action', 'from_value', 'to_value', 'comment', 'created_at'])
    .where('error_id', '=', error_id)
    .orderBy('id')
    .execute()
  return rows.map((row) => ({ ...row, created_at: isoTime(row.created_at) }))
}

/** Data for search, filters and comparison. Exported because its source occurrence may be deleted. */
async function loadSearchData({ database }: Context, error_id: number) {
  const text = await database.read
    .selectFrom('faultboard_error_search')
    .select('search_text')
    .where('error_id', '=', error_id)
    .executeTakeFirst()
  const history = await database.read
    .selectFrom('faultboard_search_history')
    .select('search_text')
    .where('error_id', '=', error_id)
    .orderBy('id', 'desc')
    .execute()
  const features = await database.read
    .selectFrom('faultboard_error_features')
    .select('feature')
    .where('error_id', '=', error_id)
    .execute()
  const commits = await database.read
    .selectFrom('faultboard_error_origins')
    .select('value')
    .where('error_id', '=', error_id)
    .where('kind', '=', 'commit')
    .orderBy('value')
    .execute()
  const texts = [text?.search_text ?? '', ...history.map(({ search_text }) => search_text)]
  return {
    search_text: texts.join('\n').slice(0, MAX_TEXT_LENGTH),
    features: features.map(({ feature }) => feature),
    commits: commits.map(({ value }) => value),
  }
}
