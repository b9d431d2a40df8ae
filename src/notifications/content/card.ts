import type { Severity } from '../../model/severity/severity.js'
import { HOUR } from '../../model/time.js'
import type { Links } from './dashboard-links.js'
import { formatCount, formatQuantity, formatTime } from './format-text.js'
import type {
  AssignedError,
  AssignedNotice,
  BaselineNotice,
  DigestNotice,
  ErrorNotice,
  HeldNotice,
  Notice,
  TestNotice,
} from './notice.js'
import { oneLine, safeText, withoutLinks } from './safe-text.js'

/**
 * A notice rendered as text for the channels that people read. The text is safe to display and contains no clickable
 * URLs. Each channel escapes its own markup.
 */
export interface Card {
  /** Kind of notification, such as `New error`. */
  title: string
  /** Application and environment, such as `shop (production)`. */
  source: string
  severity: Severity
  /** Error type, or null when the notice is not about a single error. */
  type: string | null
  message: string | null
  facts: readonly Fact[]
  items: readonly Item[]
  /** Number of items that are not listed. */
  more: number
  url: string | null
}

export interface Fact {
  label: string
  value: string
  /** Rendered in a monospace font. */
  code?: true
}

/** Entry in the list of a summary. */
export interface Item {
  title: string
  severity: Severity
  type: string
  message: string
  url: string | null
}

export type CardNotice = Exclude<Notice, DigestNotice>

const MAX_MESSAGE_LENGTH = 2000
const MAX_TEXT_LENGTH = 200
const MAX_NAME_LENGTH = 60
const MAX_ITEMS = 20
/** Some chats count the URL of a link toward the message length. */
const MAX_URL_LENGTH = 1000

export function renderCard(notice: CardNotice, links: Links, time_zone: string): Card {
  const common = { source: sourceLabel(notice), severity: notice.severity, ...EMPTY_CARD }
  switch (notice.event) {
    case 'baseline':
      return { ...common, ...baselineCard(notice, links) }
    case 'held':
      return { ...common, ...heldCard(notice, links) }
    case 'assigned':
      return { ...common, ...assignedCard(notice, links, time_zone) }
    case 'test':
      return { ...common, ...testCard(notice, links) }
    default:
      return { ...common, ...errorCard(notice, links, time_zone) }
  }
}

/** One-line summary: `shop (production): New error (high): TypeError: x is not a function`. */
export function cardSummary({ source, title, severity, type, message }: Card, limit: number): string {
  return oneLine(
    [`${source}: ${title}${type === null ? '' : ` (${severity})`}`, type, message].filter(Boolean).join(': '),
    limit,
  )
}

/** `shop (production)` */
export function sourceLabel({
  application_name,
  environment,
}: Pick<Notice, 'application_name' | 'environment'>): string {
  const name = shortText(application_name)
  return environment === null ? name : `${name} (${shortText(environment)})`
}

const EMPTY_CARD = { type: null, message: null, facts: [], items: [], more: 0, url: null }

function errorCard(notice: ErrorNotice, links: Links, time_zone: string): Partial<Card> & { title: string } {
  return { title: errorTitle(notice), ...errorDetails(notice, links, time_zone) }
}

function errorDetails({ error, severity }: Pick<ErrorNotice, 'error' | 'severity'>, links: Links, time_zone: string) {
  return {
    type: shortText(error.error_type),
    message: withoutLinks(safeText(error.message, MAX_MESSAGE_LENGTH)),
    facts: [
      { label: 'Severity', value: severity },
      { label: 'Occurrences', value: formatCount(error.occurrence_count) },
      ...(error.place === null ? [] : [codeFact('Location', error.place)]),
      ...(error.app_version === null ? [] : [codeFact('Version', error.app_version)]),
      ...(error.platform === '' ? [] : [codeFact('Platform', error.platform)]),
      { label: 'First seen', value: formatTime(error.first_seen_at, time_zone) },
      { label: 'Last seen', value: formatTime(error.occurred_at, time_zone) },
    ],
    url: links.error(error.id),
  }
}

function errorTitle({ event, error, milestone }: ErrorNotice): string {
  switch (event) {
    case 'new':
      return 'New error'
    case 'reopened':
      return error.regressed_in_version === null
        ? 'Error regressed'
        : `Error regressed in version ${shortText(error.regressed_in_version, MAX_NAME_LENGTH)}`
    case 'milestone':
      return `Error reached ${formatQuantity(milestone ?? error.occurrence_count, 'occurrence')}`
    case 'resolved':
      return 'Error resolved'
  }
}

