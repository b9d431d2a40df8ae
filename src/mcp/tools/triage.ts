import * as v from 'valibot'
import { choice, id, integer, optionalText, requiredText } from '../../model/input/input.js'
import { MAX_SNOOZE_HOURS, STATUSES } from '../../model/workflow.js'
import { MAX_NAME_LENGTH, MAX_REFERENCE_LENGTH, MAX_TEXT_LENGTH } from '../../triage/commands/change-errors.js'
import { defineTool, type Tool } from '../tool.js'

/** Actor in every activity trail: never a name chosen by the agent. */
export const ACTOR = 'agent (mcp)'

const actor = ACTOR
const error_id = id()

/** Tools that change data. They require `--allow-triage`. */
export const TRIAGE_TOOLS: readonly Tool[] = [
  defineTool({
    name: 'resolve_error',
    title: 'Resolve',
    description: 'Marks an error as resolved. It is reopened automatically when it occurs again.',
    input: v.object({
      error_id,
      resolution_comment: optionalText({ max: MAX_TEXT_LENGTH }),
      resolution_reference: optionalText({ max: MAX_REFERENCE_LENGTH }),
    }),
    role: 'responder',
    run: ({ Commands }, input) => Commands.ResolveError.call({ ...input, resolved_by: actor }),
  }),
  defineTool({
    name: 'reopen_error',
    title: 'Reopen',
    description: 'Sets the status of an error back to new.',
    input: v.object({ error_id, comment: optionalText({ max: MAX_TEXT_LENGTH }) }),
    role: 'responder',
    run: ({ Commands }, input) => Commands.UpdateStatus.call({ ...input, status: 'new', actor }),
  }),
  defineTool({
    name: 'set_status',
    title: 'Set the status',
    description: `Sets the status, one of ${STATUSES.join(', ')}.`,
    input: v.object({ error_id, status: choice(STATUSES), comment: optionalText({ max: MAX_TEXT_LENGTH }) }),
    role: 'responder',
    run: ({ Commands }, input) => Commands.UpdateStatus.call({ ...input, actor }),
  }),
  defineTool({
    name: 'set_priority',
    title: 'Set the priority',
    description: 'Sets the priority: 0 none, 1 low, 2 medium, 3 high, 4 critical.',
    input: v.object({ error_id, priority_level: integer({ min: 0, max: 4 }) }),
    role: 'responder',
    run: ({ Commands }, input) => Commands.UpdatePriority.call({ ...input, actor }),
  }),
  defineTool({
    name: 'assign_error',
    title: 'Assign',
    description: 'Assigns an error to a person.',
    input: v.object({ error_id, assigned_to: requiredText({ max: MAX_NAME_LENGTH }) }),
    role: 'responder',
    run: ({ Commands }, input) => Commands.AssignError.call({ ...input, actor }),
  }),
  defineTool({
    name: 'unassign_error',
    title: 'Remove the assignment',
    description: 'Removes the assignee of an error.',
    input: v.object({ error_id }),
    role: 'responder',
    run: ({ Commands }, input) => Commands.UnassignError.call({ ...input, actor }),
  }),
  defineTool({
    name: 'snooze_error',
    title: 'Snooze',
    description: 'Hides an error for the given number of hours. No notifications are sent during that time.',
    input: v.object({
      error_id,
      hours: integer({ min: 1, max: MAX_SNOOZE_HOURS }),
      reason: optionalText({ max: MAX_TEXT_LENGTH }),
    }),
    role: 'responder',
    run: ({ Commands }, input) => Commands.SnoozeError.call({ ...input, actor }),
  }),
  defineTool({
    name: 'unsnooze_error',
    title: 'End the snooze',
    description: 'Shows a snoozed error again.',
    input: v.object({ error_id }),
    role: 'responder',
    run: ({ Commands }, input) => Commands.UnsnoozeError.call({ ...input, actor }),
  }),
  defineTool({
    name: 'comment_on_error',
    title: 'Comment',
    description: 'Adds a comment to an error.',
    input: v.object({ error_id, body: requiredText({ max: MAX_TEXT_LENGTH }) }),
    role: 'responder',
    run: ({ Commands }, input) => Commands.AddComment.call({ ...input, author_name: actor }),
  }),
]
