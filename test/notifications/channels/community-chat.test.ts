import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { communityChat } from '../../../src/notifications/channels/community-chat.js'
import type { Notice } from '../../../src/notifications/content/notice.js'
import { channelContract, sendThrough } from '../../contract/channel.js'
import { BUSY_SECONDS, openHttpInbox } from '../../contract/http-inbox.js'
import type { Inbox, ReceivedMessage } from '../../contract/inbox.js'
import { NOTICES } from '../../contract/notices.js'

const open = () => openHttpInbox((community_chat_webhook_url) => ({ community_chat_webhook_url }))

interface Body {
  content: string
  allowed_mentions: { parse: string[] }
  embeds: {
    title: string
    url?: string
    description: string
    color: number
    fields: { name: string; value: string }[]
    footer: { text: string }
    timestamp: string
  }[]
}

channelContract({
  channel: communityChat,
  supportedEvents: ['new', 'reopened', 'milestone', 'baseline', 'held', 'test'],
  open,
  rateLimitOutcome: { after_ms: BUSY_SECONDS * 1000, rate_limited: true },
  expectEscaped,
})

/** Discord limits. */
function expectEscaped({ raw }: ReceivedMessage): void {
  const { content, allowed_mentions, embeds } = JSON.parse(raw) as Body
  expect(allowed_mentions).toEqual({ parse: [] })
  expect(content.length).toBeLessThanOrEqual(2000)
  expect(embeds).toHaveLength(1)
  for (const { title, description, fields, footer } of embeds) {
    expect(title.length).toBeLessThanOrEqual(256)
    expect(description.length).toBeLessThanOrEqual(4096)
    expect(fields.length).toBeLessThanOrEqual(25)
    expect(fields.every(({ name, value }) => name.length <= 256 && value.length <= 1024 && value !== '')).toBe(true)
    const all = [title, description, footer.text, ...fields.flatMap(({ name, value }) => [name, value])]
    expect(all.join('').length).toBeLessThanOrEqual(6000)
    for (const text of [content, ...all]) expectNoMarks(text)
  }
}

/** Outside code, every formatting character is escaped with a backslash. */
function expectNoMarks(text: string): void {
  expect(text).not.toMatch(/@(everyone|here|U123|&456)|\u202E|\0/)
  const outside = text
    .replace(/\\.|```\n[^`]*\n```|`[^`]*`/gsu, '')
    // Our own markup: dashboard links and the bold severity.
    .replace(/<https:\/\/ops\.example\/[^>\s]*>|\[open\]\(https:\/\/ops\.example\/[^)\s]*\)/g, '')
    .replace(/\*\*(critical|high|medium|low)\*\*/g, '')
  expect(outside).not.toMatch(/[*_~`|[\]<#]|:\/\//)
}

describe('the community chat channel', () => {
  let inbox: Inbox

  beforeAll(async () => {
    inbox = await open()
  })

  afterAll(() => inbox?.close())

  beforeEach(() => {
    inbox.messages.length = 0
  })

  const sent = async (notice: Notice): Promise<Body> => {
    await sendThrough(communityChat, inbox.settings, { key: 'k', notice })
    return JSON.parse(inbox.messages[0]?.raw ?? '') as Body
  }

  test('sends a summary as content and the details in an embed', async () => {
    const { content, embeds } = await sent(NOTICES.new)
    expect(content.replaceAll('\\', '').split('\n')).toEqual([
      'shop (production): New error (high): TypeError: cart.total is not a function',
      '<https://ops.example/error_dashboard/errors/42>',
    ])
    expect(embeds[0]).toMatchObject({
      title: 'New error in shop \\(production\\)',
      url: 'https://ops.example/error_dashboard/errors/42',
      description: '`TypeError`\n```\ncart.total is not a function\n```',
      color: 0xe07b1f,
      timestamp: '2026-03-10T12:00:00.000Z',
    })
    expect(embeds[0]?.fields).toContainEqual({ name: 'Location', value: '`src/cart.js:12 in total`', inline: true })
    expect(embeds[0]?.fields).toContainEqual({ name: 'Severity', value: 'high', inline: true })
  })

  test('shows the deviation from the baseline', async () => {
    const { embeds } = await sent(NOTICES.baseline)
    expect(embeds[0]?.description).toContain('Web: 37 this hour, baseline 4.2 ± 1.1')
  })

  test('lists held notifications and the number of omitted notifications', async () => {
    const { embeds } = await sent(NOTICES.held)
    expect(embeds[0]?.description).toContain('**high** New error [open](https://ops.example/error_dashboard/errors/42)')
    expect(embeds[0]?.description).toContain('and 3 others')
  })
})
