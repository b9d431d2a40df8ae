import { environmentVariable, OPTIONS, type OptionName, type Options } from './options.js'

/** Warnings about enabled channels and rules that lack a required option and would silently send nothing. */
export function incompleteChannelWarnings(options: Options): string[] {
  return INCOMPLETE_CHANNELS.flatMap(({ isIncomplete, message, requiredOptions }) =>
    isIncomplete(options) ? [`${message}: set ${requiredOptions.map(optionWithVariable).join(' or ')}`] : [],
  )
}

interface IncompleteChannel {
  isIncomplete(options: Options): boolean
  message: string
  requiredOptions: readonly OptionName[]
}

const hasTransport = ({ mail_transport, smtp_url }: Options) => mail_transport !== null || smtp_url !== null

const isMailEnabled = (options: Options) =>
  options.enable_email_notifications && options.notification_email_recipients.length > 0 && hasTransport(options)

const isAnyChannelEnabled = (options: Options) =>
  (options.enable_chat_notifications && options.chat_webhook_url !== null) ||
  options.community_chat_webhook_url !== null ||
  options.incident_integration_key !== null ||
  options.webhook_url !== null ||
  isMailEnabled(options)

/** Options that enable a channel. */
const CHANNEL_OPTIONS: readonly OptionName[] = [
  'enable_chat_notifications',
  'community_chat_webhook_url',
  'webhook_url',
]

const INCOMPLETE_CHANNELS: readonly IncompleteChannel[] = [
  {
    isIncomplete: (options) => options.enable_chat_notifications && options.chat_webhook_url === null,
    message: 'enable_chat_notifications is on, but chat_webhook_url is not set',
    requiredOptions: ['chat_webhook_url'],
  },
  {
    isIncomplete: (options) => options.enable_email_notifications && options.notification_email_recipients.length === 0,
    message: 'enable_email_notifications is on, but there are no recipients',
    requiredOptions: ['notification_email_recipients'],
  },
  {
    isIncomplete: (options) => options.enable_email_notifications && !hasTransport(options),
    message: 'enable_email_notifications is on, but there is no mail transport',
    requiredOptions: ['mail_transport', 'smtp_url'],
  },
  {
    isIncomplete: (options) => options.webhook_secret !== null && options.webhook_url === null,
    message: 'webhook_secret is set, but there is no webhook URL',
    requiredOptions: ['webhook_url'],
  },
  {
    isIncomplete: (options) => options.digest_frequency !== 'never' && !options.enable_email_notifications,
    message: 'digest_frequency is set, but email notifications are off',
    requiredOptions: ['enable_email_notifications'],
  },
  {
    isIncomplete: (options) => options.quiet_hours !== null && !isAnyChannelEnabled(options),
    message: 'quiet_hours is set, but no notification channel is enabled',
    requiredOptions: CHANNEL_OPTIONS,
  },
  {
    isIncomplete: (options) => options.enable_baseline_alerts && !isAnyChannelEnabled(options),
    message: 'enable_baseline_alerts is on, but no notification channel is enabled',
    requiredOptions: CHANNEL_OPTIONS,
  },
  {
    isIncomplete: (options) => isAnyChannelEnabled(options) && options.dashboard_base_url === null,
    message: 'Notifications contain no links because the public URL of the dashboard is unknown',
    requiredOptions: ['dashboard_base_url'],
  },
]

function optionWithVariable(name: OptionName): string {
  const variable = environmentVariable(name, OPTIONS[name])
  return variable === null ? name : `${name} (${variable})`
}
