import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import type { MailTransport } from '../../config/kinds.js'
import type { Options } from '../../config/options.js'
import type { AssignedError, Notice } from '../content/notice.js'
import { oneLine } from '../content/safe-text.js'
import { digestMail } from '../mail/digest-mail.js'
import { noticeMail } from '../mail/notification-mail.js'
import { sendMail } from '../mail/send-mail.js'
import { defineChannel, type Message } from './channel.js'

const MAX_SHOWN_RECIPIENTS = 3
const MAX_HEADER_LENGTH = 500

/** Sends email through the host's own transport or an SMTP server. */
export const email = defineChannel({
  name: 'email',
  label: 'Email',
  enablingOption: 'enable_email_notifications',
  missingOptions: (config) =>
    config.enable_email_notifications
      ? [
          ...(config.notification_email_recipients.length === 0 ? ['notification_email_recipients'] : []),
          ...(canSendMail(config) ? [] : ['mail_transport or smtp_url']),
        ]
      : null,
  target({ notification_email_recipients }) {
    const shown = notification_email_recipients.slice(0, MAX_SHOWN_RECIPIENTS).map(headerText).join(', ')
    const rest = notification_email_recipients.length - MAX_SHOWN_RECIPIENTS
    return rest > 0 ? `${shown} and ${rest} more` : shown
  },
  canSendAssignments: canSendMail,
  supports: (event) => event !== 'resolved',
  async send(message, sendContext) {
    const { config, links } = sendContext
    const { notice } = message
    const mail =
      notice.event === 'digest'
        ? digestMail(notice, links, config.time_zone)
        : noticeMail(notice, links, config.time_zone)
    return sendMail({ ...mail, ...createEnvelope(message, config) }, sendContext)
  },
})

/** Unlike messages of the channel, email to a person needs no `notification_email_recipients`. */
function canSendMail({ enable_email_notifications, mail_transport, smtp_url }: Options): boolean {
  return enable_email_notifications && (mail_transport !== null || smtp_url !== null)
}

function createEnvelope({ key, notice }: Message, config: Options): Record<string, unknown> {
  const from = senderAddress(config)
  const domain = /@([a-z0-9.-]+)/i.exec(config.notification_email_from ?? '')?.[1] ?? 'faultboard.localdomain'
  const single = singleError(notice)
  const messageId = (parts: readonly unknown[]) => `<faultboard.${shortHash(parts)}@${domain}>`
  return {
    ...(from === undefined ? {} : { from }),
    to: recipients(notice, config).map(headerText),
    messageId: messageId([key, notice.application_name, notice.environment, notice.at]),
    // Makes mail clients group all mails about one error into a thread.
    ...(single
      ? { references: messageId([single.application_name, single.environment, single.error.hash_signature]) }
      : {}),
    headers: mailHeaders(key, notice),
  }
}

function recipients(notice: Notice, { notification_email_recipients }: Options): readonly string[] {
  if (notice.event === 'assigned') return [notice.recipient.email]
  return (notice.event === 'digest' && notice.recipients) || notification_email_recipients
}

function singleError(notice: Notice): AssignedError | null {
  if (notice.event === 'assigned') return notice.total === 1 ? (notice.errors[0] ?? null) : null
  return 'error' in notice ? notice : null
}

function mailHeaders(key: string, notice: Notice): Record<string, string> {
  return {
    'X-Faultboard-Event': notice.event,
    'X-Faultboard-Key': headerText(key),
    // Suppresses out-of-office replies.
    'Auto-Submitted': 'auto-generated',
    'X-Auto-Response-Suppress': 'All',
  }
}

/** Undefined when the host's transport has a default sender. */
function senderAddress({ notification_email_from, mail_transport }: Options): string | undefined {
  if (notification_email_from !== null) return headerText(notification_email_from)
  if (mail_transport !== null && hasDefaultSender(mail_transport)) return undefined
  return `Faultboard <faultboard@${hostname().replace(/[^a-z0-9.-]/gi, '-')}>`
}

/** Nodemailer stores the second argument of createTransport in `_defaults`. */
function hasDefaultSender(transport: MailTransport): boolean {
  const defaults: unknown = Reflect.get(transport, '_defaults')
  return typeof defaults === 'object' && defaults !== null && Boolean(Reflect.get(defaults, 'from'))
}

function headerText(text: string): string {
  return oneLine(text, MAX_HEADER_LENGTH)
}

function shortHash(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}
