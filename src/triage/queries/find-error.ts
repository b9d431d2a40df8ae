import * as v from 'valibot'
import type { Context } from '../../context.js'
import { errorNotFound } from '../../model/errors.js'
import { clampedInteger, id, optional } from '../../model/input/input.js'
import { type Scope, scopeInput } from '../../model/input/scope.js'
import { displayLocation, rootBacktrace } from '../../model/stacks/code-place.js'
import { defineOperation } from '../../operation.js'
import { applicationNames } from '../../store/applications.js'
import { environmentsOfApplication } from '../../store/environments.js'
import type { ErrorRow } from '../../store/sql/row-locks.js'
import { type OccurrenceSelection, occurrencesPage, selectedOccurrence } from './error-occurrences.js'
import { type Activity, type Comment, type EnvironmentSibling, type ErrorRecord, toSummary } from './error-record.js'
import { pickCapturedData } from './occurrence.js'

const MAX_TRAIL_ENTRIES = 200

/** Returns an error with comments, activities, stored occurrences and the newest or selected occurrence. */
export const findError = defineOperation({
  input: v.object({
    error_id: id(),
    ...scopeInput,
    occurrence_id: optional(id()),
    page: optional(clampedInteger({ min: 1, max: 1_000_000_000 })),
    per_page: optional(clampedInteger({ min: 1, max: 100 })),
  }),
  async run(context, { occurrence_id, page = 1, per_page = 25, ...input }): Promise<ErrorRecord> {
    const { error_id } = input
    const row = await requireError(context, input)
    const selection = await selectedOccurrence(context, row, occurrence_id)
    return {
      ...toSummary(row, {
        application_name: (await applicationNames(context.database)).get(row.application_id) ?? '',
        user_count: row.user_count ?? 0,
        now: context.now(),
      }),
      last_app_version: row.app_version,
      other_environments: await findInOtherEnvironments(context, row),
      ...occurrenceFields(selection, context.config.project_root),
      comments: await loadComments(context, error_id),
      activities: await loadActivities(context, error_id),
      occurrence: selection.occurrence,
      ...(await occurrencesPage(context, row, { page, per_page })),
    }
  },
})

/** Fields of the selected occurrence. Without a stored occurrence, omits the fields that the error row already has. */
function occurrenceFields({ occurrence, payload }: OccurrenceSelection, root: string) {
  const capturedData = pickCapturedData(occurrence)
  if (!occurrence) return { ...payload, ...capturedData }
  const { message, platform, app_version, git_sha, user_id } = occurrence
  const place = displayLocation(rootBacktrace(payload, root), root)
  return { message, place, platform, app_version, git_sha, user_id, ...payload, ...capturedData }
}

/** Loads the row of an error. Errors outside of the given application or environment are not found. */
export async function requireError(
  { database }: Context,
  { error_id, application_id, environment }: { error_id: number } & Partial<Scope>,
): Promise<ErrorRow> {
  const row = await database.read
    .selectFrom('faultboard_errors')
    .selectAll()
    .where('id', '=', error_id)
    .$if(application_id !== undefined, (query) => query.where('application_id', '=', application_id ?? 0))
    .$if(environment !== undefined, (query) => query.where('environment', '=', environment ?? ''))
    .executeTakeFirst()
  if (!row) throw errorNotFound(error_id)
  return row
}

/** Lists the environments, because the unique key of errors contains the environment before the signature. */
async function findInOtherEnvironments({ database: { read } }: Context, row: ErrorRow): Promise<EnvironmentSibling[]> {
  const { application_id, environment, hash_signature } = row
  const names = await environmentsOfApplication(read, application_id)
  const otherNames = names.filter((name) => name !== environment)
  if (otherNames.length === 0) return []
  return read
    .selectFrom('faultboard_errors')
    .select(['id', 'environment', 'status', 'occurrence_count'])
    .where('application_id', '=', application_id)
    .where('environment', 'in', otherNames)
    .where('hash_signature', '=', hash_signature)
    .orderBy('environment')
    .execute()
}

async function loadComments({ database }: Context, error_id: number): Promise<Comment[]> {
  const rows = await database.read
    .selectFrom('faultboard_comments')
    .select(['id', 'author_name', 'body', 'created_at'])
    .where('error_id', '=', error_id)
    .orderBy('id', 'desc')
    .limit(MAX_TRAIL_ENTRIES)
    .execute()
  return rows.reverse().map((row) => ({ ...row, created_at: new Date(row.created_at).toISOString() }))
}

async function loadActivities({ database }: Context, error_id: number): Promise<Activity[]> {
  const rows = await database.read
    .selectFrom('faultboard_activities')
    .select(['id', 'actor', 'action', 'from_value', 'to_value', 'comment', 'created_at'])
    .where('error_id', '=', error_id)
    .orderBy('id', 'desc')
    .limit(MAX_TRAIL_ENTRIES)
    .execute()
  return rows.reverse().map((row) => ({ ...row, created_at: new Date(row.created_at).toISOString() }))
}
