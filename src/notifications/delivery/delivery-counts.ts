import * as v from 'valibot'
import { defineOperation } from '../../operation.js'
import { DELIVERY_STATES, type Delivery, deliveriesInput } from './deliveries.js'

export type DeliveryCounts = Record<Delivery['state'], number>

const { channel, error_id, application_id } = deliveriesInput.entries

/** How many messages there are in each state. */
export const deliveryCounts = defineOperation({
  input: v.object({ channel, error_id, application_id }),
  async run({ database }, { channel, error_id, application_id }): Promise<DeliveryCounts> {
    const rows = await database.read
      .selectFrom('faultboard_deliveries')
      .select(({ fn }) => ['state', fn.countAll<number>().as('total')])
      .$if(channel !== undefined, (query) => query.where('channel', '=', channel ?? ''))
      .$if(error_id !== undefined, (query) => query.where('error_id', '=', error_id ?? 0))
      .$if(application_id !== undefined, (query) => query.where('application_id', '=', application_id ?? 0))
      .groupBy('state')
      .execute()
    const found = new Map(rows.map(({ state, total }) => [state, total]))
    return Object.fromEntries(DELIVERY_STATES.map((state) => [state, found.get(state) ?? 0])) as DeliveryCounts
  },
})
