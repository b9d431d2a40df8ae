import express from 'express'
import { expect, onTestFinished, test } from 'vitest'
import { dashboard } from '../../src/adapters/express.js'
import type { Settings } from '../../src/options.js'
import { openHttpInbox } from '../contract/http-inbox.js'
import { describeOneDatabase } from '../support/databases.js'
import { serveTracker, signIn } from '../support/host.js'
import { eventually, temporaryFolder, withDatabase } from '../support/tracker.js'

describeOneDatabase('links in notifications', (database) => {
  async function mounted(settings: Settings) {
    const url = await database.fresh()
    const inbox = await openHttpInbox((webhook_url) => ({ webhook_url }))
    onTestFinished(() => inbox.close())
    const host = await serveTracker(
      { database: url, spool_path: temporaryFolder(), ...inbox.settings, run_jobs: false, ...settings },
      {},
      (tracker) => express().use('/ops', express.Router().use('/tools', dashboard(tracker))),
    )
    onTestFinished(() => host.close())
    await host.tracker.Commands.LogError.call({ error_type: 'A', message: 'x' })
    const kept = () =>
      withDatabase(url, async ({ read }) => {
        const [row] = await read.selectFrom('faultboard_applications').select('dashboard_path').execute()
        return row?.dashboard_path ?? null
      })
    return {
      kept,
      visit: (path: string, headers = {}) =>
        fetch(`${host.origin}/ops/tools/error_dashboard${path}`, { headers: { ...signIn(), ...headers } }),
      async link(): Promise<string> {
        await host.tracker.Commands.SendTestNotification.call({ channel: 'webhook' })
        return JSON.parse(inbox.messages.at(-1)?.raw ?? '{}').links.dashboard
      },
    }
  }

  test('links in notifications use the path of dashboard requests, including the mount of the host', async () => {
    const { visit, link, kept } = await mounted({ dashboard_base_url: 'https://shop.example' })
    expect(await link()).toBe('https://shop.example/error_dashboard/overview')
    expect((await visit('/errors', { authorization: 'Basic bm9ib2R5Og==' })).status).toBe(401)
    expect((await visit('/errors.json')).status).toBe(200)
    expect(await kept()).toBeNull()
    expect((await visit('/errors')).status).toBe(200)
    await eventually(async () => (await kept()) !== null, 'the path is kept')
    expect(await kept()).toBe('/ops/tools/error_dashboard')
    expect(await link()).toBe('https://shop.example/ops/tools/error_dashboard/overview')
  })

  test('links in notifications use the prefix of a trusted proxy only', async () => {
    const { visit, link, kept } = await mounted({
      dashboard_base_url: 'https://shop.example/eu',
      trusted_proxies: ['127.0.0.1'],
    })
    await visit('/errors', { 'x-forwarded-prefix': '/de' })
    await eventually(async () => (await kept()) === '/de/ops/tools/error_dashboard', 'the prefix is kept')
    expect(await link()).toBe('https://shop.example/de/ops/tools/error_dashboard/overview')
    await visit('/errors', { 'x-forwarded-prefix': '//evil.example/x' })
    await eventually(async () => (await kept()) === '/eu/ops/tools/error_dashboard', 'the path of the option is kept')
  })
})

test('does not store a path that the options define', async () => {
  const url = `sqlite:${temporaryFolder()}/test.sqlite3`
  const host = await serveTracker({ database: url, dashboard_base_url: 'https://shop.example/eu/error_dashboard/' })
  onTestFinished(() => host.close())
  await host.tracker.Commands.LogError.call({ error_type: 'A', message: 'x' })
  const paths = (set?: string) =>
    withDatabase(url, async ({ read }) => {
      if (set) await read.updateTable('faultboard_applications').set({ dashboard_path: set }).execute()
      return (await read.selectFrom('faultboard_applications').select('dashboard_path').execute())[0]?.dashboard_path
    })
  await paths('/old')
  expect((await host.get('/errors')).status).toBe(200)
  await eventually(async () => (await paths()) === null, 'the old path is forgotten')
})
