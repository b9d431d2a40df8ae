import type { Severity } from '../../model/severity.js'
import { type Card, cardOf, type Item, sentenceOf } from '../content/card.js'
import { counted } from '../content/formats.js'
import { BREAK, escapedWithin } from '../content/legible.js'
import { hostOf } from '../content/links.js'
import { post } from '../delivery/outbound.js'
import type { Channel } from './channel.js'

/**
 * What Discord takes: 2000 characters of content; in an embed 256 in a title, 4096 in the description, 25 fields of 1024,
 * and 6000 in all of it.
 */
const MAX_CONTENT = 1500
const MAX_TITLE = 256
const MAX_CODE = 2000
const MAX_LIST = 4000
const MAX_VALUE = 150
const MAX_FIELDS = 10

const COLOURS: Readonly<Record<Severity, number>> = {
  critical: 0xc8233f,
  high: 0xe07b1f,
  medium: 0xd9b81c,
  low: 0x8fabc6,
}

/** A chat whose webhooks take what Discord's take. */
export const communityChat: Channel = {
  name: 'community_chat',
  missing: ({ community_chat_webhook_url }) => (community_chat_webhook_url === null ? null : []),
  target: ({ community_chat_webhook_url }) => hostOf(community_chat_webhook_url),
  carries: (event) => event !== 'resolved' && event !== 'digest',
  async send({ key, notice }, sending) {
    if (notice.event === 'digest') return { state: 'refused', answer: 'the digest goes by e-mail only' }
    const { config, links } = sending
    const body = communityBody(cardOf(notice, links, config.time_zone), notice.at)
    return post({ url: config.community_chat_webhook_url ?? '', key, body: JSON.stringify(body) }, sending)
  },
}

function communityBody(card: Card, at: number) {
  const { where, title, url } = card
  return {
    // What a message says is never to ping anybody, whatever it looks like.
    allowed_mentions: { parse: [] },
    content: [escaped(sentenceOf(card, 500), MAX_CONTENT), ...(url === null ? [] : [`<${url}>`])].join('\n'),
    embeds: [
      {
        title: escaped(`${title} in ${where}`, MAX_TITLE),
        ...(url === null ? {} : { url }),
        description: descriptionOf(card),
        color: COLOURS[card.severity],
        fields: card.facts.slice(0, MAX_FIELDS).map(({ label, value, code }) => ({
          name: escaped(label, MAX_VALUE),
          value: code ? inlineCode(value) : escaped(value, MAX_VALUE),
          inline: value.length < 40,
        })),
        footer: { text: 'Faultboard' },
        timestamp: new Date(at).toISOString(),
      },
    ],
  }
}

function descriptionOf(card: Card): string {
  if (card.items.length > 0) return listOf(card)
  if (card.type === null) return escaped(card.message ?? '', MAX_CODE)
  return `${inlineCode(card.type)}\n${codeBlock(card.message ?? '')}`.trim()
}

function listOf({ items, more }: Card): string {
  let list = ''
  let left = items.length + more
  for (const item of items) {
    const line = `${itemText(item)}\n`
    if (list.length + line.length > MAX_LIST) break
    list += line
    left -= 1
  }
  return left > 0 ? `${list}and ${counted(left, 'other')}` : list.trimEnd()
}

function itemText({ title, severity, type, message, url }: Item): string {
  const open = url === null ? '' : ` [open](${url})`
  return `**${severity}** ${escaped(title, MAX_VALUE)}${open}\n${inlineCode(type)} ${inlineCode(message)}`
}

function inlineCode(text: string): string {
  return text === '' ? '' : `\`${cell(text, MAX_VALUE)}\``
}

function codeBlock(text: string): string {
  return text === '' ? '' : `\`\`\`\n${cell(text, MAX_CODE)}\n\`\`\``
}

/** Inside code nothing is markup but what ends it. */
function cell(text: string, limit: number): string {
  return escapedWithin(text, limit, (one) => (one === '`' ? 'ˋ' : one === '@' ? `@${BREAK}` : one))
}

/** A backslash takes the meaning from every sign; a mention is recognised behind one, but not across a break. */
function escaped(text: string, limit: number): string {
  return escapedWithin(text, limit, (one) => {
    if (one === '@') return `\\@${BREAK}`
    return /[!-/:-?[-`{-~]/.test(one) && !/[,;'"%=]/.test(one) ? `\\${one}` : one
  })
}
