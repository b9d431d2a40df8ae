import { createServer, request as forward } from 'node:http'
import express from 'express'
import { expect, onTestFinished, test } from 'vitest'
import { dashboard } from '../../../src/adapters/express.js'
import type { Settings } from '../../../src/options.js'
import { PASSWORD, serveTracker, signIn, startListening, USER } from '../../support/host.js'

/** A host behind a real proxy that strips `/shop` from every path and optionally forwards the prefix. */
async function behindProxy(settings: Settings, proxyHeaders: Record<string, string> = {}, trust_proxy = false) {
  const host = await serveTracker({ database: 'sqlite::memory:', ...settings }, {}, (tracker) =>
    express().set('trust proxy', trust_proxy).use(dashboard(tracker)),
  )
  const { port } = new URL(host.origin)
  const proxy = createServer((request, response) => {
    const headers = {
      ...request.headers,
      ...proxyHeaders,
      'x-forwarded-for': request.headers['x-pretend'] ?? '203.0.113.1',
    }
    const path = (request.url ?? '').replace(/^\/shop/, '')
    request.pipe(
      forward({ port, path, method: request.method, headers }, (hostResponse) => {
        response.writeHead(hostResponse.statusCode ?? 500, hostResponse.headers)
        hostResponse.pipe(response)
      }),
    )
  })
  const origin = await startListening(proxy)
  onTestFinished(async () => {
    proxy.closeAllConnections()
    proxy.close()
    await host.close()
  })
  return (path: string, init: RequestInit = {}) =>
    fetch(`${origin}/shop/error_dashboard${path}`, {
      redirect: 'manual',
      ...init,
      headers: { ...signIn(), ...init.headers },
    })
}

test.each([
  ['dashboard_base_url', { dashboard_base_url: 'https://ops.example/shop/' }, {}],
  ['dashboard_base_url of the dashboard', { dashboard_base_url: 'https://ops.example/shop/error_dashboard' }, {}],
  ['X-Forwarded-Prefix of a trusted proxy', { trusted_proxies: ['loopback'] }, { 'x-forwarded-prefix': '/shop' }],
])(
  'adds the prefix that a proxy strips to links, assets, forms, redirects and cookies: %s',
  async (_, settings, proxyHeaders) => {
    const visit = await behindProxy(settings, proxyHeaders)
    const page = await (await visit('/overview')).text()
    expect(page).toContain('href="/shop/error_dashboard/settings"')
    expect(page).not.toMatch(/(?:href|src|action)="\/error_dashboard/)
    expect((await visit('')).headers.get('location')).toBe('/shop/error_dashboard/overview')
    const [style = ''] = /\/shop(\/error_dashboard\/[^"]+\.css)/.exec(page)?.slice(1) ?? []
    expect((await visit(style.replace('/error_dashboard', ''))).status).toBe(200)
  },
)

test('accepts the forwarded prefix when the framework has its own proxy setting', async () => {
  const visit = await behindProxy({ trusted_proxies: ['loopback'] }, { 'x-forwarded-prefix': '/shop' }, true)
  expect((await visit('')).headers.get('location')).toBe('/shop/error_dashboard/overview')
})

test('does not treat a client as a proxy because its address matches a trusted proxy', async () => {
  const visit = await behindProxy({ trusted_proxies: ['203.0.113.1'] }, { 'x-forwarded-prefix': '/evil' }, true)
  expect((await visit('')).headers.get('location')).toBe('/error_dashboard/overview')
})

test.each([
  ['no trusted proxies', {}, '/evil'],
  ['another proxy is trusted', { trusted_proxies: ['10.0.0.1'] }, '/evil'],
  ['it is an address', { trusted_proxies: ['loopback'] }, 'https://evil.example'],
  ['it names another host', { trusted_proxies: ['loopback'] }, '//evil.example'],
  ['it holds markup', { trusted_proxies: ['loopback'] }, '/"><script>'],
])('ignores a forwarded prefix when %s', async (_, settings, prefix) => {
  const visit = await behindProxy(settings, { 'x-forwarded-prefix': prefix })
  expect((await visit('')).headers.get('location')).toBe('/error_dashboard/overview')
})

test.each([
  { trusted_proxies: ['loopback'], status: 200 },
  { trusted_proxies: [], status: 429 },
])(
  'counts failed sign-ins for the client behind a trusted proxy, otherwise for the proxy: $trusted_proxies',
  async (given) => {
    const visit = await behindProxy({ trusted_proxies: given.trusted_proxies })
    const attempt = async (from: string, password: string) =>
      (await visit('/errors', { headers: { ...signIn(USER, password), 'x-pretend': from } })).status
    for (let i = 0; i < 21; i++) await attempt('192.0.2.66', `guess ${i}`)
    expect(await attempt('198.51.100.1', PASSWORD)).toBe(given.status)
    expect(await attempt('192.0.2.66', PASSWORD)).toBe(429)
  },
)
