import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Channel, Message, Outcome, Sending } from '../../src/notifications/channels/channel.js'
import { linksOf } from '../../src/notifications/content/links.js'
import type { Notice, NoticeEvent } from '../../src/notifications/content/notice.js'
import type { Settings } from '../../src/options.js'
import { resolveConfiguration } from '../../src/options.js'
import { CREDENTIALS, NOON } from '../support/tracker.js'
import type { Inbox, Letter } from './inbox.js'
import { errorNotice, hostileNotices, NOTICES } from './notices.js'

export interface ChannelCase {
  channel: Channel
  carries: readonly NoticeEvent[]
  open(): Promise<Inbox>
  /** What a receiver that has too much to do is understood to ask for. */
  busy: Partial<Extract<Outcome, { state: 'failed' }>>
  /** Fails when text of an error could do something to whoever reads the letter. */
  expectHarmless(letter: Letter, notice: Notice): void
}

const BASE_URL = 'https://ops.example'
const LINK = `${BASE_URL}/error_dashboard/errors/42`

/** Sends one message as a process would that is configured so. */
export function sendBy(channel: Channel, settings: Settings, message: Message, sending: Partial<Sending> = {}) {
  const { options: config } = resolveConfiguration(
    { ...CREDENTIALS, application_name: 'shop', dashboard_base_url: BASE_URL, ...settings },
    {},
  )
  const links = linksOf(config)
  return channel.send(message, { config, links, now: () => NOON, signal: new AbortController().signal, ...sending })
}

/** What every channel does, shown against a real server. */
export function channelContract({ channel, carries, open, busy, expectHarmless }: ChannelCase): void {
  describe(`the channel ${channel.name}`, () => {
    let inbox: Inbox

    beforeAll(async () => {
      inbox = await open()
    })

    afterAll(() => inbox?.close())

    beforeEach(() => {
      inbox.letters.length = 0
      inbox.manner = 'accept'
    })

    const send = (notice: Notice = NOTICES.new, sending: Partial<Sending> = {}, settings: Settings = {}) =>
      sendBy(
        channel,
        { ...inbox.settings, ...settings },
        { key: `${notice.event}:42:${channel.name}`, notice },
        sending,
      )

    const only = (): Letter => {
      expect(inbox.letters).toHaveLength(1)
      return inbox.letters[0] as Letter
    }

    test('carries the events it is meant for', () => {
      const events = Object.keys(NOTICES) as NoticeEvent[]
      expect(events.filter((event) => channel.carries(event)).sort()).toEqual([...carries].sort())
    })

    test.each(carries)('delivers: %s', async (event) => {
      expect(await send(NOTICES[event])).toMatchObject({ state: 'sent' })
      const { text } = only()
      expect(text).toContain('shop')
      expect(text).toContain('production')
      expect(text).toContain(`${BASE_URL}/error_dashboard/`)
    })

    test('tells of an error what one needs to know: type, message, severity, place, count, version and a link', async () => {
      await send(errorNotice('new', { occurrence_count: 1234 }))
      const { text } = only()
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
      expect(only().raw).toMatch(/1,?234/)
    })

    test('uses the same key for each try', async () => {
      inbox.manner = 'broken'
      await send()
      inbox.manner = 'accept'
      await send()
      await send(NOTICES.reopened)
      const [first, again, another] = inbox.letters.map(({ key }) => key)
      expect(first).toBe(again)
      expect(first).not.toBe(another)
    })

    test('waits as long as a receiver asks that has too much to do', async () => {
      inbox.manner = 'busy'
      expect(await send()).toMatchObject({ state: 'failed', ...busy })
    })

    test('takes a fault of the receiver for a passing one', async () => {
      inbox.manner = 'broken'
      expect(await send()).toMatchObject({ state: 'failed', answer: expect.stringContaining('out of order') })
    })

    test('takes a refusal for the last word', async () => {
      inbox.manner = 'refuse'
      expect(await send()).toMatchObject({ state: 'refused', answer: expect.stringMatching(/^(404|550)/) })
    })

    test('does not wait for a receiver that hangs', async () => {
      inbox.manner = 'hang'
      const outcome = await send(NOTICES.new, { limits: { connect_ms: 5000, total_ms: 200 } })
      expect(outcome).toEqual({ state: 'failed', answer: 'no answer within 0.2 s' })
    })

    test('takes half an answer for none', async () => {
      inbox.manner = 'half'
      expect(await send()).toMatchObject({ state: 'failed' })
    })

    test('bears that nobody is there', async () => {
      const other = await open()
      await other.close()
      const outcome = await send(NOTICES.new, {}, other.settings)
      expect(outcome).toMatchObject({ state: 'failed', answer: expect.stringContaining('ECONNREFUSED') })
    })

    test('stops when the process has to', async () => {
      inbox.manner = 'hang'
      const stop = new AbortController()
      const sending = send(NOTICES.new, { signal: stop.signal })
      await inbox.visited()
      stop.abort()
      expect(await sending).toEqual({ state: 'failed', answer: 'stopped before there was an answer' })
      expect(await send(NOTICES.new, { signal: stop.signal })).toMatchObject({ state: 'failed' })
    })

    test('keeps secrets out of what the log is told, also when the receiver repeats them', async () => {
      inbox.manner = 'echo'
      const { state, answer } = await send()
      expect(state).toBe('refused')
      expect(answer).toContain('***')
      expect(answer.length).toBeLessThanOrEqual(500)
      expect(answer).not.toMatch(/\p{Cc}/u)
      for (const secret of inbox.secrets) expect(answer).not.toContain(secret)
    })

    test('shows people where messages go without the secrets', () => {
      const { options } = resolveConfiguration({ ...CREDENTIALS, ...inbox.settings }, {})
      expect(channel.missing(options)).toEqual([])
      expect(channel.target(options)).not.toBe('')
      for (const secret of inbox.secrets) expect(channel.target(options)).not.toContain(secret)
    })

    test('sends nothing to a private address where that is forbidden', async () => {
      const outcome = await send(NOTICES.new, {}, { block_private_addresses: true })
      expect(outcome).toMatchObject({ state: 'refused', answer: expect.stringContaining('block_private_addresses') })
      expect(inbox.letters).toEqual([])
    })

    test('lets text of an error neither ping, nor link, nor break the message', async () => {
      for (const notice of hostileNotices().filter(({ event }) => channel.carries(event))) {
        inbox.letters.length = 0
        expect(await send(notice)).toMatchObject({ state: 'sent' })
        expect(only().raw.isWellFormed()).toBe(true)
        expectHarmless(only(), notice)
      }
    })

    test('keeps within what the receiver takes, however long the text of an error', async () => {
      for (const text of ['x'.repeat(65_536), '<@&`*'.repeat(13_000), '\u202E😀'.repeat(20_000), '\n'.repeat(65_536)]) {
        for (const notice of hostileNotices(text).filter(({ event }) => channel.carries(event))) {
          inbox.letters.length = 0
          expect(await send(notice)).toMatchObject({ state: 'sent' })
          expectHarmless(only(), notice)
        }
      }
    })

    test('does without links while nobody has said how people reach the dashboard', async () => {
      await sendBy(channel, { ...inbox.settings, dashboard_base_url: null }, { key: 'k', notice: NOTICES.new })
      expect(only().raw).not.toMatch(/null\/|undefined/)
      expect(only().text).not.toContain('/errors/42')
    })
  })
}
