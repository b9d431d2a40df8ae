import * as v from 'valibot'
import type { Context } from '../../context.js'
import { id, optional, optionalText } from '../../model/input.js'
import { HOUR } from '../../model/time.js'
import { MAX_BATCH_SIZE } from '../../model/workflow.js'
import { defineOperation } from '../../operation.js'
import type { ErrorRow } from '../../store/lock.js'
import { assignment } from './assign-error.js'
import { type Change, changeErrors, NAME_LIMIT, NOBODY_NAMED, TEXT_LIMIT } from './change-errors.js'
import { deleteErrors } from './delete-errors.js'
import { muteError, muteOf, unmute } from './mute-error.js'
import { resolutionOf } from './resolve-error.js'
import { snooze, snoozeError } from './snooze-error.js'
import { priorityChange, updatePriority } from './update-priority.js'
import { statusChange, updateStatus } from './update-status.js'

/** How a batch went: ids that do not exist, or not in the application named, are skipped, not refused. */
export interface BatchResult {
  changed: number
  /** Those that were so already. */
  unchanged: number
  skipped: number
}

const errorIds = v.pipe(
  v.array(id(), 'must be a list of record ids'),
  v.nonEmpty('must name at least one error'),
  v.maxLength(MAX_BATCH_SIZE, `must not name more than ${MAX_BATCH_SIZE} errors`),
  v.transform((ids) => [...new Set(ids)]),
)

const chosen = { error_ids: errorIds, application_id: optional(id()) }
const actor = optionalText({ max: NAME_LIMIT })

/** Resolves several errors at once. */
export const batchResolveErrors = defineOperation({
  input: v.object({
    ...chosen,
    resolved_by: optionalText({ max: NAME_LIMIT }),
    resolution_comment: optionalText({ max: TEXT_LIMIT }),
    actor,
  }),
  async run(context, { error_ids, application_id, ...resolution }): Promise<BatchResult> {
    const now = context.now()
    return changeAll(context, { error_ids, application_id }, (row) => resolutionOf(row, { ...resolution, now }))
  },
})

/** Deletes several errors with everything that hangs on them. */
export const batchDeleteErrors = defineOperation({
  input: v.object(chosen),
  async run(context, { error_ids, application_id }): Promise<BatchResult> {
    const changed = await deleteErrors(context, error_ids, { application_id })
    return { changed, unchanged: 0, skipped: error_ids.length - changed }
  },
})

/** Gives several errors to somebody, or takes them from whoever had them. */
export const batchAssignErrors = defineOperation({
  input: v.object({ ...chosen, assigned_to: optionalText({ max: NAME_LIMIT }), actor }),
  async run(context, { assigned_to = null, actor = NOBODY_NAMED, ...errors }): Promise<BatchResult> {
    return changeAll(context, errors, (row) => assignment(row, assigned_to, actor))
  },
})

/** Moves several errors to another status. */
export const batchUpdateStatus = defineOperation({
  input: v.object({
    ...chosen,
    status: updateStatus.input.entries.status,
    comment: optionalText({ max: TEXT_LIMIT }),
    actor,
  }),
  async run(context, { status, comment, actor = NOBODY_NAMED, ...errors }): Promise<BatchResult> {
    const move = { status, comment, actor, now: context.now() }
    return changeAll(context, errors, (row) => statusChange(row, move))
  },
})

/** Sets how urgent several errors are. */
export const batchUpdatePriority = defineOperation({
  input: v.object({ ...chosen, priority_level: updatePriority.input.entries.priority_level, actor }),
  async run(context, { priority_level, actor = NOBODY_NAMED, ...errors }): Promise<BatchResult> {
    return changeAll(context, errors, (row) => priorityChange(row, priority_level, actor))
  },
})

/** Hides several errors for some hours. */
export const batchSnoozeErrors = defineOperation({
  input: v.object({
    ...chosen,
    hours: snoozeError.input.entries.hours,
    reason: optionalText({ max: TEXT_LIMIT }),
    actor,
  }),
  async run(context, { hours, reason, actor = NOBODY_NAMED, ...errors }): Promise<BatchResult> {
    const until = context.now() + hours * HOUR
    return changeAll(context, errors, () => snooze(until, reason, actor))
  },
})

/** Sends no more messages about several errors. */
export const batchMuteErrors = defineOperation({
  input: v.object({
    ...chosen,
    hours: muteError.input.entries.hours,
    reason: optionalText({ max: TEXT_LIMIT }),
    muted_by: optionalText({ max: NAME_LIMIT }),
    actor,
  }),
  async run(context, { error_ids, application_id, ...wanted }): Promise<BatchResult> {
    const mute = muteOf({ ...wanted, now: context.now() })
    return changeAll(context, { error_ids, application_id }, () => mute)
  },
})

/** Lets messages about several errors be sent again. */
export const batchUnmuteErrors = defineOperation({
  input: v.object({ ...chosen, actor }),
  async run(context, { actor = NOBODY_NAMED, ...errors }): Promise<BatchResult> {
    return changeAll(context, errors, (row) => unmute(row, actor, context.now()))
  },
})

interface Chosen {
  error_ids: readonly number[]
  application_id?: number | undefined
}

async function changeAll(
  context: Context,
  { error_ids, application_id }: Chosen,
  change: (row: ErrorRow) => Change | null,
): Promise<BatchResult> {
  const { changed, unchanged } = await changeErrors(context, error_ids, change, { application_id })
  return { changed, unchanged, skipped: error_ids.length - changed - unchanged }
}
