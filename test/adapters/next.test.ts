import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectGuarded, expectPathsGuarded } from '../contract/adapter-authentication.js'
import { signIn } from '../support/host.js'
import {
  cleanUp,
  createApplication,
  dashboardAt,
  expectSignInByHost,
  type HostProcess,
  isInstalled,
  run,
  serve,
  visitHost,
} from './host-process.js'

const NEXT = 'next/dist/bin/next'

if (!isInstalled('next')) test.skip('Next.js adapter (skipped: next is not installed in test/hosts)')
else {
  describe('Next.js adapter', () => {
    const base = '/shop'
    let folder: string
    let host: HostProcess
    let plainHost: HostProcess
    let liveResponse: Response | undefined

    const hostEnvironment = (basePath: string, database: string) => ({
      HOST_BASE_PATH: basePath,
      FAULTBOARD_DATABASE: `sqlite:${join(folder, database)}`,
    })

    beforeAll(async () => {
      folder = createApplication('examples/next', 'test/hosts/next')
      const env = hostEnvironment(base, 'errors.sqlite3')
      await run(folder, [NEXT, 'build'], env)
      host = await serve(folder, [NEXT, 'start'], env)
      plainHost = await serve(folder, [NEXT, 'start'], { ...env, HOST_WITHOUT_FAULTBOARD: 'yes' })
      // The first request prints the URL of the dashboard.
      for (const started of [host, plainHost]) await visitHost(started, `${base}/unknown`)
    }, 180_000)
    afterAll(cleanUp)

    const dashboard = () => dashboardAt(`${host.origin}${base}/error_dashboard`)

    test.each([
      ['/sync?token=abc&page=2', 'sync is broken', 'App Router', '/sync', 'route'],
      ['/awaited', 'awaited is broken', 'App Router', '/awaited', 'route'],
      ['/string', 'string is broken', 'App Router', '/string', 'route'],
      ['/page', 'page is broken', 'App Router', '/page', 'render'],
      ['/api/broken', 'api is broken', 'Pages Router', '/api/broken', 'route'],
    ])('records the error of %s once without changing response or log', async (path, message, router, ...expected) => {
      const [route, route_type] = expected
      expect(await visitHost(host, `${base}${path}`)).toEqual(await visitHost(plainHost, `${base}${path}`))
      expect(await dashboard().waitForErrors(message)).toMatchObject([
        {
          occurrence_count: 1,
          request_url: `${host.origin}${base}${path.replace('abc', '[FILTERED]')}`,
          ip_address: expect.stringContaining('127.0.0.1'),
          user_agent: 'test',
          request: { method: 'GET', route, duration_ms: expect.any(Number) },
          context: { router, route_type },
          details: { source: 'next' },
        },
      ])
    })

    test('records an error of a wrapped API route once even if onRequestError also receives it', async () => {
      expect(await visitHost(host, `${base}/api/wrapped`)).toEqual(await visitHost(plainHost, `${base}/api/wrapped`))
      expect(await dashboard().waitForErrors('wrapped is broken')).toMatchObject([{ occurrence_count: 1 }])
    })

    test('records a failing server action once', async () => {
      const submitAction = async ({ origin }: HostProcess) => {
        const address = `${origin}${base}/action`
        const [, name = ''] = (await (await fetch(address)).text()).match(/name="(\$ACTION_ID_\w+)"/) ?? []
        const body = new FormData()
        body.set(name, '')
        return (await fetch(address, { method: 'POST', body, headers: { origin } })).status
      }
      expect(await submitAction(host)).toBe(500)
      expect(await submitAction(plainHost)).toBe(500)
      expect(await dashboard().waitForErrors('action is broken')).toMatchObject([
        { occurrence_count: 1, request: { method: 'POST', route: expect.stringMatching(/^\/action/) } },
      ])
    })

    test.each(['/', '/gone', '/nowhere'])('records nothing for %s and does not change its response', async (path) => {
      expect(await visitHost(host, `${base}${path}`)).toEqual(await visitHost(plainHost, `${base}${path}`))
      expect(await dashboard().find('NEXT_')).toEqual([])
    })

    test('shares one tracker between instrumentation and routes', async () => {
      expect(await (await fetch(`${host.origin}${base}/same`)).json()).toEqual({ same: true })
    })

    test.each(['/error_dashboard', '/api/error_dashboard'])(
      'serves the dashboard with matching links at %s',
      async (path) => {
        await expectMatchingLinks(host, base, path)
      },
    )

    test('responds to HEAD without a body and requires credentials', async () => {
      const page = await dashboard().get('/errors', { method: 'HEAD' })
      expect([page.status, await page.text()]).toEqual([200, ''])
      expect((await fetch(`${host.origin}${base}/error_dashboard/errors`)).status).toBe(401)
      expect((await dashboard().get('/errors%2f1')).status).toBe(404)
    })

    test.each(['/error_dashboard', '/api/error_dashboard'])('signs in people of the host at %s', async (path) => {
      await expectSignInByHost(`${host.origin}${base}${path}`)
    })

    test('shows nothing without credentials in any spelling of the path', { timeout: 120_000 }, async () => {
      await expectGuarded(host.origin, `${base}/error_dashboard`)
    })

    test('streams live updates of the list', async () => {
      liveResponse = await dashboard().get('/errors/live')
      expect(liveResponse.status).toBe(200)
    })

    test('receives browser errors in a route handler', async () => {
      const address = `${host.origin}${base}/client_errors`
      const error = { error_type: 'TypeError', message: 'reported to Next', platform: 'web', app_version: '1' }
      const post = (body: object) =>
        fetch(address, {
          method: 'POST',
          headers: { 'content-type': 'application/json', origin: 'https://shop.example', 'x-real-ip': '198.51.100.7' },
          body: JSON.stringify(body),
        })
      const response = await post({ error })
      expect([response.status, await response.json()]).toEqual([201, { success: true }])
      expect(response.headers.get('access-control-allow-origin')).toBe('https://shop.example')
      expect((await post({ error: { ...error, platform: 5 } })).status).toBe(422)
      expect((await fetch(address, { method: 'OPTIONS' })).status).toBe(204)
      expect(await dashboard().waitForErrors('reported to Next')).toMatchObject([
        { occurrence_count: 1, ip_address: '198.51.100.7', details: { source: 'reporting' } },
      ])
    })

    test('limits sign-ins by the peer address and ignores forwarding headers', async () => {
      const address = `${host.origin}${base}/error_dashboard/errors`
      const statuses: number[] = []
      for (let i = 0; i < 22; i++) {
        const headers = { ...signIn('guesser', `guess ${i}`), 'x-forwarded-for': `192.0.2.${i}` }
        statuses.push((await fetch(address, { headers })).status)
      }
      expect(statuses.at(0)).toBe(401)
      expect(statuses.at(-1)).toBe(429)
    })

    test('responds with 501 in the Edge runtime', async () => {
      const response = await fetch(`${host.origin}${base}/edge`)
      expect([response.status, await response.text()]).toEqual([
        501,
        expect.stringContaining('requires the Node.js runtime'),
      ])
    })

    test('does not change the shutdown of the server while a live connection is open', async () => {
      expect(liveResponse?.headers.get('content-type')).toContain('text/event-stream')
      expect(await host.stop()).toBe(await plainHost.stop())
    })

    // Runs last, because it changes the build.
    describe('without a basePath', () => {
      let rootHost: HostProcess

      beforeAll(async () => {
        removeBasePath(folder)
        rootHost = await serve(folder, [NEXT, 'start'], hostEnvironment('', 'root.sqlite3'))
      })

      test.each([
        ['/sync?page=2', 'sync is broken', '/sync'],
        ['/api/broken', 'api is broken', '/api/broken'],
      ])('records the URL of %s', async (path, message, route) => {
        await visitHost(rootHost, path)
        expect(await dashboardAt(`${rootHost.origin}/error_dashboard`).waitForErrors(message)).toMatchObject([
          { occurrence_count: 1, request_url: `${rootHost.origin}${path}`, request: { route } },
        ])
      })

      test.each(['/error_dashboard', '/api/error_dashboard'])(
        'serves the dashboard with matching links at %s and signs in people of the host',
        async (path) => {
          await expectMatchingLinks(rootHost, '', path)
          await expectSignInByHost(`${rootHost.origin}${path}`)
        },
      )

      test('shows nothing without credentials in any spelling of the path', { timeout: 120_000 }, async () => {
        await expectPathsGuarded(rootHost.origin, '/error_dashboard')
      })
    })
  })

  afterAll(cleanUp)
  test('exports functions that match the types of Next.js', () => {
    const folder = createApplication()
    writeFileSync(
      join(folder, 'typed.ts'),
      `import type { Instrumentation, NextApiHandler } from 'next'
       import type { NextRequest } from 'next/server'
       import { captureRequestError, dashboard, onRequestError, pagesDashboard, withFaultboard } from 'faultboard/next'
       export const hooks: Instrumentation.onRequestError[] = [onRequestError, captureRequestError()]
       type Route = (request: NextRequest, context: { params: Promise<{ path?: string[] }> }) => Promise<Response>
       export const { GET, HEAD, POST }: Record<'GET' | 'HEAD' | 'POST', Route> = dashboard()
       const handler: NextApiHandler = async (request, response) => response.json({ id: request.query.id })
       export const handlers: NextApiHandler[] = [withFaultboard(handler), pagesDashboard()]
       // @ts-expect-error requires a function
       export const wrong: Instrumentation.onRequestError = 5`,
    )
    const flags = [
      '--noEmit',
      '--ignoreConfig',
      '--strict',
      '--module',
      'nodenext',
      '--target',
      'es2023',
      '--skipLibCheck',
    ]
    const types = ['--types', 'node', '--typeRoots', resolve('node_modules/@types')]
    const tsc = resolve('node_modules/.bin/tsc')
    const check = () => execFileSync(tsc, [...flags, ...types, 'typed.ts'], { cwd: folder, encoding: 'utf8' })
    expect(check).not.toThrow()
  })
}

