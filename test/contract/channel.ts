import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Channel, Message, Outcome, SendContext } from '../../src/notifications/channels/channel.js'
import { dashboardLinks } from '../../src/notifications/content/dashboard-links.js'
import type { Notice, NoticeEvent } from '../../src/notifications/content/notice.js'
import type { Settings } from '../../src/options.js'
import { resolveConfiguration } from '../../src/options.js'
import { CREDENTIALS, NOON } from '../support/tracker.js'
import type { Inbox, ReceivedMessage } from './inbox.js'
import { errorNotice, hostileNotices, NOTICES } from './notices.js'

export interface ChannelCase {
  channel: Channel
  supportedEvents: readonly NoticeEvent[]
  open(): Promise<Inbox>
  /** Outcome with the delay that a rate-limiting receiver requests. */
  rateLimitOutcome: Partial<Extract<Outcome, { state: 'failed' }>>
  /** Fails if text from an error could affect the reader of the message. */
  expectEscaped(message: ReceivedMessage, notice: Notice): void
}

const BASE_URL = 'https://ops.example'
const LINK = `${BASE_URL}/error_dashboard/errors/42`

/** Sends one notification with the given configuration. */
export function sendThrough(
  channel: Channel,
  settings: Settings,
  message: Message,
  overrides: Partial<SendContext> = {},
) {
  const { options: config } = resolveConfiguration(
    { ...CREDENTIALS, application_name: 'shop', dashboard_base_url: BASE_URL, ...settings },
    {},
  )
  const links = dashboardLinks(config)
  return channel.send(message, { config, links, now: () => NOON, signal: new AbortController().signal, ...overrides })
}

