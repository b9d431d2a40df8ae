import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { describeInBrowser } from '../support/browser.js'
import { bundleClient, openShop } from './shop.js'

const APP = fileURLToPath(new URL('./hosts/react-shop.jsx', import.meta.url))

describeInBrowser('faultboard/react', ({ open }) => {
  const shop = openShop()

  beforeAll(async () => {
    const options = { keepNames: true, tsconfigRaw: { compilerOptions: { jsx: 'react-jsx' } } } as const
    const body = await bundleClient({
      ...options,
      entryPoints: [APP],
      define: { 'process.env.NODE_ENV': '"production"' },
    })
    shop.files['/react.js'] = { type: 'text/javascript', body }
    shop.files['/shop'] = {
      type: 'text/html',
      body: '<div id="root"></div><script src="/react.js?key=hidden"></script>',
    }
  })

  test('reports a failing component, shows the fallback and resets', async () => {
    const page = await open()
    await page.goto(`${shop.origin}/shop`)
    await page.click('#break')
    await page.waitForSelector('text=Sorry: the price is gone')
    await page.evaluate('client.flush()')
    const error = await shop.find('the price is gone')
    expect(error).toMatchObject({
      error_type: 'TypeError',
      occurrence_count: 1,
      tags: { component: 'Price < Cart < ErrorBoundary < Shop' },
      context: { component_stack: expect.stringContaining('Cart') },
    })
    expect(JSON.stringify(error.context)).not.toContain('hidden')
    await page.click('#again')
    await page.waitForSelector('text=9 Euro')
    await page.click('#silent')
    await page.waitForSelector('#gone', { state: 'attached' })
    expect(await page.textContent('#gone')).toBe('')
    await page.context().close()
  })

  test('reports uncaught errors once and keeps the default behavior of React', async () => {
    const page = await open()
    const messages: string[] = []
    page.on('pageerror', (error) => messages.push(error.message))
    page.on(
      'console',
      (message) => message.type() === 'error' && messages.push(`printed ${message.text().split('\n')[0]}`),
    )
    await page.goto(`${shop.origin}/shop`)
    await page.click('#break')
    await page.waitForSelector('text=Sorry')
    await page.click('#crash')
    await expect.poll(() => messages.length, { timeout: 10_000 }).toBeGreaterThan(1)
    await page.evaluate('client.flush()')
    expect(await shop.find('not handled')).toMatchObject({
      occurrence_count: 1,
      tags: { component: expect.stringMatching(/^Crash < /) },
    })
    expect(messages).toEqual(['printed TypeError: the price is gone', 'not handled'])

    await page.goto(`${shop.origin}/shop`)
    await page.click('#text')
    await expect.poll(() => messages.length, { timeout: 10_000 }).toBe(3)
    await page.evaluate('client.flush()')
    expect((await shop.find('not handled text')).details).not.toHaveProperty('client_count')
    await page.context().close()
  })
})
