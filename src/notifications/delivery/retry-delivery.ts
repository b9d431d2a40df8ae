import * as v from 'valibot'
import { TrackerError } from '../../model/errors.js'
import { id, optional } from '../../model/input/input.js'
import { defineCommand } from '../../operation.js'

/** Retries a permanently failed delivery with a full set of attempts and its original key. */
export const retryDelivery = defineCommand({
  input: v.object({ delivery_id: id(), application_id: optional(id()) }),
  async run(context, { delivery_id, application_id }): Promise<void> {
    const { database, outbox, now } = context
    const row = await database.read
      .selectFrom('faultboard_deliveries')
      .select('state')
      .where('id', '=', delivery_id)
      .$if(application_id !== undefined, (query) => query.where('application_id', '=', application_id ?? 0))
      .executeTakeFirst()
    if (!row) throw new TrackerError('not_found', `Delivery ${delivery_id} not found.`)
    outbox.noteWrite()
    const updated = await database.write((trx) =>
      trx
        .updateTable('faultboard_deliveries')
        .set({ state: 'pending', attempts: 0, run_at: now(), locked_until: null, finished_at: null })
        .where('id', '=', delivery_id)
        .where('state', '=', 'failed')
        .executeTakeFirst(),
    )
    if (updated.numUpdatedRows === 0n) {
      throw new TrackerError('invalid_input', `Only failed deliveries can be retried; this delivery is ${row.state}.`)
    }
  },
  audit: ({ delivery_id }) => ({ action: 'retry_notification', target: `notification ${delivery_id}` }),
})
