import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { chat } from '../../../src/notifications/channels/chat.js'
import type { Notice } from '../../../src/notifications/content/notice.js'
import { channelContract, sendThrough } from '../../contract/channel.js'
import { BUSY_SECONDS, openHttpInbox } from '../../contract/http-inbox.js'
import type { Inbox, ReceivedMessage } from '../../contract/inbox.js'
import { baselineNotice, errorNotice, NOTICES } from '../../contract/notices.js'

const open = () => openHttpInbox((chat_webhook_url) => ({ enable_chat_notifications: true, chat_webhook_url }))

interface Body {
  text: string
  mrkdwn: boolean
  blocks: { type: string; text?: BlockText; fields?: BlockText[] }[]
}

interface BlockText {
  type: 'mrkdwn' | 'plain_text'
  text: string
  verbatim?: boolean
}

channelContract({
  channel: chat,
  supportedEvents: ['new', 'reopened', 'milestone', 'baseline', 'held', 'test'],
  open,
  rateLimitOutcome: { after_ms: BUSY_SECONDS * 1000, rate_limited: true },
  expectEscaped,
})

/** Slack limits. */
function expectEscaped({ raw }: ReceivedMessage): void {
  const { text, mrkdwn, blocks } = JSON.parse(raw) as Body
  expect(mrkdwn).toBe(false)
  expect(text.length).toBeLessThan(40_000)
  expect(blocks.length).toBeLessThanOrEqual(50)
  const texts = blocks.flatMap((block) => [...(block.text ? [block.text] : []), ...(block.fields ?? [])])
  for (const { type, text, fields } of blocks) {
    if (text) expect(text.text.length).toBeLessThanOrEqual(type === 'header' ? 150 : 3000)
    expect(fields?.length ?? 1).toBeLessThanOrEqual(10)
    for (const field of fields ?? []) expect(field.text.length).toBeLessThanOrEqual(2000)
  }
  for (const element of texts) {
    expect(element.text).not.toBe('')
    if (element.type === 'plain_text') continue
    expect(element.verbatim).toBe(true)
    const outside = element.text.replace(/<[^>]*>|```\n[^`]*\n```|`[^`]*`/g, '').replace(/(^|\n)\*[^*\n]*\*/g, '')
    expect(outside).not.toMatch(/[*~`_]/)
  }
  for (const shown of [text, ...texts.map((element) => element.text)]) {
    expect(shown).not.toMatch(/<(?!https:\/\/ops\.example\/)/)
    const withoutLinks = shown.replace(/<https:[^>]*>/g, '')
    expect(withoutLinks).not.toMatch(/@(everyone|here|channel|U123)|http:\/\/|www\.|\]\(|\u202E|\r|\0/)
    // Only the closing backtick ends a code span.
    expect((shown.match(/`/g) ?? []).length % 2).toBe(0)
  }
}

describe('the chat channel', () => {
  let inbox: Inbox

  beforeAll(async () => {
    inbox = await open()
  })

  afterAll(() => inbox?.close())

  beforeEach(() => {
    inbox.messages.length = 0
  })

  const sent = async (notice: Notice): Promise<Body> => {
    await sendThrough(chat, inbox.settings, { key: 'k', notice })
    return JSON.parse(inbox.messages[0]?.raw ?? '') as Body
  }

  test('sends the full text and the same content as blocks', async () => {
    const { text, blocks } = await sent(errorNotice('new'))
    expect(text.split('\n')).toEqual([
      'shop (production): New error (high): TypeError: cart.total is not a function',
      'Occurrences: 1 · Location: src/cart.js:12 in total · Version: 2.4.0 · Platform: Web · ' +
        'First seen: 10 Mar 2026, 10:00 UTC · Last seen: 10 Mar 2026, 12:00 UTC',
      '<https://ops.example/error_dashboard/errors/42>',
    ])
    expect(blocks[0]).toMatchObject({ type: 'header', text: { text: 'New error in shop (production)' } })
    expect(blocks[1]?.text?.text).toBe('`TypeError`\n```\ncart.total is not a function\n```')
    expect(blocks[2]?.fields?.map((field) => field.text)).toContain('*Location*\n`src/cart.js:12 in total`')
    expect(blocks[3]?.text?.text).toBe('<https://ops.example/error_dashboard/errors/42|Open in Faultboard>')
  })

  test.each([
    ['reopened', 'Error regressed in version 2.4.0 in shop (production)'],
    ['milestone', 'Error reached 100 occurrences in shop (production)'],
    ['baseline', 'Error rate above baseline in shop (production)'],
    ['held', '5 notifications held during quiet hours in shop (production)'],
    ['test', 'Test notification in shop (production)'],
  ] as const)('uses the expected heading for %s', async (event, heading) => {
    const { blocks } = await sent(NOTICES[event])
    expect(blocks[0]?.text?.text).toBe(heading)
  })

  test('shows the deviation from the baseline', async () => {
    const { blocks } = await sent(baselineNotice())
    expect(blocks[1]?.text?.text).toContain('Web: 37 this hour, baseline 4.2 ± 1.1')
    const query = 'application_id=1&amp;error_type=TimeoutError'
    expect(blocks.at(-1)?.text?.text).toBe(`<https://ops.example/error_dashboard/errors?${query}|Open in Faultboard>`)
  })

  test('lists held notifications and the number of omitted notifications', async () => {
    const { blocks } = await sent(NOTICES.held)
    expect(blocks[1]?.text?.text).toContain('*high* New error <https://ops.example/error_dashboard/errors/42|open>')
    expect(blocks[2]?.text?.text).toContain('*critical* Error rate above baseline')
    expect(blocks[3]?.text?.text).toBe('and 3 others')
  })
})
