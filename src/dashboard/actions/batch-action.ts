import * as v from 'valibot'
import type { Context } from '../../context.js'
import { TrackerError } from '../../model/errors.js'
import { choice, clampedInteger, instant, optional, optionalText } from '../../model/input/input.js'
import { type Scope, scopeInput } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import { withViewerName } from '../../model/search-query.js'
import { hoursText, PRIORITIES } from '../../model/workflow.js'
import {
  type BatchResult,
  batchAssignErrors,
  batchDeleteErrors,
  batchMuteErrors,
  batchResolveErrors,
  batchSnoozeErrors,
  batchUnmuteErrors,
  batchUpdatePriority,
  batchUpdateStatus,
} from '../../triage/commands/batch-errors.js'
import { matchingIdBatches } from '../../triage/list/matching-ids.js'
import { listQuery, parseListQuery } from '../../triage/saved-views.js'
import { defineAction } from '../define.js'
import { pathWith } from '../links/href.js'
import { formatIdentifier } from '../ui/badges.js'

const { error_ids: errorIds, resolution_comment, resolution_reference, resolved_by } = batchResolveErrors.input.entries

const parameters = v.object({
  error_ids: v.optional(errorIds),
  // Selects all errors that match `list_query` and existed at `listed_at`, instead of `error_ids`.
  selection: optional(choice(['matching'])),
  listed_at: optional(instant()),
  action_type: choice([
    'resolve',
    'assign',
    'unassign',
    'update_status',
    'update_priority',
    'snooze',
    'mute',
    'unmute',
    'delete',
  ]),
  resolved_by_name: resolved_by,
  resolution_comment,
  resolution_reference,
  assigned_to: optionalText({ max: 255 }),
  status: optional(batchUpdateStatus.input.entries.status),
  comment: batchUpdateStatus.input.entries.comment,
  priority_level: optional(batchUpdatePriority.input.entries.priority_level),
  hours: optional(batchSnoozeErrors.input.entries.hours),
  reason: batchSnoozeErrors.input.entries.reason,
  // Separate from the snooze fields of the same form. Without hours, a mute does not expire.
  mute_hours: batchMuteErrors.input.entries.hours,
  mute_reason: batchMuteErrors.input.entries.reason,
  ...scopeInput,
  list_query: optionalText({ max: 20_000 }),
  list_page: optional(clampedInteger({ min: 1, max: 1_000_000_000 })),
})

type Form = v.InferOutput<typeof parameters>

/** Applies one command to several errors and redirects to the same list. Reports unknown ids. */
export const batchAction = defineAction({
  path: '/errors/batch_action',
  text: 'Change several errors',
  role: 'responder',
  roleFor: ({ action_type }) => (action_type === 'delete' ? 'admin' : 'responder'),
  parameters,
  response: r.object({ changed: r.integer, unchanged: r.integer, skipped: r.integer }),
  async run(context, form, actor) {
    const { application_id, environment, action_type } = form
    const { run, describe } = BATCH_COMMANDS[action_type]
    const total: BatchResult = { changed: 0, unchanged: 0, skipped: 0 }
    for await (const error_ids of selectedIds(context, form, actor)) {
      const result = await run(context, { error_ids, application_id, environment, actor }, form)
      for (const name of ['changed', 'unchanged', 'skipped'] as const) total[name] += result[name]
    }
    const { changed, unchanged, skipped } = total
    const parts = [
      `${changed} ${changed === 1 ? 'error' : 'errors'} ${describe(form)}`,
      ...(unchanged > 0 ? [`${unchanged} unchanged`] : []),
      ...(skipped > 0 ? [`${skipped} not found`] : []),
    ]
    return { json: () => total, to: listPath(form), notice: `${parts.join(', ')}.` }
  },
})

/** Ids in batches. */
function selectedIds(
  context: Context,
  { error_ids, selection, listed_at, list_query = '', application_id, environment }: Form,
  viewer: string,
): AsyncIterable<number[]> | number[][] {
  if (selection !== 'matching') {
    if (error_ids === undefined) throw new TrackerError('invalid_input', 'error_ids is missing')
    return [error_ids]
  }
  const parameters = new URLSearchParams(list_query)
  const query = parameters.get('query')
  // Resolves `assigned:me` in queries from scripts. Dashboard forms contain the name already.
  if (query !== null) parameters.set('query', withViewerName(query, viewer))
  const filter = parseListQuery(parameters.toString())
  const scope = {
    application_id: filter.application_id ?? application_id,
    environment: filter.environment ?? environment,
  }
  return matchingIdBatches(context, { ...filter, ...scope }, listed_at)
}

interface Selection extends Scope {
  error_ids: number[]
  actor: string
}

interface BatchCommand {
  run(context: Context, selection: Selection, form: Form): Promise<BatchResult>
  describe(form: Form): string
}

const BATCH_COMMANDS: Record<Form['action_type'], BatchCommand> = {
  resolve: {
    run: (context, selection, { resolved_by_name: resolved_by, resolution_comment, resolution_reference }) =>
      batchResolveErrors.run(context, { ...selection, resolved_by, resolution_comment, resolution_reference }),
    describe: () => 'resolved',
  },
  assign: {
    async run(context, selection, { assigned_to }) {
      // Rejects an empty field, because removing an assignee is a separate action.
      if (assigned_to === undefined) throw new TrackerError('invalid_input', 'assigned_to must not be empty')
      return batchAssignErrors.run(context, { ...selection, assigned_to })
    },
    describe: ({ assigned_to }) => `assigned to ${assigned_to}`,
  },
  unassign: {
    run: (context, selection) => batchAssignErrors.run(context, selection),
    describe: () => 'unassigned',
  },
  update_status: {
    run: (context, selection, form) =>
      batchUpdateStatus.run(context, { ...selection, status: requireField(form, 'status'), comment: form.comment }),
    describe: ({ status }) => `set to ${formatIdentifier(status ?? '')}`,
  },
  update_priority: {
    run: (context, selection, form) =>
      batchUpdatePriority.run(context, { ...selection, priority_level: requireField(form, 'priority_level') }),
    describe: ({ priority_level }) => `set to priority ${PRIORITIES[priority_level ?? 0]}`,
  },
  snooze: {
    run: (context, selection, form) =>
      batchSnoozeErrors.run(context, { ...selection, hours: requireField(form, 'hours'), reason: form.reason }),
    describe: ({ hours }) => `snoozed ${hoursText(hours)}`,
  },
  mute: {
    run: (context, selection, { mute_hours, mute_reason }) =>
      batchMuteErrors.run(context, { ...selection, hours: mute_hours, reason: mute_reason }),
    describe: ({ mute_hours }) => `muted ${hoursText(mute_hours)}`,
  },
  unmute: {
    run: (context, selection) => batchUnmuteErrors.run(context, selection),
    describe: () => 'unmuted',
  },
  delete: {
    run: (context, selection) => batchDeleteErrors.run(context, selection),
    describe: () => 'deleted',
  },
}

/** Returns a field that only some actions require. */
function requireField<Name extends keyof Form>(form: Form, name: Name): NonNullable<Form[Name]> {
  const value = form[name]
  if (value === undefined || value === null) throw new TrackerError('invalid_input', `${name} is missing`)
  return value
}

function listPath({ list_query = '', list_page = 1, application_id, environment }: Form): string {
  const filters = Object.fromEntries(new URLSearchParams(listQuery(list_query)))
  return pathWith('/errors', {
    ...filters,
    application_id: filters.application_id ?? application_id,
    environment: filters.environment ?? environment,
    page: list_page > 1 ? list_page : null,
  })
}
