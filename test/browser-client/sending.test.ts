import type { Page } from 'playwright-core'
import { beforeEach, expect, test } from 'vitest'
import { describeInBrowser } from '../support/browser.js'
import { openShop } from './shop.js'

/** Long enough for a machine that is busy; nothing is measured by it. */
const SOON = { timeout: 15_000 }

const report = (page: Page, ...messages: string[]) =>
  page.evaluate((list) => {
    const { client } = window as unknown as { client: { report(error: unknown): void } }
    for (const message of list) client.report(new Error(message))
  }, messages)

const numbered = (word: string, most: number) => Array.from({ length: most }, (_, i) => `${word} number ${i}`)

/** Numbers are taken out of a message before it is grouped, so these are one error. */
describeInBrowser('what the browser client sends', ({ open }) => {
  const shop = openShop({ authorize: ({ request }) => request.headers.get('authorization') !== 'Bearer wrong' })

  beforeEach(() => {
    shop.arrived.length = 0
    shop.answers.length = 0
  })

  const statuses = () => shop.arrived.map(({ status }) => status)

  test('sends batches of ten with the token, after a second or at ten errors', async () => {
    const page = await open()
    const bodies: string[] = []
    page.on('request', (request) => bodies.push(request.postData() ?? ''))
    await page.goto(shop.page(`{ token: 'secret', headers: { 'X-Shop': 'a' }, breadcrumbs: false }`))
    await report(page, ...numbered('batch', 23))
    await expect.poll(() => shop.count('batch'), SOON).toBe(23)
    const sizes = bodies.filter((body) => body !== '').map((body) => JSON.parse(body).errors.length)
    expect(sizes).toEqual([10, 10, 3])
    expect(shop.arrived[0]).toEqual({
      authorization: 'Bearer secret',
      content_type: 'application/json',
      status: 201,
    })
    await page.context().close()
  })

  test('retries after 429, 500 and a broken connection, and counts once', async () => {
    const page = await open()
    await page.clock.install()
    await page.goto(shop.page())
    // The answer of the last one breaks off.
    const broken = { status: 503, headers: { Connection: 'close', 'Content-Length': '100' }, body: 'Sorr' }
    shop.answers.push({ status: 429, headers: { 'Retry-After': '40' } }, { status: 500 }, broken)
    await report(page, 'tried again')
    await page.clock.runFor(1500)
    await expect.poll(statuses, SOON).toEqual([429])
    // Whoever asks meanwhile waits, too.
    await page.evaluate('client.flush()')
    await report(page, 'came meanwhile')
    await page.clock.runFor(35_000)
    await page.evaluate('client.flush()')
    expect(statuses()).toEqual([429])
    await page.clock.runFor(6000)
    await expect.poll(statuses, SOON).toEqual([429, 500])
    await page.evaluate('client.flush()')
    await page.clock.runFor(1500)
    await expect.poll(statuses, SOON).toEqual([429, 500, 503])
    await page.evaluate('client.flush()')
    await page.route('**/client_errors', (route) => route.abort(), { times: 1 })
    await page.clock.runFor(2500)
    await page.evaluate('client.flush()')
    await page.clock.runFor(5000)
    await expect.poll(statuses, SOON).toEqual([429, 500, 503, 201])
    expect(await shop.find('tried again')).toMatchObject({ occurrence_count: 1 })
    expect(await shop.find('came meanwhile')).toMatchObject({ occurrence_count: 1 })
    await expect.poll(() => page.evaluate('Object.keys(localStorage)'), SOON).toEqual([])
    await page.context().close()
  })

  test('does not retry rejected errors, except those rejected with their batch', async () => {
    const page = await open()
    const printed: string[] = []
    page.on('console', (message) => message.type() === 'warning' && printed.push(message.text()))
    const crumbs = `before_send: (event) => { window.crumbs = event.breadcrumbs; return event }`
    await page.goto(shop.page(`{ token: 'wrong', ${crumbs} }`))
    await report(page, 'refused')
    await page.evaluate('client.flush()')
    await page.evaluate('client.flush()')
    expect(statuses()).toEqual([401])
    await report(page, 'refused again')
    await page.evaluate('client.flush()')
    // Once, for whoever sets it up, and not as a step of the page.
    expect(printed).toEqual(['Faultboard: /client_errors 401 {"error":"This client may not report here."}'])
    expect(await page.evaluate('crumbs')).toEqual([])
    shop.arrived.length = 0
    await page.goto(shop.page(`{ app_version: '' }`))
    await report(page, 'without a version')
    await page.evaluate('client.flush()')
    expect(printed).toMatchObject([{}, expect.stringMatching(/^Faultboard: \/client_errors 422 .*app_version/)])
    await page.goto(
      shop.page(`{ before_send: (event) => event.message === 'bad' ? { ...event, platform: 7 } : event }`),
    )
    await report(page, 'neighbour a', 'bad', 'neighbour b')
    await page.evaluate('client.flush()')
    expect(statuses()).toEqual([422, 422, 201, 422, 201])
    expect(await shop.count('neighbour')).toBe(2)
    expect(await shop.count('refused')).toBe(0)
    await page.context().close()
  })

  test('waits while the page is offline, even for the next page', async () => {
    const page = await open()
    await page.goto(shop.page())
    await page.context().setOffline(true)
    await report(page, 'off line, same page')
    // By then nothing but being on line again will wake it.
    await expect.poll(() => page.evaluate('Object.keys(localStorage).length'), SOON).toBe(1)
    expect(statuses()).toEqual([])
    await page.context().setOffline(false)
    await expect.poll(() => shop.count('off line, same page'), SOON).toBe(1)
    await expect.poll(() => page.evaluate('Object.keys(localStorage)'), SOON).toEqual([])

    await page.context().setOffline(true)
    await report(page, ...numbered('off line, next page', 60))
    await page.evaluate('client.flush()')
    const kept = (await page.evaluate('Object.values(localStorage)')) as string[]
    expect(kept.map((text) => JSON.parse(text).length)).toEqual([20])
    await page.close()
    await page.context().setOffline(false)
    const next = await page.context().newPage()
    await next.goto(shop.page())
    // The page that is closed may still notice that it is on line, and send some of those it could not keep.
    await expect.poll(() => shop.count('off line, next page'), SOON).toBeGreaterThanOrEqual(20)
    await expect.poll(() => next.evaluate('Object.keys(localStorage)'), SOON).toEqual([])
    await next.context().close()
  })

  test('arrives although the page is closed at once', async () => {
    const page = await open()
    await page.goto(shop.page())
    const there = shop.page()
    await page.evaluate(`client.report(new Error('on the way out')), location.href = '${there}'`)
    await page.waitForURL(there)
    await expect.poll(() => shop.count('on the way out'), SOON).toBe(1)
    expect(shop.arrived).toMatchObject([{ content_type: 'text/plain', status: 201 }])

    await report(page, 'closed')
    await page.close({ runBeforeUnload: true })
    await expect.poll(() => shop.count('closed'), SOON).toBe(1)

    // More than may be under way then: the next page sends the rest.
    const last = await page.context().newPage()
    await last.goto(shop.page())
    await last.evaluate(`for (let i = 0; i < 9; i++) client.report(new Error('large number ' + i), { context: { text: 'ä'.repeat(9e3) } })
      location.href = '${there}'`)
    await last.waitForURL(there)
    await expect.poll(() => shop.count('large'), SOON).toBe(9)
    await last.context().close()
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
    const there = shop.page()
    await page.evaluate(`client.report(new Error('by beacon')), location.href = '${there}'`)
    await page.waitForURL(there)
    await expect.poll(() => shop.count('by beacon'), SOON).toBe(1)
    expect(shop.arrived).toMatchObject([{ content_type: 'text/plain;charset=UTF-8', status: 201 }])
    await page.context().close()
  })

  test('drops errors if storage is unavailable or contains invalid data', async () => {
    const page = await open()
    const address = shop.page()
    await page.goto(address)
    for (const text of ['no JSON', '{}', '[null, 7]', 'null']) {
      await page.evaluate((nonsense) => localStorage.setItem('faultboard /client_errors', nonsense), text)
      await page.goto(address)
      await report(page, `beside ${text}`)
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
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.goto(shop.page())
    shop.answers.push({ status: 500 })
    await report(page, 'kept nowhere')
    await page.evaluate('client.flush()')
    await expect.poll(() => shop.count('kept nowhere'), SOON).toBe(1)
    expect(complaints).toEqual([])
    await page.context().close()
  })
})
