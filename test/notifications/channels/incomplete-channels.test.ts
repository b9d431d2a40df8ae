import { describe, expect, test } from 'vitest'
import { incompleteChannelWarnings } from '../../../src/notifications/channels/incomplete-channels.js'
import { resolveConfiguration, type Settings } from '../../../src/options.js'

const CREDENTIALS = { dashboard_username: 'a', dashboard_password: 'b' }
const LINKED = { dashboard_base_url: 'https://shop.example' }
const TRANSPORT = { sendMail: async () => {} }

const warningsFor = (settings: Settings) =>
  incompleteChannelWarnings(resolveConfiguration({ ...CREDENTIALS, ...settings }, {}).options)

describe('incomplete channel configuration', () => {
  test.each<[string, Settings, RegExp]>([
    ['chat without a URL', { enable_chat_notifications: true }, /set chat_webhook_url \(FAULTBOARD_CHAT_WEBHOOK_URL\)/],
    [
      'email without recipients',
      { enable_email_notifications: true, mail_transport: TRANSPORT },
      /only assignments are sent: set notification_email_recipients/,
    ],
    [
      'email without a transport',
      { enable_email_notifications: true, notification_email_recipients: ['a@x.example'] },
      /set mail_transport or smtp_url \(FAULTBOARD_SMTP_URL\)/,
    ],
    ['a secret without a webhook', { webhook_secret: 'x' }, /set webhook_url/],
    ['a digest without email', { digest_frequency: 'daily' }, /set enable_email_notifications/],
    [
      'quiet hours without a channel',
      { quiet_hours: '22:00-07:00' },
      /quiet_hours is set, but no notification channel/,
    ],
    [
      'baseline alerts without a channel',
      { enable_baseline_alerts: true },
      /enable_baseline_alerts is on, but no notification channel/,
    ],
    ['a channel without links', { webhook_url: 'https://hooks.example' }, /no links.*set dashboard_base_url/],
  ])('warns about %s', (_, settings, message) => {
    const warnings = warningsFor(settings)
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(message)
  })

  test.each<[string, Settings]>([
    ['no channel', {}],
    ['chat', { ...LINKED, enable_chat_notifications: true, chat_webhook_url: 'https://chat.example/x' }],
    [
      'email with digest and quiet hours',
      {
        ...{ ...LINKED, enable_email_notifications: true, notification_email_recipients: ['a@x.example'] },
        ...{ smtp_url: 'smtp://mail.example', digest_frequency: 'daily', quiet_hours: '22:00-07:00' },
      },
    ],
    ['a disabled channel with a URL', { chat_webhook_url: 'https://chat.example/x' }],
  ])('does not warn about %s', (_, settings) => {
    expect(warningsFor(settings)).toEqual([])
  })
})
