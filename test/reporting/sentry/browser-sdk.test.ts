import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'
import { describeInBrowser } from '../../support/browser.js'
import { startListening } from '../../support/host.js'
import { eventually } from '../../support/tracker.js'
import { intakeHost, ON_SQLITE } from './intake-host.js'

const SCRIPT = fileURLToPath(new URL('./hosts/browser-sdk.js', import.meta.url))

describeInBrowser('Unmodified @sentry/browser', ({ open }) => {
  test('reports from a page of another origin with only a DSN', async () => {
    const pages = await servePage()
    const host = await intakeHost(ON_SQLITE, { allowed_origins: [pages.origin] })
    await pages.bundle(host.dsn)
    const page = await open()
    const consoleErrors: string[] = []
    page.on('console', (message) => message.type() === 'error' && consoleErrors.push(message.text()))
    await page.goto(`${pages.origin}/cart`)
    for (const button of ['#throw', '#reject', '#capture']) await page.click(button)
    await page.evaluate('window.flushed()')
    await eventually(async () => {
      await host.tracker.flush()
      return (await host.tracker.Queries.ErrorsList.call()).length === 4
    }, 'all four errors are recorded')
    // The browser reports CORS failures on its console.
    expect(consoleErrors.filter((text) => text.includes('CORS'))).toEqual([])

    const thrown = await host.find('clicked too far')
    expect(thrown).toMatchObject({
      error_type: 'RangeError',
      platform: 'Web',
      app_version: '1.2.3',
      user_id: 'u-1',
      severity: 'high',
      request_url: `${pages.origin}/cart`,
      ip_address: null,
      tags: { page: 'cart' },
      environment: 'production',
      details: { unhandled: true },
    })
    expect(thrown.user_agent).toContain('Chrome')
    expect(thrown.place).toMatch(/\/app\.js:\d+ in /)
    expect(thrown.breadcrumbs.map(({ category }) => category)).toContain('ui.click')
    expect(await host.find('promise failed')).toMatchObject({ error_type: 'TypeError', details: { unhandled: true } })
    expect((await host.find('could not pay')).causes).toMatchObject([
      { message: 'the card was refused', relation: 'cause' },
    ])
    expect(await host.find('the basket is empty')).toMatchObject({ error_type: 'Message', severity: 'low' })
    await page.context().close()
  })
})

async function servePage() {
  let script = ''
  const html = `<!doctype html><title>Cart</title>
    <button id="throw">1</button><button id="reject">2</button><button id="capture">3</button><script src="/app.js"></script>`
  const server = createServer((request, response) => {
    const isScript = request.url === '/app.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? script : html)
  })
  const origin = await startListening(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    origin,
    async bundle(dsn: string) {
      const define = { DSN: JSON.stringify(dsn) }
      const built = await build({ entryPoints: [SCRIPT], bundle: true, write: false, define, format: 'iife' })
      script = built.outputFiles[0]?.text ?? ''
    },
  }
}
