import assert from 'node:assert/strict'
import type { Channel, Outcome } from '../notifications/channels/channel.js'
import { dashboardLinks } from '../notifications/content/dashboard-links.js'
import type { ErrorNotice } from '../notifications/content/notice.js'
import type { Settings } from '../options.js'
import { resolveConfiguration, toCanonicalSettings } from '../options.js'
import { type ContractCase, CREDENTIALS } from './contract.js'

export type TestChannel = Omit<Channel, 'name'> & { readonly name: string }

export interface ChannelHarness {
  channel: TestChannel
  /** Starts a local server that receives what the channel sends. */
  openReceiver(): Promise<{
    /** Options that make the channel send to this receiver. */
    settings: Settings
    /** Parts of the settings that must not appear in logs. */
    secrets: readonly string[]
    /** The readable text of each received message. */
    messages: readonly string[]
    /** How the receiver responds to the next messages: accept, fail temporarily, reject permanently, or never respond. */
    respond(behavior: 'accept' | 'fail' | 'reject' | 'hang'): void
    close(): Promise<unknown>
  }>
}

type Receiver = Awaited<ReturnType<ChannelHarness['openReceiver']>>

const SENT_AT = Date.UTC(2026, 0, 15, 12)
const BASE_URL = 'https://ops.example'

/** Requirements for a notification channel, tested against a local receiver. */
export function channelContract({ channel, openReceiver }: ChannelHarness): ContractCase[] {
  const define = (title: string, body: (receiver: Receiver, send: () => Promise<Outcome>) => Promise<void>) => ({
    title,
    async run() {
      const receiver = await openReceiver()
      try {
        await body(receiver, () => send(channel, receiver.settings))
      } finally {
        await receiver.close()
      }
    },
  })
  return [
    define('is disabled without options and enabled with all of them', async ({ settings }) => {
      assert.notDeepEqual(channel.missingOptions(resolveOptions({})), [])
      assert.deepEqual(channel.missingOptions(resolveOptions(settings)), [])
    }),
    define('sends type, message, application and link of a new error', async (receiver, deliver) => {
      receiver.respond('accept')
      assert.equal((await deliver()).state, 'sent')
      assert.equal(receiver.messages.length, 1)
      const text = receiver.messages[0]?.replaceAll('\\', '') ?? ''
      for (const part of [
        'TypeError',
        'cart.total is not a function',
        'shop',
        `${BASE_URL}/error_dashboard/errors/42`,
      ]) {
        assert.ok(text.includes(part), `"${part}" is missing in: ${text}`)
      }
    }),
    define('reports a temporary failure as failed', async (receiver, deliver) => {
      receiver.respond('fail')
      assert.equal((await deliver()).state, 'failed')
    }),
    define('reports a permanent rejection as refused', async (receiver, deliver) => {
      receiver.respond('reject')
      assert.equal((await deliver()).state, 'refused')
    }),
    define('stops waiting for a receiver that never responds', async (receiver) => {
      receiver.respond('hang')
      const timeouts = { connect_ms: 1000, total_ms: 1000 }
      const outcome = await send(channel, receiver.settings, timeouts).catch(() => ({ state: 'failed' }))
      assert.equal(outcome.state, 'failed')
    }),
    define('shows no secret in its target or outcome', async (receiver, deliver) => {
      const texts = [channel.target(resolveOptions(receiver.settings))]
      for (const behavior of ['accept', 'fail', 'reject'] as const) {
        receiver.respond(behavior)
        texts.push((await deliver()).response)
      }
      assert.ok(receiver.secrets.length > 0, 'the receiver has no secrets to look for')
      for (const secret of receiver.secrets) {
        assert.ok(!texts.some((text) => text.includes(secret)), 'a secret is visible')
      }
    }),
  ]
}

function resolveOptions(settings: Settings) {
  const defaults = { ...CREDENTIALS, application_name: 'shop', dashboard_base_url: BASE_URL }
  return resolveConfiguration({ ...defaults, ...toCanonicalSettings(settings) }, {}).options
}

function send(
  channel: TestChannel,
  settings: Settings,
  timeouts?: { connect_ms: number; total_ms: number },
): Promise<Outcome> {
  const config = resolveOptions(settings)
  return channel.send(
    { key: 'new:42:contract', notice: NOTICE },
    {
      config,
      links: dashboardLinks(config),
      now: () => SENT_AT,
      signal: new AbortController().signal,
      ...(timeouts && { timeouts }),
    },
  )
}

const NOTICE: ErrorNotice = {
  event: 'new',
  application_name: 'shop',
  environment: 'production',
  at: SENT_AT,
  severity: 'high',
  error: {
    id: 42,
    application_id: 1,
    error_type: 'TypeError',
    message: 'cart.total is not a function',
    place: 'src/cart.js:12 in total',
    platform: 'Web',
    app_version: '2.4.0',
    occurrence_count: 1,
    first_seen_at: SENT_AT,
    occurred_at: SENT_AT,
    hash_signature: 'ab'.repeat(32),
    regressed_in_version: null,
  },
}
