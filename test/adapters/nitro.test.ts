import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectGuarded } from '../contract/adapter-authentication.js'
import {
  applicationOf,
  cleanUp,
  dashboardAt,
  type HostProcess,
  isInstalled,
  run,
  serve,
  visitHost,
} from './host-process.js'

const NITRO = 'nitropack/dist/cli/index.mjs'

if (!isInstalled('nitropack')) test.skip('the Nitro adapter (skipped: nitropack is not installed in test/hosts)')
else {
  describe('the Nitro adapter', () => {
    const hosts = { root: null, bare: null, based: null } as unknown as Record<'root' | 'bare' | 'based', HostProcess>

    beforeAll(async () => {
      const folder = applicationOf('examples/nitro', 'test/hosts/nitro')
      await run(folder, [NITRO, 'build'])
      const program = [join(folder, '.output/server/index.mjs')]
      const database = (name: string) => ({ FAULTBOARD_DATABASE: `sqlite:${join(folder, `${name}.sqlite3`)}` })
      hosts.root = await serve(folder, program, database('root'))
      hosts.bare = await serve(folder, program, { ...database('bare'), HOST_WITHOUT_FAULTBOARD: 'yes' })
      hosts.based = await serve(folder, program, { ...database('based'), NITRO_APP_BASE_URL: '/shop/' })
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
      '%s is answered and logged as without Faultboard, and recorded once',
      async (path, message, error_type, route, severity) => {
        expect(await visitHost(hosts.root, path)).toEqual(await visitHost(hosts.bare, path))
        expect(await dashboard().recorded(message)).toMatchObject([
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

    test('what the host captures by itself is recorded once', async () => {
      expect(await visitHost(hosts.root, '/captured')).toEqual(await visitHost(hosts.bare, '/captured'))
      expect(await dashboard().recorded('captured is broken')).toMatchObject([{ occurrence_count: 1 }])
    })

    test.each(['/ok', '/missing', '/nowhere', '/error_dashboardx', '/%65rror_dashboard'])(
      '%s is answered as without Faultboard, and nothing is recorded',
      async (path) => {
        expect(await visitHost(hosts.root, path)).toEqual(await visitHost(hosts.bare, path))
        expect(await dashboard().find('no such thing')).toEqual([])
        expect(await dashboard().find('Cannot find any')).toEqual([])
      },
    )

    test.each([
      ['at the root', 'root', ''],
      ['below a base URL', 'based', '/shop'],
    ] as const)('the dashboard stands %s, with links that go there and headers of its own', async (_, name, base) => {
      const { origin } = hosts[name]
      const { get, post, recorded } = dashboardAt(`${origin}${base}/error_dashboard`)
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

    test('shows nothing without credentials, in whatever spelling', { timeout: 120_000 }, async () => {
      await expectGuarded(hosts.root.origin, '/error_dashboard')
      await expectGuarded(hosts.based.origin, '/shop/error_dashboard')
    })

    test('the server ends as it does without Faultboard', async () => {
      expect(await hosts.root.stop()).toBe(await hosts.bare.stop())
    })

    test('the plugin fits where Nitro expects one', () => {
      const folder = applicationOf()
      writeFileSync(
        join(folder, 'typed.ts'),
        `import type { NitroAppPlugin } from 'nitropack/types'
         import plugin, { faultboard } from 'faultboard/nitro'
         export const plugins: NitroAppPlugin[] = [plugin, faultboard()]
         // @ts-expect-error it takes a function
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
