import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { ChannelState } from '../../../src/notifications/delivery/channel-states.js'
import type { Delivery } from '../../../src/notifications/delivery/deliveries.js'
import { openHttpInbox } from '../../contract/http-inbox.js'
import type { Inbox } from '../../contract/inbox.js'
import { describeOneDatabase } from '../../support/databases.js'
import { type Host, startHost } from '../../support/host.js'
import { HOSTILE_MARKUP } from '../../support/hostile.js'
import { eventually, withDatabase } from '../../support/tracker.js'

interface Answer {
  status: number
  channels: ChannelState[]
  counts: Record<Delivery['state'], number>
  deliveries: Delivery[]
  pagination: { page: number; total_count: number; total_pages: number }
}

describeOneDatabase('the notifications page', (database) => {
  let url: string
  let inbox: Inbox
  let host: Host

  beforeAll(async () => {
    url = await database.fresh()
    inbox = await openHttpInbox((webhook_url) => ({ webhook_url }))
    host = await startHost(url, {
      ...inbox.settings,
      enable_email_notifications: true,
      notification_email_recipients: ['ops@shop.example'],
      chat_webhook_url: 'https://chat.example/services/T1/topsecret',
      quiet_hours: '00:00-00:01',
      quiet_hours_bypass_severity: 'medium',
      severity_thresholds: { webhook: 'medium' },
      run_jobs: false,
    })
  })

  afterAll(async () => {
    await host?.close()
    await inbox?.close()
  })

  const read = async (query = '') => (await host.json(`/notifications${query}`)) as unknown as Answer
  const noticeOf = (response: Response) => decodeURIComponent(response.headers.get('set-cookie') ?? '')

  test('states that email without recipients sends only assignments', async () => {
    const withoutRecipients = await startHost(url, {
      ...{ enable_email_notifications: true, smtp_url: 'smtp://127.0.0.1:9', run_jobs: false },
    })
    onTestFinished(() => withoutRecipients.close())
    expect(await (await withoutRecipients.get('/notifications')).text()).toContain(
      'Only assignments are sent. For errors and digests, set <a href="/error_dashboard/settings#notification_email_recipients">',
    )
  })

  test('shows state, target, minimum severity and missing options of each channel', async () => {
    const { channels } = await read()
    expect(channels.map(({ name, state, missing }) => [name, state, missing])).toEqual([
      ['chat', 'off', ['enable_chat_notifications']],
      ['community_chat', 'off', ['community_chat_webhook_url']],
      ['email', 'incomplete', ['mail_transport or smtp_url']],
      ['incident', 'off', ['incident_integration_key']],
      ['webhook', 'on', []],
    ])
    expect(channels.at(-1)).toMatchObject({ min_severity: 'medium', held_in_quiet_hours: true })
    expect(channels.at(-1)?.target).toMatch(/^127\.0\.0\.1:\d+$/)
    const page = await (await host.get('/notifications')).text()
    expect(page).toContain('Incomplete: set ')
    expect(page).toContain('No notifications yet')
    expect(page).toContain('Quiet hours 00:00-00:01 (UTC); medium and more severe errors are sent immediately.')
    for (const secret of [...inbox.secrets, 'topsecret']) expect(page).not.toContain(secret)
  })

  test('sends a test, shows the response and logs the delivery', async () => {
    const sent = await host.post('/notifications/test', { channel: 'webhook' })
    expect(sent.status).toBe(302)
    expect(sent.headers.get('location')).toBe('/error_dashboard/notifications')
    expect(noticeOf(sent)).toMatch(/Test sent to webhook \(127\.0\.0\.1:\d+\): 200 ok/)
    expect(JSON.parse(inbox.messages.at(-1)?.raw ?? '')).toMatchObject({ event: 'test', requested_by: 'admin' })

    inbox.behavior = 'refuse'
    const refused = await host.post('/notifications/test', { channel: 'webhook' })
    inbox.behavior = 'accept'
    expect(noticeOf(refused)).toMatch(/Test to webhook \(127\.0\.0\.1:\d+\) failed: 404 no_service/)
    const { deliveries } = await read()
    expect(deliveries).toMatchObject([
      { event: 'test', state: 'failed', attempts: 1, last_response: expect.stringContaining('no_service') },
      { event: 'test', state: 'sent', attempts: 1, subject: 'Test requested by admin', error_id: null },
    ])
  })

  test('shows why a test cannot be sent', async () => {
    const json = { accept: 'application/json' }
    const off = await host.post('/notifications/test', { channel: 'chat' }, json)
    expect([off.status, await off.json()]).toEqual([
      404,
      { error: 'Channel chat is not configured. Set enable_chat_notifications.' },
    ])
    const unknown = await host.post('/notifications/test', { channel: 'fax' }, json)
    expect([unknown.status, await unknown.json()]).toEqual([
      422,
      { error: 'channel must be one of chat, community_chat, email, incident, webhook' },
    ])
  })

  test('lists deliveries by state and channel with pagination and links to the error', async () => {
    const before = (await read()).pagination.total_count
    const logged = await host.tracker.Commands.LogError.call({
      error_type: HOSTILE_MARKUP,
      message: HOSTILE_MARKUP,
      severity: 'high',
    })
    const { deliveries, counts, pagination } = await read('?state=pending&channel=webhook')
    expect(deliveries).toMatchObject([
      { event: 'new', severity: 'high', error_id: logged?.id, error_exists: true, attempts: 0 },
    ])
    expect(pagination.total_count).toBe(1)
    expect(counts).toMatchObject({ pending: 1, sent: 1, failed: 1, held: 0 })
    expect((await read('?channel=email')).deliveries).toEqual([])
    expect((await read('?per_page=1&page=2')).pagination).toMatchObject({ page: 2, total_count: before + 1 })
    expect((await host.get('/notifications.json?per_page=1')).headers.get('link')).toContain('rel="next"')
    const page = await (await host.get('/notifications')).text()
    expect(page).toContain(`href="/error_dashboard/errors/${logged?.id}"`)
    expect(page).not.toContain('<script>document')
    expect((await host.get('/notifications?state=lost')).status).toBe(422)

    await host.post('/errors/batch_action', { 'error_ids[]': [String(logged?.id)], action_type: 'delete' })
    expect((await read('?state=pending')).deliveries).toMatchObject([{ error_id: logged?.id, error_exists: false }])
    expect(await (await host.get('/notifications')).text()).not.toContain(`/errors/${logged?.id}"`)
  })

  test('limits the log and its actions to the selected application', async () => {
    const { deliveries } = await read('?state=pending')
    const application_id = deliveries[0]?.application_id ?? 0
    expect((await read(`?application_id=${application_id}&state=pending`)).deliveries).toHaveLength(1)
    await withDatabase(url, ({ read }) =>
      read.insertInto('faultboard_applications').values({ name: 'other', created_at: 1 }).execute(),
    )
    const other = (await host.tracker.Queries.Applications.call()).find(({ name }) => name === 'other')
    const { counts, pagination } = await read(`?application_id=${other?.id}`)
    expect([counts.pending, counts.failed, pagination.total_count]).toEqual([0, 0, 0])
    const failed = (await read('?state=failed')).deliveries[0]
    const form = { application_id: String(other?.id) }
    expect((await host.post(`/notifications/${failed?.id}/retry`, form)).status).toBe(404)
  })

  test('retries failed deliveries only', async () => {
    const failed = (await read('?state=failed')).deliveries[0]
    const response = await host.post(`/notifications/${failed?.id}/retry`, { state: 'failed', channel: 'webhook' })
    expect(response.status).toBe(302)
    expect(response.headers.get('location')).toBe('/error_dashboard/notifications?state=failed&channel=webhook')
    expect(noticeOf(response)).toContain(`Retrying notification ${failed?.id}.`)
    const again = (await read()).deliveries.find(({ id }) => id === failed?.id)
    expect(again).toMatchObject({ state: 'pending', attempts: 0 })
    expect((await host.post(`/notifications/${failed?.id}/retry`)).status).toBe(422)
    for (const id of ['0', '999999', '99999999999999999999']) {
      expect((await host.post(`/notifications/${id}/retry`)).status).toBe(404)
    }
  })

  test('shows an overdue attempt with the number of messages ahead instead of a time in the past', async () => {
    const payload = JSON.stringify({ event: 'test', severity: 'low', requested_by: 'Anna' })
    const overdue = { channel: 'chat', event: 'test', state: 'pending', attempts: 1, payload, created_at: Date.now() }
    const rows = Array.from({ length: 1001 }, (_, i) => ({ ...overdue, idempotency_key: `late ${i}`, run_at: i }))
    await withDatabase(url, async ({ read }) => {
      for (let i = 0; i < rows.length; i += 100)
        await read
          .insertInto('faultboard_deliveries')
          .values(rows.slice(i, i + 100))
          .execute()
    })
    const page = await (await host.get('/notifications?state=retrying')).text()
    expect(page).toContain('<small>overdue, 1,000+ messages ahead</small>')
    expect(page).toContain('<small>overdue, 999 messages ahead</small>')
    expect(page).not.toContain('next attempt')
  })

  test('renders hostile responses as text', async () => {
    await withDatabase(url, ({ read }) =>
      read.updateTable('faultboard_deliveries').set({ last_response: HOSTILE_MARKUP }).execute(),
    )
    const page = await (await host.get('/notifications')).text()
    expect(page).toContain('&lt;script&gt;document')
    expect(page).not.toContain('<script>document')
    expect(page).not.toContain('<img src=x')
  })
})

