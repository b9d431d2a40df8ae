import { cleanText } from '../../model/text.js'
import type { Transaction } from '../../store/kysely.js'
import type { Schema } from '../../store/schema.js'
import type { ErrorRow } from '../../store/sql/row-locks.js'
import { type ChannelName, INCIDENT_CHANNELS } from '../channels/channels.js'
import type { ErrorNotice, NoticeError } from '../content/notice.js'
import type { NewDelivery } from '../delivery/plan-deliveries.js'

interface ResolutionOptions {
  loadNames(trx: Transaction<Schema>, ids: readonly number[]): Promise<Map<number, string>>
  now: number
}

const TRIGGER_EVENTS: readonly string[] = ['new', 'reopened', 'milestone']
const MAX_MESSAGE_LENGTH = 2000

/**
 * Creates resolve notifications for resolved or deleted errors, for every channel with an open trigger. Ignores which
 * channels are active here: the error may be resolved from a process that sends no notifications.
 */
export async function createResolveDeliveries(
  trx: Transaction<Schema>,
  errors: readonly ErrorRow[],
  { loadNames, now }: ResolutionOptions,
): Promise<NewDelivery[]> {
  if (errors.length === 0) return []
  const open = await openTriggers(trx, errors)
  if (open.length === 0) return []
  const applicationNames = await loadNames(
    trx,
    errors.map((row) => row.application_id),
  )
  return open.flatMap(({ error_id, channel }) => {
    const row = errors.find(({ id }) => id === error_id)
    if (!row) return []
    const { application_id } = row
    const notice = resolvedNotice(row, applicationNames.get(application_id) ?? '', now)
    const key = `resolved:${row.id}:${now}:${channel}`
    return [{ key, channel, notice, error_id: row.id, application_id, state: 'pending', run_at: now }]
  })
}

/** Errors and channels whose latest delivery is a trigger. */
async function openTriggers(trx: Transaction<Schema>, errors: readonly ErrorRow[]) {
  const rows = await trx
    .selectFrom('faultboard_deliveries')
    .select(['error_id', 'channel', 'event'])
    .where(
      'error_id',
      'in',
      errors.map(({ id }) => id),
    )
    .where('channel', 'in', INCIDENT_CHANNELS)
    .where('event', 'in', [...TRIGGER_EVENTS, 'resolved'])
    // Deliveries over the hourly limit were never sent, so they opened no incident.
    .where('state', 'not in', ['over_limit', 'combined'])
    .orderBy('id')
    .execute()
  const last = new Map(rows.map((row) => [`${row.error_id}:${row.channel}`, row]))
  return [...last.values()]
    .filter(({ event }) => TRIGGER_EVENTS.includes(event))
    .map(({ error_id, channel }) => ({ error_id, channel: channel as ChannelName }))
}

function resolvedNotice(row: ErrorRow, application_name: string, now: number): ErrorNotice {
  return {
    event: 'resolved',
    application_name,
    environment: row.environment,
    at: now,
    severity: row.severity,
    error: noticeError(row),
  }
}

export function noticeError(row: ErrorRow): NoticeError {
  return {
    id: row.id,
    application_id: row.application_id,
    error_type: row.error_type,
    message: cleanText(row.message, MAX_MESSAGE_LENGTH),
    place: row.place,
    platform: row.platform,
    app_version: row.app_version,
    occurrence_count: row.occurrence_count,
    first_seen_at: row.first_seen_at,
    occurred_at: row.occurred_at,
    hash_signature: row.hash_signature,
    regressed_in_version: row.regressed_in_version,
  }
}
