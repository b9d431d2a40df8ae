import type { Severity } from '../../model/severity.js'
import { HOUR } from '../../model/time.js'
import { counted, formatCount, formatTime } from './formats.js'
import { legible, oneLine, unlinked } from './legible.js'
import type { Links } from './links.js'
import type { BaselineNotice, DigestNotice, ErrorNotice, HeldNotice, Notice, TestNotice } from './notice.js'

/**
 * A notice in words, the same for every channel that is read by people. Its text is legible and no link, but not
 * escaped: what is markup differs from channel to channel.
 */
export interface Card {
  /** What happened: `New error`. */
  title: string
  /** Where: `shop (production)`. */
  where: string
  severity: Severity
  /** What it is about: the type of an error. */
  type: string | null
  message: string | null
  facts: readonly Fact[]
  items: readonly Item[]
  /** How many there are beyond the items. */
  more: number
  url: string | null
}

export interface Fact {
  label: string
  value: string
  /** Shown as code is. */
  code?: true
}

/** One of several things that a message tells of. */
export interface Item {
  title: string
  severity: Severity
  type: string
  message: string
  url: string | null
}

export type CardNotice = Exclude<Notice, DigestNotice>

const MAX_MESSAGE = 2000
const MAX_WORD = 200
const MAX_NAME = 60
const MAX_ITEMS = 20
/** Some chats count a link as part of their text. */
const MAX_URL = 1000

export function cardOf(notice: CardNotice, links: Links, time_zone: string): Card {
  const common = { where: whereOf(notice), severity: notice.severity, ...EMPTY }
  switch (notice.event) {
    case 'baseline':
      return { ...common, ...baselineCard(notice, links) }
    case 'held':
      return { ...common, ...heldCard(notice, links) }
    case 'test':
      return { ...common, ...testCard(notice, links) }
    default:
      return { ...common, ...errorCard(notice, links, time_zone) }
  }
}

/** Everything in one sentence: `shop (production): New error (high): TypeError: x is not a function`. */
export function sentenceOf({ where, title, severity, type, message }: Card, limit: number): string {
  return oneLine(
    [`${where}: ${title}${type === null ? '' : ` (${severity})`}`, type, message].filter(Boolean).join(': '),
    limit,
  )
}

/** `shop (production)` */
export function whereOf({ application_name, environment }: Pick<Notice, 'application_name' | 'environment'>): string {
  const name = word(application_name)
  return environment === null ? name : `${name} (${word(environment)})`
}

const EMPTY = { type: null, message: null, facts: [], items: [], more: 0, url: null }

function errorCard(notice: ErrorNotice, links: Links, time_zone: string): Partial<Card> & { title: string } {
  const { error, severity } = notice
  return {
    title: errorTitle(notice),
    type: word(error.error_type),
    message: unlinked(legible(error.message, MAX_MESSAGE)),
    facts: [
      { label: 'Severity', value: severity },
      { label: 'Occurrences', value: formatCount(error.occurrence_count) },
      ...(error.place === null ? [] : [code('Place', error.place)]),
      ...(error.app_version === null ? [] : [code('Version', error.app_version)]),
      ...(error.platform === '' ? [] : [code('Platform', error.platform)]),
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
        ? 'Error came back'
        : `Error regressed in version ${word(error.regressed_in_version, MAX_NAME)}`
    case 'milestone':
      return `Error reached ${counted(milestone ?? error.occurrence_count, 'occurrence')}`
    case 'resolved':
      return 'Error resolved'
  }
}

function baselineCard(notice: BaselineNotice, links: Links): Partial<Card> & { title: string } {
  const { platforms, severity, error_type, application_id } = notice
  const query = new URLSearchParams({ application_id: String(application_id), error_type: error_type.toWellFormed() })
  return {
    title: 'More errors than usual',
    type: word(error_type),
    message: baselineText(notice),
    facts: [
      { label: 'Severity', value: severity },
      ...platforms.flatMap(({ platform, deviations }) =>
        deviations === null
          ? []
          : [
              {
                label: word(platform, MAX_NAME),
                value: `${formatCount(deviations)} standard deviations above the usual`,
              },
            ],
      ),
    ].slice(0, MAX_ITEMS),
    url: links.page(query.toString().length > MAX_URL ? '/errors' : `/errors?${query}`),
  }
}

/** `Web: 37 in this hour, usual 4.2 ± 1.1` */
function baselineText({ platforms, at, hour_started_at = at }: BaselineNotice): string {
  const when = at < hour_started_at + HOUR ? 'in this hour' : 'in the previous hour'
  return platforms
    .slice(0, MAX_ITEMS)
    .map(({ platform, count, usual, std_dev }) => {
      const often = `${formatCount(count)} ${when}, usual ${formatCount(usual)} ± ${formatCount(std_dev)}`
      return `${word(platform, MAX_NAME)}: ${often}`
    })
    .join('\n')
}

function heldCard({ notices, total, reason, ...about }: HeldNotice, links: Links): Partial<Card> & { title: string } {
  const shown = notices.slice(0, MAX_ITEMS)
  return {
    title:
      reason === 'hourly_limit'
        ? `${counted(total, 'more message')} over the hourly limit`
        : `${counted(total, 'message')} from the quiet hours`,
    items: shown.map((notice) => heldItem(notice, whereOf(about), links)),
    more: Math.max(0, total - shown.length),
    url: links.page('/errors'),
  }
}

function heldItem(notice: ErrorNotice | BaselineNotice, usually: string, links: Links): Item {
  const { title, where, severity, type, message, url } = cardOf(notice, links, 'UTC')
  return {
    title: where === usually ? title : `${where}: ${title}`,
    severity,
    type: type ?? '',
    message: oneLine(message ?? '', MAX_WORD),
    url,
  }
}

function testCard({ requested_by }: TestNotice, links: Links): Partial<Card> & { title: string } {
  return {
    title: 'Test message',
    message: `Messages of Faultboard arrive here. ${word(requested_by)} asked for this one.`,
    url: links.page('/overview'),
  }
}

function code(label: string, value: string): Fact {
  return { label, value: word(value), code: true }
}

function word(text: string, limit = MAX_WORD): string {
  return unlinked(oneLine(text, limit))
}
