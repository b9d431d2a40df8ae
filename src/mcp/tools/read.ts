import * as v from 'valibot'
import { clampedInteger, fraction, id, optional, withDefault } from '../../model/input/input.js'
import { scopeInput } from '../../model/input/scope.js'
import { errorsListInput } from '../../triage/list/errors-list.js'
import { defineTool, type Tool } from '../tool.js'

const days = (value: number) => withDefault(clampedInteger({ min: 1, max: 365 }), value)

/** Read-only tools. */
export const READ_TOOLS: readonly Tool[] = [
  defineTool({
    name: 'list_errors',
    role: 'viewer',
    title: 'List errors',
    description:
      'Errors, grouped by cause, newest first: type, message, code location, severity, status, number of occurrences and users. All filters are optional and combined.',
    input: v.object({
      ...errorsListInput.entries,
      per_page: withDefault(clampedInteger({ min: 1, max: 50 }), 20),
    }),
    run: ({ Queries }, filter) => Queries.ErrorsList.page(filter),
  }),
  defineTool({
    name: 'get_error',
    role: 'viewer',
    title: 'Read one error',
    description:
      'One error with comments and activity trail. Message, location, stack, causes, request, user, version, breadcrumbs and variables are those of the newest occurrence or of occurrence_id.',
    input: v.object({ error_id: id(), ...scopeInput, occurrence_id: optional(id()) }),
    async run({ Queries }, input) {
      const { occurrences, occurrences_pagination, occurrence, ...error } = await Queries.FindError.call({
        ...input,
        per_page: 5,
      })
      return {
        error,
        occurrence: occurrence && {
          id: occurrence.id,
          occurred_at: occurrence.occurred_at,
          message: occurrence.message,
          user_id: occurrence.user_id,
          app_version: occurrence.app_version,
          previous_id: occurrence.previous_id,
          next_id: occurrence.next_id,
        },
        kept_occurrences: occurrences_pagination.total_count,
        history: await Queries.ErrorHistory.call({ error_id: input.error_id }),
        affected_users: await Queries.ErrorUsers.call({ error_id: input.error_id }),
      }
    },
  }),
  defineTool({
    name: 'similar_errors',
    role: 'viewer',
    title: 'Similar errors',
    description: 'Errors that share stack frames and message words with the given error.',
    input: v.object({
      error_id: id(),
      threshold: withDefault(fraction({ min: 0, max: 1 }), 0.6),
      limit: withDefault(clampedInteger({ min: 1, max: 20 }), 10),
    }),
    run: ({ Queries }, input) => Queries.SimilarErrors.call(input),
  }),
  defineTool({
    name: 'stats',
    role: 'viewer',
    title: 'Statistics',
    description:
      'Error and occurrence counts in total, today and in recent days, with the most frequent types and the platforms.',
    input: v.object(scopeInput),
    run: ({ Queries }, input) => Queries.DashboardStats.call(input),
  }),
  defineTool({
    name: 'analytics',
    role: 'viewer',
    title: 'Analytics',
    description:
      'Trends over several days: occurrences by day, hour and severity, resolved errors and resolution times.',
    input: v.object({ days: days(30), ...scopeInput }),
    run: ({ Queries }, input) => Queries.ErrorAnalytics.call(input),
  }),
  defineTool({
    name: 'releases',
    role: 'viewer',
    title: 'Releases',
    description: 'Versions that reported errors, each with its new, regressed and gone errors.',
    input: v.object({ days: days(30), ...scopeInput, page: withDefault(clampedInteger({ min: 1, max: 10_000 }), 1) }),
    run: ({ Queries }, input) => Queries.Releases.call(input),
  }),
  defineTool({
    name: 'applications',
    role: 'viewer',
    title: 'Applications',
    description: 'Applications that report here, with the ids that other tools accept as application_id.',
    input: v.object({}),
    run: async ({ Queries }) => ({ applications: await Queries.Applications.call() }),
  }),
]
