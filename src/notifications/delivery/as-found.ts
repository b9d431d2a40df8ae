import type { Expression, ExpressionBuilder, Selectable, SqlBool } from '../../store/kysely.js'
import type { DeliveriesTable, Schema } from '../../store/schema.js'

/** A message as it was found: whoever has changed one of these since then sees to it himself. */
export type Found = Pick<Selectable<DeliveriesTable>, 'id' | 'attempts' | 'run_at' | 'queued_at'>

type Deliveries = ExpressionBuilder<Schema, 'faultboard_deliveries'>

/** Of many processes that have found a message, only one finds it so again when it changes it. */
export function asFound({ id, attempts, run_at }: Pick<Found, 'id' | 'attempts' | 'run_at'>) {
  return ({ eb, and }: Deliveries): Expression<SqlBool> =>
    and([
      eb('id', '=', id),
      eb('attempts', '=', attempts),
      // A refusal that does not count leaves the tries as they were, but not the time.
      eb(eb.fn.coalesce('run_at', eb.lit(0)), '=', run_at ?? 0),
    ])
}