/** Behavior of every channel, tested against a real server. */
export function channelContract({
  channel,
  supportedEvents,
  open,
  rateLimitOutcome,
  expectEscaped,
}: ChannelCase): void {
  describe(`the channel ${channel.name}`, () => {
    let inbox: Inbox

    beforeAll(async () => {
      inbox = await open()
    })

    afterAll(() => inbox?.close())

    beforeEach(() => {
      inbox.messages.length = 0
      inbox.behavior = 'accept'
    })

    const send = (notice: Notice = NOTICES.new, overrides: Partial<SendContext> = {}, settings: Settings = {}) =>
      sendThrough(
        channel,
        { ...inbox.settings, ...settings },
        { key: `${notice.event}:42:${channel.name}`, notice },
        overrides,
      )

    const onlyMessage = (): ReceivedMessage => {
      expect(inbox.messages).toHaveLength(1)
      return inbox.messages[0] as ReceivedMessage
    }

    test('supports exactly the expected notice events', () => {
      const events = Object.keys(NOTICES) as NoticeEvent[]
      expect(events.filter((event) => channel.supports(event)).sort()).toEqual([...supportedEvents].sort())
    })

    test.each(supportedEvents)('delivers: %s', async (event) => {
      expect(await send(NOTICES[event])).toMatchObject({ state: 'sent' })
      const { text } = onlyMessage()
      expect(text).toContain('shop')
      expect(text).toContain('production')
      expect(text).toContain(`${BASE_URL}/error_dashboard/`)
    })

    test('shows type, message, severity, location, count, version and link of an error', async () => {
      await send(errorNotice('new', { occurrence_count: 1234 }))
      const { text } = onlyMessage()
      for (const part of [
        'TypeError',
        'cart.total is not a function',
        'high',
        'src/cart.js:12 in total',
        '2.4.0',
        LINK,
      ]) {
        expect(text.replaceAll('\\', ''), part).toContain(part)
      }
      expect(onlyMessage().raw).toMatch(/1,?234/)
    })

    test('uses the same key for each attempt', async () => {
      inbox.behavior = 'broken'
      await send()
      inbox.behavior = 'accept'
      await send()
      await send(NOTICES.reopened)
      const [firstKey, retryKey, otherKey] = inbox.messages.map(({ key }) => key)
      expect(firstKey).toBe(retryKey)
      expect(firstKey).not.toBe(otherKey)
    })

    test('reports the delay that a rate-limiting receiver requests', async () => {
      inbox.behavior = 'busy'
      expect(await send()).toMatchObject({ state: 'failed', ...rateLimitOutcome })
    })

    test('reports a server error as a temporary failure', async () => {
      inbox.behavior = 'broken'
      expect(await send()).toMatchObject({ state: 'failed', response: expect.stringContaining('out of order') })
    })

    test('reports a rejection as a permanent failure', async () => {
      inbox.behavior = 'refuse'
      expect(await send()).toMatchObject({ state: 'refused', response: expect.stringMatching(/^(404|550)/) })
    })

    test('times out if the receiver hangs', async () => {
      inbox.behavior = 'hang'
      const outcome = await send(NOTICES.new, { timeouts: { connect_ms: 5000, total_ms: 200 } })
      expect(outcome).toEqual({ state: 'failed', response: 'Timed out after 0.2 s.' })
    })

    test('reports an incomplete response as a temporary failure', async () => {
      inbox.behavior = 'half'
      expect(await send()).toMatchObject({ state: 'failed' })
    })

    test('reports an unreachable receiver as a temporary failure', async () => {
      const closedInbox = await open()
      await closedInbox.close()
      const outcome = await send(NOTICES.new, {}, closedInbox.settings)
      expect(outcome).toMatchObject({ state: 'failed', response: expect.stringContaining('ECONNREFUSED') })
    })

    test('stops when the process shuts down', async () => {
      inbox.behavior = 'hang'
      const stop = new AbortController()
      const sending = send(NOTICES.new, { signal: stop.signal })
      await inbox.connected()
      stop.abort()
      expect(await sending).toEqual({ state: 'failed', response: 'Stopped before a response arrived.' })
      expect(await send(NOTICES.new, { signal: stop.signal })).toMatchObject({ state: 'failed' })
    })

    test('redacts secrets in the log, including those that the receiver echoes', async () => {
      inbox.behavior = 'echo'
      const { state, response } = await send()
      expect(state).toBe('refused')
      expect(response).toContain('***')
      expect(response.length).toBeLessThanOrEqual(500)
      expect(response).not.toMatch(/\p{Cc}/u)
      for (const secret of inbox.secrets) expect(response).not.toContain(secret)
    })

    test('shows the destination without secrets', () => {
      const { options } = resolveConfiguration({ ...CREDENTIALS, ...inbox.settings }, {})
      expect(channel.missingOptions(options)).toEqual([])
      expect(channel.target(options)).not.toBe('')
      for (const secret of inbox.secrets) expect(channel.target(options)).not.toContain(secret)
    })

    test('sends nothing to a blocked private address', async () => {
      const outcome = await send(NOTICES.new, {}, { block_private_addresses: true })
      expect(outcome).toMatchObject({ state: 'refused', response: expect.stringContaining('block_private_addresses') })
      expect(inbox.messages).toEqual([])
    })

    test('prevents error text from mentioning users, adding links or breaking the layout', async () => {
      for (const notice of hostileNotices().filter(({ event }) => channel.supports(event))) {
        inbox.messages.length = 0
        expect(await send(notice)).toMatchObject({ state: 'sent' })
        expect(onlyMessage().raw.isWellFormed()).toBe(true)
        expectEscaped(onlyMessage(), notice)
      }
    })

    test('a channel stays within the limits of the receiver for error text of any length', async () => {
      for (const text of ['x'.repeat(65_536), '<@&`*'.repeat(13_000), '\u202E😀'.repeat(20_000), '\n'.repeat(65_536)]) {
        for (const notice of hostileNotices(text).filter(({ event }) => channel.supports(event))) {
          inbox.messages.length = 0
          expect(await send(notice)).toMatchObject({ state: 'sent' })
          expectEscaped(onlyMessage(), notice)
        }
      }
    })

    test('omits links without a dashboard_base_url', async () => {
      await sendThrough(channel, { ...inbox.settings, dashboard_base_url: null }, { key: 'k', notice: NOTICES.new })
      expect(onlyMessage().raw).not.toMatch(/null\/|undefined/)
      expect(onlyMessage().text).not.toContain('/errors/42')
    })
  })
}
