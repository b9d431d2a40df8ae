import type { Context } from '../context.js'
import { SEVERITIES } from '../model/severity.js'
import type { Transaction } from '../store/kysely.js'
import { locking } from '../store/lock.js'
import type { Schema } from '../store/schema.js'
import type { ChannelName } from './channel.js'
import type { BaselineNotice, ErrorNotice, HeldNotice } from './notice.js'
import { writeDeliveries } from './write-deliveries.js'

/** More than a message can show, whichever channel it goes by. */
const MOST_SHOWN = 20
const AT_ONCE = 500

type Told = ErrorNotice | BaselineNotice

/** Makes one message for each channel out of what was held until now, whichever process it is that does it. */
export async function combineHeld(context: Context): Promise<void> {
  for (const { channel, application_id } of await heldGroups(context)) {
    await context.database.write((trx) => combine(context, trx, channel as ChannelName, application_id))
  }
}

async function heldGroups({ database, now }: Context) {
  return database.read
    .selectFrom('faultboard_deliveries')
    .select(['channel', 'application_id'])
    .where('state', '=', 'held')
    .where('run_at', '<=', now())
    .groupBy(['channel', 'application_id'])
    .execute()
}

async function combine(
  { database: { dialect }, config, now }: Context,
  trx: Transaction<Schema>,
  channel: ChannelName,
  application_id: number | null,
): Promise<void> {
  const query = trx
    .selectFrom('faultboard_deliveries')
    .select(['id', 'payload'])
    .where('state', '=', 'held')
    .where('run_at', '<=', now())
    .where('channel', '=', channel)
    .where('application_id', application_id === null ? 'is' : '=', application_id)
    .orderBy('id')
  // Another process that is at it has them locked, and leaves none.
  const rows = await locking(query, dialect).execute()
  const [first] = rows
  if (!first) return
  const notices = rows.map(({ payload }) => JSON.parse(payload) as Told)
  await writeDeliveries(
    trx,
    dialect,
    [
      {
        key: `held:${first.id}:${channel}`,
        channel,
        notice: summary(notices, config.environment, now()),
        error_id: null,
        application_id,
        state: 'pending',
        run_at: now(),
      },
    ],
    now(),
  )
  const ids = rows.map(({ id }) => id)
  // A statement takes only so many parameters, and a night may be long.
  for (let i = 0; i < ids.length; i += AT_ONCE) {
    await trx
      .updateTable('faultboard_deliveries')
      .set({ state: 'combined', finished_at: now() })
      .where('id', 'in', ids.slice(i, i + AT_ONCE))
      .execute()
  }
}

function summary(notices: readonly Told[], environment: string | null, at: number): HeldNotice {
  const gravest = [...notices].sort((a, b) => rank(a) - rank(b) || a.at - b.at)
  const environments = new Set(notices.map((notice) => notice.environment))
  return {
    event: 'held',
    application_name: notices[0]?.application_name ?? '',
    environment: environments.size === 1 ? (notices[0]?.environment ?? null) : environment,
    at,
    severity: gravest[0]?.severity ?? 'low',
    total: notices.length,
    notices: gravest.slice(0, MOST_SHOWN),
  }
}

function rank({ severity }: Told): number {
  return SEVERITIES.indexOf(severity)
}
