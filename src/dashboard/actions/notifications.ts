import * as v from 'valibot'
import { id, optional } from '../../model/input.js'
import { deliveriesInput } from '../../notifications/delivery/deliveries.js'
import { retryDelivery } from '../../notifications/delivery/retry-delivery.js'
import { sendTestNotification, type TestOutcome } from '../../notifications/delivery/test-message.js'
import { type Action, defineAction } from '../define.js'
import { pathWith } from '../href.js'

const { state, channel, page } = deliveriesInput.entries

const sendTest = defineAction({
  path: '/notifications/test',
  text: 'Send a test by a channel',
  parameters: v.object({ channel: sendTestNotification.input.entries.channel, application_id: optional(id()) }),
  async run(context, { channel, application_id }, actor) {
    await context.ready()
    const outcome = await sendTestNotification.run(context, { channel, actor })
    return { to: pathWith('/notifications', { application_id }), notice: outcomeText(outcome) }
  },
})

const retry = defineAction({
  path: '/notifications/:delivery_id{[0-9]+}/retry',
  text: 'Try a message again that failed',
  parameters: v.object({ ...retryDelivery.input.entries, state, channel, page }),
  async run(context, { delivery_id, application_id, ...list }) {
    await context.ready()
    await retryDelivery.run(context, { delivery_id, application_id })
    return {
      to: pathWith('/notifications', { application_id, ...list }),
      notice: `Message ${delivery_id} is tried again.`,
    }
  },
})

/** What can be done about messages. */
export const notificationActions: readonly Action[] = [sendTest, retry]

/** What became of a test, for whoever asked for it. */
function outcomeText({ channel, target, state, answer }: TestOutcome): string {
  const name = channel.replaceAll('_', ' ')
  return state === 'sent'
    ? `The test was sent by ${name}: ${target} answered ${answer}`
    : `The test was not sent by ${name} to ${target}: ${answer}`
}
