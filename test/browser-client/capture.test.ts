import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { redactUrls } from '../../src/browser/address.js'
import { describeInBrowser } from '../support/browser.js'
import { openShop } from './shop.js'

const flush = (page: Page) => page.evaluate('client.flush()')

test.each([
  ['GET /reset?token=hidden failed', 'GET /reset failed'],
  ['?token=hidden', ''],
  ['see /login#access_token=hidden', 'see /login'],
  ['see https://x.example/a#hidden:123456 there', 'see https://x.example/a there'],
  ['//cdn.example/a?hidden', '//cdn.example/a'],
  ['https://x.example/a?f=(a)&token=hidden next', 'https://x.example/a next'],
  ['https://name:hidden@x.example/a?b of https://hidden@x.example', 'https://x.example/a of https://x.example'],
  ['at f (https://x.example/a.js?f=(hidden)&v:10:5)', 'at f (https://x.example/a.js:10:5)'],
  [
    'f@https://x.example/a.js?hidden:10:5\ng@https://x.example/b.js:1:2',
    'f@https://x.example/a.js:10:5\ng@https://x.example/b.js:1:2',
  ],
  [
    'at eval (eval at f (https://x.example/?hidden:10:5), <anonymous>:1:2)',
    'at eval (eval at f (https://x.example/:10:5), <anonymous>:1:2)',
  ],
  [
    'Is it so? Item #7 of a@b.example is 1 # 2, a ? b : c = d',
    'Is it so? Item #7 of a@b.example is 1 # 2, a ? b : c = d',
  ],
])('shortens "%s" to "%s"', (text, shortened) => {
  expect(redactUrls(text)).toBe(shortened)
})

