import { expect, test } from 'vitest'
import { describeOneDatabase } from '../../support/databases.js'
import { NOON } from '../../support/tracker.js'
import { intakeHost } from './intake-host.js'
import { ANDROID, APPLE, PYTHON } from './recorded-events.js'

const SECOND = 1000
const DAY = 86_400 * SECOND

describeOneDatabase('Events of Sentry SDKs', (database) => {
  test('Sentry events are recorded with causes, frames and request for Python', async () => {
    const host = await intakeHost(database)
    expect((await host.event(PYTHON)).status).toBe(200)
    const error = await host.find('no such order')
    expect(error).toMatchObject({
      error_type: 'OrderMissing',
      platform: 'API',
      app_version: null,
      git_sha: 'a1b2c3d4e5f60718293a4b5c6d7e8f9001122334',
      user_id: 'u-7',
      request_url: 'https://api.shop.example/orders/7?page=2&token=[FILTERED]',
      user_agent: 'curl/8.5.0',
      ip_address: null,
      severity: 'high',
      environment: 'production',
      details: { transaction: 'orders.views.show', logger: 'django.request' },
      request: { method: 'POST', route: 'orders.views.show' },
      request_params: { body: { amount: 12, card_number: '[FILTERED]' } },
      causes: [{ error_type: 'KeyError', message: "'7'", relation: 'cause' }],
    })
    expect(error.backtrace).toEqual([
      'at show (/srv/app/orders/views.py:31)',
      'at inner (/srv/venv/lib/python3.12/site-packages/django/core/handlers/exception.py:55) [library]',
    ])
    expect(error.place).toBe('/srv/app/orders/views.py:31 in show')
    expect(JSON.stringify(error)).not.toMatch(/sessionid|203\.0\.113\.9|s3cr3t/)
    expect(error.breadcrumbs).toMatchObject([
      { category: 'query', message: 'SELECT * FROM orders' },
      { category: 'httplib', message: 'GET https://stock.example/7 503' },
    ])
  })

  test('Sentry events use the operating system of a mobile app as platform', async () => {
    const host = await intakeHost(database)
    await host.event(ANDROID)
    await host.event(APPLE)
    const android = await host.find('cart is empty')
    expect(android).toMatchObject({
      platform: 'Android',
      app_version: '5.1',
      details: { build: '511', unhandled: true },
    })
    expect(android.backtrace).toEqual([
      'at com.example.shop.Cart.total (Cart.kt:42)',
      'at android.os.Handler.dispatchMessage (Handler.java:106) [library]',
    ])
    expect(android.place).toBe('Cart.kt:42 in com.example.shop.Cart.total')
    const apple = await host.find('EXC_BAD_ACCESS')
    expect(apple).toMatchObject({ error_type: 'EXC_BAD_ACCESS', platform: 'iOS', severity: 'high' })
    expect(apple.backtrace).toEqual([
      'at Cart.total() (Shop)',
      'at -[UIControl sendAction:to:forEvent:] (UIKitCore) [library]',
    ])
  })

  test('Sentry events count once per event id', async () => {
    const host = await intakeHost(database)
    const event = { ...PYTHON, event_id: 'AAAAAAAA-0000-4000-8000-000000000001' }
    const responses = await Promise.all([1, 2, 3].map(() => host.event(event)))
    expect(await Promise.all(responses.map((response) => response.json()))).toEqual(
      Array(3).fill({ id: 'aaaaaaaa000040008000000000000001' }),
    )
    expect((await host.find('no such order')).occurrence_count).toBe(1)
    await host.event({ ...event, event_id: 'b'.repeat(32) })
    expect((await host.find('no such order')).occurrence_count).toBe(2)
    expect((await host.tracker.stats()).dropped).toMatchObject({ reported_again: 2 })
  })

  test('Sentry events are grouped by their fingerprint, which may include the default grouping', async () => {
    const host = await intakeHost(database)
    const send = (message: string, fingerprint?: string[]) =>
      host.event({ message, ...(fingerprint && { fingerprint }) })
    await send('alpha fails', ['payments'])
    await send('beta fails', ['payments'])
    await send('gamma fails', ['{{ default }}'])
    await send('gamma fails')
    await send('gamma fails', ['{{default}}', 'eu'])
    await send('delta fails', ['{{default}}', 'eu'])
    const errors = await host.tracker.Queries.ErrorsList.call()
    expect(errors.map(({ message, occurrence_count }) => [message, occurrence_count]).sort()).toEqual([
      ['beta fails', 2],
      ['delta fails', 1],
      ['gamma fails', 1],
      ['gamma fails', 2],
    ])
  })

  test('uses plausible timestamps and corrects all others', async () => {
    const host = await intakeHost(database)
    host.clock.now = NOON
    const at = (time: number) => new Date(time).toISOString()
    await host.event({ message: 'an hour ago', timestamp: (NOON - 3600 * SECOND) / 1000 })
    await host.event({ message: 'without a zone', timestamp: at(NOON - 60 * SECOND).slice(0, -1) })
    await host.event({ message: 'in the future', timestamp: at(NOON + DAY) })
    await host.event({ message: 'years ago', timestamp: 1 })
    await host.event({ message: 'no time', timestamp: 'soon' })
    // A clock that is a year behind, and an event that was queued for two minutes.
    await host.event(
      { message: 'wrong clock', timestamp: at(NOON - 365 * DAY - 120 * SECOND) },
      { sent_at: at(NOON - 365 * DAY) },
    )
    const times = (await host.tracker.Queries.ErrorsList.call()).map((error) => [error.message, error.occurred_at])
    expect(Object.fromEntries(times)).toEqual({
      'an hour ago': at(NOON - 3600 * SECOND),
      'without a zone': at(NOON - 60 * SECOND),
      'in the future': at(NOON),
      'years ago': at(NOON),
      'no time': at(NOON),
      'wrong clock': at(NOON - 120 * SECOND),
    })
  })
})
