import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import type { MailTransport } from '../../config/kinds.js'
import type { Options } from '../../config/options.js'
import { oneLine } from '../content/legible.js'
import type { Notice } from '../content/notice.js'
import { digestMail } from '../mail/digest-mail.js'
import { noticeMail } from '../mail/notice-mail.js'
import { sendMail } from '../mail/send-mail.js'
import type { Channel, Message } from './channel.js'

const SHOWN_RECIPIENTS = 3
const MAX_HEADER = 500

/** Mails by the host's own transport, or by a mail server. */
export const email: Channel = {
  name: 'email',
  missing: ({ enable_email_notifications, notification_email_recipients, mail_transport, smtp_url }) =>
    enable_email_notifications
      ? [
          ...(notification_email_recipients.length === 0 ? ['notification_email_recipients'] : []),
          ...(mail_transport === null && smtp_url === null ? ['mail_transport or smtp_url'] : []),
        ]
      : null,
  target({ notification_email_recipients }) {
    const shown = notification_email_recipients.slice(0, SHOWN_RECIPIENTS).map(inHeader).join(', ')
    const rest = notification_email_recipients.length - SHOWN_RECIPIENTS
    return rest > 0 ? `${shown} and ${rest} more` : shown
  },
  carries: (event) => event !== 'resolved',
  async send(message, sending) {
    const { config, links } = sending
    const { notice } = message
    const mail =
      notice.event === 'digest'
        ? digestMail(notice, links, config.time_zone)
        : noticeMail(notice, links, config.time_zone)
    return sendMail({ ...mail, ...envelopeOf(message, config) }, sending)
  },
}

function envelopeOf({ key, notice }: Message, config: Options): Record<string, unknown> {
  const from = senderOf(config)
  const domain = /@([a-z0-9.-]+)/i.exec(config.notification_email_from ?? '')?.[1] ?? 'faultboard.localdomain'
  const id = (parts: readonly unknown[]) => `<faultboard.${digestOf(parts)}@${domain}>`
  return {
    ...(from === undefined ? {} : { from }),
    to: config.notification_email_recipients.map(inHeader),
    messageId: id([key, notice.application_name, notice.environment, notice.at]),
    // Mails about one error stand together.
    ...('error' in notice ? { references: id([notice.application_name, notice.error.hash_signature]) } : {}),
    headers: headersOf(key, notice),
  }
}

function headersOf(key: string, notice: Notice): Record<string, string> {
  return {
    'X-Faultboard-Event': notice.event,
    'X-Faultboard-Key': inHeader(key),
    // Nobody's holiday answer is to come back.
    'Auto-Submitted': 'auto-generated',
    'X-Auto-Response-Suppress': 'All',
  }
}

/** Undefined where the host's transport knows whose name its mails bear. */
function senderOf({ notification_email_from, mail_transport }: Options): string | undefined {
  if (notification_email_from !== null) return inHeader(notification_email_from)
  if (mail_transport !== null && hasSender(mail_transport)) return undefined
  return `Faultboard <faultboard@${hostname().replace(/[^a-z0-9.-]/gi, '-')}>`
}

/** Where nodemailer keeps the second argument of createTransport. */
function hasSender(transport: MailTransport): boolean {
  const defaults: unknown = Reflect.get(transport, '_defaults')
  return typeof defaults === 'object' && defaults !== null && Boolean(Reflect.get(defaults, 'from'))
}

function inHeader(text: string): string {
  return oneLine(text, MAX_HEADER)
}

function digestOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}
