import * as v from 'valibot'
import { resolveConfiguration } from '../../config/resolve.js'
import { optional, parseInput } from '../../model/input.js'
import {
  type ChannelState,
  channelStates,
  listed,
  requireChannel,
} from '../../notifications/delivery/channel-states.js'
import { sendTestNotification } from '../../notifications/delivery/test-message.js'
import { COMMON_FLAGS, defineCommand } from '../command.js'
import { readConfiguration, withoutDashboard } from '../configuration.js'
import { complain, harmless, print, printJson, terminalWidth } from '../io/terminal.js'
import { type Column, textTable } from '../io/text-table.js'
import { openTracker } from '../open-tracker.js'

export const notify = defineCommand({
  name: 'notify',
  summary: 'Tell which channels messages go to, or send a test by one of them',
  text: 'Without --test it sends nothing: it lists the channels, where they lead, and which options the others lack.\nA test is kept in the log of the messages. The exit code is 0 only when the receiver has taken it.',
  examples: ['faultboard notify', 'faultboard notify --test chat'],
  flags: {
    ...COMMON_FLAGS,
    test: { value: 'CHANNEL', text: 'chat, community_chat, email, incident or webhook' },
    json: { text: 'Answer in JSON' },
  },
  async run(flags) {
    const channel = parseInput(FLAG, { '--test': flags.test })['--test']
    const configuration = await readConfiguration(flags)
    // A fault of the command line is no error of the application, and whatever else is due is sent by that.
    const own = { enable_error_subscriber: false, enable_breadcrumbs: false, run_jobs: false }
    const settings = { ...withoutDashboard(configuration.settings), ...own }
    const { options } = resolveConfiguration(settings)
    if (channel === undefined) return list(channelStates(options), flags.json)
    // Before anything is opened: what a wrong folder's configuration lacks is the first thing to know.
    requireChannel(channel, options)
    return sendTest(channel, settings, flags.json)
  },
})

/** The command's own rule, under the name of the flag, so that its sentence names what was typed. */
const FLAG = v.object({ '--test': optional(sendTestNotification.input.entries.channel) })

function list(channels: readonly ChannelState[], json: boolean): number {
  if (json) printJson({ channels })
  else for (const line of textTable(COLUMNS, channels, terminalWidth())) print(line)
  return 0
}

const COLUMNS: readonly Column<ChannelState>[] = [
  { title: 'CHANNEL', text: ({ name }) => name },
  { title: 'STATE', text: ({ state }) => state },
  { title: 'FROM', text: ({ least_severity }) => least_severity, spare: 1 },
  {
    title: 'TO',
    text: ({ target, missing }) => target ?? `set ${listed(missing)}`,
  },
]

async function sendTest(
  channel: ChannelState['name'],
  settings: Parameters<typeof openTracker>[0],
  json: boolean,
): Promise<number> {
  const tracker = await openTracker(settings)
  // Nothing that sends keeps a process alive, and here nothing else does.
  const hold = setInterval(() => {}, 2 ** 30)
  try {
    const outcome = await tracker.Commands.SendTestNotification.call({ channel, actor: 'the command line' })
    const { state, target, answer } = outcome
    if (json) printJson(outcome)
    else if (state === 'sent') print(`Sent by ${channel} to ${harmless(target)}: ${harmless(answer)}`)
    else complain(`Not sent by ${channel} to ${harmless(target)}: ${harmless(answer)}`)
    return state === 'sent' ? 0 : 1
  } finally {
    await tracker.shutdown()
    clearInterval(hold)
  }
}
