import type { Severity } from '../../model/severity/severity.js'
import { type Card, cardSummary, type Item, renderCard } from '../content/card.js'
import { urlHost } from '../content/dashboard-links.js'
import { formatQuantity } from '../content/format-text.js'
import { EMAIL_ONLY_EVENTS } from '../content/notice.js'
import { escapeWithinLimit, ZERO_WIDTH_BREAK } from '../content/safe-text.js'
import { post } from '../outbound/http-post.js'
import { defineChannel } from './channel.js'

/**
 * Discord limits: 2000 characters of content. Per embed: 256 in the title, 4096 in the description, 25 fields of 1024,
 * 6000 in total.
 */
const MAX_CONTENT_LENGTH = 1500
const MAX_TITLE_LENGTH = 256
const MAX_CODE_LENGTH = 2000
const MAX_LIST_LENGTH = 4000
const MAX_VALUE_LENGTH = 150
const MAX_FIELDS = 10

const SEVERITY_COLORS: Readonly<Record<Severity, number>> = {
  critical: 0xc8233f,
  high: 0xe07b1f,
  medium: 0xd9b81c,
  low: 0x8fabc6,
}

/** Discord-compatible chat webhooks. */
export const communityChat = defineChannel({
  name: 'community_chat',
  label: 'Community chat',
  enablingOption: 'community_chat_webhook_url',
  missingOptions: ({ community_chat_webhook_url }) => (community_chat_webhook_url === null ? null : []),
  target: ({ community_chat_webhook_url }) => urlHost(community_chat_webhook_url),
  supports: (event) => event !== 'resolved' && !EMAIL_ONLY_EVENTS.includes(event),
  async send({ key, notice }, sendContext) {
    if (notice.event === 'digest') return { state: 'refused', response: 'Digests are sent by email only.' }
    const { config, links } = sendContext
    const body = communityBody(renderCard(notice, links, config.time_zone), notice.at)
    return post({ url: config.community_chat_webhook_url ?? '', key, body: JSON.stringify(body) }, sendContext)
  },
})

function communityBody(card: Card, at: number) {
  const { source, title, url } = card
  return {
    // Disables mentions, whatever the error message contains.
    allowed_mentions: { parse: [] },
    content: [escapeMarkdown(cardSummary(card, 500), MAX_CONTENT_LENGTH), ...(url === null ? [] : [`<${url}>`])].join(
      '\n',
    ),
    embeds: [
      {
        title: escapeMarkdown(`${title} in ${source}`, MAX_TITLE_LENGTH),
        ...(url === null ? {} : { url }),
        description: embedDescription(card),
        color: SEVERITY_COLORS[card.severity],
        fields: card.facts.slice(0, MAX_FIELDS).map(({ label, value, code }) => ({
          name: escapeMarkdown(label, MAX_VALUE_LENGTH),
          value: code ? inlineCode(value) : escapeMarkdown(value, MAX_VALUE_LENGTH),
          inline: value.length < 40,
        })),
        footer: { text: 'Faultboard' },
        timestamp: new Date(at).toISOString(),
      },
    ],
  }
}

function embedDescription(card: Card): string {
  if (card.items.length > 0) return itemList(card)
  if (card.type === null) return escapeMarkdown(card.message ?? '', MAX_CODE_LENGTH)
  return `${inlineCode(card.type)}\n${codeBlock(card.message ?? '')}`.trim()
}

function itemList({ items, more }: Card): string {
  let list = ''
  let remaining = items.length + more
  for (const item of items) {
    const line = `${itemText(item)}\n`
    if (list.length + line.length > MAX_LIST_LENGTH) break
    list += line
    remaining -= 1
  }
  return remaining > 0 ? `${list}and ${formatQuantity(remaining, 'other')}` : list.trimEnd()
}

function itemText({ title, severity, type, message, url }: Item): string {
  const open = url === null ? '' : ` [open](${url})`
  return `**${severity}** ${escapeMarkdown(title, MAX_VALUE_LENGTH)}${open}\n${inlineCode(type)} ${inlineCode(message)}`
}

function inlineCode(text: string): string {
  return text === '' ? '' : `\`${escapeCode(text, MAX_VALUE_LENGTH)}\``
}

function codeBlock(text: string): string {
  return text === '' ? '' : `\`\`\`\n${escapeCode(text, MAX_CODE_LENGTH)}\n\`\`\``
}

/** Inside code, only the backtick and mentions need escaping. */
function escapeCode(text: string, limit: number): string {
  return escapeWithinLimit(text, limit, (character) =>
    character === '`' ? 'ˋ' : character === '@' ? `@${ZERO_WIDTH_BREAK}` : character,
  )
}

/** Backslash-escapes Markdown. Discord recognizes mentions after a backslash, so `@` also gets a zero-width break. */
function escapeMarkdown(text: string, limit: number): string {
  return escapeWithinLimit(text, limit, (character) => {
    if (character === '@') return `\\@${ZERO_WIDTH_BREAK}`
    return /[!-/:-?[-`{-~]/.test(character) && !/[,;'"%=]/.test(character) ? `\\${character}` : character
  })
}
