import { describe, expect, test } from 'vitest'
import type { Settings } from '../../src/config/options.js'
import { resolveConfiguration } from '../../src/config/resolve.js'

const CREDENTIALS = { dashboard_username: 'a', dashboard_password: 'b' }
const LINKED = { dashboard_base_url: 'https://shop.example' }
const TRANSPORT = { sendMail: async () => {} }

const warningsFor = (settings: Settings) => resolveConfiguration({ ...CREDENTIALS, ...settings }, {}).warnings

describe('a channel that is set half is told of at the start, with what to set', () => {
  test.each<[string, Settings, RegExp]>([
    [
      'chat without an address',
      { enable_chat_notifications: true },
      /set chat_webhook_url \(FAULTBOARD_CHAT_WEBHOOK_URL\)/,
    ],
    [
      'e-mail without recipients',
      { enable_email_notifications: true, mail_transport: TRANSPORT },
      /set notification_email_recipients/,
    ],
    [
      'e-mail without a transport',
      { enable_email_notifications: true, notification_email_recipients: ['a@x.example'] },
      /set mail_transport or smtp_url \(FAULTBOARD_SMTP_URL\)/,
    ],
    ['a secret without a webhook', { webhook_secret: 'x' }, /set webhook_url/],
    ['a digest without e-mail', { digest_frequency: 'daily' }, /set enable_email_notifications/],
    ['quiet hours without a channel', { quiet_hours: '22:00-07:00' }, /quiet_hours is set, but no channel/],
    [
      'baseline alerts without a channel',
      { enable_baseline_alerts: true },
      /enable_baseline_alerts is on, but no channel/,
    ],
    ['a channel without links', { webhook_url: 'https://hooks.example' }, /without links.*set dashboard_base_url/],
  ])('%s', (_, settings, sentence) => {
    const warnings = warningsFor(settings)
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(sentence)
  })

  test.each<[string, Settings]>([
    ['nothing at all', {}],
    ['chat', { ...LINKED, enable_chat_notifications: true, chat_webhook_url: 'https://chat.example/x' }],
    [
      'e-mail with digest and quiet hours',
      {
        ...{ ...LINKED, enable_email_notifications: true, notification_email_recipients: ['a@x.example'] },
        ...{ smtp_url: 'smtp://mail.example', digest_frequency: 'daily', quiet_hours: '22:00-07:00' },
      },
    ],
    ['a switched-off channel that keeps its address', { chat_webhook_url: 'https://chat.example/x' }],
  ])('and one that is set as a whole is not: %s', (_, settings) => {
    expect(warningsFor(settings)).toEqual([])
  })
})
