import type { Page } from 'playwright-core'
import { beforeEach, expect, test } from 'vitest'
import { describeInBrowser } from '../support/browser.js'
import { openShop } from './shop.js'

/** Generous, because test machines are slow and busy. */
const POLL = { timeout: 15_000 }

const reportErrors = (page: Page, ...messages: string[]) =>
  page.evaluate((list) => {
    const { client } = window as unknown as { client: { report(error: unknown): void } }
    for (const message of list) client.report(new Error(message))
  }, messages)

const numberedMessages = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${prefix} number ${i}`)

/** Messages that differ only in a number belong to one error. */
describeInBrowser('Sending of the browser client', ({ open }) => {
  const shop = openShop({ authorize: ({ request }) => request.headers.get('authorization') !== 'Bearer wrong' })

  beforeEach(() => {
    shop.received.length = 0
    shop.responses.length = 0
  })

  const statuses = () => shop.received.map(({ status }) => status)

  test('sends batches of ten with the token, after a second or at ten errors', async () => {
    const page = await open()
    const bodies: string[] = []
    page.on('request', (request) => bodies.push(request.postData() ?? ''))
    await page.goto(shop.page(`{ token: 'secret', headers: { 'X-Shop': 'a' }, breadcrumbs: false }`))
    await reportErrors(page, ...numberedMessages('batch', 23))
    await expect.poll(() => shop.count('batch'), POLL).toBe(23)
    const sizes = bodies.filter((body) => body !== '').map((body) => JSON.parse(body).errors.length)
    expect(sizes).toEqual([10, 10, 3])
    expect(shop.received[0]).toEqual({
      authorization: 'Bearer secret',
      content_type: 'application/json',
      status: 201,
    })
    await page.context().close()
  })

  test('retries after 429, 500 and a broken connection, and counts once', async () => {
    const page = await open()
    await page.clock.install({ time: 0 })
    await page.goto(shop.page())
    // Otherwise, the clock also advances in real time.
    await page.clock.pauseAt(60_000)
    // The last response is truncated.
    const truncated = { status: 503, headers: { Connection: 'close', 'Content-Length': '100' }, body: 'Sorr' }
    shop.responses.push({ status: 429, headers: { 'Retry-After': '40' } }, { status: 500 }, truncated)
    await reportErrors(page, 'retried')
    await page.clock.runFor(1500)
    await expect.poll(statuses, POLL).toEqual([429])
    // A flush and new errors wait for the retry, too.
    await page.evaluate('client.flush()')
    await reportErrors(page, 'reported during the pause')
    await page.clock.runFor(35_000)
    await page.evaluate('client.flush()')
    expect(statuses()).toEqual([429])
    await page.clock.runFor(6000)
    await expect.poll(statuses, POLL).toEqual([429, 500])
    await page.evaluate('client.flush()')
    await page.clock.runFor(1500)
    await expect.poll(statuses, POLL).toEqual([429, 500, 503])
    await page.evaluate('client.flush()')
    await page.route('**/client_errors', (route) => route.abort(), { times: 1 })
    await page.clock.runFor(2500)
    await page.evaluate('client.flush()')
    await page.clock.runFor(5000)
    await expect.poll(statuses, POLL).toEqual([429, 500, 503, 201])
    expect(await shop.find('retried')).toMatchObject({ occurrence_count: 1 })
    expect(await shop.find('reported during the pause')).toMatchObject({ occurrence_count: 1 })
    await expect.poll(() => page.evaluate('Object.keys(localStorage)'), POLL).toEqual([])
    await page.context().close()
  })

  test('does not retry rejected errors, except those rejected with their batch', async () => {
    const page = await open()
    const warnings: string[] = []
    page.on('console', (message) => message.type() === 'warning' && warnings.push(message.text()))
    const captureBreadcrumbs = `before_send: (event) => { window.crumbs = event.breadcrumbs; return event }`
    await page.goto(shop.page(`{ token: 'wrong', ${captureBreadcrumbs} }`))
    await reportErrors(page, 'refused')
    await page.evaluate('client.flush()')
    await page.evaluate('client.flush()')
    expect(statuses()).toEqual([401])
    await reportErrors(page, 'refused again')
    await page.evaluate('client.flush()')
    // Warns the developer once, without a breadcrumb.
    expect(warnings).toEqual([
      'Faultboard: /client_errors 401 {"error":"This client is not allowed to report errors."}',
    ])
    expect(await page.evaluate('crumbs')).toEqual([])
    shop.received.length = 0
    await page.goto(shop.page(`{ app_version: '' }`))
    await reportErrors(page, 'without a version')
    await page.evaluate('client.flush()')
    expect(warnings).toMatchObject([{}, expect.stringMatching(/^Faultboard: \/client_errors 422 .*app_version/)])
    await page.goto(
      shop.page(`{ before_send: (event) => event.message === 'bad' ? { ...event, platform: 7 } : event }`),
    )
    await reportErrors(page, 'neighbor a', 'bad', 'neighbor b')
    await page.evaluate('client.flush()')
    expect(statuses()).toEqual([422, 422, 201, 422, 201])
    expect(await shop.count('neighbor')).toBe(2)
    expect(await shop.count('refused')).toBe(0)
    await page.context().close()
  })

  test('keeps errors while the page is offline, and sends them from the next page if it was closed', async () => {
    const page = await open()
    await page.goto(shop.page())
    await page.context().setOffline(true)
    await reportErrors(page, 'offline, same page')
    // From here on only the online event starts a retry.
    await expect.poll(() => page.evaluate('Object.keys(localStorage).length'), POLL).toBe(1)
    expect(statuses()).toEqual([])
    await page.context().setOffline(false)
    await expect.poll(() => shop.count('offline, same page'), POLL).toBe(1)
    await expect.poll(() => page.evaluate('Object.keys(localStorage)'), POLL).toEqual([])

    await page.context().setOffline(true)
    await reportErrors(page, ...numberedMessages('offline, next page', 60))
    await page.evaluate('client.flush()')
    const storedBatches = (await page.evaluate('Object.values(localStorage)')) as string[]
    expect(storedBatches.map((text) => JSON.parse(text).length)).toEqual([20])
    await page.close()
    await page.context().setOffline(false)
    const next = await page.context().newPage()
    await next.goto(shop.page())
    // The closed page may still send some of the errors beyond the storage limit.
    await expect.poll(() => shop.count('offline, next page'), POLL).toBeGreaterThanOrEqual(20)
    await expect.poll(() => next.evaluate('Object.keys(localStorage)'), POLL).toEqual([])
    await next.context().close()
  })

  test('delivers an error of a page that the user leaves', async () => {
    const page = await open()
    await page.goto(shop.page())
    const nextUrl = shop.page()
    await page.evaluate(`client.report(new Error('on the way out')), location.href = '${nextUrl}'`)
    await page.waitForURL(nextUrl)
    await expect.poll(() => shop.count('on the way out'), POLL).toBe(1)
    expect(shop.received).toMatchObject([{ content_type: 'text/plain', status: 201 }])

    await page.close()

    // Exceeds the limit for pending keepalive requests: the next page sends the rest.
    const last = await page.context().newPage()
    await last.goto(shop.page())
    await last.evaluate(`for (let i = 0; i < 9; i++) client.report(new Error('large number ' + i), { context: { text: 'ä'.repeat(9e3) } })
      location.href = '${nextUrl}'`)
    await last.waitForURL(nextUrl)
    await expect.poll(() => shop.count('large'), POLL).toBe(9)
    await last.context().close()
  })

  test('delivers an error of a page that the user closes', async () => {
    // With credentials, Playwright holds every request and drops those of a closed page.
    const context = await (await open()).context().browser()?.newContext()
    const page = (await context?.newPage()) as Page
    await page.goto(shop.page())
    await reportErrors(page, 'closed')
    await page.close({ runBeforeUnload: true })
    await expect.poll(() => shop.count('closed'), POLL).toBe(1)
    await context?.close()
  })

  test('uses a beacon in browsers that cancel requests of a closed page', async () => {
    const page = await open()
    await page.addInitScript(() => {
      // As in Firefox before 133.
      Reflect.deleteProperty(Request.prototype, 'keepalive')
      const { fetch } = window
      window.fetch = (input, init) => fetch(input, { ...init, keepalive: false })
    })
    await page.goto(shop.page())
    const nextUrl = shop.page()
    await page.evaluate(`client.report(new Error('by beacon')), location.href = '${nextUrl}'`)
    await page.waitForURL(nextUrl)
    await expect.poll(() => shop.count('by beacon'), POLL).toBe(1)
    expect(shop.received).toMatchObject([{ content_type: 'text/plain;charset=UTF-8', status: 201 }])
    await page.context().close()
  })

  test('drops errors if storage is unavailable or contains invalid data', async () => {
    const page = await open()
    const address = shop.page()
    await page.goto(address)
    for (const text of ['no JSON', '{}', '[null, 7]', 'null']) {
      await page.evaluate((invalid) => localStorage.setItem('faultboard /client_errors', invalid), text)
      await page.goto(address)
      await reportErrors(page, `beside ${text}`)
      await page.evaluate('client.flush()')
      expect(await shop.count(`beside ${text}`)).toBe(1)
    }
    await page.addInitScript(() => {
      Object.defineProperty(window, 'localStorage', {
        get() {
          throw new DOMException('forbidden', 'SecurityError')
        },
      })
    })
    const pageErrors: string[] = []
    page.on('pageerror', (error) => pageErrors.push(error.message))
    await page.goto(shop.page())
    shop.responses.push({ status: 500 })
    await reportErrors(page, 'not stored')
    await page.evaluate('client.flush()')
    await expect.poll(() => shop.count('not stored'), POLL).toBe(1)
    expect(pageErrors).toEqual([])
    await page.context().close()
  })
})
