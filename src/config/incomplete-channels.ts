import { environmentVariable, type OptionName, type Options } from './options.js'

/** Sentences for channels and rules that are wanted but lack something, so that nothing would be sent, in silence. */
export function halfSetChannels(options: Options): string[] {
  return HALF_SET.flatMap(({ when, says, set }) =>
    when(options) ? [`${says}: set ${set.map(inBothWays).join(' or ')}`] : [],
  )
}

interface HalfSet {
  when(options: Options): boolean
  says: string
  set: readonly OptionName[]
}

const hasTransport = ({ mail_transport, smtp_url }: Options) => mail_transport !== null || smtp_url !== null

const mailsGoOut = (options: Options) =>
  options.enable_email_notifications && options.notification_email_recipients.length > 0 && hasTransport(options)

const isAnyOn = (options: Options) =>
  (options.enable_chat_notifications && options.chat_webhook_url !== null) ||
  options.community_chat_webhook_url !== null ||
  options.incident_integration_key !== null ||
  options.webhook_url !== null ||
  mailsGoOut(options)

/** The options that turn channels on. */
const ANY_CHANNEL: readonly OptionName[] = ['enable_chat_notifications', 'community_chat_webhook_url', 'webhook_url']

const HALF_SET: readonly HalfSet[] = [
  {
    when: (options) => options.enable_chat_notifications && options.chat_webhook_url === null,
    says: 'enable_chat_notifications is on, but no message is sent without an address',
    set: ['chat_webhook_url'],
  },
  {
    when: (options) => options.enable_email_notifications && options.notification_email_recipients.length === 0,
    says: 'enable_email_notifications is on, but nobody is named who receives the e-mails',
    set: ['notification_email_recipients'],
  },
  {
    when: (options) => options.enable_email_notifications && !hasTransport(options),
    says: 'enable_email_notifications is on, but nothing is there to send e-mails by',
    set: ['mail_transport', 'smtp_url'],
  },
  {
    when: (options) => options.webhook_secret !== null && options.webhook_url === null,
    says: 'webhook_secret is set, but there is no address to send signed messages to',
    set: ['webhook_url'],
  },
  {
    when: (options) => options.digest_frequency !== 'never' && !options.enable_email_notifications,
    says: 'digest_frequency is set, but the digest is an e-mail, and those are off',
    set: ['enable_email_notifications'],
  },
  {
    when: (options) => options.quiet_hours !== null && !isAnyOn(options),
    says: 'quiet_hours is set, but no channel is on whose messages could be held',
    set: ANY_CHANNEL,
  },
  {
    when: (options) => options.enable_baseline_alerts && !isAnyOn(options),
    says: 'enable_baseline_alerts is on, but no channel is on by which an alert could be sent',
    set: ANY_CHANNEL,
  },
  {
    when: (options) => isAnyOn(options) && options.dashboard_base_url === null,
    says: 'Messages are sent without links, because nobody has said how people reach the dashboard',
    set: ['dashboard_base_url'],
  },
]

function inBothWays(name: OptionName): string {
  const variable = environmentVariable(name)
  return variable === null ? name : `${name} (${variable})`
}
