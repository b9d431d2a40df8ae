import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectGuarded, expectPathsGuarded } from '../contract/adapter-authentication.js'
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

const NITRO = 'nitropack/dist/cli/index.mjs'

if (!isInstalled('nitropack')) test.skip('Nitro adapter (skipped: nitropack is not installed in test/hosts)')
else {
  describe('Nitro adapter', () => {
    const hosts = {} as Record<'root' | 'plain' | 'prefixed', HostProcess>

    beforeAll(async () => {
      const folder = createApplication('examples/nitro', 'test/hosts/nitro')
      await run(folder, [NITRO, 'build'])
      const program = [join(folder, '.output/server/index.mjs')]
      const database = (name: string) => ({ FAULTBOARD_DATABASE: `sqlite:${join(folder, `${name}.sqlite3`)}` })
      hosts.root = await serve(folder, program, database('root'))
      hosts.plain = await serve(folder, program, { ...database('plain'), HOST_WITHOUT_FAULTBOARD: 'yes' })
      hosts.prefixed = await serve(folder, program, { ...database('prefixed'), NITRO_APP_BASE_URL: '/shop/' })
    }, 180_000)
    afterAll(cleanUp)

    const dashboard = () => dashboardAt(`${hosts.root.origin}/error_dashboard`)

    test.each([
      ['/sync?token=abc&page=2', 'sync is broken', 'TypeError', '/sync', 'high'],
      ['/awaited/8', 'awaited is broken', 'Error', '/awaited/:id', 'medium'],
      ['/string', 'string is broken', 'string', '/string', 'medium'],
      ['/created', 'created is broken', 'H3Error', '/created', 'medium'],
      ['/middleware', 'middleware is broken', 'Error', undefined, 'medium'],
    ])(
      'records the error of %s once without changing response or log',
      async (path, message, error_type, route, severity) => {
        expect(await visitHost(hosts.root, path)).toEqual(await visitHost(hosts.plain, path))
        expect(await dashboard().waitForErrors(message)).toMatchObject([
          {
            error_type,
            severity,
            occurrence_count: 1,
            user_id: '7',
            request_url: `${hosts.root.origin}${path.replace('abc', '[FILTERED]')}`,
            ip_address: expect.stringContaining('127.0.0.1'),
            request: { method: 'GET', duration_ms: expect.any(Number), ...(route && { route }) },
            details: { source: 'nitro' },
          },
        ])
      },
    )

    test('records an error once if the host captures it too', async () => {
      expect(await visitHost(hosts.root, '/captured')).toEqual(await visitHost(hosts.plain, '/captured'))
      expect(await dashboard().waitForErrors('captured is broken')).toMatchObject([{ occurrence_count: 1 }])
    })

    test.each(['/ok', '/missing', '/nowhere', '/error_dashboardx', '/%65rror_dashboard'])(
      'records nothing for %s and does not change its response',
      async (path) => {
        expect(await visitHost(hosts.root, path)).toEqual(await visitHost(hosts.plain, path))
        expect(await dashboard().find('no such thing')).toEqual([])
        expect(await dashboard().find('Cannot find any')).toEqual([])
      },
    )

    test.each([
      ['without a base URL', 'root', ''],
      ['below a base URL', 'prefixed', '/shop'],
    ] as const)('serves the dashboard %s with matching links and its own headers', async (_, name, base) => {
      const { origin } = hosts[name]
      const { get, post, waitForErrors: recorded } = dashboardAt(`${origin}${base}/error_dashboard`)
      expect((await get('')).headers.get('location')).toBe(`${base}/error_dashboard/overview`)
      const page = await get('/overview')
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
      const html = await page.text()
      expect(html).toContain(`href="${base}/error_dashboard/settings"`)
      const [asset = ''] = html.match(/\/assets\/[^"]+\.css/) ?? []
      expect((await get(asset)).headers.get('content-type')).toContain('text/css')
      await fetch(`${origin}${base}/awaited/9`)
      const [error] = await recorded('awaited is broken')
      const action = await post(`/errors/${error?.id}/assign`, { assigned_to: 'eve' })
      expect(action.headers.get('location')).toBe(`${base}/error_dashboard/errors/${error?.id}`)
      expect(await recorded('awaited is broken')).toMatchObject([{ assigned_to: 'eve' }])
      expect((await fetch(`${origin}${base}/error_dashboard/errors`)).status).toBe(401)
    })

    test('signs in people of the host', async () => {
      await expectSignInByHost(`${hosts.root.origin}/error_dashboard`)
      await expectSignInByHost(`${hosts.prefixed.origin}/shop/error_dashboard`)
    })

    test('shows nothing without credentials in any spelling of the path', { timeout: 120_000 }, async () => {
      await expectGuarded(hosts.root.origin, '/error_dashboard')
      await expectPathsGuarded(hosts.prefixed.origin, '/shop/error_dashboard')
    })

    test('does not change the shutdown of the server', async () => {
      expect(await hosts.root.stop()).toBe(await hosts.plain.stop())
    })

    test('exports a plugin that matches the types of Nitro', () => {
      const folder = createApplication()
      writeFileSync(
        join(folder, 'typed.ts'),
        `import type { NitroAppPlugin } from 'nitropack/types'
         import plugin, { faultboard } from 'faultboard/nitro'
         export const plugins: NitroAppPlugin[] = [plugin, faultboard()]
         // @ts-expect-error requires a function
         export const wrong: NitroAppPlugin = 5`,
      )
      const flags = [
        '--noEmit',
        '--ignoreConfig',
        '--strict',
        '--module',
        'esnext',
        '--moduleResolution',
        'bundler',
        '--target',
        'es2023',
      ]
      const types = ['--skipLibCheck', '--types', 'node', '--typeRoots', resolve('node_modules/@types')]
      const tsc = resolve('node_modules/.bin/tsc')
      const check = () => execFileSync(tsc, [...flags, ...types, 'typed.ts'], { cwd: folder, encoding: 'utf8' })
      expect(check).not.toThrow()
    })
  })
}
