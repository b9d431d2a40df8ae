import * as v from 'valibot'
import type { Context } from '../../context.js'
import { MAX_ENVIRONMENT_LENGTH } from '../../model/environment.js'
import { choice, clampedInteger, filterText, id, optional } from '../../model/input/input.js'
import * as r from '../../model/result.js'
import { isoTime } from '../../model/time.js'
import { defineOperation } from '../../operation.js'
import { deliveryTotals } from '../../store/delivery-totals.js'
import type { Selectable } from '../../store/kysely.js'
import type { DeliveriesTable } from '../../store/schema.js'
import { CHANNEL_NAMES } from '../channels/channels.js'
import { type DigestNotice, type ErrorNotice, NOTICE_EVENTS, type Notice } from '../content/notice.js'
import { createKeyPrefixer } from './send-once.js'

export const DELIVERY_STATES = [
  'pending',
  'retrying',
  'sending',
  'sent',
  'failed',
  'held',
  'over_limit',
  'combined',
] as const

/** Stored as `pending` with at least one failed attempt. */
const RETRYING = 'retrying'

/** Entry of the delivery log. Times are ISO 8601 in UTC. */
export const Delivery = r.object({
  id: r.integer,
  channel: r.text,
  event: r.oneOf(NOTICE_EVENTS),
  state: r.oneOf(DELIVERY_STATES),
  severity: r.severity,
  /** One-line summary. */
  subject: r.text,
  error_id: r.nullable(r.integer),
  /** False after the error was deleted. */
  error_exists: r.boolean,
  application_id: r.nullable(r.integer),
  application_name: r.nullable(r.text),
  /** Environment of the error or baseline. Null for summaries, digests and tests. */
  environment: r.nullable(r.text),
  attempts: r.integer,
  last_response: r.nullable(r.text),
  /** Key as sent to the receiver. */
  idempotency_key: r.text,
  created_at: r.time,
  /** Time of the next attempt, or of the summary for a held delivery. */
  run_at: r.nullable(r.time),
  finished_at: r.nullable(r.time),
  /** Number of messages ahead in the queue of the application. Null unless the delivery is overdue. */
  messages_ahead: r.nullable(r.integer),
  /** True when `messages_ahead` is a lower bound. */
  messages_ahead_is_lower_bound: r.optional(r.alwaysTrue),
})
export type Delivery = v.InferOutput<typeof Delivery>

export const DeliveriesPage = r.object({
  deliveries: r.list(Delivery),
  pagination: r.PlainPagination,
})
export type DeliveriesPage = v.InferOutput<typeof DeliveriesPage>

export const deliveriesInput = v.object({
  state: optional(choice(DELIVERY_STATES)),
  channel: optional(choice(CHANNEL_NAMES)),
  error_id: optional(id()),
  application_id: optional(id()),
  environment: filterText({ max: MAX_ENVIRONMENT_LENGTH, note: 'only about errors in this environment' }),
  page: optional(clampedInteger({ min: 1, max: 1_000_000_000 })),
  per_page: optional(clampedInteger({ min: 1, max: 100 })),
})

type Filter = v.InferOutput<typeof deliveriesInput>

