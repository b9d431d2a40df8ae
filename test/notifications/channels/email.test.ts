import nodemailer from 'nodemailer'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { email } from '../../../src/notifications/channels/email.js'
import type { Notice } from '../../../src/notifications/content/notice.js'
import type { Settings } from '../../../src/options.js'
import { channelContract, sendThrough } from '../../contract/channel.js'
import type { Inbox, ReceivedMessage } from '../../contract/inbox.js'
import { openMailInbox } from '../../contract/mail-inbox.js'
import { digestNotice, NOTICES } from '../../contract/notices.js'
import { type ParsedMail, parseMail } from '../../support/mime.js'

const TO = ['Ops <ops@shop.example>', 'lead@shop.example']
const MAILS = {
  enable_email_notifications: true,
  notification_email_recipients: TO,
  notification_email_from: 'Faultboard <errors@shop.example>',
}
const open = () => openMailInbox((smtp_url) => ({ ...MAILS, smtp_url }))

channelContract({
  channel: email,
  supportedEvents: ['new', 'reopened', 'milestone', 'baseline', 'held', 'digest', 'assigned', 'test'],
  open,
  rateLimitOutcome: { response: '450 try again later' },
  expectEscaped,
})

const OWN_HEADERS = [
  ...['Auto-Submitted', 'Content-Type', 'Date', 'From', 'MIME-Version', 'Message-ID', 'References', 'Subject', 'To'],
  ...['X-Auto-Response-Suppress', 'X-Faultboard-Event', 'X-Faultboard-Key'],
]

