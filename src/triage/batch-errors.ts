import * as v from 'valibot'
import { id, optionalText } from '../model/input.js'
import { MAX_BATCH_SIZE } from '../model/workflow.js'
import { defineOperation } from '../operation.js'
import { changeErrors, NAME_LIMIT, TEXT_LIMIT } from './change-errors.js'
import { deleteErrors } from './delete-errors.js'
import { resolutionOf } from './resolve-error.js'

/** How a batch went: ids that do not exist are skipped, not refused. */
export interface BatchResult {
  changed: number
  skipped: number
}

const errorIds = v.pipe(
  v.array(id(), 'must be a list of record ids'),
  v.nonEmpty('must name at least one error'),
  v.maxLength(MAX_BATCH_SIZE, `must not name more than ${MAX_BATCH_SIZE} errors`),
  v.transform((ids) => [...new Set(ids)]),
)

/** Resolves several errors at once. */
export const batchResolveErrors = defineOperation({
  input: v.object({
    error_ids: errorIds,
    resolved_by: optionalText({ max: NAME_LIMIT }),
    resolution_comment: optionalText({ max: TEXT_LIMIT }),
    actor: optionalText({ max: NAME_LIMIT }),
  }),
  async run(context, { error_ids, ...resolution }): Promise<BatchResult> {
    const changed = await changeErrors(context, error_ids, (row) =>
      resolutionOf(row, { ...resolution, now: context.now() }),
    )
    return { changed, skipped: error_ids.length - changed }
  },
})

/** Deletes several errors with everything that hangs on them. */
export const batchDeleteErrors = defineOperation({
  input: v.object({ error_ids: errorIds }),
  async run(context, { error_ids }): Promise<BatchResult> {
    const changed = await deleteErrors(context, error_ids)
    return { changed, skipped: error_ids.length - changed }
  },
})
