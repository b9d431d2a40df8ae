import type { Context } from '../../context.js'
import { SEVERITIES } from '../../model/severity/severity.js'
import { HOUR } from '../../model/time.js'
import type { Transaction } from '../../store/kysely.js'
import type { Schema } from '../../store/schema.js'
import { withRowLocks } from '../../store/sql/row-locks.js'
import type { ChannelName } from '../channels/channels.js'
import type { BaselineNotice, ErrorNotice, HeldNotice } from '../content/notice.js'
import { closeHour } from '../rules/hourly-limit.js'
import { createQuietHours } from '../rules/quiet-hours.js'
import { writeDeliveries } from './plan-deliveries.js'

/** Exceeds what any channel can show in one message. */
const MAX_LISTED_NOTICES = 20
const ROWS_PER_UPDATE = 500

type AlertNotice = ErrorNotice | BaselineNotice

/**
 * Replaces deliveries held by quiet hours, or over the hourly limit, with one summary per channel. Safe to run in any
 * process.
 */
export async function combineHeld(context: Context): Promise<void> {
  for (const group of await findHeldGroups(context))
    await context.database.write((trx) => combineGroup(context, trx, group))
}

interface HeldGroup {
  channel: ChannelName
  application_id: number | null
  state: 'held' | 'over_limit'
  /** End of the limited hour; 0 for quiet hours. */
  hour_end: number
}

async function findHeldGroups({ database, now }: Context): Promise<HeldGroup[]> {
  const rows = await database.read
    .selectFrom('faultboard_deliveries')
    .select(['channel', 'application_id', 'state', 'run_at'])
    .where('state', 'in', ['held', 'over_limit'])
    .where('run_at', '<=', now())
    .groupBy(['channel', 'application_id', 'state', 'run_at'])
    .orderBy('run_at')
    .execute()
  const groups = rows.map(({ channel, application_id, state, run_at }) => ({
    channel: channel as ChannelName,
    application_id,
    state: state as HeldGroup['state'],
    hour_end: state === 'over_limit' ? (run_at ?? 0) : 0,
  }))
  return [...new Map(groups.map((group) => [Object.values(group).join(), group])).values()]
}

async function combineGroup(
  { database: { dialect }, config, now }: Context,
  trx: Transaction<Schema>,
  group: HeldGroup,
): Promise<void> {
  const { channel, application_id, state, hour_end } = group
  const isOverLimit = state === 'over_limit'
  if (isOverLimit) await closeHour(trx, dialect, { application_id, channel, period: hour_end - HOUR }, now())
  const query = trx
    .selectFrom('faultboard_deliveries')
    .select(['id', 'payload'])
    .where('state', '=', state)
    .where('run_at', isOverLimit ? '=' : '<=', isOverLimit ? hour_end : now())
    .where('channel', '=', channel)
    .where('application_id', application_id === null ? 'is' : '=', application_id)
    .orderBy('id')
  // A concurrent process holds the row locks and leaves no rows.
  const rows = await withRowLocks(query, dialect).execute()
  const [first] = rows
  if (!first) return
  const notices = rows.map(({ payload }) => JSON.parse(payload) as AlertNotice)
  const notice = summarize(notices, isOverLimit ? 'hourly_limit' : 'quiet_hours', config.environment, now())
  // The limited hour may end during quiet hours.
  const mayPage = isOverLimit && (config.enable_client_paging || !(await areAllFromClients(trx, group)))
  const until = isOverLimit
    ? createQuietHours(config)({ channel, severity: notice.severity, now: now(), mayPage })
    : null
  await writeDeliveries(
    trx,
    dialect,
    [
      {
        key: isOverLimit ? `over_limit:${application_id ?? 0}:${hour_end}:${channel}` : `held:${first.id}:${channel}`,
        channel,
        notice,
        error_id: null,
        application_id,
        state: 'pending',
        run_at: until ?? now(),
      },
    ],
    now(),
  )
  const ids = rows.map(({ id }) => id)
  // Databases limit the number of parameters per statement.
  for (let i = 0; i < ids.length; i += ROWS_PER_UPDATE) {
    await trx
      .updateTable('faultboard_deliveries')
      .set({ state: 'combined', finished_at: now() })
      .where('id', 'in', ids.slice(i, i + ROWS_PER_UPDATE))
      .execute()
  }
}

/** Returns true if all deliveries over the limit of this hour are about client errors. */
async function areAllFromClients(
  trx: Transaction<Schema>,
  { channel, application_id, hour_end }: HeldGroup,
): Promise<boolean> {
  const serverDelivery = await trx
    .selectFrom('faultboard_deliveries as d')
    .leftJoin('faultboard_errors as e', 'e.id', 'd.error_id')
    .select('d.id')
    .where('d.state', '=', 'over_limit')
    .where('d.run_at', '=', hour_end)
    .where('d.channel', '=', channel)
    .where('d.application_id', application_id === null ? 'is' : '=', application_id)
    .where('e.source', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return serverDelivery === undefined
}

function summarize(
  notices: readonly AlertNotice[],
  reason: HeldNotice['reason'],
  environment: string | null,
  at: number,
): HeldNotice {
  const mostSevereFirst = [...notices].sort((a, b) => severityRank(a) - severityRank(b) || a.at - b.at)
  const environments = new Set(notices.map((notice) => notice.environment))
  return {
    event: 'held',
    reason,
    application_name: notices[0]?.application_name ?? '',
    environment: environments.size === 1 ? (notices[0]?.environment ?? null) : environment,
    at,
    severity: mostSevereFirst[0]?.severity ?? 'low',
    total: notices.length,
    notices: mostSevereFirst.slice(0, MAX_LISTED_NOTICES),
  }
}

function severityRank({ severity }: AlertNotice): number {
  return SEVERITIES.indexOf(severity)
}