test('shows the configuration of a channel when none is enabled', async () => {
  const host = await startHost('sqlite::memory:')
  onTestFinished(() => host.close())
  const page = await (await host.get('/notifications')).text()
  expect(page).toContain('No notification channel configured')
  expect(page).toContain('enable_chat_notifications: true')
  expect(page).not.toContain('Send test')
})

test('the settings never show the contents of a mail transport', async () => {
  const mail_transport: Record<string, unknown> = { auth: { pass: 'topsecret' }, sendMail: async () => ({}) }
  mail_transport.itself = mail_transport
  const host = await startHost('sqlite::memory:', { mail_transport: mail_transport as never })
  onTestFinished(() => host.close())
  const response = await host.get('/settings')
  expect(response.status).toBe(200)
  expect(await response.text()).not.toContain('topsecret')
})

test('the health page shows the engine and links to the failed messages', async () => {
  const inbox = await openHttpInbox((webhook_url) => ({ webhook_url }))
  inbox.behavior = 'refuse'
  onTestFinished(() => inbox.close())
  const host = await startHost('sqlite::memory:', inbox.settings)
  onTestFinished(() => host.close())
  await host.tracker.Commands.LogError.call({ error_type: 'A', message: 'x' })
  await eventually(async () => {
    const page = await (await host.get('/health')).text()
    return page.includes('1 failed') && page.includes('404 no_service')
  }, 'the refusal is shown')
  const page = await (await host.get('/health')).text()
  expect(page).toContain('embedded; runs in this process')
  expect(page).toContain('/error_dashboard/notifications?state=failed')
})

