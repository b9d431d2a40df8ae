import { createServer } from 'node:http'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { describeInBrowser } from '../support/browser.js'
import { type Host, startHost, startListening } from '../support/host.js'

describeInBrowser('cross-site protection', ({ open }) => {
  let host: Host
  let id: number

  beforeAll(async () => {
    host = await startHost('sqlite::memory:')
    id = (await host.tracker.Commands.LogError.call({ error_type: 'Victim', message: 'm' }))?.id ?? 0
  })
  afterAll(() => host.close())

  const isResolved = async () => (await host.tracker.Queries.FindError.call({ error_id: id })).resolved
  const dashboard = (path: string) => `${host.origin}/error_dashboard${path}`

  /** A page of an attacker on another site, visited by a signed-in browser. */
  async function attack(html: string, hostname = 'localhost'): Promise<{ page: Page; statuses: Map<string, number> }> {
    const server = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html')
      response.end(`<!doctype html><title>attacker</title>${html}`)
    })
    const origin = await startListening(server)
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const page = await open()
    await page.goto(dashboard('/overview'))
    expect(await page.title()).not.toBe('')
    const statuses = new Map<string, number>()
    page.on('response', (response) => {
      if (response.url().startsWith(host.origin)) {
        statuses.set(`${response.request().method()} ${new URL(response.url()).pathname}`, response.status())
      }
    })
    await page.goto(origin.replace('127.0.0.1', hostname))
    return { page, statuses }
  }

  const form = (target = '', type = '') =>
    `<form method="post" action="${dashboard(`/errors/${id}/resolve`)}" ${target} ${type}>
      <input name="resolved_by" value="mallory"><button>Win</button></form>`

  test.each(['localhost', '127.0.0.1'])('prevents another site from posting a form (%s)', async (hostname) => {
    const { page, statuses } = await attack(form(), hostname)
    await Promise.all([page.waitForURL(`${host.origin}/**`), page.click('button')])
    expect(statuses.get(`POST /error_dashboard/errors/${id}/resolve`)).toBe(403)
    expect(await isResolved()).toBe(false)
  })

  test.each(['text/plain', 'multipart/form-data'])('prevents another site from posting a form as %s', async (type) => {
    const { page, statuses } = await attack(form('', `enctype="${type}"`))
    await Promise.all([page.waitForURL(`${host.origin}/**`), page.click('button')])
    expect(statuses.get(`POST /error_dashboard/errors/${id}/resolve`)).toBe(403)
    expect(await isResolved()).toBe(false)
  })

  test('prevents another site from posting with fetch, with or without CORS', async () => {
    const { page } = await attack('')
    const sent: string[] = []
    page.on('request', (request) => sent.push(request.method()))
    const outcomes = await page.evaluate(
      async (url) => {
        const send = (init: RequestInit) =>
          fetch(url, { method: 'POST', credentials: 'include', body: 'resolved_by=mallory', ...init }).then(
            ({ type, status }) => `${type} ${status}`,
            () => 'blocked',
          )
        const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
        return [
          await send({ mode: 'no-cors', headers }),
          await send({ mode: 'cors', headers }),
          await send({ mode: 'cors', headers: { ...headers, 'X-Forwarded-Host': 'localhost' } }),
        ]
      },
      dashboard(`/errors/${id}/resolve`),
    )
    expect(outcomes).toEqual(['blocked', 'blocked', 'blocked'])
    expect(sent).toContain('POST')
    expect(await isResolved()).toBe(false)
  })

  test('prevents another site from reading a page or its JSON with fetch', async () => {
    const { page } = await attack('')
    const read = await page.evaluate(
      async (urls) => {
        const outcomes: string[] = []
        for (const url of urls) {
          const outcome = await fetch(url, { credentials: 'include' }).then(
            (response) => response.text(),
            () => 'blocked',
          )
          outcomes.push(outcome)
        }
        return outcomes
      },
      [dashboard('/errors'), dashboard('/errors.json'), dashboard('/errors.csv'), dashboard('/openapi.json')],
    )
    expect(read).toEqual(['blocked', 'blocked', 'blocked', 'blocked'])
  })

  test('prevents another site from including a page as a script, style or image', async () => {
    const { page } = await attack('')
    const loaded = await page.evaluate(
      async (urls) => {
        const load = (tag: 'script' | 'img' | 'link', url: string) =>
          new Promise<string>((settle) => {
            const element = document.createElement(tag)
            element.onload = () => settle('loaded')
            element.onerror = () => settle('blocked')
            if (element instanceof HTMLLinkElement) Object.assign(element, { rel: 'stylesheet', href: url })
            else element.src = url
            document.head.append(element)
          })
        const outcomes: string[] = []
        for (const url of urls)
          for (const tag of ['script', 'img', 'link'] as const) outcomes.push(await load(tag, url))
        return outcomes
      },
      [dashboard('/errors.json'), dashboard('/assets/dashboard.js'), dashboard('/assets/dashboard.css')],
    )
    expect(loaded).toEqual(Array(9).fill('blocked'))
  })

  test.each(['iframe', 'object', 'embed'])('prevents another site from showing the dashboard in an %s', async (tag) => {
    const attribute = tag === 'object' ? 'data' : 'src'
    const { page } = await attack('<main></main>')
    const errorsResponse = page.waitForResponse(dashboard('/errors'))
    await page.evaluate(
      ([name = '', source = '', url = '']) => {
        const element = document.createElement(name)
        element.setAttribute(source, url)
        document.querySelector('main')?.append(element)
      },
      [tag, attribute, dashboard('/errors')],
    )
    expect([200, 401]).toContain((await errorsResponse).status())
    const framed = () => page.frames().slice(1)
    // Chromium replaces a refused document by its own error page, or removes the frame.
    await expect.poll(() => framed().every((frame) => frame.url().startsWith('chrome-error:'))).toBe(true)
    for (const frame of framed()) expect(await frame.content()).not.toContain('Victim')
  })
})
