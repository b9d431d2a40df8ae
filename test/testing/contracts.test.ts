import express from 'express'
import { describe, expect, test } from 'vitest'
import { capture, dashboard } from '../../src/adapters/express.js'
import { createEngine } from '../../src/jobs/engines.js'
import { webhook } from '../../src/notifications/channels/webhook.js'
import { resolveConfiguration } from '../../src/options.js'
import { createDatabase } from '../../src/store/database.js'
import {
  type AdapterHarness,
  adapterContract,
  type ChannelHarness,
  type ContractCase,
  channelContract,
  databaseContract,
  jobEngineContract,
  testRoutes,
} from '../../src/testing/testing.js'
import { openHttpInbox } from '../contract/http-inbox.js'
import { describeEachDatabase } from '../support/databases.js'
import { CREDENTIALS, freshStorage } from '../support/tracker.js'

const TIMEOUT = { timeout: 90_000 }

function register(cases: readonly ContractCase[]): void {
  for (const { title, run } of cases) test(title, TIMEOUT, run)
}

/** The titles of the cases that an implementation fails. */
async function failures(cases: readonly ContractCase[]): Promise<string[]> {
  const failed: string[] = []
  for (const { title, run } of cases) await run().catch(() => failed.push(title))
  return failed
}

const expressAdapter = (isCapturing: boolean): AdapterHarness => ({
  host(tracker) {
    const app = express().set('env', 'production')
    app.use(dashboard(tracker))
    for (const [path, run] of Object.entries(testRoutes(tracker))) {
      app.get(path, async (_request, response) => void response.send(await run()))
    }
    return isCapturing ? app.use(capture(tracker)) : app
  },
})

describe('the adapter contract', () => {
  register(adapterContract(expressAdapter(true)))

  test('fails for an adapter that records nothing', TIMEOUT, async () => {
    expect(await failures(adapterContract(expressAdapter(false)))).toEqual([
      'records the error of /sync once and lets the application respond',
      'records the error of /async once and lets the application respond',
      'passes form bodies to the dashboard',
    ])
  })
})

const MANNERS = { accept: 'accept', fail: 'broken', reject: 'refuse', hang: 'hang' } as const

const webhookHarness = (channel: ChannelHarness['channel']): ChannelHarness => ({
  channel,
  async openReceiver() {
    const secret = 'webhook-secret-0123456789'
    const inbox = await openHttpInbox((webhook_url) => ({ webhook_url, webhook_secret: secret }), [secret])
    return {
      settings: inbox.settings,
      secrets: inbox.secrets,
      get messages() {
        return inbox.messages.map(({ text }) => text)
      },
      respond(behavior) {
        inbox.behavior = MANNERS[behavior]
      },
      close: inbox.close,
    }
  },
})

describe('the channel contract', () => {
  register(channelContract(webhookHarness(webhook)))

  test('fails for a channel that shows its address and ignores rejections', TIMEOUT, async () => {
    const careless: ChannelHarness['channel'] = {
      ...webhook,
      target: ({ webhook_url }) => String(webhook_url),
      async send(message, sending) {
        await webhook.send(message, sending)
        return { state: 'sent', response: '' }
      },
    }
    expect(await failures(channelContract(webhookHarness(careless)))).toEqual([
      'reports a temporary failure as failed',
      'reports a permanent rejection as refused',
      'stops waiting for a receiver that never responds',
      'shows no secret in its target or outcome',
    ])
  })
})

describeEachDatabase('the exported contracts', (database) => {
  describe('of databases', () => {
    register(
      databaseContract({
        async open() {
          return { database: await database.empty(), close: async () => {} }
        },
      }),
    )
  })

  describe('of job engines', () => {
    register(
      jobEngineContract({
        async open() {
          const { url } = await freshStorage(database)
          const { options: config } = resolveConfiguration({ ...CREDENTIALS, database: url }, {})
          const opened: { close(): Promise<unknown> }[] = []
          return {
            connect() {
              const own = createDatabase(config.database, '.')
              opened.push(own)
              return createEngine({
                ...{ config, database: own, now: Date.now, random: Math.random, ready: async () => {} },
                log: { info() {}, warn() {} },
                timing: { leaseMs: 2000, pollMs: 50, graceMs: 500, timeoutMs: 30_000, retryDelayMs: 20 },
              })
            },
            close: () => Promise.all(opened.map((engine) => engine.close())),
          }
        },
      }),
    )
  })
})
