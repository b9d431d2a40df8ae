import * as v from 'valibot'
import type { Context } from '../../context.js'
import { id, optionalText } from '../../model/input/input.js'
import { type Scope, scopeInput } from '../../model/input/scope.js'
import type { AuditAction, AuditedChange } from '../../model/people/audit.js'
import { HOUR } from '../../model/time.js'
import { hoursText, MAX_BATCH_SIZE, PRIORITIES } from '../../model/workflow.js'
import { defineCommand } from '../../operation.js'
import type { ErrorRow } from '../../store/sql/row-locks.js'
import { assignmentChange } from './assign-error.js'
import {
  type Change,
  changeErrors,
  DEFAULT_ACTOR,
  MAX_NAME_LENGTH,
  MAX_REFERENCE_LENGTH,
  MAX_TEXT_LENGTH,
} from './change-errors.js'
import { deleteErrors } from './delete-errors.js'
import { muteChange, muteError, unmuteChange } from './mute-error.js'
import { resolveChange } from './resolve-error.js'
import { snoozeChange, snoozeError } from './snooze-error.js'
import { priorityChange, updatePriority } from './update-priority.js'
import { statusChange, updateStatus } from './update-status.js'

/** Result of a batch command. Ids that do not exist, or belong to another application or environment, are skipped. */
export interface BatchResult {
  changed: number
  /** Errors that already had the requested state. */
  unchanged: number
  skipped: number
}

const MAX_AUDITED_IDS = 40

const errorIds = v.pipe(
  v.array(id(), 'must be a list of error ids'),
  v.nonEmpty('must contain at least one error id'),
  v.maxLength(MAX_BATCH_SIZE, `must not contain more than ${MAX_BATCH_SIZE} error ids`),
  v.transform((ids) => [...new Set(ids)]),
)

const selectionInput = { error_ids: errorIds, ...scopeInput }
const actor = optionalText({ max: MAX_NAME_LENGTH })

export const batchResolveErrors = defineCommand({
  input: v.object({
    ...selectionInput,
    resolved_by: optionalText({ max: MAX_NAME_LENGTH }),
    resolution_comment: optionalText({ max: MAX_TEXT_LENGTH }),
    resolution_reference: optionalText({ max: MAX_REFERENCE_LENGTH }),
    actor,
  }),
  async run(context, { error_ids, application_id, environment, ...resolution }): Promise<BatchResult> {
    const errors = { error_ids, application_id, environment }
    const now = context.now()
    return changeSelection(context, errors, (row) => resolveChange(row, { ...resolution, now }))
  },
  audit: (input, result) => auditBatch('resolve', input, result),
})

/** Deletes several errors with all their data. */
export const batchDeleteErrors = defineCommand({
  input: v.object(selectionInput),
  async run(context, { error_ids, ...scope }): Promise<BatchResult> {
    const result = { changed: 0, unchanged: 0, skipped: error_ids.length }
    const onDeleted = (count: number) => {
      result.changed += count
      result.skipped -= count
    }
    try {
      await deleteErrors(context, error_ids, { ...scope, onDeleted })
    } catch (error) {
      // Records the errors that earlier transactions deleted before the failure.
      const change = auditBatch('delete', { error_ids }, result)
      if (change) await context.audit.add(change)
      throw error
    }
    return result
  },
  audit: (input, result) => auditBatch('delete', input, result, deletedIds(input)),
})

/** Assigns several errors to a person, or removes their assignees. */
export const batchAssignErrors = defineCommand({
  input: v.object({ ...selectionInput, assigned_to: optionalText({ max: MAX_NAME_LENGTH }), actor }),
  async run(context, { assigned_to = null, actor = DEFAULT_ACTOR, ...errors }): Promise<BatchResult> {
    return changeSelection(context, errors, (row) => assignmentChange(row, assigned_to, actor))
  },
  audit: (input, result) =>
    input.assigned_to === undefined
      ? auditBatch('unassign', input, result)
      : auditBatch('assign', input, result, `to ${input.assigned_to}`),
})

