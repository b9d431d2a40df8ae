import type { Options } from '../../config/options.js'
import { cleanText } from '../../model/text.js'
import type { Transaction } from '../../store/kysely.js'
import type { ErrorRow } from '../../store/lock.js'
import type { Schema } from '../../store/schema.js'
import type { ChannelName } from '../channels/channel.js'
import { CHANNELS } from '../channels/channels.js'
import type { ErrorNotice } from '../content/notice.js'
import type { NewDelivery } from '../delivery/write-deliveries.js'

interface ResolutionParts {
  config: Options
  names(trx: Transaction<Schema>, ids: readonly number[]): Promise<Map<number, string>>
  now: number
}

const TRIGGERS: readonly string[] = ['new', 'reopened', 'milestone']
const MESSAGE_LENGTH = 2000
const TOLD_OF_ENDS: readonly ChannelName[] = Object.values(CHANNELS)
  .filter(({ carries }) => carries('resolved'))
  .map(({ name }) => name)

/**
 * What is told of errors that are resolved or deleted: to a channel that was told of them since they last were. What is
 * on here says nothing about it: whoever resolves may sit at a dashboard that sends no messages itself.
 */
export async function resolutions(
  trx: Transaction<Schema>,
  errors: readonly ErrorRow[],
  { config, names, now }: ResolutionParts,
): Promise<NewDelivery[]> {
  if (errors.length === 0) return []
  const open = await openTriggers(trx, errors)
  if (open.length === 0) return []
  const applications = await names(
    trx,
    errors.map((row) => row.application_id),
  )
  return open.flatMap(({ error_id, channel }) => {
    const row = errors.find(({ id }) => id === error_id)
    if (!row) return []
    const { application_id } = row
    const notice = noticeOf(row, applications.get(application_id) ?? '', config, now)
    const key = `resolved:${row.id}:${now}:${channel}`
    return [{ key, channel, notice, error_id: row.id, application_id, state: 'pending', run_at: now }]
  })
}

/** The errors and channels of which the last that was written down is no resolution. */
async function openTriggers(trx: Transaction<Schema>, errors: readonly ErrorRow[]) {
  const rows = await trx
    .selectFrom('faultboard_deliveries')
    .select(['error_id', 'channel', 'event'])
    .where(
      'error_id',
      'in',
      errors.map(({ id }) => id),
    )
    .where('channel', 'in', TOLD_OF_ENDS)
    .where('event', 'in', [...TRIGGERS, 'resolved'])
    // Messages over the hourly limit were never sent, so that no incident was opened by them.
    .where('state', 'not in', ['over_limit', 'combined'])
    .orderBy('id')
    .execute()
  const last = new Map(rows.map((row) => [`${row.error_id}:${row.channel}`, row]))
  return [...last.values()]
    .filter(({ event }) => TRIGGERS.includes(event))
    .map(({ error_id, channel }) => ({ error_id, channel: channel as ChannelName }))
}

function noticeOf(row: ErrorRow, application_name: string, config: Options, now: number): ErrorNotice {
  return {
    event: 'resolved',
    application_name,
    // The row does not know it; another application may run somewhere else.
    environment: application_name === config.application_name ? config.environment : null,
    at: now,
    severity: row.severity,
    error: {
      id: row.id,
      application_id: row.application_id,
      error_type: row.error_type,
      message: cleanText(row.message, MESSAGE_LENGTH),
      place: row.place,
      platform: row.platform,
      app_version: row.app_version,
      occurrence_count: row.occurrence_count,
      first_seen_at: row.first_seen_at,
      occurred_at: row.occurred_at,
      hash_signature: row.hash_signature,
      regressed_in_version: row.regressed_in_version,
    },
  }
}
