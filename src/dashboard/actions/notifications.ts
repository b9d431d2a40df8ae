import * as v from 'valibot'
import { scopeInput } from '../../model/input/scope.js'
import * as r from '../../model/result.js'
import { deliveriesInput } from '../../notifications/delivery/deliveries.js'
import { retryDelivery } from '../../notifications/delivery/retry-delivery.js'
import { sendTestNotification, type TestResult } from '../../notifications/delivery/test-notification.js'
import { type Action, defineAction } from '../define.js'
import { pathWith } from '../links/href.js'

const { state, channel, environment, page } = deliveriesInput.entries

const sendTest = defineAction({
  path: '/notifications/test',
  text: 'Send a test notification through a channel',
  role: 'admin',
  parameters: v.object({ channel: sendTestNotification.input.entries.channel, ...scopeInput }),
  response: r.object({ channel: r.text, target: r.text, state: r.text, response: r.text }),
  async run(context, { channel, ...scope }, actor) {
    await context.ready()
    const outcome = await sendTestNotification.run(context, { channel, actor })
    const { channel: name, target, state, response } = outcome
    return {
      json: () => ({ channel: name, target, state, response }),
      to: pathWith('/notifications', scope),
      notice: testNotice(outcome),
    }
  },
})

const retryFailed = defineAction({
  path: '/notifications/:delivery_id{[0-9]+}/retry',
  text: 'Retry a failed notification',
  role: 'responder',
  parameters: v.object({ ...retryDelivery.input.entries, state, channel, environment, page }),
  response: r.object({ delivery_id: r.integer, state: r.text }),
  async run(context, { delivery_id, application_id, ...listFilter }) {
    await context.ready()
    await retryDelivery.run(context, { delivery_id, application_id })
    return {
      json: () => ({ delivery_id, state: 'pending' }),
      to: pathWith('/notifications', { application_id, ...listFilter }),
      notice: `Retrying notification ${delivery_id}.`,
    }
  },
})

export const notificationActions: readonly Action[] = [sendTest, retryFailed]

function testNotice({ channel, target, state, response }: TestResult): string {
  const name = channel.replaceAll('_', ' ')
  return state === 'sent'
    ? `Test sent to ${name} (${target}): ${response}`
    : `Test to ${name} (${target}) failed: ${response}`
}
