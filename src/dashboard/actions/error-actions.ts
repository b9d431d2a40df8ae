import * as v from 'valibot'
import { PRIORITIES } from '../../model/workflow.js'
import { type Operation, perform } from '../../operation.js'
import { addComment } from '../../triage/add-comment.js'
import { assignError, unassignError } from '../../triage/assign-error.js'
import { resolveError } from '../../triage/resolve-error.js'
import { snoozeError, unsnoozeError } from '../../triage/snooze-error.js'
import { updatePriority } from '../../triage/update-priority.js'
import { updateStatus } from '../../triage/update-status.js'
import { words } from '../components/badges.js'
import { type Action, defineAction } from '../define.js'

/** What can be done with one error: each address runs one command and leads back to the error. */
export const errorActions: readonly Action[] = [
  errorAction({
    name: 'resolve',
    text: 'Resolve',
    // The form says resolved_by_name, as the record does; the command says resolved_by.
    parameters: v.pipe(
      v.object({
        ...v.omit(resolveError.input, ['resolved_by']).entries,
        resolved_by_name: resolveError.input.entries.resolved_by,
      }),
      v.transform(({ resolved_by_name, ...rest }) => ({ ...rest, resolved_by: resolved_by_name })),
    ),
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

interface ErrorAction<Parameters extends v.GenericSchema<unknown, { error_id: number }>> {
  name: string
  text: string
  parameters: Parameters
  operation: Operation<v.GenericSchema, unknown>
  notice(input: v.InferOutput<Parameters>): string
}

function errorAction<Parameters extends v.GenericSchema<unknown, { error_id: number }>>({
  name,
  text,
  parameters,
  operation,
  notice,
}: ErrorAction<Parameters>): Action {
  return defineAction({
    path: `/errors/:error_id{[0-9]+}/${name}`,
    text,
    parameters,
    async run(context, input, actor) {
      await perform(operation, context, { ...input, actor })
      return { to: `/errors/${input.error_id}`, notice: notice(input) }
    },
  })
}
