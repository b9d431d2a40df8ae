import * as v from 'valibot'
import { optional, parseInput } from '../../model/input/input.js'
import { CHANNEL_NAMES } from '../../notifications/channels/channels.js'
import {
  type ChannelState,
  channelStates,
  formatList,
  requireChannel,
} from '../../notifications/delivery/channel-states.js'
import { sendTestNotification } from '../../notifications/delivery/test-notification.js'
import { resolveConfiguration } from '../../options.js'
import { COMMON_FLAGS, defineCommand } from '../command.js'
import { readConfiguration } from '../configuration.js'
import { colorize } from '../io/colors.js'
import { escapeText, print, printError, printJson, terminalWidth } from '../io/terminal.js'
import { type Column, textTable } from '../io/text-table.js'
import { openTracker } from '../open-tracker.js'

export const notify = defineCommand({
  name: 'notify',
  summary: 'List notification channels, or send a test notification',
  text: 'Without --test, nothing is sent: lists the channels with their targets or missing options.\nA test is recorded in the delivery log. The exit code is 0 only if the receiver accepted it.',
  examples: ['faultboard notify', 'faultboard notify --test chat'],
  flags: {
    ...COMMON_FLAGS,
    test: { value: 'CHANNEL', text: CHANNEL_NAMES.join(', '), allowed: CHANNEL_NAMES },
    json: { text: 'Print JSON' },
  },
  async run(flags) {
    const channel = parseInput(TEST_FLAG, { '--test': flags.test })['--test']
    const configuration = await readConfiguration(flags)
    // Failures of this command are not errors of the application, and the application sends its own pending
    // notifications.
    const commandSettings = { enable_error_subscriber: false, enable_breadcrumbs: false, run_jobs: false }
    const settings = { ...configuration.settings, ...commandSettings }
    const { options } = resolveConfiguration(settings)
    if (channel === undefined) return list(channelStates(options), flags.json)
    // Checked before anything is opened: a missing option is the most useful message in a wrong folder.
    requireChannel(channel, options)
    return sendTest(channel, settings, flags.json)
  },
})

/** Input schema keyed by the flag, so that error messages show the name that the user typed. */
const TEST_FLAG = v.object({ '--test': optional(sendTestNotification.input.entries.channel) })

function list(channels: readonly ChannelState[], json: boolean): number {
  if (json) printJson({ channels })
  else for (const line of textTable(COLUMNS, channels, terminalWidth())) print(line)
  return 0
}

const COLUMNS: readonly Column<ChannelState>[] = [
  { title: 'CHANNEL', text: ({ name }) => name },
  { title: 'STATE', text: ({ state }) => state, isState: true },
  { title: 'FROM', text: ({ min_severity }) => min_severity, dropPriority: 1 },
  {
    title: 'TO',
    text: ({ target, missing }) => target ?? `set ${formatList(missing)}`,
  },
]

async function sendTest(
  channel: ChannelState['name'],
  settings: Parameters<typeof openTracker>[0],
  json: boolean,
): Promise<number> {
  const tracker = await openTracker(settings)
  // Keeps the process alive, which sending does not.
  const keepAlive = setInterval(() => {}, 2 ** 30)
  try {
    const outcome = await tracker.Commands.SendTestNotification.call({ channel, actor: 'the command line' })
    const { state, target, response } = outcome
    if (json) printJson(outcome)
    else if (state === 'sent')
      print(colorize('green', `Sent to ${escapeText(target)} via ${channel}: ${escapeText(response)}`))
    else printError(`Not sent to ${escapeText(target)} via ${channel}: ${escapeText(response)}`, 'red')
    return state === 'sent' ? 0 : 1
  } finally {
    await tracker.shutdown()
    clearInterval(keepAlive)
  }
}