function expectEscaped({ raw }: ReceivedMessage, { event }: Notice): void {
  const { headers, names, text, html } = parseMail(raw)
  expect(names.filter((name) => !OWN_HEADERS.includes(name))).toEqual([])
  expect(headers.to).toBe(event === 'assigned' ? 'ben@shop.example' : 'Ops <ops@shop.example>, lead@shop.example')
  expect(headers.subject?.length).toBeLessThanOrEqual(200)
  for (const value of Object.values(headers)) expect(value).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
  expect(text.replaceAll('\r\n', '\n')).not.toMatch(/[\p{Bidi_Control}\0\r]|\p{Cc}\[31m/u)
  // Mail clients turn URLs into links.
  expect((text + html).replace(/https:\/\/ops\.example\/[^\s"]*/g, '')).not.toMatch(/http:\/\/|www\./)
  expect(html).not.toMatch(/<script|<img|\sonerror=(?!alert\(1\)&gt;)|[\p{Bidi_Control}\0]|\p{Cc}\[31m/u)
  for (const [, address = ''] of html.matchAll(/href="([^"]*)"/g)) expect(address).toMatch(/^https:\/\/ops\.example\//)
  expect((html.match(/<\/table>/g) ?? []).length).toBe((html.match(/<table/g) ?? []).length)
  expect(raw.length).toBeLessThan(512 * 1024)
}

describe('the email channel', () => {
  let inbox: Inbox

  beforeAll(async () => {
    inbox = await open()
  })

  afterAll(() => inbox?.close())

  beforeEach(() => {
    inbox.messages.length = 0
  })

  const sent = async (notice: Notice, settings: Settings = {}): Promise<ParsedMail> => {
    const outcome = await sendThrough(email, { ...inbox.settings, ...settings }, { key: 'new:42:email', notice })
    expect(outcome).toMatchObject({ state: 'sent' })
    return parseMail(inbox.messages[0]?.raw ?? '')
  }

  test('sends a subject and matching text and HTML parts', async () => {
    const { headers, text, html } = await sent(NOTICES.new)
    expect(headers).toMatchObject({
      subject: '[shop (production)] New error: TypeError: cart.total is not a function',
      from: 'Faultboard <errors@shop.example>',
      to: 'Ops <ops@shop.example>, lead@shop.example',
      'auto-submitted': 'auto-generated',
      'message-id': expect.stringMatching(/^<faultboard\.[0-9a-f]{32}@shop\.example>$/),
    })
    const lines = text.split(/\r?\n/)
    expect(lines).toContain('New error in shop (production)')
    expect(lines).toContain('Severity:    high')
    expect(lines).toContain('Location:    src/cart.js:12 in total')
    expect(lines).toContain('Last seen:   10 Mar 2026, 12:00 UTC')
    expect(lines).toContain('https://ops.example/error_dashboard/errors/42')
    for (const part of ['New error', 'TypeError', 'cart.total is not a function', 'src/cart.js:12 in total', '2.4.0']) {
      expect(html).toContain(part)
    }
    expect(html).toContain('href="https://ops.example/error_dashboard/errors/42"')
    expect(html).toContain('prefers-color-scheme:dark')
  })

  test.each([
    ['reopened', '[shop (production)] Error regressed in version 2.4.0: TypeError: cart.total is not a function'],
    ['milestone', '[shop (production)] Error reached 100 occurrences: TypeError: cart.total is not a function'],
    ['baseline', '[shop (production)] Error rate above baseline: TimeoutError: Web: 37 this hour, baseline 4.2 ± 1.1'],
    ['held', '[shop (production)] 5 notifications held during quiet hours'],
    ['digest', '[shop (production)] Daily digest: 1,240 occurrences, 2 new errors'],
    ['test', '[shop (production)] Test notification'],
  ] as const)('uses the expected subject for %s', async (event, subject) => {
    expect((await sent(NOTICES[event])).headers.subject).toBe(subject)
  })

  test('threads emails about one error, each with its own message id', async () => {
    const first = await sent(NOTICES.new)
    inbox.messages.length = 0
    const second = await sent({ ...NOTICES.reopened, at: NOTICES.new.at + 1 })
    expect(second.headers.references).toBe(first.headers.references)
    expect(second.headers['message-id']).not.toBe(first.headers['message-id'])
  })

  test('shows a digest with figures, the previous period and the lists', async () => {
    const { text, html } = await sent(NOTICES.digest)
    const lines = text.split(/\r?\n/)
    expect(lines).toContain('Occurrences: 1,240 (up 24% from 1,000)')
    expect(lines).toContain('New errors:  2 (down 50% from 4)')
    expect(lines).toContain('Regressions: 1 (none in the previous period)')
    expect(lines).toContain('Resolved:    3 (unchanged)')
    expect(lines).toContain('- 1,100 × TimeoutError: TimeoutError of the digest (medium)')
    expect(lines).toContain('  https://ops.example/error_dashboard/errors/4')
    for (const heading of ['New errors', 'Regressions', 'Most frequent errors', 'Resolved errors'])
      expect(html).toContain(`>${heading}</h2>`)
    expect(html).toContain('up 24% from 1,000')
    expect(html).toContain('href="https://ops.example/error_dashboard/errors/3"')
  })

  test('names the days of a digest, and its applications if there are several', async () => {
    const day = Date.parse('2026-03-09T00:00:00Z')
    const span = { from: day, to: day + 86_400_000 }
    const newError = digestNotice().digest.new_errors[0]
    const otherErrors = newError ? [{ ...newError, application_name: 'warehouse' }] : []
    const { text } = await sent(digestNotice({ ...span, new_errors: otherErrors }))
    expect(text.split(/\r?\n/)).toContain('9 Mar 2026 (UTC)')
    expect(text).toContain('(high, warehouse)')
    expect(text).toContain('(medium, shop)')
    inbox.messages.length = 0
    const week = { frequency: 'weekly' as const, from: day, to: day + 7 * 86_400_000 }
    const { headers, text: weeklyText } = await sent(digestNotice(week))
    expect(headers.subject).toContain('Weekly digest')
    expect(weeklyText).toContain('9 Mar 2026 to 15 Mar 2026 (UTC)')
  })

  test('states that no errors were recorded in a digest period', async () => {
    const none = { now: 0, before: 0 }
    const figures = { occurrences: none, new_errors: none, regressed_errors: none, resolved_errors: none }
    const lists = { new_errors: [], regressed_errors: [], top_errors: [], resolved_errors: [] }
    const { text, html } = await sent(digestNotice({ figures, ...lists }))
    expect(text).toContain('No errors were recorded in this period.')
    expect(html).toContain('No errors were recorded in this period.')
    expect(html).not.toContain('</h2>')
  })

  test('sends through the host transport with its default sender', async () => {
    const mail_transport = nodemailer.createTransport(inbox.settings.smtp_url ?? '', { from: 'host@shop.example' })
    const own = { mail_transport, smtp_url: null, notification_email_from: null }
    expect((await sent(NOTICES.new, own)).headers.from).toBe('host@shop.example')
  })

  test('uses the host name in the sender address if no sender is configured', async () => {
    const { headers } = await sent(NOTICES.new, { notification_email_from: null })
    expect(headers.from).toMatch(/^Faultboard <faultboard@[a-z0-9.-]+>$/i)
  })

  test('times out if the host transport does not respond', async () => {
    const settings = { ...MAILS, mail_transport: { sendMail: () => new Promise(() => {}) } }
    const timeouts = { connect_ms: 100, total_ms: 100 }
    const outcome = await sendThrough(email, settings, { key: 'k', notice: NOTICES.new }, { timeouts })
    expect(outcome).toEqual({ state: 'failed', response: 'Timed out after 0.1 s.' })
  })

  test('counts an email as sent if only some recipients were rejected, and reports them', async () => {
    const mail_transport = { sendMail: async () => ({ accepted: ['a'], rejected: ['b'], response: '250 OK' }) }
    const outcome = await sendThrough(email, { ...MAILS, mail_transport }, { key: 'k', notice: NOTICES.new })
    expect(outcome).toEqual({ state: 'sent', response: 'Rejected for 1 of 2 recipients: 250 OK' })
  })

  test('requires recipients and a transport', () => {
    const missing = (settings: Settings) => email.missingOptions({ ...OFF, ...settings } as never)
    expect(missing({})).toBeNull()
    expect(missing({ enable_email_notifications: true })).toEqual([
      'notification_email_recipients',
      'mail_transport or smtp_url',
    ])
    expect(missing({ ...MAILS, smtp_url: 'smtp://mail.example' })).toEqual([])
  })
})

const OFF = {
  enable_email_notifications: false,
  notification_email_recipients: [],
  mail_transport: null,
  smtp_url: null,
}
