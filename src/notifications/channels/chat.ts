import { type Card, cardOf, type Fact, type Item, sentenceOf } from '../content/card.js'
import { counted } from '../content/formats.js'
import { BREAK, escapedWithin } from '../content/legible.js'
import { hostOf } from '../content/links.js'
import { post } from '../delivery/outbound.js'
import type { Channel } from './channel.js'

/** What Slack takes: 150 characters in a header, 2000 in a field and 3000 in a section, 10 fields, 50 blocks. */
const MAX_HEADER = 150
const MAX_CODE = 2000
const MAX_WORD = 300
const MAX_FIELDS = 10
const MAX_TEXT = 3000

/** A chat whose webhooks take what Slack's take: `text` for all of them, blocks for those that show them. */
export const chat: Channel = {
  name: 'chat',
  missing: ({ enable_chat_notifications, chat_webhook_url }) =>
    enable_chat_notifications ? (chat_webhook_url === null ? ['chat_webhook_url'] : []) : null,
  target: ({ chat_webhook_url }) => hostOf(chat_webhook_url),
  carries: (event) => event !== 'resolved' && event !== 'digest',
  async send({ key, notice }, sending) {
    if (notice.event === 'digest') return { state: 'refused', answer: 'the digest goes by e-mail only' }
    const card = cardOf(notice, sending.links, sending.config.time_zone)
    return post({ url: sending.config.chat_webhook_url ?? '', key, body: JSON.stringify(chatBody(card)) }, sending)
  },
}

function chatBody(card: Card) {
  return {
    text: textOf(card),
    mrkdwn: false,
    // Names and addresses in a message of an error are not to become mentions and links.
    ...{ parse: 'none', link_names: false, unfurl_links: false, unfurl_media: false },
    blocks: [
      { type: 'header', text: plain(`${card.title} in ${card.where}`, MAX_HEADER) },
      ...(card.type === null ? [] : [section(`${inlineCode(card.type)}\n${codeBlock(card.message ?? '')}`)]),
      ...(card.type === null && card.message !== null
        ? [{ type: 'section', text: plain(card.message, MAX_CODE) }]
        : []),
      ...card.items.map((item) => section(itemText(item))),
      ...(card.more > 0 ? [section(`and ${counted(card.more, 'other')}`)] : []),
      ...(card.facts.length > 0 ? [{ type: 'section', fields: card.facts.slice(0, MAX_FIELDS).map(field) }] : []),
      ...(card.url === null ? [] : [section(link(card.url, 'Open in Faultboard'))]),
    ],
  }
}

/** The whole message for chats that know no blocks, and what Slack shows in a notification. */
function textOf(card: Card): string {
  const counts = card.facts.filter(({ label }) => label !== 'Severity').map(({ label, value }) => `${label}: ${value}`)
  const items = card.items.map(({ severity, title, type, message }) => `• ${severity}: ${title}: ${type}: ${message}`)
  const more = card.more > 0 ? [`and ${counted(card.more, 'other')}`] : []
  const rest = [...items, ...more, ...(counts.length > 0 ? [counts.join(' · ')] : [])].join('\n')
  return [escaped(sentenceOf(card, 500), 1000), escaped(rest, MAX_TEXT), card.url === null ? '' : link(card.url)]
    .filter((line) => line !== '')
    .join('\n')
}

function itemText({ title, severity, type, message, url }: Item): string {
  const open = url === null ? '' : ` ${link(url, 'open')}`
  return `*${severity}* ${words(title)}${open}\n${inlineCode(type)} ${inlineCode(message)}`
}

function field({ label, value, code }: Fact) {
  return mrkdwn(`*${words(label)}*\n${code ? inlineCode(value) : words(value)}`)
}

function section(text: string) {
  return { type: 'section', text: mrkdwn(text) }
}

function mrkdwn(text: string) {
  return { type: 'mrkdwn', text, verbatim: true }
}

function plain(text: string, limit: number) {
  return { type: 'plain_text', text: escaped(text, limit), emoji: false }
}

/** Slack knows no escape for its marks, but in code they mean nothing. */
function words(text: string): string {
  return /[*_~]/.test(text) ? inlineCode(text) : escaped(text, MAX_WORD)
}

function inlineCode(text: string): string {
  return text === '' ? '' : `\`${escaped(text, MAX_WORD)}\``
}

function codeBlock(text: string): string {
  return text === '' ? '' : `\`\`\`\n${escaped(text, MAX_CODE)}\n\`\`\``
}

function link(url: string, label?: string): string {
  const address = url.replace(/[&<>|]/g, (character) => ENTITIES[character] ?? encodeURIComponent(character))
  return label === undefined ? `<${address}>` : `<${address}|${label}>`
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/**
 * Slack needs no more than the three entities. The breaks are for chats that take Slack's messages but have marks of
 * their own: there `@here` pings, and `[x](y)` is a link.
 */
function escaped(text: string, limit: number): string {
  const broken = text
    .slice(0, limit)
    .replace(/@(?=[\p{L}\p{N}_])/gu, `@${BREAK}`)
    .replaceAll('](', `]${BREAK}(`)
    .replaceAll('`', 'ˋ')
  return escapedWithin(broken, limit, (one) => ENTITIES[one] ?? one)
}