describeInBrowser('Browser client', ({ open }) => {
  const shop = openShop()

  test('limits hostile tags and keeps the page working', async () => {
    const page = await open()
    await page.goto(shop.page())
    const polluted = await page.evaluate(`(() => {
      const odd = JSON.parse('{"__proto__":{"polluted":1},"constructor":"y","a:b":"c","line\\\\nbreak":"d","n":3,"list":[1],"map":{"x":1}}')
      odd['k'.repeat(10000)] = 'v'
      client.report(new Error('odd tags'), { tags: odd })
      client.report(new Error('many tags'), { tags: Object.fromEntries(Array.from({ length: 10000 }, (_, i) => ['key' + i, i])) })
      client.report(new Error('no tags'), { tags: 'x' })
      return ({}).polluted
    })()`)
    await flush(page)
    expect(polluted).toBeUndefined()
    const odd = (await shop.find('odd tags'))?.tags ?? {}
    expect(odd).toMatchObject({
      constructor: 'y',
      'a:b': 'c',
      'line\nbreak': 'd',
      n: 3,
      list: '[Array]',
      map: '[Object]',
    })
    expect(Object.keys(odd).find((key) => key.startsWith('kkk'))).toHaveLength(200)
    const many = (await shop.find('many tags'))?.tags ?? {}
    expect(many).toMatchObject({ key0: 0, key49: 49, '…': expect.stringMatching(/^\d+ more not stored$/) })
    expect(Object.keys(many)).toHaveLength(51)
    expect(await shop.find('no tags')).toMatchObject({ message: 'no tags' })
  })

  test('reports thrown, rejected and reported errors with their breadcrumbs', async () => {
    const page = await open()
    const body = '<form id="pay"><p class="row wide left"><input name="card" value="4111"><button>Pay</button></form>'
    const address = shop.page(
      `{ before_send(event) { (window.sent = window.sent || []).push(JSON.stringify(event)); return event } }`,
      body,
    )
    await page.goto(`${address}?token=hidden1#hidden2`)
    await page.fill('input', 'hidden3')
    await page.evaluate(`(async () => {
      document.cookie = 'session=hidden4'
      document.querySelector('form').onsubmit = (event) => event.preventDefault()
      document.querySelector('button').click()
      history.pushState(null, '', '/cart?coupon=hidden5')
      await fetch('/nowhere?key=hidden6', { method: 'POST' })
      await new Promise((done) => { const request = new XMLHttpRequest()
        request.open('GET', '/faultboard.js?key=hidden7'); request.onloadend = done; request.send() })
      console.warn('low', { stock: 1 })
      client.addBreadcrumb({ category: 'cart', message: 'item added', metadata: { sku: 'a' } })
      client.setContext({ order: { id: 7 } })
      setTimeout(function checkout() { throw new RangeError('too far, see https://x.example/a?key=hidden8') })
      Promise.reject(new TypeError('promise failed'))
      await new Promise((done) => setTimeout(done, 50))
      client.report(new Error('was caught', { cause: new Error('the reason') }), { component: 'Cart', tags: { page: 'cart' } })
      await client.flush()
    })()`)
    const thrown = await shop.find('too far, see https://x.example/a')
    expect(thrown).toMatchObject({
      error_type: 'RangeError',
      platform: 'Web',
      app_version: '1.4.0',
      request_url: `${shop.origin}/cart`,
      tags: { source: 'error' },
      context: {
        order: { id: 7 },
        device: { platform: expect.any(String), version: expect.stringContaining('Chrome') },
      },
    })
    expect(thrown.user_agent).toContain('Chrome')
    expect(Date.now() - Date.parse(thrown.occurred_at as unknown as string)).toBeLessThan(60_000)
    const path = new URL(address).pathname
    expect(thrown.breadcrumbs.map(({ category, message }) => `${category} ${message}`)).toEqual([
      'click form#pay > p.row.wide > button',
      `navigation ${path} to /cart`,
      'http POST /nowhere',
      'http GET /faultboard.js',
      'console low {"stock":1}',
      'cart item added',
    ])
    expect(thrown.breadcrumbs.slice(2, 5)).toMatchObject([
      { metadata: { status: 404 }, duration_ms: expect.any(Number) },
      { metadata: { status: 200 }, duration_ms: expect.any(Number) },
      { metadata: { level: 'warn' } },
    ])
    expect(await shop.find('promise failed')).toMatchObject({
      error_type: 'TypeError',
      tags: { source: 'unhandledrejection' },
    })
    const caught = await shop.find('was caught')
    expect(caught).toMatchObject({ tags: { page: 'cart', component: 'Cart' } })
    expect(caught.causes).toMatchObject([{ error_type: 'Error', message: 'the reason', relation: 'cause' }])
    const sent = (await page.evaluate('window.sent')) as string[]
    expect(sent).toHaveLength(3)
    expect(sent.join()).not.toContain('hidden')
    await page.context().close()
  })

  test('reads any thrown value', async () => {
    const page = await open()
    const otherOrigin = shop.origin.replace('127.0.0.1', 'localhost')
    shop.files['/other.js'] = { type: 'text/javascript', body: 'throw new Error("of another origin")' }
    await page.goto(shop.page('{ max_per_minute: 1000, console: true, resources: true }'))
    await page.evaluate(`(async () => {
      const circular = { name: 'Circular', message: 'goes round', list: [] }
      circular.cause = circular
      const hostile = { get message() { throw new Error('no') }, get stack() { console.error(this); throw 1 },
        get name() { client.report(this); return 'Hostile' }, toString() { throw 2 } }
      const revoked = Proxy.revocable({}, {})
      revoked.revoke()
      const long = new Error('x'.repeat(1e6))
      const many = [undefined, null, 0, '', 'a text', 12n, Symbol('sign'), () => 1, NaN, [1, [2]], new Date(0), document.body,
        window, circular, hostile, revoked.proxy, long, new DOMException('went away', 'AbortError'), Object.create(null),
        new AggregateError([new Error('first'), 'second'], 'all of them'), { code: 7, deep: { a: { b: { c: { d: { e: { f: 1 }}}}}} } ]
      for (const value of many) client.report(value)
      for (const value of many) setTimeout(() => { throw value })
      for (const value of many) Promise.reject(value)
      for (const value of many) client.setContext({ ['k' + Math.random()]: value })
      console.error('printed', many)
      const script = document.createElement('script')
      script.src = '${otherOrigin}/other.js'
      document.head.append(script)
      const image = new Image()
      image.src = '/missing.png?secret=1'
      document.body.append(image)
      try { Function('a b') } catch (error) { client.report(error) }
      await new Promise((done) => setTimeout(done, 300))
      await client.flush()
    })()`)
    await expect.poll(() => shop.count('Script error.')).toBe(1)
    expect(await shop.find('IMG /missing.png')).toMatchObject({ error_type: 'ResourceError' })
    expect(await shop.find('went away')).toMatchObject({ error_type: 'AbortError', occurrence_count: 1 })
    expect(await shop.find('goes round')).toMatchObject({ error_type: 'Circular', occurrence_count: 1 })
    expect((await shop.find('all of them')).causes).toMatchObject([{ message: 'first' }, { message: 'second' }])
    expect(await shop.find('a text')).toMatchObject({ error_type: 'string' })
    expect(await shop.find('{"code":7,"deep":{"a":{"b":{"c":{"d":{"e":"[object Object]"}}}}}}')).toBeTruthy()
    const long = await shop.tracker.Queries.ErrorsList.call({ search: 'xxxxx' })
    // Truncating a message of one megabyte keeps the frames that follow it.
    expect(long.filter(({ error_type }) => error_type === 'Error')).toMatchObject([{ place: 'native' }])
    expect(shop.received.filter(({ status }) => status !== 201)).toEqual([])
    await page.context().close()
  })

  test('reports the type of a value that cannot be printed', async () => {
    const page = await open()
    await page.goto(shop.page('{ console: true }'))
    await page.evaluate(`(async () => {
      const { proxy, revoke } = Proxy.revocable({}, {})
      revoke()
      client.report(proxy)
      client.report({ [Symbol.toStringTag]: 'Order', toString() { throw 1 } })
      client.report(await import('data:text/javascript,export default 1'))
      client.report(new Error('its context is gone'), { context: proxy })
      console.error('printed beside', proxy)
      await client.flush()
    })()`)
    for (const message of ['object', '[object Order]', '[object Module]']) {
      expect(await shop.find(message)).toMatchObject({ error_type: 'object' })
    }
    expect(await shop.count('its context is gone')).toBe(1)
    expect(await shop.find('printed beside object')).toMatchObject({ error_type: 'ConsoleError' })
    await page.context().close()
  })

  test('reads only the values that it reports', async () => {
    const page = await open()
    await page.goto(shop.page('{ before_send(event) { window.sent = event; return event } }'))
    const observed = await page.evaluate(`(async () => {
      let reads = 0
      let getterCalls = 0
      const list = new Proxy(Array(1e5).fill(7), { get: (all, key) => (reads++, all[key]), ownKeys: () => { throw 1 } })
      console.warn(list)
      console.warn(new Float32Array(3), [1, [2]])
      client.setContext({ get store() { getterCalls++; return { deep: [[[[[[[7]]]]]]], list } } })
      client.addBreadcrumb({ category: 'cart', message: 'changed', get metadata() { getterCalls++; return { list } } })
      for (const word of ['first', 'second']) {
        client.report(new Error(word + ' with a large store'))
        await client.flush()
      }
      return { reads, getterCalls, breadcrumbs: sent.breadcrumbs.map(({ message }) => message.slice(0, 30)), deep: JSON.stringify(sent.context.store.deep) }
    })()`)
    // Each getter is read once for all errors, and a list only until the limit.
    expect(observed).toMatchObject({
      getterCalls: 2,
      breadcrumbs: ['[7,7,7,7,7,7,7,7,7,7,7,7,7,7,7', '[object Float32Array] [1,[2]]', 'changed'],
      deep: expect.stringContaining('[object Array]'),
    })
    expect((observed as { reads: number }).reads).toBeLessThan(60_000)
    expect(await shop.count('second with a large store')).toBe(1)
    await page.context().close()
  })

  test('recognizes errors regardless of the globals of the page', async () => {
    const page = await open()
    await page.goto(shop.page('{}', `<script>var tagName = 'div', src = 7, message = 'mine'</script>`))
    await page.evaluate(`setTimeout(() => { throw new Error('beside a global name') })`)
    await expect.poll(() => shop.count('beside a global name'), { timeout: 15_000 }).toBe(1)
    await page.context().close()
  })

  test('does not change the page and restores everything', async () => {
    const page = await open()
    await page.addInitScript(() => {
      Object.assign(window, {
        names: Object.getOwnPropertyNames(window),
        before: [fetch, console.error, history.pushState],
      })
    })
    await page.goto(shop.page())
    const observed = await page.evaluate(`(async () => {
      const shape = (fn) => [fn.name, fn.length, /native code/.test(fn)]
      const unhandled = new Promise((done) => addEventListener('unhandledrejection', (event) => done(event.reason.name)))
      fetch('http://127.0.0.1:1/')
      let illegal
      try { history.pushState.call({}) } catch (error) { illegal = error.name }
      const kept = [fetch, console.error, history.pushState].map((now, i) => String(shape(now)) === String(shape(before[i])))
      const response = await fetch.call(undefined, new Request('/faultboard.js', { method: 'HEAD' }))
      const added = Object.getOwnPropertyNames(window).filter((name) => !names.includes(name))
      const result = { kept, illegal, ok: response.ok, unhandled: await unhandled, added }
      await client.stop()
      return { ...result, restored: [fetch, console.error, history.pushState].map((now, i) => now === before[i]),
        own: Object.hasOwn(history, 'pushState') }
    })()`)
    expect(observed).toEqual({
      kept: [true, true, true],
      illegal: 'TypeError',
      ok: true,
      unhandled: 'TypeError',
      added: expect.arrayContaining(['Faultboard', 'client']),
      restored: [true, true, true],
      own: false,
    })
    expect(
      (observed as { added: string[] }).added.filter(
        (name) => !['Faultboard', 'client', 'names', 'before'].includes(name),
      ),
    ).toEqual([])
    const receivedBefore = shop.received.length
    await page.evaluate(
      `new Promise((done) => { addEventListener('error', () => setTimeout(done, 50)); setTimeout(() => { throw new Error('after the end') }) })`,
    )
    await flush(page)
    expect(shop.received.length).toBe(receivedBefore)
    await page.context().close()
  })

  test('counts an error once, combines repeats and applies its limits', async () => {
    const page = await open()
    await page.goto(shop.page())
    await page.evaluate(`(async () => {
      const error = new Error('seen by all')
      client.report(error)
      client.report(error, { component: 'Late' })
      Promise.reject(error)
      setTimeout(() => { throw error })
      for (let i = 0; i < 30; i++) client.report(new Error('again and again'))
      await new Promise((done) => setTimeout(done, 50))
      await client.flush()
    })()`)
    expect(await shop.find('seen by all')).toMatchObject({ occurrence_count: 1, tags: { component: 'Late' } })
    expect(await shop.find('again and again')).toMatchObject({ occurrence_count: 1, details: { client_count: 30 } })

    await page.goto(
      shop.page(`{ ignore: ['Bad luck', /^TypeError: ig/g, /^(?=SyntaxError)/], max_per_minute: 3, before_send(event) {
        if (event.message === 'limit 1') throw new Error('the filter fails')
        if (event.message === 'limit 2') return null
        return { ...event, tags: { filtered: 'yes' } } } }`),
    )
    await page.evaluate(`(async () => {
      for (let i = 0; i < 2; i++) client.report(new TypeError('ignored ' + i))
      client.report(new Error('limited by Bad luck'))
      client.report(new SyntaxError('ignored by a place'))
      for (let i = 1; i < 9; i++) client.report(new Error('limit ' + i))
      await client.flush()
    })()`)
    expect(await shop.count('ignored')).toBe(0)
    expect(await shop.count('limit')).toBe(1)
    expect(await shop.find('limit 3')).toMatchObject({ tags: { filtered: 'yes' } })

    await page.goto(shop.page('{ sample_rate: 0 }'))
    await page.evaluate(`client.report(new Error('sampled out')), client.flush()`)
    expect(await shop.count('sampled')).toBe(0)
    await page.context().close()
  })

  test('accepts options in camelCase', async () => {
    const page = await open()
    await page.goto(
      shop.page(`{ app_version: undefined, appVersion: '7.1.0', maxPerMinute: 1,
        beforeSend: (event) => ({ ...event, tags: { filtered: 'yes' } }) }`),
    )
    await page.evaluate(`(async () => {
      client.report(new Error('camel 1'))
      client.report(new Error('camel 2'))
      await client.flush()
    })()`)
    expect(await shop.find('camel 1')).toMatchObject({ app_version: '7.1.0', tags: { filtered: 'yes' } })
    expect(await shop.count('camel')).toBe(1)

    await page.goto(shop.page('{ sampleRate: 0 }'))
    await page.evaluate(`client.report(new Error('sampled out')), client.flush()`)
    expect(await shop.count('sampled')).toBe(0)
    await page.context().close()
  })
})
