import { randomUUID } from 'node:crypto'
import type { TrackerInstance } from '../../tracker.js'
import { SeenEvents } from '../seen-events.js'
import { type Envelope, parseJsonObject } from './envelope.js'
import { type EventOrigin, toForeignError } from './event.js'
import { Rejection } from './rejection.js'
import { asText, asTime, type Json } from './values.js'

type EnvelopeOrigin = Pick<EventOrigin, 'project_id' | 'remote_address'>

/** Records the errors of an envelope and counts the other items. Returns the event id that the SDK expects. */
export function createRecorder(
  tracker: TrackerInstance,
): (envelope: Envelope, envelopeOrigin: EnvelopeOrigin) => Promise<string | null> {
  const seenEvents = new SeenEvents(tracker)
  return async ({ header, items }, envelopeOrigin) => {
    // Parses all events before recording any event. An envelope is accepted as a whole or not at all.
    const events = items
      .filter(({ type }) => type === 'event')
      .map(({ payload }) => parseJsonObject(payload, 'an event'))
    for (const { type } of items) if (type !== 'event') tracker.drop(`sentry_dropped: ${itemKind(type)}`)
    // Uses the id in the header for the first event only. A second event without an id is not a duplicate.
    const identified = events.map((event, i) => ({
      event,
      event_id:
        readEventId(event.event_id) ??
        (i === 0 ? readEventId(header.event_id) : null) ??
        randomUUID().replaceAll('-', ''),
    }))
    const times = { now: tracker.intake.now(), sent_at: asTime(header.sent_at) }
    // Sequential, because a hundred events at once would block the host for a second.
    for (const { event, event_id } of identified) {
      const isStored = await record(event, { ...envelopeOrigin, ...times, event_id })
      // Earlier events count once, even if the envelope is sent again, because each event has an id.
      if (!isStored) throw new Rejection(503, 'errors cannot be stored right now', { 'retry-after': '60' })
    }
    return readEventId(header.event_id) ?? identified[0]?.event_id ?? null
  }

  async function record(event: Json, origin: EventOrigin): Promise<boolean> {
    const error = isError(event) ? toForeignError(event, origin) : null
    if (error) return seenEvents.record(error)
    tracker.drop('sentry_dropped: event without an error')
    return true
  }
}

const KNOWN_ITEM_KINDS: ReadonlySet<string> = new Set([
  'transaction', 'session', 'sessions', 'attachment', 'client_report', 'user_report', 'feedback', 'replay_event',
  'replay_recording', 'replay_video', 'profile', 'profile_chunk', 'check_in', 'statsd', 'metric_buckets', 'metric',
  'trace_metric', 'log', 'otel_log', 'span', 'otel_span', 'raw_security', 'security', 'nel', 'form_data',
]) // biome-ignore format: a word list reads best as lines of words

/** Limits counters to known types, because clients could create counters without bound. */
function itemKind(type: string): string {
  return KNOWN_ITEM_KINDS.has(type) ? type : 'other'
}

function readEventId(value: unknown): string | null {
  const id = asText(value)?.replaceAll('-', '').toLowerCase()
  return id && /^[0-9a-f]{32}$/.test(id) ? id : null
}

/** Detects errors by their type, because the older endpoint also receives transactions and similar items. */
function isError({ type }: Json): boolean {
  return type === undefined || type === null || type === 'error' || type === 'default'
}