/**
 * Removes the basePath from a build, which saves a second build (20 s of CPU time). Next.js compiles it into browser code
 * only; the server reads it from this manifest. test/examples/next-standalone.test.ts builds without a basePath.
 */
function removeBasePath(folder: string): void {
  const file = join(folder, '.next/routes-manifest.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  const redirects = manifest.redirects.filter(({ source }: { source: string }) => source !== `${manifest.basePath}/`)
  writeFileSync(file, JSON.stringify({ ...manifest, basePath: '', redirects }))
}

/** Checks the dashboard at this path of the host: redirects, links, assets and actions. */
async function expectMatchingLinks(host: HostProcess, base: string, path: string): Promise<void> {
  const { get, post, waitForErrors } = dashboardAt(`${host.origin}${base}${path}`)
  expect((await get('')).headers.get('location')).toBe(`${base}${path}/overview`)
  const page = await get('/overview')
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  const html = await page.text()
  expect(html).toContain(`href="${base}${path}/settings"`)
  const [asset = ''] = html.match(/\/assets\/[^"]+\.css/) ?? []
  expect((await get(asset)).headers.get('content-type')).toContain('text/css')
  await visitHost(host, `${base}/sync`)
  const [error] = await waitForErrors('sync is broken')
  const action = await post(`/errors/${error?.id}/assign`, { assigned_to: `eve at ${path}` })
  expect(action.headers.get('location')).toBe(`${base}${path}/errors/${error?.id}`)
  expect(await waitForErrors('sync is broken')).toMatchObject([{ assigned_to: `eve at ${path}` }])
}
