import * as v from 'valibot'
import type { Context } from '../../context.js'
import { choice, clampedInteger, id, optional } from '../../model/input.js'
import type { Severity } from '../../model/severity.js'
import { isoTime } from '../../model/time.js'
import { defineOperation } from '../../operation.js'
import type { Selectable } from '../../store/kysely.js'
import type { DeliveriesTable } from '../../store/schema.js'
import type { Notice } from '../content/notice.js'
import { sentKeys } from './sent-key.js'

export const DELIVERY_STATES = ['pending', 'sending', 'sent', 'failed', 'held', 'over_limit', 'combined'] as const
export const DELIVERY_CHANNELS = ['chat', 'community_chat', 'email', 'incident', 'webhook'] as const

/** A message as the log shows it. Times are ISO 8601 in UTC. */
export interface Delivery {
  id: number
  channel: string
  event: Notice['event']
  state: (typeof DELIVERY_STATES)[number]
  severity: Severity
  /** What it is about, in a line. */
  subject: string
  error_id: number | null
  /** Whether the error can still be looked at. */
  error_exists: boolean
  application_id: number | null
  application_name: string | null
  attempts: number
  last_answer: string | null
  /** As the receiver sees it. */
  idempotency_key: string
  created_at: string
  /** When it is tried next, or told with the others that are held. */
  run_at: string | null
  finished_at: string | null
}

export interface DeliveriesPage {
  deliveries: Delivery[]
  pagination: { page: number; per_page: number; total_count: number; total_pages: number }
}

export const deliveriesInput = v.object({
  state: optional(choice(DELIVERY_STATES)),
  channel: optional(choice(DELIVERY_CHANNELS)),
  error_id: optional(id()),
  application_id: optional(id()),
  page: optional(clampedInteger({ min: 1, max: 1_000_000_000 })),
  per_page: optional(clampedInteger({ min: 1, max: 100 })),
})

type Filter = v.InferOutput<typeof deliveriesInput>

/** What was sent to whom, or is to be, newest first. */
export const deliveries = defineOperation({
  input: deliveriesInput,
  async run(context, input): Promise<DeliveriesPage> {
    const { per_page = 25 } = input
    const { total } = await matching(context, input)
      .select(({ fn }) => fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow()
    const total_pages = Math.max(1, Math.ceil(total / per_page))
    const page = Math.min(input.page ?? 1, total_pages)
    const ids = await matching(context, input)
      .select('d.id')
      .orderBy('d.id', 'desc')
      .limit(per_page)
      .offset((page - 1) * per_page)
      .execute()
    return {
      deliveries: await read(
        context,
        ids.map(({ id }) => id),
      ),
      pagination: { page, per_page, total_count: total, total_pages },
    }
  },
})

/** Asked for by their ids: to sort whole messages would take long. */
async function read(context: Context, ids: readonly number[]): Promise<Delivery[]> {
  if (ids.length === 0) return []
  const rows = await context.database.read
    .selectFrom('faultboard_deliveries as d')
    .leftJoin('faultboard_applications as a', 'a.id', 'd.application_id')
    .leftJoin('faultboard_errors as e', 'e.id', 'd.error_id')
    .selectAll('d')
    .select(['a.name as application_name', 'e.id as known_error_id'])
    .where('d.id', 'in', ids)
    .orderBy('d.id', 'desc')
    .execute()
  const sentKey = await sentKeys(context)
  return rows.map((row) => deliveryOf(row, sentKey))
}

function matching({ database }: Context, { state, channel, error_id, application_id }: Filter) {
  return (
    database.read
      .selectFrom('faultboard_deliveries as d')
      .$if(state !== undefined, (query) => query.where('d.state', '=', state ?? ''))
      // With the states named, the index finds a channel that is rarely used without reading every message.
      .$if(channel !== undefined, (query) =>
        query.where('d.channel', '=', channel ?? '').where('d.state', 'in', DELIVERY_STATES),
      )
      .$if(error_id !== undefined, (query) => query.where('d.error_id', '=', error_id ?? 0))
      .$if(application_id !== undefined, (query) => query.where('d.application_id', '=', application_id ?? 0))
  )
}

type Row = Selectable<DeliveriesTable> & { application_name: string | null; known_error_id: number | null }

function deliveryOf(row: Row, sentKey: (key: string) => string): Delivery {
  const notice = JSON.parse(row.payload) as Notice
  return {
    id: row.id,
    channel: row.channel,
    event: notice.event,
    state: row.state as Delivery['state'],
    severity: notice.severity,
    subject: subjectOf(notice),
    error_id: row.error_id,
    error_exists: row.known_error_id !== null,
    application_id: row.application_id,
    application_name: row.application_name,
    attempts: row.attempts,
    last_answer: row.last_answer,
    idempotency_key: sentKey(row.idempotency_key),
    created_at: new Date(row.created_at).toISOString(),
    run_at: isoTime(row.run_at),
    finished_at: isoTime(row.finished_at),
  }
}

function subjectOf(notice: Notice): string {
  switch (notice.event) {
    case 'baseline':
      return `${notice.error_type} comes more often than usual`
    case 'held':
      return notice.reason === 'hourly_limit'
        ? `${notice.total} over the hourly limit`
        : `${notice.total} held during quiet hours`
    case 'digest':
      return `The ${notice.digest.frequency} digest`
    case 'test':
      return `A test by ${notice.requested_by}`
    default:
      // A newer release that shares the database may know events that this one does not.
      if (!notice.error) return notice.event
      return `${notice.error.error_type}: ${notice.error.message}`.slice(0, 200)
  }
}