function baselineCard(notice: BaselineNotice, links: Links): Partial<Card> & { title: string } {
  const { platforms, severity, error_type, application_id } = notice
  const query = new URLSearchParams({ application_id: String(application_id), error_type: error_type.toWellFormed() })
  return {
    title: 'Error rate above baseline',
    type: shortText(error_type),
    message: baselineText(notice),
    facts: [
      { label: 'Severity', value: severity },
      ...platforms.flatMap(({ platform, deviations }) =>
        deviations === null
          ? []
          : [
              {
                label: shortText(platform, MAX_NAME_LENGTH),
                value: `${formatCount(deviations)} standard deviations above baseline`,
              },
            ],
      ),
    ].slice(0, MAX_ITEMS),
    url: listUrl(query, links),
  }
}

function listUrl(query: URLSearchParams, links: Links): string | null {
  return links.page(query.toString().length > MAX_URL_LENGTH ? '/errors' : `/errors?${query}`)
}

/** `Web: 37 this hour, baseline 4.2 ± 1.1` */
function baselineText({ platforms, at, hour_started_at = at }: BaselineNotice): string {
  const when = at < hour_started_at + HOUR ? 'this hour' : 'in the previous hour'
  return platforms
    .slice(0, MAX_ITEMS)
    .map(({ platform, count, mean, std_dev }) => {
      const comparison = `${formatCount(count)} ${when}, baseline ${formatCount(mean)} ± ${formatCount(std_dev)}`
      return `${shortText(platform, MAX_NAME_LENGTH)}: ${comparison}`
    })
    .join('\n')
}

function heldCard({ notices, total, reason, ...about }: HeldNotice, links: Links): Partial<Card> & { title: string } {
  const shown = notices.slice(0, MAX_ITEMS)
  return {
    title:
      reason === 'hourly_limit'
        ? `${formatQuantity(total, 'more notification')} over the hourly limit`
        : `${formatQuantity(total, 'notification')} held during quiet hours`,
    items: shown.map((notice) => heldItem(notice, sourceLabel(about), links)),
    more: Math.max(0, total - shown.length),
    url: links.page('/errors'),
  }
}

function heldItem(notice: ErrorNotice | BaselineNotice, defaultSource: string, links: Links): Item {
  const { title, source, severity, type, message, url } = renderCard(notice, links, 'UTC')
  return {
    title: source === defaultSource ? title : `${source}: ${title}`,
    severity,
    type: type ?? '',
    message: oneLine(message ?? '', MAX_TEXT_LENGTH),
    url,
  }
}

function assignedCard(notice: AssignedNotice, links: Links, time_zone: string): Partial<Card> & { title: string } {
  const { errors, total, recipient } = notice
  const assigned = `assigned to you by ${shortText(notice.assigned_by, MAX_NAME_LENGTH)}`
  const [first] = errors
  if (total === 1 && first) return { title: `Error ${assigned}`, ...errorDetails(first, links, time_zone) }
  const mine = { unresolved: 'true', hide_snoozed: 'true', assigned_to: recipient.name.toWellFormed() }
  return {
    title: `${formatQuantity(total, 'error')} ${assigned}`,
    items: errors.map((error) => assignedItem(error, links)),
    more: Math.max(0, total - errors.length),
    url: listUrl(new URLSearchParams(mine), links),
  }
}

function assignedItem({ error, severity, ...source }: AssignedError, links: Links): Item {
  return {
    title: sourceLabel(source),
    severity,
    type: shortText(error.error_type),
    message: shortText(error.message),
    url: links.error(error.id),
  }
}

function testCard({ requested_by }: TestNotice, links: Links): Partial<Card> & { title: string } {
  return {
    title: 'Test notification',
    message: `Faultboard notifications reach this channel. Requested by ${shortText(requested_by)}.`,
    url: links.page('/overview'),
  }
}

function codeFact(label: string, value: string): Fact {
  return { label, value: shortText(value), code: true }
}

function shortText(text: string, limit = MAX_TEXT_LENGTH): string {
  return withoutLinks(oneLine(text, limit))
}
