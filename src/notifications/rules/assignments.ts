import type { Options } from '../../config/options.js'
import { SEVERITIES } from '../../model/severity/severity.js'
import { HOUR, MINUTE, startOfHour } from '../../model/time.js'
import { addUsage } from '../../store/counters/budget-usage.js'
import type { Dialect } from '../../store/dialect.js'
import { findEmail } from '../../store/email-addresses.js'
import type { Transaction } from '../../store/kysely.js'
import type { Assignment } from '../../store/recording/outbox.js'
import type { Schema } from '../../store/schema.js'
import { type ErrorRow, withRowLocks } from '../../store/sql/row-locks.js'
import { email as emailChannel } from '../channels/email.js'
import type { AssignedError, AssignedNotice } from '../content/notice.js'
import { writeDeliveries } from '../delivery/plan-deliveries.js'
import { noticeError } from './resolve-deliveries.js'

/** Time to wait for further assignments: a bulk action writes its errors in batches. */
const COMBINING_MS = 10_000
/** Maximum total delay caused by further assignments, such as from a script. */
const MAX_COMBINING_MS = 5 * MINUTE
const MAX_LISTED_ERRORS = 10

interface AssignmentContext {
  dialect: Dialect
  config: Options
  loadNames(trx: Transaction<Schema>, ids: readonly number[]): Promise<Map<number, string>>
  now: number
}

/**
 * Stores an email to the new assignee. Adds the errors to an email that is still waiting, so that a bulk action sends one
 * email. Does nothing for a self-assignment, or for an assignee without an address.
 */
export async function writeAssignmentEmail(
  trx: Transaction<Schema>,
  context: AssignmentContext,
  rows: readonly ErrorRow[],
  { assigned_to, actor }: Assignment,
): Promise<void> {
  const { config, dialect, now } = context
  if (assigned_to === actor) return
  const email = await findEmail(trx, config, assigned_to)
  if (email === null) return
  const names = await context.loadNames(
    trx,
    rows.map(({ application_id }) => application_id),
  )
  const errors = rows.map((row) => assignedError(row, names.get(row.application_id) ?? ''))
  const application_id = await findOwnApplication(trx, config)
  const waiting = await findWaiting(trx, dialect, { application_id, email, assigned_by: actor })
  const notice = assignedNotice(config, {
    ...{ at: now, assigned_by: actor, recipient: { name: assigned_to, email } },
    ...combineErrors(waiting?.notice, errors),
  })
  const error_id = notice.total === 1 ? (notice.errors[0]?.error.id ?? null) : null
  if (waiting) {
    const run_at = Math.max(waiting.run_at, Math.min(now + COMBINING_MS, waiting.created_at + MAX_COMBINING_MS))
    await trx
      .updateTable('faultboard_deliveries')
      .set({ error_id, environment: notice.environment, payload: JSON.stringify(notice), run_at })
      .where('id', '=', waiting.id)
      .execute()
    return
  }
  const run_at = await firstRunTime(trx, context, application_id)
  const { name: channel } = emailChannel
  const key = `assigned:${errors[0]?.error.id}:${now}:${channel}`
  await writeDeliveries(
    trx,
    dialect,
    [{ key, channel, notice, error_id, application_id, state: 'pending', run_at }],
    now,
  )
}

/** The process that changes the assignee also sends the email, because applications have different mail servers. */
async function findOwnApplication(
  trx: Transaction<Schema>,
  { application_name }: Pick<Options, 'application_name'>,
): Promise<number | null> {
  const row = await trx
    .selectFrom('faultboard_applications')
    .select('id')
    .where('name', '=', application_name)
    .executeTakeFirst()
  return row?.id ?? null
}

interface EmailRoute {
  application_id: number | null
  email: string
  assigned_by: string
}

/** Finds and locks the email of the same sender to the same address that no process has started to send. */
async function findWaiting(
  trx: Transaction<Schema>,
  dialect: Dialect,
  { application_id, email, assigned_by }: EmailRoute,
) {
  const query = trx
    .selectFrom('faultboard_deliveries')
    .select(['id', 'payload', 'run_at', 'created_at'])
    .where('state', '=', 'pending')
    .where('channel', '=', emailChannel.name)
    .where('application_id', application_id === null ? 'is' : '=', application_id)
    .where('event', '=', 'assigned')
    .where('attempts', '=', 0)
    .orderBy('id')
  for (const { payload, run_at, ...row } of await withRowLocks(query, dialect).execute()) {
    const notice = JSON.parse(payload) as AssignedNotice
    if (notice.recipient.email === email && notice.assigned_by === assigned_by)
      return { ...row, notice, run_at: run_at ?? 0 }
  }
  return undefined
}

/** Over `notification_max_per_hour`, an email waits for the next hour. Further assignments are added to it. */
async function firstRunTime(
  trx: Transaction<Schema>,
  { dialect, config, now }: AssignmentContext,
  application_id: number | null,
): Promise<number> {
  const period = startOfHour(now)
  const budget = { application_id: application_id ?? 0, budget: 'notification_max_per_hour:assigned', period }
  const { amount } = await addUsage(trx, dialect, budget, 1)
  return amount > config.notification_max_per_hour ? period + HOUR : now + COMBINING_MS
}

function assignedError(row: ErrorRow, application_name: string): AssignedError {
  const { environment, severity } = row
  return { application_name, environment, severity, error: noticeError(row) }
}

/** Lists the most severe errors first. An error that is assigned again counts once. */
function combineErrors(
  waiting: AssignedNotice | undefined,
  assigned: readonly AssignedError[],
): Pick<AssignedNotice, 'total' | 'error_ids' | 'errors'> {
  const ids = new Set(waiting?.error_ids)
  const added = assigned.filter(({ error }) => !ids.has(error.id))
  const error_ids = [...ids, ...added.map(({ error }) => error.id)]
  const errors = [...(waiting?.errors ?? []), ...added].sort(
    (a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity),
  )
  return { total: error_ids.length, error_ids, errors: errors.slice(0, MAX_LISTED_ERRORS) }
}

function assignedNotice(
  { application_name, environment }: Options,
  content: Pick<AssignedNotice, 'at' | 'assigned_by' | 'recipient' | 'total' | 'error_ids' | 'errors'>,
): AssignedNotice {
  const { errors } = content
  const applications = new Set(errors.map((error) => error.application_name))
  const environments = new Set(errors.map((error) => error.environment))
  return {
    event: 'assigned',
    application_name: applications.size === 1 ? (errors[0]?.application_name ?? '') : application_name,
    environment: environments.size === 1 ? (errors[0]?.environment ?? environment) : null,
    severity: errors[0]?.severity ?? 'low',
    ...content,
  }
}
