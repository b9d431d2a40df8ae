import type { Context } from '../context.js'
import { DAY } from '../model/time.js'
import { sql } from '../store/kysely.js'
import { errorsOf } from './application-filter.js'

/** Why an error needs somebody, with the first of those it is true of. */
export interface Concern {
  count: number
  /** There are more than are counted. */
  is_bound?: true
  ids: number[]
}

export interface Concerns {
  /** First seen since the visitor was here, or within a day. */
  new_errors: Concern
  /** Had been resolved and came back, within seven days. */
  reopened: Concern
  /** Critical or high, and nobody has them. */
  unattended: Concern
  /** Above their baseline; null while no baselines are kept. */
  spiking: Concern | null
}

const SHOWN = 5
/** Nobody reads a larger number than this as anything but many. */
const MOST = 1000

/** What is open, awake, and needs somebody. */
export async function concerns(
  context: Context,
  { application_id, since }: { application_id: number | undefined; since: number },
): Promise<Concerns> {
  const awake = openErrors(context, application_id)
  const since_week = context.now() - 7 * DAY
  const unattended = awake.where('severity', 'in', ['critical', 'high']).where('assigned_to', 'is', null)
  return {
    new_errors: await concern(context, awake.where('first_seen_at', '>=', since), (errors) =>
      errors.orderBy('first_seen_at', 'desc'),
    ),
    reopened: await concern(context, awake.where('reopened_at', '>=', since_week), (errors) =>
      errors.orderBy('reopened_at', 'desc'),
    ),
    // In the alphabet too, critical comes before high.
    unattended: await concern(context, unattended, (errors) =>
      errors.orderBy('severity').orderBy('occurred_at', 'desc'),
    ),
    spiking: null,
  }
}

async function concern(
  context: Context,
  errors: OpenErrors,
  order: (errors: OpenErrors) => OpenErrors,
): Promise<Concern> {
  const rows = await order(errors).select('id').orderBy('id', 'desc').limit(SHOWN).execute()
  const ids = rows.map(({ id }) => id)
  if (ids.length < SHOWN) return { count: ids.length, ids }
  const { count } = await context.database.read
    .selectFrom(
      errors
        .select('id')
        .limit(MOST + 1)
        .as('errors'),
    )
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count > MOST ? { count: MOST, is_bound: true, ids } : { count, ids }
}

type OpenErrors = ReturnType<typeof openErrors>

function openErrors({ database, now }: Context, application_id: number | undefined) {
  return (
    database.read
      .selectFrom('faultboard_errors')
      .where(errorsOf(application_id))
      // Nearly all are open: to look among them alone would only keep a better index out.
      .where(sql`+${sql.ref('resolved')}`, '=', 0)
      .where(({ eb, or }) => or([eb('snoozed_until', 'is', null), eb('snoozed_until', '<=', now())]))
  )
}
