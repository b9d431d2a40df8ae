import { randomUUID } from 'node:crypto'
import type { TrackerInstance } from '../../tracker.js'
import { SeenEvents } from '../seen-events.js'
import { type Envelope, jsonIn } from './envelope.js'
import { type Arrived, errorOf } from './event.js'
import { Refusal } from './refusal.js'
import { type Json, textIn, timeIn } from './values.js'

type From = Pick<Arrived, 'project_id' | 'remote_address'>

/** Records the errors of an envelope and counts the other items. Returns the event id that the SDK expects. */
export function createRecording(tracker: TrackerInstance): (envelope: Envelope, from: From) => Promise<string | null> {
  const seen = new SeenEvents(tracker)
  return async ({ header, items }, from) => {
    // All events are parsed before the first is recorded: an envelope is accepted as a whole or not at all.
    const events = items.filter(({ type }) => type === 'event').map(({ payload }) => jsonIn(payload, 'an event'))
    for (const { type } of items) if (type !== 'event') tracker.drop(`sentry_dropped: ${kindOf(type)}`)
    // The id in the header belongs to the first event: a second event without an id must not be treated as a duplicate.
    const numbered = events.map((event, i) => ({
      event,
      event_id: idIn(event.event_id) ?? (i === 0 ? idIn(header.event_id) : null) ?? randomUUID().replaceAll('-', ''),
    }))
    const when = { now: tracker.inlet.now(), sent_at: timeIn(header.sent_at) }
    // Sequential: a hundred at once would block the host for a second.
    for (const { event, event_id } of numbered) {
      const kept = await record(event, { ...from, ...when, event_id })
      // Earlier events have ids, so they count once, however often the envelope is sent.
      if (!kept) throw new Refusal(503, 'errors cannot be stored at the moment', { 'retry-after': '60' })
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

/** Limited to known types: counters with names chosen by clients would grow without bound. */
function kindOf(type: string): string {
  return KINDS.has(type) ? type : 'other'
}

function idIn(value: unknown): string | null {
  const id = textIn(value)?.replaceAll('-', '').toLowerCase()
  return id && /^[0-9a-f]{32}$/.test(id) ? id : null
}

/** The older endpoint also receives transactions and similar items, with their own type. */
function isError({ type }: Json): boolean {
  return type === undefined || type === null || type === 'error' || type === 'default'
}
