import type { Options } from '../config/options.js'
import { cleanText } from '../model/text.js'
import type { Transaction } from '../store/kysely.js'
import type { ErrorRow } from '../store/lock.js'
import type { Schema } from '../store/schema.js'
import type { ChannelName } from './channel.js'
import { activeChannels } from './channels.js'
import type { ErrorNotice } from './notice.js'
import type { Tidings } from './write-deliveries.js'

export interface Resolved extends Tidings {
  notice: ErrorNotice
  /** The channel that was told of it, and waits for its end. */
  channel: ChannelName
}

interface ResolutionParts {
  config: Options
  names(trx: Transaction<Schema>, ids: readonly number[]): Promise<Map<number, string>>
  now: number
}

const TRIGGERS: readonly string[] = ['new', 'reopened', 'milestone']
const MESSAGE_LENGTH = 2000

/** What is told of errors that are resolved or deleted: to a channel that was told of them since they last were. */
export async function resolutions(
  trx: Transaction<Schema>,
  errors: readonly ErrorRow[],
  { config, names, now }: ResolutionParts,
): Promise<Resolved[]> {
  const channels = activeChannels(config)
    .filter(({ carries }) => carries('resolved'))
    .map(({ name }) => name)
  if (channels.length === 0 || errors.length === 0) return []
  const open = await openTriggers(trx, errors, channels)
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
    return [{ key: `resolved:${row.id}:${now}`, channel, notice, error_id: row.id, application_id }]
  })
}

/** The errors and channels of which the last that was written down is no resolution. */
async function openTriggers(trx: Transaction<Schema>, errors: readonly ErrorRow[], channels: readonly ChannelName[]) {
  const rows = await trx
    .selectFrom('faultboard_deliveries')
    .select(['error_id', 'channel', 'event'])
    .where(
      'error_id',
      'in',
      errors.map(({ id }) => id),
    )
    .where('channel', 'in', channels)
    .where('event', 'in', [...TRIGGERS, 'resolved'])
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