export const batchUpdateStatus = defineCommand({
  input: v.object({
    ...selectionInput,
    status: updateStatus.input.entries.status,
    comment: optionalText({ max: MAX_TEXT_LENGTH }),
    actor,
  }),
  async run(context, { status, comment, actor = DEFAULT_ACTOR, ...errors }): Promise<BatchResult> {
    const statusRequest = { status, comment, actor, now: context.now() }
    return changeSelection(context, errors, (row) => statusChange(row, statusRequest))
  },
  audit: (input, result) => auditBatch('set_status', input, result, `to ${input.status}`),
})

export const batchUpdatePriority = defineCommand({
  input: v.object({ ...selectionInput, priority_level: updatePriority.input.entries.priority_level, actor }),
  async run(context, { priority_level, actor = DEFAULT_ACTOR, ...errors }): Promise<BatchResult> {
    return changeSelection(context, errors, (row) => priorityChange(row, priority_level, actor))
  },
  audit: (input, result) => auditBatch('set_priority', input, result, `to ${PRIORITIES[input.priority_level]}`),
})

export const batchSnoozeErrors = defineCommand({
  input: v.object({
    ...selectionInput,
    hours: snoozeError.input.entries.hours,
    reason: optionalText({ max: MAX_TEXT_LENGTH }),
    actor,
  }),
  async run(context, { hours, reason, actor = DEFAULT_ACTOR, ...errors }): Promise<BatchResult> {
    const until = context.now() + hours * HOUR
    return changeSelection(context, errors, () => snoozeChange(until, reason, actor))
  },
  audit: (input, result) => auditBatch('snooze', input, result, hoursText(input.hours)),
})

/** Mutes notifications about several errors. */
export const batchMuteErrors = defineCommand({
  input: v.object({
    ...selectionInput,
    hours: muteError.input.entries.hours,
    reason: optionalText({ max: MAX_TEXT_LENGTH }),
    muted_by: optionalText({ max: MAX_NAME_LENGTH }),
    actor,
  }),
  async run(context, { error_ids, application_id, environment, ...muteRequest }): Promise<BatchResult> {
    const mute = muteChange({ ...muteRequest, now: context.now() })
    return changeSelection(context, { error_ids, application_id, environment }, () => mute)
  },
  audit: (input, result) => auditBatch('mute', input, result, hoursText(input.hours)),
})

export const batchUnmuteErrors = defineCommand({
  input: v.object({ ...selectionInput, actor }),
  async run(context, { actor = DEFAULT_ACTOR, ...errors }): Promise<BatchResult> {
    return changeSelection(context, errors, (row) => unmuteChange(row, actor, context.now()))
  },
  audit: (input, result) => auditBatch('unmute', input, result),
})

/** Entry of the Audit page. Contains the error if the selection contains only one error. */
function auditBatch(
  action: AuditAction,
  { error_ids }: ErrorSelection,
  { changed }: BatchResult,
  detail?: string,
): AuditedChange | null {
  if (changed === 0) return null
  const error_id = error_ids.length === 1 ? error_ids[0] : undefined
  return { action, error_id, count: changed, ...(detail !== undefined && { detail }) }
}

/**
 * Ids of deleted errors, because their activity trails are deleted too. Undefined for a list that does not fit into an
 * entry.
 */
function deletedIds({ error_ids }: ErrorSelection): string | undefined {
  return error_ids.length > 1 && error_ids.length <= MAX_AUDITED_IDS ? `ids ${error_ids.join(', ')}` : undefined
}

interface ErrorSelection extends Partial<Scope> {
  error_ids: readonly number[]
}

async function changeSelection(
  context: Context,
  { error_ids, ...scope }: ErrorSelection,
  change: (row: ErrorRow) => Change | null,
): Promise<BatchResult> {
  const { changed, unchanged } = await changeErrors(context, error_ids, change, scope)
  return { changed, unchanged, skipped: error_ids.length - changed - unchanged }
}