/** Lists deliveries, newest first. */
export const deliveries = defineOperation({
  input: deliveriesInput,
  async run(context, input): Promise<DeliveriesPage> {
    const { per_page = 25 } = input
    const { total } = await matchingDeliveries(context, input)
      .select(({ fn }) => fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow()
    const total_pages = Math.max(1, Math.ceil(total / per_page))
    const page = Math.min(input.page ?? 1, total_pages)
    const ids = await matchingDeliveries(context, input)
      .select('d.id')
      .orderBy('d.id', 'desc')
      .limit(per_page)
      .offset((page - 1) * per_page)
      .execute()
    return {
      deliveries: await loadDeliveries(
        context,
        ids.map(({ id }) => id),
      ),
      pagination: { page, per_page, total_count: total, total_pages },
    }
  },
})

/** Loads rows by id, because sorting rows with large payloads is slow. */
async function loadDeliveries(context: Context, ids: readonly number[]): Promise<Delivery[]> {
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
  const addKeyPrefix = await createKeyPrefixer(context)
  const messagesAhead = await countMessagesAhead(context, rows)
  return rows.map((row) => ({ ...toDelivery(row, addKeyPrefix), ...messagesAhead(row) }))
}

/** Exceeds the time in which a process finds a due delivery. */
const OVERDUE_MS = 10_000
const MAX_COUNTED_AHEAD = 1000

type MessagesAhead = Pick<Delivery, 'messages_ahead' | 'messages_ahead_is_lower_bound'>

/** Counts the messages ahead of each overdue delivery. Reads the start of the queue once per application. */
async function countMessagesAhead(
  { database, now }: Context,
  rows: readonly Row[],
): Promise<(row: Row) => MessagesAhead> {
  const isOverdue = ({ state, run_at }: Row) => state === 'pending' && run_at !== null && run_at < now() - OVERDUE_MS
  const queues = new Map<number | null, number[]>()
  for (const application_id of new Set(rows.filter(isOverdue).map((row) => row.application_id))) {
    const queue = await database.read
      .selectFrom('faultboard_deliveries')
      .select('run_at')
      .where('state', '=', 'pending')
      .where('application_id', application_id === null ? 'is' : '=', application_id)
      .where('run_at', '<=', now())
      .orderBy('run_at')
      .limit(MAX_COUNTED_AHEAD)
      .execute()
    queues.set(
      application_id,
      queue.map(({ run_at }) => run_at ?? 0),
    )
  }
  return (row) => {
    if (!isOverdue(row)) return { messages_ahead: null }
    const queue = queues.get(row.application_id) ?? []
    const messages_ahead = queue.filter((run_at) => run_at < (row.run_at ?? 0)).length
    return messages_ahead < MAX_COUNTED_AHEAD
      ? { messages_ahead }
      : { messages_ahead, messages_ahead_is_lower_bound: true }
  }
}

function matchingDeliveries({ database }: Context, { state, channel, error_id, application_id, environment }: Filter) {
  return (
    database.read
      .selectFrom('faultboard_deliveries as d')
      .$if(state !== undefined, (query) => query.where('d.state', '=', state === RETRYING ? 'pending' : (state ?? '')))
      .$if(state === 'pending', (query) => query.where('d.attempts', '=', 0))
      .$if(state === RETRYING, (query) => query.where('d.attempts', '>', 0))
      // Naming the states lets the database use the (state, channel) index for rarely used channels.
      .$if(channel !== undefined, (query) =>
        query.where('d.channel', '=', channel ?? '').where('d.state', 'in', DELIVERY_STATES),
      )
      .$if(error_id !== undefined, (query) => query.where('d.error_id', '=', error_id ?? 0))
      .$if(application_id !== undefined, (query) => query.where('d.application_id', '=', application_id ?? 0))
      .$if(environment !== undefined, (query) => query.where('d.environment', '=', environment ?? ''))
  )
}

type Row = Selectable<DeliveriesTable> & { application_name: string | null; known_error_id: number | null }

function toDelivery(row: Row, addKeyPrefix: (key: string) => string): Omit<Delivery, keyof MessagesAhead> {
  const notice = JSON.parse(row.payload) as Notice
  return {
    id: row.id,
    channel: row.channel,
    event: notice.event,
    state: deliveryState(row),
    severity: notice.severity,
    subject: noticeSubject(notice),
    error_id: row.error_id,
    error_exists: row.known_error_id !== null,
    application_id: row.application_id,
    application_name: row.application_name,
    environment: row.environment,
    attempts: row.attempts,
    last_response: row.last_response,
    idempotency_key: addKeyPrefix(row.idempotency_key),
    created_at: new Date(row.created_at).toISOString(),
    run_at: isoTime(row.run_at),
    finished_at: isoTime(row.finished_at),
  }
}

function deliveryState({ state, attempts }: Pick<Row, 'state' | 'attempts'>): Delivery['state'] {
  return state === 'pending' && attempts > 0 ? RETRYING : (state as Delivery['state'])
}

function noticeSubject(notice: Notice): string {
  switch (notice.event) {
    case 'baseline':
      return `${notice.error_type} exceeds its baseline`
    case 'held':
      return notice.reason === 'hourly_limit'
        ? `${notice.total} notifications over the hourly limit`
        : `${notice.total} notifications held during quiet hours`
    case 'digest':
      return digestSubject(notice)
    case 'assigned': {
      const [first] = notice.errors
      const people = `assigned to ${notice.recipient.name} by ${notice.assigned_by}`
      return notice.total === 1 && first ? `${errorSummary(first)} (${people})` : `${notice.total} errors ${people}`
    }
    case 'test':
      return `Test requested by ${notice.requested_by}`
    default:
      // A newer release on the same database may write events that this release does not support.
      if (!notice.error) return notice.event
      return errorSummary(notice)
  }
}

function digestSubject({ digest, recipients = [] }: DigestNotice): string {
  const title = `${digest.frequency === 'daily' ? 'Daily' : 'Weekly'} digest`
  return digest.assigned_errors ? `${title} for ${recipients.join(', ')}` : title
}

function errorSummary({ error }: Pick<ErrorNotice, 'error'>): string {
  return `${error.error_type}: ${error.message}`.slice(0, 200)
}

export const DeliveryCounts = r.object({
  pending: r.integer,
  retrying: r.integer,
  sending: r.integer,
  sent: r.integer,
  failed: r.integer,
  held: r.integer,
  over_limit: r.integer,
  combined: r.integer,
} satisfies Record<Delivery['state'], unknown>)
export type DeliveryCounts = v.InferOutput<typeof DeliveryCounts>

const { channel, error_id, application_id, environment } = deliveriesInput.entries

/** Counts deliveries by state. */
export const deliveryCounts = defineOperation({
  input: v.object({ channel, error_id, application_id, environment }),
  async run({ database }, filter): Promise<DeliveryCounts> {
    const totals = await deliveryTotals(database, ({ and }) =>
      and(Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))),
    )
    return Object.fromEntries(DELIVERY_STATES.map((state) => [state, totals.get(state) ?? 0])) as DeliveryCounts
  },
})
