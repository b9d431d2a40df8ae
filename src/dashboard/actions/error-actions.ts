import * as v from 'valibot'
import type { Context } from '../../context.js'
import { errorNotFound } from '../../model/errors.js'
import { id, optional } from '../../model/input/input.js'
import { scopeInput } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import { hoursText, PRIORITIES } from '../../model/workflow.js'
import type { Operation } from '../../operation.js'
import { addComment } from '../../triage/commands/add-comment.js'
import { assignError, unassignError } from '../../triage/commands/assign-error.js'
import type { ChangeResult } from '../../triage/commands/change-errors.js'
import { muteError, unmuteError } from '../../triage/commands/mute-error.js'
import { resolveError } from '../../triage/commands/resolve-error.js'
import { snoozeError, unsnoozeError } from '../../triage/commands/snooze-error.js'
import { updatePriority } from '../../triage/commands/update-priority.js'
import { updateStatus } from '../../triage/commands/update-status.js'
import { ErrorSummary } from '../../triage/queries/error-record.js'
import { loadSummaries } from '../../triage/queries/error-summaries.js'
import { requireError } from '../../triage/queries/find-error.js'
import { type Action, defineAction } from '../define.js'
import { pathWith } from '../links/href.js'
import { listOriginInput } from '../links/list-origin.js'
import { formatIdentifier } from '../ui/badges.js'

/** Page to return to: application, environment, occurrence and list. */
const RETURN_PARAMETERS = { ...scopeInput, occurrence_id: optional(id()), ...listOriginInput }

const ChangedError = r.object({
  /** False if the error already had the requested state. */
  changed: r.boolean,
  error: r.named('ErrorSummary', ErrorSummary),
})

/** Actions on one error. Each runs one command and redirects to the error. */
export const errorActions: readonly Action[] = [
  errorAction({
    name: 'resolve',
    text: 'Resolve',
    // The form uses the name of the column; the command uses resolved_by.
    parameters: v.object({
      ...v.omit(resolveError.input, ['resolved_by']).entries,
      resolved_by_name: resolveError.input.entries.resolved_by,
    }),
    input: ({ resolved_by_name, ...rest }) => ({ ...rest, resolved_by: resolved_by_name }),
    operation: resolveError,
    notice: () => 'Resolved. Reopens automatically if it occurs again.',
    unchanged: () => 'Already resolved.',
  }),
  errorAction({
    name: 'assign',
    text: 'Assign',
    parameters: assignError.input,
    operation: assignError,
    notice: ({ assigned_to }) => `Assigned to ${assigned_to}.`,
    unchanged: ({ assigned_to }) => `Already assigned to ${assigned_to}.`,
  }),
  errorAction({
    name: 'unassign',
    text: 'Remove the assignee',
    parameters: unassignError.input,
    operation: unassignError,
    notice: () => 'Unassigned.',
    unchanged: () => 'Already unassigned.',
  }),
  errorAction({
    name: 'update_priority',
    text: 'Set the priority',
    parameters: updatePriority.input,
    operation: updatePriority,
    notice: ({ priority_level }) => `Priority set to ${PRIORITIES[priority_level]}.`,
    unchanged: ({ priority_level }) => `Priority is already ${PRIORITIES[priority_level]}.`,
  }),
  errorAction({
    name: 'snooze',
    text: 'Snooze',
    parameters: snoozeError.input,
    operation: snoozeError,
    notice: ({ hours }) => `Snoozed ${hoursText(hours)}.`,
  }),
  errorAction({
    name: 'unsnooze',
    text: 'End the snooze',
    parameters: unsnoozeError.input,
    operation: unsnoozeError,
    notice: () => 'Snooze ended.',
    unchanged: () => 'This error is not snoozed.',
  }),
  errorAction({
    name: 'mute',
    text: 'Mute notifications',
    // The form uses the name of the column, as for resolve.
    parameters: v.object({
      ...v.omit(muteError.input, ['muted_by']).entries,
      muted_by_name: muteError.input.entries.muted_by,
    }),
    input: ({ muted_by_name, ...rest }) => ({ ...rest, muted_by: muted_by_name }),
    operation: muteError,
    notice: ({ hours }) => `Muted ${hoursText(hours)}.`,
  }),
  errorAction({
    name: 'unmute',
    text: 'Unmute notifications',
    parameters: unmuteError.input,
    operation: unmuteError,
    notice: () => 'Unmuted.',
    unchanged: () => 'This error is not muted.',
  }),
  errorAction({
    name: 'update_status',
    text: 'Set the status',
    parameters: updateStatus.input,
    operation: updateStatus,
    notice: ({ status }) => `Status set to ${formatIdentifier(status)}.`,
    unchanged: ({ status }) => `Status is already ${formatIdentifier(status)}.`,
  }),
  errorAction({
    name: 'add_comment',
    text: 'Add a comment',
    parameters: addComment.input,
    operation: addComment,
    notice: () => 'Comment added.',
    anchor: ({ comment_id }) => `comment-${comment_id}`,
  }),
]

type ErrorSchema = v.ObjectSchema<{ error_id: ReturnType<typeof id> } & v.ObjectEntries, undefined>

interface ErrorAction<Parameters extends ErrorSchema, Result extends ChangeResult> {
  name: string
  text: string
  parameters: Parameters
  /** Maps form fields to the input of the command where their names differ. */
  input?(parameters: v.InferOutput<Parameters>): object
  operation: Operation<v.GenericSchema, Result>
  notice(parameters: v.InferOutput<Parameters>): string
  /** Notice if the command changed nothing. */
  unchanged?(parameters: v.InferOutput<Parameters>): string
  /** Id of the element to which the page scrolls. */
  anchor?(result: Result): string
}

function errorAction<Parameters extends ErrorSchema, Result extends ChangeResult>({
  name,
  text,
  parameters,
  input = (fields) => fields,
  operation,
  notice,
  unchanged = notice,
  anchor,
}: ErrorAction<Parameters, Result>): Action {
  return defineAction({
    path: `/errors/:error_id{[0-9]+}/${name}`,
    text,
    role: 'responder',
    parameters: v.object({ ...parameters.entries, ...RETURN_PARAMETERS }),
    response: ChangedError,
    async run(context, { application_id, environment, occurrence_id, list_query, list_page, ...rest }, actor) {
      const fields = rest as v.InferOutput<Parameters>
      const { error_id } = fields as { error_id: number }
      await context.ready()
      if (application_id !== undefined || environment !== undefined) {
        await requireError(context, { error_id, application_id, environment })
      }
      const result = await operation.run(context, { ...input(fields), actor })
      const noticeText = result.changed ? notice : unchanged
      const returnTo = { application_id, environment, occurrence_id, list_query, list_page }
      const to = pathWith(`/errors/${error_id}`, returnTo)
      return {
        json: async () => ({ changed: result.changed, error: await loadSummary(context, error_id) }),
        to: anchor ? `${to}#${anchor(result)}` : to,
        notice: noticeText(fields),
      }
    },
  })
}

async function loadSummary(context: Context, error_id: number): Promise<ErrorSummary> {
  const [summary] = await loadSummaries(context, [error_id])
  if (!summary) throw errorNotFound(error_id)
  return summary
}
