import * as v from 'valibot'
import { id, optional } from '../../model/input.js'
import { PRIORITIES } from '../../model/workflow.js'
import { type Operation, perform } from '../../operation.js'
import { addComment } from '../../triage/add-comment.js'
import { assignError, unassignError } from '../../triage/assign-error.js'
import { errorWithin } from '../../triage/find-error.js'
import { resolveError } from '../../triage/resolve-error.js'
import { snoozeError, unsnoozeError } from '../../triage/snooze-error.js'
import { updatePriority } from '../../triage/update-priority.js'
import { updateStatus } from '../../triage/update-status.js'
import { words } from '../components/badges.js'
import { type Action, defineAction } from '../define.js'
import { pathWith } from '../href.js'

/** Where the visitor was: the application the view is limited to, and the occurrence that was looked at. */
const FROM = { application_id: optional(id()), occurrence_id: optional(id()) }

/** What can be done with one error: each address runs one command and leads back to the error. */
export const errorActions: readonly Action[] = [
  errorAction({
    name: 'resolve',
    text: 'Resolve',
    // The form says resolved_by_name, as the record does; the command says resolved_by.
    parameters: v.object({
      ...v.omit(resolveError.input, ['resolved_by']).entries,
      resolved_by_name: resolveError.input.entries.resolved_by,
    }),
    input: ({ resolved_by_name, ...rest }) => ({ ...rest, resolved_by: resolved_by_name }),
    operation: resolveError,
    notice: () => 'Resolved. If it occurs again, it is reopened.',
  }),
  errorAction({
    name: 'assign',
    text: 'Assign',
    parameters: assignError.input,
    operation: assignError,
    notice: ({ assigned_to }) => `Assigned to ${assigned_to}.`,
  }),
  errorAction({
    name: 'unassign',
    text: 'Remove the assignment',
    parameters: unassignError.input,
    operation: unassignError,
    notice: () => 'Unassigned.',
  }),
  errorAction({
    name: 'update_priority',
    text: 'Set the priority',
    parameters: updatePriority.input,
    operation: updatePriority,
    notice: ({ priority_level }) => `Priority set to ${PRIORITIES[priority_level]}.`,
  }),
  errorAction({
    name: 'snooze',
    text: 'Snooze',
    parameters: snoozeError.input,
    operation: snoozeError,
    notice: ({ hours }) => `Snoozed for ${hours} ${hours === 1 ? 'hour' : 'hours'}.`,
  }),
  errorAction({
    name: 'unsnooze',
    text: 'End the snooze',
    parameters: unsnoozeError.input,
    operation: unsnoozeError,
    notice: () => 'Awake again.',
  }),
  errorAction({
    name: 'update_status',
    text: 'Set the status',
    parameters: updateStatus.input,
    operation: updateStatus,
    notice: ({ status }) => `Status set to ${words(status)}.`,
  }),
  errorAction({
    name: 'add_comment',
    text: 'Add a comment',
    parameters: addComment.input,
    operation: addComment,
    notice: () => 'Comment added.',
  }),
]

type ErrorSchema = v.ObjectSchema<{ error_id: ReturnType<typeof id> } & v.ObjectEntries, undefined>

interface ErrorAction<Parameters extends ErrorSchema> {
  name: string
  text: string
  parameters: Parameters
  /** What the command calls them, where that differs from the form. */
  input?(parameters: v.InferOutput<Parameters>): object
  operation: Operation<v.GenericSchema, unknown>
  notice(parameters: v.InferOutput<Parameters>): string
}

function errorAction<Parameters extends ErrorSchema>({
  name,
  text,
  parameters,
  input = (given) => given,
  operation,
  notice,
}: ErrorAction<Parameters>): Action {
  return defineAction({
    path: `/errors/:error_id{[0-9]+}/${name}`,
    text,
    parameters: v.object({ ...parameters.entries, ...FROM }),
    async run(context, { application_id, occurrence_id, ...rest }, actor) {
      const given = rest as v.InferOutput<Parameters>
      const { error_id } = given as { error_id: number }
      await context.ready()
      if (application_id !== undefined) await errorWithin(context, { error_id, application_id })
      await perform(operation, context, { ...input(given), actor })
      return { to: pathWith(`/errors/${error_id}`, { application_id, occurrence_id }), notice: notice(given) }
    },
  })
}
