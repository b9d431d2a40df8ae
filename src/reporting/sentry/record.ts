import { randomUUID } from 'node:crypto'
import type { TrackerInstance } from '../../tracker.js'
import { SeenEvents } from '../seen-events.js'
import { type Envelope, jsonIn } from './envelope.js'
import { type Arrived, errorOf } from './event.js'
import { Refusal } from './refusal.js'
import { type Json, textIn, timeIn } from './values.js'

type From = Pick<Arrived, 'project_id' | 'remote_address'>

/** Records the errors of envelopes and counts the rest; gives the id that the SDK knows what it sent by. */
export function createRecording(tracker: TrackerInstance): (envelope: Envelope, from: From) => Promise<string | null> {
  const seen = new SeenEvents(tracker)
  return async ({ header, items }, from) => {
    // All are read before the first is recorded: an envelope is taken as a whole or not at all.
    const events = items.filter(({ type }) => type === 'event').map(({ payload }) => jsonIn(payload, 'an event'))
    for (const { type } of items) if (type !== 'event') tracker.drop(`sentry_dropped: ${kindOf(type)}`)
    // The header's id is that of the event: a second one without an id of its own must not be taken for it.
    const numbered = events.map((event, i) => ({
      event,
      event_id: idIn(event.event_id) ?? (i === 0 ? idIn(header.event_id) : null) ?? randomUUID().replaceAll('-', ''),
    }))
    const when = { now: tracker.inlet.now(), sent_at: timeIn(header.sent_at) }
    // One after the other: a hundred at once would hold the host's thread for a second.
    for (const { event, event_id } of numbered) {
      const kept = await record(event, { ...from, ...when, event_id })
      // Those before it have their numbers: they count once, however often the envelope comes.
      if (!kept) throw new Refusal(503, 'errors can be kept nowhere at the moment', { 'retry-after': '60' })
    }
    return idIn(header.event_id) ?? numbered[0]?.event_id ?? null
  }

  async function record(event: Json, arrived: Arrived): Promise<boolean> {
    const error = isError(event) ? errorOf(event, arrived) : null
    if (error) return seen.record(error)
    tracker.drop('sentry_dropped: event without an error')
    return true
  }
}

const KINDS: ReadonlySet<string> = new Set([
  'transaction', 'session', 'sessions', 'attachment', 'client_report', 'user_report', 'feedback', 'replay_event',
  'replay_recording', 'replay_video', 'profile', 'profile_chunk', 'check_in', 'statsd', 'metric_buckets', 'metric',
  'trace_metric', 'log', 'otel_log', 'span', 'otel_span', 'raw_security', 'security', 'nel', 'form_data',
]) // biome-ignore format: a word list reads best as lines of words

/** A word of our list: counters under names that a client makes up would never end. */
function kindOf(type: string): string {
  return KINDS.has(type) ? type : 'other'
}

function idIn(value: unknown): string | null {
  const id = textIn(value)?.replaceAll('-', '').toLowerCase()
  return id && /^[0-9a-f]{32}$/.test(id) ? id : null
}

/** Transactions and the like come to the elder endpoint under the same roof, with a type of their own. */
function isError({ type }: Json): boolean {
  return type === undefined || type === null || type === 'error' || type === 'default'
}
