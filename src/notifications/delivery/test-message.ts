import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import type { Context } from '../../context.js'
import { choice, optionalText } from '../../model/input.js'
import { defineOperation } from '../../operation.js'
import { ownApplicationId } from '../../store/applications.js'
import type { Channel } from '../channels/channel.js'
import type { TestNotice } from '../content/notice.js'
import { requireChannel } from './channel-states.js'
import { DELIVERY_CHANNELS } from './deliveries.js'
import { endingOf } from './endings.js'
import { send } from './send.js'

export interface TestOutcome {
  delivery_id: number
  channel: Channel['name']
  /** Where it went, for people. */
  target: string
  state: 'sent' | 'failed'
  /** What the receiver said, or why it was not reached. */
  answer: string
}

const NAME_LIMIT = 255

/** Sends a message by one channel now, and tells what became of it: one try, kept in the log like any other. */
export const sendTestNotification = defineOperation({
  input: v.object({ channel: choice(DELIVERY_CHANNELS), actor: optionalText({ max: NAME_LIMIT }) }),
  async run(context, { channel: name, actor = 'system' }): Promise<TestOutcome> {
    const channel = requireChannel(name, context.config)
    const notice = noticeOf(context, actor)
    const key = `test:${randomUUID()}:${name}`
    const outcome = await send(context, channel, { key, notice }, NEVER)
    const { state, answer } = ending(context, outcome)
    const delivery_id = await keep(context, { key, channel, notice, state, answer })
    return { delivery_id, channel: name, target: channel.target(context.config), state, answer }
  },
})

const NEVER = new AbortController().signal

function noticeOf({ config, now }: Context, requested_by: string): TestNotice {
  return {
    event: 'test',
    application_name: config.application_name,
    environment: config.environment,
    at: now(),
    severity: 'low',
    requested_by,
  }
}

/** Whoever asked is waiting for the answer, and tries again himself. */
function ending({ now, random }: Context, outcome: Awaited<ReturnType<typeof send>>) {
  const { state, answer } = endingOf({ attempts: 0, created_at: now(), stopped: false }, outcome, { now, random })
  return { state: state === 'sent' ? ('sent' as const) : ('failed' as const), answer }
}

interface Kept {
  key: string
  channel: Channel
  notice: TestNotice
  state: 'sent' | 'failed'
  answer: string
}

async function keep(context: Context, { key, channel, notice, state, answer }: Kept): Promise<number> {
  const { database, now } = context
  const application_id = await ownApplicationId(context)
  await database.read
    .insertInto('faultboard_deliveries')
    .values({
      ...{ idempotency_key: key, channel: channel.name, event: 'test', error_id: null },
      ...{ application_id, state, attempts: 1, payload: JSON.stringify(notice) },
      ...{ last_answer: answer, run_at: now(), queued_at: now(), locked_until: null },
      ...{ created_at: notice.at, finished_at: now() },
    })
    .execute()
  const row = await database.read
    .selectFrom('faultboard_deliveries')
    .select('id')
    .where('idempotency_key', '=', key)
    .executeTakeFirstOrThrow()
  return row.id
}
