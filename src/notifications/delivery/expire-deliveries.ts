import type { Context } from '../../context.js'
import { DAY, MINUTE } from '../../model/time.js'
import { INCIDENT_CHANNELS } from '../channels/channels.js'
import { channelStates, formatList } from './channel-states.js'
import { belongsToApplication, type DeliveriesBuilder, isSendable } from './claim-due.js'

const RETENTION_DAYS = 30
/** Deleting blocks the host's event loop on SQLite, so batches are small. */
const ROWS_PER_DELETE = 200

/**
 * Deletes old deliveries and expired cooldowns. Keeps the triggers of open incidents: without them, the incident would
 * never be resolved.
 */
export async function deleteOldDeliveries(context: Context): Promise<void> {
  const { database, now } = context
  for (;;) {
    const ids = (await findOldDeliveries(context)).map(({ id }) => id)
    if (ids.length === 0) break
    await database.read.deleteFrom('faultboard_deliveries').where('id', 'in', ids).execute()
  }
  await database.read
    .deleteFrom('faultboard_cooldowns')
    .where('until', '<', now() - DAY)
    .execute()
}

async function findOldDeliveries({ database, now }: Context) {
  return database.read
    .selectFrom('faultboard_deliveries as d')
    .leftJoin('faultboard_errors as e', 'e.id', 'd.error_id')
    .select('d.id')
    .where('d.created_at', '<', now() - RETENTION_DAYS * DAY)
    .where(({ eb, or }) =>
      or([eb('d.channel', 'not in', INCIDENT_CHANNELS), eb('e.resolved', 'is', null), eb('e.resolved', '=', 1)]),
    )
    .limit(ROWS_PER_DELETE)
    .execute()
}

const MAX_UNCLAIMED_MS = 7 * DAY
/** Writing blocks the host's event loop on SQLite, so batches are small. */
const ROWS_PER_UPDATE = 200

/** Fails deliveries of applications without a running process for a week. Other applications must not send them. */
export async function failUnclaimedDeliveries(context: Context): Promise<void> {
  const { database, now } = context
  for (;;) {
    const rows = await findUnclaimedDeliveries(context)
    for (const application of new Set(rows.map(({ application_name }) => application_name))) {
      const ids = rows.filter(({ application_name }) => application_name === application).map(({ id }) => id)
      await database.read
        .updateTable('faultboard_deliveries')
        .set({
          ...{ state: 'failed', finished_at: now(), locked_until: null },
          last_response: `Not sent: no process of ${application} was running.`,
        })
        .where('id', 'in', ids)
        .where('state', 'in', ['pending', 'sending'])
        .where('run_at', '<', now() - MAX_UNCLAIMED_MS)
        .execute()
    }
    if (rows.length < ROWS_PER_UPDATE) return
  }
}

async function findUnclaimedDeliveries({ database, config, now }: Context) {
  return database.read
    .selectFrom('faultboard_deliveries as d')
    .innerJoin('faultboard_applications as a', 'a.id', 'd.application_id')
    .select(['d.id', 'a.name as application_name'])
    .where('d.state', 'in', ['pending', 'sending'])
    .where('d.run_at', '<', now() - MAX_UNCLAIMED_MS)
    .where('a.name', '!=', config.application_name)
    .limit(ROWS_PER_UPDATE)
    .execute()
}

/** Exceeds the duration of a rolling deployment, during which old and new processes have different channels. */
const MAX_CHANNEL_WAIT_MS = 15 * MINUTE
/** Any process with the channel configured would have claimed the delivery by then. */
const OVERDUE_MS = MINUTE

/** Fails deliveries of this application whose channel has not been configured in any process for 15 minutes. */
export async function failUnconfiguredDeliveries({ database, config, now }: Context): Promise<void> {
  const time = now()
  const missingByChannel = new Map(
    channelStates(config).flatMap(({ name, state, missing }) => (state === 'on' ? [] : [[name as string, missing]])),
  )
  if (missingByChannel.size === 0) return
  const isNotSendable = (builder: DeliveriesBuilder) => builder.not(isSendable(config)(builder))
  const overdue = await database.read
    .selectFrom('faultboard_deliveries')
    .select('channel')
    .distinct()
    .where('state', '=', 'pending')
    .where('run_at', '<', time - OVERDUE_MS)
    .where('channel', 'in', [...missingByChannel.keys()])
    .where(isNotSendable)
    .where(belongsToApplication(config.application_name))
    .execute()
  for (const { channel } of overdue) {
    const waiting = `Waiting for a process with the ${channel} channel configured.`
    const missing = formatList(missingByChannel.get(channel) ?? [])
    const overdueRows = () =>
      database.read
        .updateTable('faultboard_deliveries')
        .where('state', '=', 'pending')
        .where('channel', '=', channel)
        .where(isNotSendable)
        .where(belongsToApplication(config.application_name))
    await overdueRows()
      .set({
        ...{ state: 'failed', finished_at: time },
        last_response: `Not sent: channel ${channel} is not configured. Set ${missing}.`,
      })
      .where('last_response', '=', waiting)
      .where('run_at', '<=', time - MAX_CHANNEL_WAIT_MS)
      .execute()
    // The wait starts now, because an old delivery may date from a time when no process was running.
    await overdueRows()
      .set({ last_response: waiting, run_at: time })
      .where('run_at', '<', time - OVERDUE_MS)
      .where(({ eb, or }) => or([eb('last_response', 'is', null), eb('last_response', '!=', waiting)]))
      .execute()
  }
}