test('shows a failing channel on its page, in the sidebar of every page and in the JSON', async () => {
  const host = await startHost('sqlite::memory:', { webhook_url: 'http://127.0.0.1:9/', run_jobs: false })
  onTestFinished(() => host.close())
  for (let i = 0; i < 3; i += 1) await host.post('/notifications/test', { channel: 'webhook' })
  const { channels } = (await host.json('/notifications')) as unknown as Answer
  expect(channels.at(-1)).toMatchObject({
    ...{ name: 'webhook', state: 'degraded', problem: 'Failing: the last 3 attempts failed' },
  })
  const page = await (await host.get('/notifications')).text()
  expect(page).toContain('channel-degraded">Failing: the last 3 attempts failed<')
  expect(page).toContain('Send test')
  for (const path of ['/errors', '/health', '/settings']) {
    expect(await (await host.get(path)).text()).toContain('aria-label="Health: degraded"')
  }
  expect(await host.json('/health')).toMatchObject({
    state: 'degraded',
    work: { deliveries: { channel_problems: [{ channel: 'webhook', failed_attempts: 3 }] } },
  })
})

test('limits deliveries and counts to an environment, without tests', async () => {
  const inbox = await openHttpInbox((webhook_url) => ({ webhook_url }))
  onTestFinished(() => inbox.close())
  const host = await startHost('sqlite::memory:', { ...inbox.settings, environment: 'production', run_jobs: false })
  onTestFinished(() => host.close())
  const read = async (query = '') => (await host.json(`/notifications${query}`)) as unknown as Answer
  inbox.behavior = 'refuse'
  await host.post('/notifications/test', { channel: 'webhook' })
  await host.tracker.Commands.LogError.call({ error_type: 'A', message: 'x', environment: 'staging' })
  await host.tracker.Commands.LogError.call({ error_type: 'B', message: 'x' })
  const { deliveries, counts, pagination } = await read('?environment=staging')
  expect(deliveries).toMatchObject([{ environment: 'staging', event: 'new', subject: 'A: x' }])
  expect([pagination.total_count, counts.pending, counts.failed]).toEqual([1, 1, 0])
  const all = await read()
  expect(all.deliveries.map(({ environment }) => environment)).toEqual(['production', 'staging', null])

  const page = await (await host.get('/notifications')).text()
  expect(page).toContain(' · <bdi>staging</bdi>')
  expect(page).not.toContain('<bdi>production</bdi>')
  const none = await (await host.get('/notifications?environment=staging&state=failed')).text()
  expect(none).toContain('<a href="/error_dashboard/notifications">Show all notifications</a>')
  const retry = await host.post(`/notifications/${all.deliveries[2]?.id}/retry`, { environment: 'staging' })
  expect(retry.headers.get('location')).toBe('/error_dashboard/notifications?environment=staging')
})
