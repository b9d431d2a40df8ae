import * as v from 'valibot'
import { choice } from '../../model/input.js'
import { perform } from '../../operation.js'
import { batchDeleteErrors, batchResolveErrors } from '../../triage/batch-errors.js'
import { defineAction } from '../define.js'

const { error_ids, resolution_comment, resolved_by } = batchResolveErrors.input.entries

/** Resolves or deletes several errors; ids that do not exist are skipped and counted in the message. */
export const batchAction = defineAction({
  path: '/errors/batch_action',
  text: 'Act on several errors',
  parameters: v.object({
    error_ids,
    action_type: choice(['resolve', 'delete']),
    resolved_by_name: resolved_by,
    resolution_comment,
  }),
  async run(context, { error_ids, action_type, resolved_by_name, resolution_comment }, actor) {
    const { changed, skipped } =
      action_type === 'resolve'
        ? await perform(batchResolveErrors, context, {
            error_ids,
            resolved_by: resolved_by_name,
            resolution_comment,
            actor,
          })
        : await perform(batchDeleteErrors, context, { error_ids })
    const done = `${changed} ${changed === 1 ? 'error' : 'errors'} ${action_type === 'resolve' ? 'resolved' : 'deleted'}`
    return { to: '/errors', notice: skipped > 0 ? `${done}, ${skipped} unknown skipped.` : `${done}.` }
  },
})
