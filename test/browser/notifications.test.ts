import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openHttpInbox } from '../contract/http-inbox.js'
import type { Inbox } from '../contract/inbox.js'
import {
  describeInBrowser,
  expectAccessible,
  expectNoOverflow,
  expectNoOverflowAtEveryWidth,
} from '../support/browser.js'
import { type Host, startHost } from '../support/host.js'
import { HOSTILE_MARKUP } from '../support/hostile.js'
import { eventually } from '../support/tracker.js'

describeInBrowser('notifications page in a browser', ({ open }) => {
  let inbox: Inbox
  let host: Host
  let error_id = 0

  beforeAll(async () => {
    inbox = await openHttpInbox((webhook_url) => ({ webhook_url }))
    host = await startHost('sqlite::memory:', {
      ...inbox.settings,
      enable_email_notifications: true,
      quiet_hours: '00:00-00:01',
      dashboard_base_url: 'http://127.0.0.1',
    })
    const logged = await host.tracker.Commands.LogError.call({ error_type: 'TypeError', message: 'x is not y' })
    error_id = logged?.id ?? 0
    await settled('sent', 1)
    // The receiver echoes the hostile text.
    inbox.behavior = 'echo'
    await host.tracker.Commands.LogError.call({
      error_type: `${HOSTILE_MARKUP}${'wide'.repeat(300)}`,
      message: HOSTILE_MARKUP,
    })
    await settled('failed', 1)
    inbox.behavior = 'accept'
  })

  afterAll(async () => {
    await host?.close()
    await inbox?.close()
  })

  const settled = (state: 'sent' | 'failed', count: number) =>
    eventually(
      async () => (await host.tracker.Queries.Deliveries.call({ state })).pagination.total_count === count,
      `${count} ${state}`,
    )
  const at = (path: string) => `${host.origin}/error_dashboard${path}`
  const press = async (page: Page, name: string) => {
    await Promise.all([page.waitForNavigation(), page.getByRole('button', { name }).first().click()])
  }

  test('renders notifications without overflow or hostile scripts', async () => {
    const page = await open({ colorScheme: 'dark' })
    await page.goto(at('/notifications'))
    expect(await page.title()).not.toBe('owned')
    expect(await page.getByText('<script>document').first().isVisible()).toBe(true)
    await expectNoOverflowAtEveryWidth(page)
    expect(await page.getByText('<script>document').first().isVisible()).toBe(true)
    // every-page.test.ts covers light mode.
    await expectAccessible(page)
  })

  test.each([true, false])('sends a test and shows its response (JavaScript %s)', async (javaScriptEnabled) => {
    const page = await open({ javaScriptEnabled })
    const before = inbox.messages.length
    await page.goto(at('/notifications'))
    await press(page, 'Send test to webhook')
    expect(await page.getByText(/Test sent to webhook \(127\.0\.0\.1:\d+\): 200 ok/).isVisible()).toBe(true)
    expect(inbox.messages.length).toBe(before + 1)
    const row = page.getByRole('row').filter({ hasText: 'Test requested by admin' }).first()
    expect(await row.getByText('Sent', { exact: true }).isVisible()).toBe(true)
    expect(await row.getByText('200 ok').isVisible()).toBe(true)

    inbox.behavior = 'broken'
    await press(page, 'Send test to webhook')
    inbox.behavior = 'accept'
    expect(await page.getByText(/Test to webhook \(127\.0\.0\.1:\d+\) failed: 500 out of order/).isVisible()).toBe(true)
  })

  test.each([true, false])(
    'finds a failed delivery by its tab and retries it (JavaScript %s)',
    async (javaScriptEnabled) => {
      inbox.behavior = 'refuse'
      const outcome = await host.tracker.Commands.SendTestNotification.call({ channel: 'webhook', actor: 'Eve' })
      inbox.behavior = 'accept'
      expect(outcome.state).toBe('failed')
      const page = await open({ javaScriptEnabled })
      await page.goto(at('/notifications'))
      await page.getByRole('link', { name: /^Failed/ }).click()
      await page.waitForURL(/state=failed/)
      await press(page, 'Retry: Test requested by Eve')
      expect(page.url()).toContain('state=failed')
      expect(await page.getByText(`Retrying notification ${outcome.delivery_id}.`).isVisible()).toBe(true)
      await eventually(async () => {
        const { deliveries } = await host.tracker.Queries.Deliveries.call({ state: 'sent' })
        return deliveries.some(({ id }) => id === outcome.delivery_id)
      }, 'it was sent')
    },
  )

  test('shows the end of quiet hours in the time zone of the viewer, with UTC on hover', async () => {
    const hour = (offset: number) => new Date(Date.now() + offset * 3_600_000).toISOString().slice(11, 16)
    const quiet = await startHost('sqlite::memory:', { ...inbox.settings, quiet_hours: `${hour(-2)}-${hour(2)}` })
    onTestFinished(() => quiet.close())
    await quiet.tracker.Commands.LogError.call({ error_type: 'TypeError', message: 'x is not y' })
    await eventually(
      async () => (await quiet.tracker.Queries.Deliveries.call({ state: 'held' })).pagination.total_count === 1,
      'a notification is held',
    )
    const page = await open({ timezoneId: 'America/New_York' })
    await page.goto(`${quiet.origin}/error_dashboard/notifications`)
    const end = page.locator('.page-head time')
    expect(await end.textContent()).toMatch(/:00 America\/New_York$/)
    expect(await end.getAttribute('title')).toMatch(/:00 UTC$/)
    const due = page.locator('small', { hasText: 'due in' }).locator('time')
    await due.hover()
    expect(await due.getAttribute('title')).toMatch(/America\/New_York\n.* UTC$/)
  })

  test.each([true, false])('mutes and unmutes an error (JavaScript %s)', async (javaScriptEnabled) => {
    const page = await open({ javaScriptEnabled, viewport: { width: 390, height: 900 } })
    await page.goto(at(`/errors/${error_id}`))
    await page.locator('#more > summary').click()
    await page.locator('#mute > summary').click()
    await page.locator('#mute').getByLabel('Mute notifications for').selectOption('Until unmuted')
    await page.locator('#mute').getByLabel('Reason (optional)').fill('the provider is down')
    await page.locator('#mute').getByText('· change').click()
    await page.locator('#mute').getByLabel('Your name').fill('Anna')
    await expectNoOverflow(page)
    await page.locator('#mute button.primary').click()
    await page.locator('.notice', { hasText: 'Muted indefinitely.' }).waitFor()
    expect(await page.getByText('muted until unmuted, by Anna').first().isVisible()).toBe(true)
    if (javaScriptEnabled) await expectAccessible(page)
    await page.locator('#more > summary').click()
    await page.getByRole('button', { name: 'Unmute notifications' }).click()
    await page.locator('.notice', { hasText: 'Unmuted.' }).waitFor()
  })
})
