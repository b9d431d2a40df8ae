import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { webhook } from '../../../src/notifications/channels/webhook.js'
import type { Notice } from '../../../src/notifications/content/notice.js'
import { channelContract, sendThrough } from '../../contract/channel.js'
import { BUSY_SECONDS, openHttpInbox } from '../../contract/http-inbox.js'
import type { Inbox, ReceivedMessage } from '../../contract/inbox.js'
import { NOTICES } from '../../contract/notices.js'
import { NOON } from '../../support/tracker.js'

const SECRET = 'webhook-secret-0123456789'
const open = () => openHttpInbox((webhook_url) => ({ webhook_url, webhook_secret: SECRET }), [SECRET])

channelContract({
  channel: webhook,
  supportedEvents: ['new', 'reopened', 'milestone', 'baseline', 'held', 'test'],
  open,
  rateLimitOutcome: { after_ms: BUSY_SECONDS * 1000, rate_limited: true },
  expectEscaped,
})

/** Programs read the payload, so the text is unchanged within its length limit. */
function expectEscaped({ raw }: ReceivedMessage, notice: Notice): void {
  const body = JSON.parse(raw) as Notice
  expect(body.event).toBe(notice.event)
  expect(raw.length).toBeLessThan(512 * 1024)
  expect(raw).not.toMatch(/\\ud[89ab]..(?!\\ud[c-f])/i)
}

describe('the webhook channel', () => {
  let inbox: Inbox

  beforeAll(async () => {
    inbox = await open()
  })

  afterAll(() => inbox?.close())

  beforeEach(() => {
    inbox.messages.length = 0
  })

  const sent = async (notice: Notice): Promise<ReceivedMessage> => {
    await sendThrough(webhook, inbox.settings, { key: 'new:42:webhook', notice })
    return inbox.messages[0] as ReceivedMessage
  }

  test('posts the whole notice with links and ISO 8601 times', async () => {
    const { raw, headers } = await sent(NOTICES.new)
    expect(JSON.parse(raw)).toEqual({
      ...{ key: 'new:42:webhook', event: 'new', application_name: 'shop', environment: 'production' },
      ...{ at: '2026-03-10T12:00:00.000Z', severity: 'high' },
      error: {
        ...{ id: 42, application_id: 1, error_type: 'TypeError', message: 'cart.total is not a function' },
        ...{ place: 'src/cart.js:12 in total', platform: 'Web', app_version: '2.4.0', occurrence_count: 1 },
        ...{ first_seen_at: '2026-03-10T10:00:00.000Z', occurred_at: '2026-03-10T12:00:00.000Z' },
        ...{ hash_signature: 'ab'.repeat(32), regressed_in_version: null },
      },
      links: {
        error: 'https://ops.example/error_dashboard/errors/42',
        dashboard: 'https://ops.example/error_dashboard/overview',
      },
    })
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'idempotency-key': 'new:42:webhook',
      'x-faultboard-event': 'new',
      'user-agent': expect.stringMatching(/^Faultboard\/\d/),
      'accept-encoding': 'identity',
    })
  })

  test('signs the body so that the documented code rejects forged and replayed requests', async () => {
    const { raw, headers } = await sent(NOTICES.new)
    const header = String((headers as Record<string, unknown>)['x-faultboard-signature'])
    const isFromFaultboard = documentedVerifier()
    expect(isFromFaultboard(raw, header, SECRET, NOON)).toBe(true)
    expect(isFromFaultboard(raw, header, SECRET, NOON + 10 * 60_000)).toBe(false)
    expect(isFromFaultboard(`${raw} `, header, SECRET, NOON)).toBe(false)
    expect(isFromFaultboard(raw, header, 'another', NOON)).toBe(false)
    expect(isFromFaultboard(raw, header.replace(/t=\d+/, `t=${NOON / 1000 + 1}`), SECRET, NOON)).toBe(false)
    for (const broken of ['', 't=,v1=', 'v1=00', 'rubbish', `t=${NOON / 1000},v1=é`]) {
      expect(isFromFaultboard(raw, broken, SECRET, NOON)).toBe(false)
    }
  })

  test('sends no signature without a secret', async () => {
    await sendThrough(webhook, { ...inbox.settings, webhook_secret: null }, { key: 'k', notice: NOTICES.new })
    expect(inbox.messages[0]?.headers).not.toHaveProperty('x-faultboard-signature')
  })
})

type Verify = (body: string, header: string, secret: string, now?: number) => boolean

/** Runs the code of docs/notifications.md. */
function documentedVerifier(): Verify {
  const docs = readFileSync('docs/notifications.md', 'utf8')
  const code = /```js\n(import \{ createHmac, timingSafeEqual \}[\s\S]*?)```/.exec(docs)?.[1] ?? ''
  const body = code.replace(/^import .*$/m, '').replace('export function', 'return function')
  return new Function('createHmac', 'timingSafeEqual', body)(createHmac, timingSafeEqual) as Verify
}
