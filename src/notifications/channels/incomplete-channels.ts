import { environmentVariable, OPTIONS, type OptionName, type Options } from '../../config/options.js'
import type { Channel } from './channel.js'
import { activeChannels, CHANNELS } from './channels.js'

/** Warnings about enabled channels and rules that lack a required option and would silently send nothing. */
export function incompleteChannelWarnings(options: Options): string[] {
  const hasChannel = activeChannels(options).length > 0
  const channels = Object.values(CHANNELS).flatMap((channel) =>
    (channel.missingOptions(options) ?? []).map((missing) =>
      warning(`${channel.enablingOption} is on, but ${incompleteReason(channel, options)}`, missing.split(' or ')),
    ),
  )
  const rules = RULES.filter(({ isIncomplete }) => isIncomplete(options, hasChannel))
  return [...channels, ...rules.map(({ message, requiredOptions }) => warning(message, requiredOptions))]
}

function incompleteReason(channel: Channel, options: Options): string {
  return channel.canSendAssignments?.(options) ? 'only assignments are sent' : 'the channel is incomplete'
}

interface Rule {
  isIncomplete(options: Options, hasChannel: boolean): boolean
  message: string
  requiredOptions: readonly OptionName[]
}

const ENABLING_OPTIONS = Object.values(CHANNELS).map(({ enablingOption }) => enablingOption)

const RULES: readonly Rule[] = [
  {
    isIncomplete: ({ webhook_secret, webhook_url }) => webhook_secret !== null && webhook_url === null,
    message: 'webhook_secret is set, but there is no webhook URL',
    requiredOptions: ['webhook_url'],
  },
  {
    isIncomplete: ({ digest_frequency, enable_email_notifications }) =>
      digest_frequency !== 'never' && !enable_email_notifications,
    message: 'digest_frequency is set, but email notifications are off',
    requiredOptions: ['enable_email_notifications'],
  },
  {
    isIncomplete: ({ quiet_hours }, hasChannel) => quiet_hours !== null && !hasChannel,
    message: 'quiet_hours is set, but no notification channel is enabled',
    requiredOptions: ENABLING_OPTIONS,
  },
  {
    isIncomplete: ({ enable_baseline_alerts }, hasChannel) => enable_baseline_alerts && !hasChannel,
    message: 'enable_baseline_alerts is on, but no notification channel is enabled',
    requiredOptions: ENABLING_OPTIONS,
  },
  {
    isIncomplete: ({ dashboard_base_url }, hasChannel) => hasChannel && dashboard_base_url === null,
    message: 'Notifications contain no links because the public URL of the dashboard is unknown',
    requiredOptions: ['dashboard_base_url'],
  },
]

function warning(message: string, requiredOptions: readonly string[]): string {
  return `${message}: set ${requiredOptions.map((name) => optionWithVariable(name as OptionName)).join(' or ')}`
}

function optionWithVariable(name: OptionName): string {
  const variable = environmentVariable(name, OPTIONS[name])
  return variable === null ? name : `${name} (${variable})`
}
