import * as v from 'valibot'
import type { Context } from '../../context.js'
import { TrackerError } from '../../model/errors.js'
import { choice, clampedInteger, id, optional, optionalText } from '../../model/input.js'
import { PRIORITIES } from '../../model/workflow.js'
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
import { listQuery } from '../../triage/saved-views.js'
import { defineAction } from '../define.js'
import { pathWith } from '../href.js'
import { words } from '../ui/badges.js'
import { muteSpan } from './error-actions.js'

const { error_ids, resolution_comment, resolved_by } = batchResolveErrors.input.entries

const parameters = v.object({
  error_ids,
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
  assigned_to: optionalText({ max: 255 }),
  status: optional(batchUpdateStatus.input.entries.status),
  comment: batchUpdateStatus.input.entries.comment,
  priority_level: optional(batchUpdatePriority.input.entries.priority_level),
  hours: optional(batchSnoozeErrors.input.entries.hours),
  reason: batchSnoozeErrors.input.entries.reason,
  // Beside the fields of snooze: one form holds them all, and no hours at all mean something here.
  mute_hours: batchMuteErrors.input.entries.hours,
  mute_reason: batchMuteErrors.input.entries.reason,
  application_id: optional(id()),
  list_query: optionalText({ max: 20_000 }),
  list_page: optional(clampedInteger({ min: 1, max: 1_000_000_000 })),
})

type Form = v.InferOutput<typeof parameters>

/** Acts on several errors and leads back to the same list; ids that do not exist are skipped and counted. */
export const batchAction = defineAction({
  path: '/errors/batch_action',
  text: 'Act on several errors',
  parameters,
  async run(context, form, actor) {
    const { error_ids, application_id, action_type } = form
    const { run, done } = DEEDS[action_type]
    const { changed, unchanged, skipped } = await run(context, { error_ids, application_id, actor }, form)
    const parts = [
      `${changed} ${changed === 1 ? 'error' : 'errors'} ${done(form)}`,
      ...(unchanged > 0 ? [`${unchanged} ${unchanged === 1 ? 'was' : 'were'} so already`] : []),
      ...(skipped > 0 ? [`${skipped} unknown skipped`] : []),
    ]
    return { to: backToList(form), notice: `${parts.join(', ')}.` }
  },
})

type Chosen = Pick<Form, 'error_ids' | 'application_id'> & { actor: string }

interface Deed {
  run(context: Context, chosen: Chosen, form: Form): Promise<BatchResult>
  done(form: Form): string
}

const DEEDS: Record<Form['action_type'], Deed> = {
  resolve: {
    run: (context, chosen, { resolved_by_name, resolution_comment }) =>
      batchResolveErrors.run(context, { ...chosen, resolved_by: resolved_by_name, resolution_comment }),
    done: () => 'resolved',
  },
  assign: {
    async run(context, chosen, { assigned_to }) {
      // An empty field is a mistake: removing an assignment is an action of its own.
      if (assigned_to === undefined) throw new TrackerError('invalid_input', 'assigned_to must not be empty')
      return batchAssignErrors.run(context, { ...chosen, assigned_to })
    },
    done: ({ assigned_to }) => `assigned to ${assigned_to}`,
  },
  unassign: {
    run: (context, chosen) => batchAssignErrors.run(context, chosen),
    done: () => 'unassigned',
  },
  update_status: {
    run: (context, chosen, form) =>
      batchUpdateStatus.run(context, { ...chosen, status: required(form, 'status'), comment: form.comment }),
    done: ({ status }) => `set to ${words(status ?? '')}`,
  },
  update_priority: {
    run: (context, chosen, form) =>
      batchUpdatePriority.run(context, { ...chosen, priority_level: required(form, 'priority_level') }),
    done: ({ priority_level }) => `set to priority ${PRIORITIES[priority_level ?? 0]}`,
  },
  snooze: {
    run: (context, chosen, form) =>
      batchSnoozeErrors.run(context, { ...chosen, hours: required(form, 'hours'), reason: form.reason }),
    done: ({ hours }) => `snoozed for ${hours} ${hours === 1 ? 'hour' : 'hours'}`,
  },
  mute: {
    run: (context, chosen, { mute_hours, mute_reason }) =>
      batchMuteErrors.run(context, { ...chosen, hours: mute_hours, reason: mute_reason }),
    done: ({ mute_hours }) => `muted ${muteSpan(mute_hours)}`,
  },
  unmute: {
    run: (context, chosen) => batchUnmuteErrors.run(context, chosen),
    done: () => 'unmuted',
  },
  delete: {
    run: (context, chosen) => batchDeleteErrors.run(context, chosen),
    done: () => 'deleted',
  },
}

/** A field of the form that only some actions need. */
function required<Name extends keyof Form>(form: Form, name: Name): NonNullable<Form[Name]> {
  const value = form[name]
  if (value === undefined || value === null) throw new TrackerError('invalid_input', `${name} is missing`)
  return value
}

function backToList({ list_query = '', list_page = 1, application_id }: Form): string {
  const filters = Object.fromEntries(new URLSearchParams(listQuery(list_query)))
  return pathWith('/errors', {
    ...filters,
    application_id: filters.application_id ?? application_id,
    page: list_page > 1 ? list_page : null,
  })
}
