import type * as v from 'valibot'
import type { Context } from '../../../context.js'
import { readChannelProblems } from '../../../health/channels.js'
import * as r from '../../../model/result.js'
import { ChannelState, channelStates } from '../../../notifications/delivery/channel-states.js'

export const ChannelWithHealth = r.object({
  ...ChannelState.entries,
  /** `degraded`: the last attempts failed, or the oldest message has waited for more than five minutes. */
  state: r.oneOf([...ChannelState.entries.state.options, 'degraded']),
  /** Reason for `degraded`. */
  problem: r.nullable(r.text),
})
export type ChannelWithHealth = v.InferOutput<typeof ChannelWithHealth>

/** Channels of this process. Excludes other applications, whose receivers this process does not know. */
export async function channelsWithHealth({ database, config, now }: Context): Promise<ChannelWithHealth[]> {
  const problems = await readChannelProblems(database, now())
  return channelStates(config).map((channel) => {
    const problem = problems.find(
      ({ channel: name, application_name }) =>
        name === channel.name && (application_name ?? config.application_name) === config.application_name,
    )
    if (!problem || channel.state !== 'on') return { ...channel, problem: null }
    return { ...channel, state: 'degraded', problem: problem.text }
  })
}
