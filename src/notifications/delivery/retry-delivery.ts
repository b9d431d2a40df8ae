import * as v from 'valibot'
import { TrackerError } from '../../model/errors.js'
import { id, optional } from '../../model/input.js'
import { defineOperation } from '../../operation.js'
import { dispatchDue } from '../rules/dispatch.js'

/** Tries a message again that failed for good, with all its tries and under its old key. */
export const retryDelivery = defineOperation({
  input: v.object({ delivery_id: id(), application_id: optional(id()) }),
  async run(context, { delivery_id, application_id }): Promise<void> {
    const { database, now } = context
    const row = await database.read
      .selectFrom('faultboard_deliveries')
      .select('state')
      .where('id', '=', delivery_id)
      .$if(application_id !== undefined, (query) => query.where('application_id', '=', application_id ?? 0))
      .executeTakeFirst()
    if (!row) throw new TrackerError('not_found', `There is no message with the id ${delivery_id}.`)
    const taken = await database.read
      .updateTable('faultboard_deliveries')
      .set({ state: 'pending', attempts: 0, run_at: now(), queued_at: null, locked_until: null, finished_at: null })
      .where('id', '=', delivery_id)
      .where('state', '=', 'failed')
      .executeTakeFirst()
    if (taken.numUpdatedRows === 0n) {
      throw new TrackerError('invalid_input', `Only a message that failed is tried again; this one is ${row.state}.`)
    }
    await dispatchDue(context)
  },
})
