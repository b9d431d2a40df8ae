import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Severity } from '../../../src/model/severity/severity.js'
import { incident } from '../../../src/notifications/channels/incident.js'
import type { Notice } from '../../../src/notifications/content/notice.js'
import { channelContract, sendThrough } from '../../contract/channel.js'
import { BUSY_SECONDS, openHttpInbox } from '../../contract/http-inbox.js'
import type { Inbox, ReceivedMessage } from '../../contract/inbox.js'
import { baselineNotice, errorNotice, NOTICES, SIGNATURE } from '../../contract/notices.js'

const KEY = 'routing-key-0123456789'
const open = () =>
  openHttpInbox((incident_events_url) => ({ incident_events_url, incident_integration_key: KEY }), [KEY])

/** Identifies application, environment and signature. */
const DEDUP_KEY = createHash('sha256')
  .update(JSON.stringify(['shop', 'production', SIGNATURE]))
  .digest('hex')

interface Body {
  routing_key: string
  event_action: string
  dedup_key: string
  links?: { href: string; text: string }[]
  payload: { summary: string; severity: string; source: string; custom_details: Record<string, string> }
}

channelContract({
  channel: incident,
  supportedEvents: ['new', 'reopened', 'milestone', 'resolved', 'baseline', 'test'],
  open,
  rateLimitOutcome: { after_ms: BUSY_SECONDS * 1000, rate_limited: true },
  expectEscaped,
})

function expectEscaped({ raw }: ReceivedMessage): void {
  const { payload, dedup_key } = JSON.parse(raw) as Body
  expect(payload.summary.length).toBeLessThanOrEqual(1024)
  expect(payload.summary).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
  expect(payload.source.length).toBeLessThanOrEqual(1024)
  expect(dedup_key).toMatch(/^[0-9a-f]{64}$/)
  expect(raw.length).toBeLessThan(512 * 1024)
}

describe('the incident channel', () => {
  let inbox: Inbox

  beforeAll(async () => {
    inbox = await open()
  })

  afterAll(() => inbox?.close())

  beforeEach(() => {
    inbox.messages.length = 0
  })

  const sent = async (notice: Notice): Promise<Body> => {
    await sendThrough(incident, inbox.settings, { key: 'k', notice })
    return JSON.parse(inbox.messages.at(-1)?.raw ?? '') as Body
  }

  test('opens an incident with routing_key, event_action and payload', async () => {
    expect(await sent(errorNotice('new', {}, { severity: 'critical' }))).toMatchObject({
      routing_key: KEY,
      event_action: 'trigger',
      dedup_key: DEDUP_KEY,
      links: [{ href: 'https://ops.example/error_dashboard/errors/42', text: 'Open in Faultboard' }],
      payload: {
        summary: 'shop (production): New error (critical): TypeError: cart.total is not a function',
        severity: 'critical',
        source: 'shop (production)',
        custom_details: { application: 'shop', environment: 'production', occurrences: '1', version: '2.4.0' },
      },
    })
  })

  test('resolves the same incident when the error is resolved', async () => {
    expect(await sent(NOTICES.resolved)).toMatchObject({ event_action: 'resolve', dedup_key: DEDUP_KEY })
  })

  test('uses one incident for all notifications about one error', async () => {
    const keys = [await sent(NOTICES.new), await sent(NOTICES.reopened), await sent(NOTICES.milestone)]
    expect(new Set(keys.map(({ dedup_key }) => dedup_key))).toEqual(new Set([DEDUP_KEY]))
  })

  test('uses separate incidents for separate environments', async () => {
    const [production, staging] = [await sent(NOTICES.new), await sent({ ...NOTICES.new, environment: 'staging' })]
    expect(staging.dedup_key).not.toBe(production.dedup_key)
  })

  test('uses one incident for all alerts about one error type', async () => {
    const first = await sent(baselineNotice())
    const again = await sent({ ...baselineNotice(), at: 1 })
    const another = await sent(baselineNotice('OtherError'))
    expect(again.dedup_key).toBe(first.dedup_key)
    expect(another.dedup_key).not.toBe(first.dedup_key)
  })

  test.each([
    ['critical', 'critical'],
    ['high', 'error'],
    ['medium', 'warning'],
    ['low', 'info'],
  ] satisfies [Severity, string][])('maps severity %s to %s', async (severity, called) => {
    expect((await sent(errorNotice('new', {}, { severity }))).payload.severity).toBe(called)
  })
})
