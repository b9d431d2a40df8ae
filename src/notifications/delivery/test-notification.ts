import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import type { Context } from '../../context.js'
import { choice, optionalText } from '../../model/input/input.js'
import { defineCommand } from '../../operation.js'
import { ownApplicationId } from '../../store/applications.js'
import type { Channel } from '../channels/channel.js'
import { CHANNEL_NAMES } from '../channels/channels.js'
import type { TestNotice } from '../content/notice.js'
import { attemptResult } from './attempt-result.js'
import { requireChannel } from './channel-states.js'
import { sendOnce } from './send-once.js'

export interface TestResult {
  delivery_id: number
  channel: Channel['name']
  /** Destination, as shown to users. */
  target: string
  state: 'sent' | 'failed'
  /** Text of the response, or the reason why there is none. */
  response: string
}

const MAX_NAME_LENGTH = 255

/** Sends a test notification immediately. Makes one attempt and adds it to the delivery log. */
export const sendTestNotification = defineCommand({
  input: v.object({ channel: choice(CHANNEL_NAMES), actor: optionalText({ max: MAX_NAME_LENGTH }) }),
  async run(context, { channel: name, actor = 'system' }): Promise<TestResult> {
    const channel = requireChannel(name, context.config)
    const notice = testNotice(context, actor)
    const key = `test:${randomUUID()}:${name}`
    const outcome = await sendOnce(context, channel, { key, notice }, NEVER_ABORTED)
    const { state, response } = finalResult(context, outcome)
    const delivery_id = await logTest(context, { key, channel, notice, state, response })
    return { delivery_id, channel: name, target: channel.target(context.config), state, response }
  },
  audit: (_input, { channel, state }) => ({ action: 'test_notification', target: channel, detail: state }),
})

const NEVER_ABORTED = new AbortController().signal

function testNotice({ config, now }: Context, requested_by: string): TestNotice {
  return {
    event: 'test',
    application_name: config.application_name,
    environment: config.environment,
    at: now(),
    severity: 'low',
    requested_by,
  }
}

/** Maps a retry to `failed`: the user sees the result and can retry manually. */
function finalResult({ now, random }: Context, outcome: Awaited<ReturnType<typeof sendOnce>>) {
  const { state, response } = attemptResult({ attempts: 0, created_at: now(), isStopped: false }, outcome, {
    now,
    random,
  })
  return { state: state === 'sent' ? ('sent' as const) : ('failed' as const), response }
}

interface LoggedTest {
  key: string
  channel: Channel
  notice: TestNotice
  state: 'sent' | 'failed'
  response: string
}

async function logTest(context: Context, { key, channel, notice, state, response }: LoggedTest): Promise<number> {
  const { database, now } = context
  const application_id = await ownApplicationId(context)
  await database.read
    .insertInto('faultboard_deliveries')
    .values({
      ...{ idempotency_key: key, channel: channel.name, event: 'test', error_id: null },
      ...{ application_id, state, attempts: 1, payload: JSON.stringify(notice) },
      ...{ last_response: response, run_at: now(), locked_until: null },
      ...{ created_at: notice.at, finished_at: now(), attempted_at: now() },
    })
    .execute()
  const row = await database.read
    .selectFrom('faultboard_deliveries')
    .select('id')
    .where('idempotency_key', '=', key)
    .executeTakeFirstOrThrow()
  return row.id
}
