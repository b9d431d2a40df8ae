import { type Card, cardSummary, type Fact, type Item, renderCard } from '../content/card.js'
import { urlHost } from '../content/dashboard-links.js'
import { formatQuantity } from '../content/format-text.js'
import { EMAIL_ONLY_EVENTS } from '../content/notice.js'
import { escapeWithinLimit, ZERO_WIDTH_BREAK } from '../content/safe-text.js'
import { post } from '../outbound/http-post.js'
import { defineChannel } from './channel.js'

/** Slack limits: 150 characters per header, 2000 per field, 3000 per section; 10 fields, 50 blocks. */
const MAX_HEADER_LENGTH = 150
const MAX_CODE_LENGTH = 2000
const MAX_INLINE_LENGTH = 300
const MAX_FIELDS = 10
const MAX_TEXT_LENGTH = 3000

/** Slack-compatible chat webhooks. Clients without block support show `text`. */
export const chat = defineChannel({
  name: 'chat',
  label: 'Chat',
  enablingOption: 'enable_chat_notifications',
  missingOptions: ({ enable_chat_notifications, chat_webhook_url }) =>
    enable_chat_notifications ? (chat_webhook_url === null ? ['chat_webhook_url'] : []) : null,
  target: ({ chat_webhook_url }) => urlHost(chat_webhook_url),
  supports: (event) => event !== 'resolved' && !EMAIL_ONLY_EVENTS.includes(event),
  async send({ key, notice }, sendContext) {
    if (notice.event === 'digest') return { state: 'refused', response: 'Digests are sent by email only.' }
    const card = renderCard(notice, sendContext.links, sendContext.config.time_zone)
    return post(
      { url: sendContext.config.chat_webhook_url ?? '', key, body: JSON.stringify(chatBody(card)) },
      sendContext,
    )
  },
})

function chatBody(card: Card) {
  return {
    text: plainText(card),
    mrkdwn: false,
    // Prevents names and URLs in error messages from becoming mentions and links.
    ...{ parse: 'none', link_names: false, unfurl_links: false, unfurl_media: false },
    blocks: [
      { type: 'header', text: plainTextObject(`${card.title} in ${card.source}`, MAX_HEADER_LENGTH) },
      ...(card.type === null ? [] : [sectionBlock(`${inlineCode(card.type)}\n${codeBlock(card.message ?? '')}`)]),
      ...(card.type === null && card.message !== null
        ? [{ type: 'section', text: plainTextObject(card.message, MAX_CODE_LENGTH) }]
        : []),
      ...card.items.map((item) => sectionBlock(itemText(item))),
      ...(card.more > 0 ? [sectionBlock(`and ${formatQuantity(card.more, 'other')}`)] : []),
      ...(card.facts.length > 0 ? [{ type: 'section', fields: card.facts.slice(0, MAX_FIELDS).map(factField) }] : []),
      ...(card.url === null ? [] : [sectionBlock(slackLink(card.url, 'Open in Faultboard'))]),
    ],
  }
}

/** Full text for clients without block support. Slack also shows it in push notifications. */
function plainText(card: Card): string {
  const counts = card.facts.filter(({ label }) => label !== 'Severity').map(({ label, value }) => `${label}: ${value}`)
  const items = card.items.map(({ severity, title, type, message }) => `• ${severity}: ${title}: ${type}: ${message}`)
  const more = card.more > 0 ? [`and ${formatQuantity(card.more, 'other')}`] : []
  const rest = [...items, ...more, ...(counts.length > 0 ? [counts.join(' · ')] : [])].join('\n')
  return [
    escapeText(cardSummary(card, 500), 1000),
    escapeText(rest, MAX_TEXT_LENGTH),
    card.url === null ? '' : slackLink(card.url),
  ]
    .filter((line) => line !== '')
    .join('\n')
}

function itemText({ title, severity, type, message, url }: Item): string {
  const open = url === null ? '' : ` ${slackLink(url, 'open')}`
  return `*${severity}* ${inlineText(title)}${open}\n${inlineCode(type)} ${inlineCode(message)}`
}

function factField({ label, value, code }: Fact) {
  return mrkdwnObject(`*${inlineText(label)}*\n${code ? inlineCode(value) : inlineText(value)}`)
}

function sectionBlock(text: string) {
  return { type: 'section', text: mrkdwnObject(text) }
}

function mrkdwnObject(text: string) {
  return { type: 'mrkdwn', text, verbatim: true }
}

function plainTextObject(text: string, limit: number) {
  return { type: 'plain_text', text: escapeText(text, limit), emoji: false }
}

/** Slack cannot escape formatting characters, but ignores them inside inline code. */
function inlineText(text: string): string {
  return /[*_~]/.test(text) ? inlineCode(text) : escapeText(text, MAX_INLINE_LENGTH)
}

function inlineCode(text: string): string {
  return text === '' ? '' : `\`${escapeText(text, MAX_INLINE_LENGTH)}\``
}

function codeBlock(text: string): string {
  return text === '' ? '' : `\`\`\`\n${escapeText(text, MAX_CODE_LENGTH)}\n\`\`\``
}

function slackLink(url: string, label?: string): string {
  const address = url.replace(/[&<>|]/g, (character) => ENTITIES[character] ?? encodeURIComponent(character))
  return label === undefined ? `<${address}>` : `<${address}|${label}>`
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/**
 * Escapes the three entities that Slack requires. The zero-width breaks are for Slack-compatible chats with other
 * markup, where `@here` notifies everyone and `[x](y)` is a link.
 */
function escapeText(text: string, limit: number): string {
  const withBreaks = text
    .slice(0, limit)
    .replace(/@(?=[\p{L}\p{N}_])/gu, `@${ZERO_WIDTH_BREAK}`)
    .replaceAll('](', `]${ZERO_WIDTH_BREAK}(`)
    .replaceAll('`', 'ˋ')
  return escapeWithinLimit(withBreaks, limit, (character) => ENTITIES[character] ?? character)
}
