import { createHash } from 'node:crypto'
import type { Severity } from '../../model/severity/severity.js'
import { type Card, type CardNotice, cardSummary, renderCard } from '../content/card.js'
import { urlHost } from '../content/dashboard-links.js'
import { EMAIL_ONLY_EVENTS } from '../content/notice.js'
import { post } from '../outbound/http-post.js'
import { defineChannel } from './channel.js'

const MAX_SUMMARY_LENGTH = 1024

const INCIDENT_SEVERITIES: Readonly<Record<Severity, string>> = {
  critical: 'critical',
  high: 'error',
  medium: 'warning',
  low: 'info',
}

/** Incident management through PagerDuty-compatible events. Resolving the error resolves its incident. */
export const incident = defineChannel({
  name: 'incident',
  label: 'Incident',
  enablingOption: 'incident_integration_key',
  missingOptions: ({ incident_integration_key }) => (incident_integration_key === null ? null : []),
  target: ({ incident_events_url }) => urlHost(incident_events_url),
  pagesOnCall: true,
  supports: (event) => event !== 'held' && !EMAIL_ONLY_EVENTS.includes(event),
  async send({ key, notice }, sendContext) {
    if (notice.event === 'digest') return { state: 'refused', response: 'Digests are sent by email only.' }
    const { config, links } = sendContext
    const body = {
      routing_key: config.incident_integration_key,
      ...incidentEvent(notice, key, renderCard(notice, links, config.time_zone)),
    }
    return post({ url: config.incident_events_url, key, body: JSON.stringify(body) }, sendContext)
  },
})

function incidentEvent(notice: CardNotice, key: string, card: Card) {
  return {
    event_action: notice.event === 'resolved' ? 'resolve' : 'trigger',
    dedup_key: dedupKey(notice, key),
    client: 'Faultboard',
    ...(card.url === null ? {} : { client_url: card.url, links: [{ href: card.url, text: 'Open in Faultboard' }] }),
    payload: {
      summary: cardSummary(card, MAX_SUMMARY_LENGTH),
      severity: notice.event === 'test' ? 'info' : INCIDENT_SEVERITIES[notice.severity],
      source: card.source,
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

/** Maps all notifications about one error to the same incident. */
function dedupKey(notice: CardNotice, key: string): string {
  const identity = incidentIdentity(notice, key)
  return createHash('sha256').update(JSON.stringify(identity)).digest('hex')
}

function incidentIdentity(notice: CardNotice, key: string): unknown[] {
  const { application_name, environment } = notice
  if ('error' in notice) return [application_name, environment, notice.error.hash_signature]
  if (notice.event !== 'baseline') return [key]
  return ['baseline', notice.application_id, environment, notice.error_type]
}
