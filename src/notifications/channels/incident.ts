import { createHash } from 'node:crypto'
import type { Severity } from '../../model/severity.js'
import { type Card, type CardNotice, cardOf, sentenceOf } from '../content/card.js'
import { hostOf } from '../content/links.js'
import { post } from '../delivery/outbound.js'
import type { Channel } from './channel.js'

const MAX_SUMMARY = 1024

const SEVERITY: Readonly<Record<Severity, string>> = {
  critical: 'critical',
  high: 'error',
  medium: 'warning',
  low: 'info',
}

/** A service that wakes people, by the events that PagerDuty takes. What it opened, it closes when the error is resolved. */
export const incident: Channel = {
  name: 'incident',
  missing: ({ incident_integration_key }) => (incident_integration_key === null ? null : []),
  target: ({ incident_events_url }) => hostOf(incident_events_url),
  carries: (event) => event !== 'held' && event !== 'digest',
  async send({ key, notice }, sending) {
    if (notice.event === 'digest') return { state: 'refused', answer: 'the digest goes by e-mail only' }
    const { config, links } = sending
    const body = {
      routing_key: config.incident_integration_key,
      ...eventOf(notice, key, cardOf(notice, links, config.time_zone)),
    }
    return post({ url: config.incident_events_url, key, body: JSON.stringify(body) }, sending)
  },
}

function eventOf(notice: CardNotice, key: string, card: Card) {
  return {
    event_action: notice.event === 'resolved' ? 'resolve' : 'trigger',
    dedup_key: dedupKey(notice, key),
    client: 'Faultboard',
    ...(card.url === null ? {} : { client_url: card.url, links: [{ href: card.url, text: 'Open in Faultboard' }] }),
    payload: {
      summary: sentenceOf(card, MAX_SUMMARY),
      severity: notice.event === 'test' ? 'info' : SEVERITY[notice.severity],
      source: card.where,
      timestamp: new Date(notice.at).toISOString(),
      ...(card.type === null ? {} : { class: card.type }),
      custom_details: {
        event: notice.event,
        application: notice.application_name.toWellFormed(),
        environment: notice.environment,
        ...(card.message === null ? {} : { message: card.message }),
        ...(card.items.length === 0 ? {} : { errors: card.items.map(({ type, message }) => `${type}: ${message}`) }),
        ...Object.fromEntries(card.facts.map(({ label, value }) => [label.toLowerCase().replaceAll(' ', '_'), value])),
      },
    },
  }
}

/** All messages about one error are one incident. */
function dedupKey(notice: CardNotice, key: string): string {
  if ('error' in notice) return notice.error.hash_signature
  const about = notice.event === 'baseline' ? ['baseline', notice.application_id, notice.error_type] : [key]
  return createHash('sha256').update(JSON.stringify(about)).digest('hex')
}
