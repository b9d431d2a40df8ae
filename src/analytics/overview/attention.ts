import type { Context } from '../../context.js'
import { startOfLastDays } from '../../model/time.js'
import { sql } from '../../store/kysely.js'
import { withoutIndex } from '../../store/sort-order.js'
import { type Spike, spikingErrors } from '../baselines/spiking-errors.js'
import { errorsOf } from '../sums/application-filter.js'

/** Why an error needs somebody, with the first of those it is true of. */
export interface Concern {
  count: number
  /** There are more than are counted. */
  is_lower_bound?: true
  ids: number[]
}

export interface Concerns {
  /** First seen since the visitor was here, or within a day. */
  new_errors: Concern
  /** Had been resolved and came back, within seven days. */
  reopened: Concern
  /** Critical or high, and nobody has them. */
  unattended: Concern
  /** Types of errors above their baseline; null while no baselines are kept. */
  spiking: Spike[] | null
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
  const since_week = startOfLastDays(7, context.now(), context.config.time_zone)
  return {
    new_errors: await concern(context, awake.where('first_seen_at', '>=', since), (errors) =>
      errors.orderBy('first_seen_at', 'desc'),
    ),
    reopened: await concern(context, seenAgain(awake, since_week), (errors) => errors.orderBy('reopened_at', 'desc')),
    unattended: await unattendedErrors(context, application_id),
    spiking: await spikes(context, application_id),
  }
}

/**
 * Critical or high, and nobody has them: critical ones first. Spelt as in the index that holds only these, which SQLite
 * takes only for the very same words.
 */
async function unattendedErrors(context: Context, application_id: number | undefined): Promise<Concern> {
  const { database, now } = context
  const errors = database.read
    .selectFrom('faultboard_errors')
    .where(sql<boolean>`resolved = 0 and assigned_to is null and severity in ('critical', 'high')`)
    .where(({ eb, or }) => or([eb('snoozed_until', 'is', null), eb('snoozed_until', '<=', now())]))
    .$if(application_id !== undefined, (query) =>
      query.where(withoutIndex(database.dialect, 'application_id'), '=', application_id ?? 0),
    )
  const ids: number[] = []
  for (const severity of ['critical', 'high'] as const) {
    const rows = await errors
      .select('id')
      .where('severity', '=', severity)
      .orderBy('occurred_at', 'desc')
      .orderBy('id', 'desc')
      .limit(SHOWN - ids.length)
      .execute()
    ids.push(...rows.map(({ id }) => id))
    if (ids.length === SHOWN) break
  }
  return counted(context, errors, ids)
}

/** Those that an occurrence has reopened since then; what a person opened again did not come back. */
function seenAgain(errors: OpenErrors, since: number): OpenErrors {
  return errors
    .where('reopened_at', '>=', since)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('faultboard_activities as a')
          .select('a.id')
          .whereRef('a.error_id', '=', 'faultboard_errors.id')
          .where('a.action', 'in', ['reopened', 'regressed'])
          .whereRef('a.created_at', '>=', 'faultboard_errors.reopened_at'),
      ),
    )
}

async function concern(
  context: Context,
  errors: OpenErrors,
  order: (errors: OpenErrors) => OpenErrors,
): Promise<Concern> {
  const rows = await order(errors).select('id').orderBy('id', 'desc').limit(SHOWN).execute()
  return counted(
    context,
    errors,
    rows.map(({ id }) => id),
  )
}

async function counted(context: Context, errors: OpenErrors, ids: number[]): Promise<Concern> {
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
  return count > MOST ? { count: MOST, is_lower_bound: true, ids } : { count, ids }
}

/** The types that come more often than is usual for them, where one of their errors is open and awake. */
async function spikes(context: Context, application_id: number | undefined): Promise<Spike[] | null> {
  const found = await spikingErrors(context, application_id)
  if (found.length === 0 && !(await hasBaselines(context))) return null
  const shown: Spike[] = []
  for (const spike of found) {
    const open = await openErrors(context, spike.application_id)
      .where('error_type', '=', spike.error_type)
      .select('id')
      .limit(1)
      .executeTakeFirst()
    if (open && shown.push(spike) === SHOWN) break
  }
  return shown
}

async function hasBaselines({ database }: Context): Promise<boolean> {
  return (await database.read.selectFrom('faultboard_baselines').select('id').limit(1).executeTakeFirst()) !== undefined
}

type OpenErrors = ReturnType<typeof openErrors>

function openErrors(context: Context, application_id: number | undefined) {
  const { database, now } = context
  return (
    database.read
      .selectFrom('faultboard_errors')
      .where(errorsOf(context, application_id))
      // Nearly all are open: to look among them alone would only keep a better index out.
      .where(withoutIndex(database.dialect, 'resolved'), '=', 0)
      .where(({ eb, or }) => or([eb('snoozed_until', 'is', null), eb('snoozed_until', '<=', now())]))
  )
}
