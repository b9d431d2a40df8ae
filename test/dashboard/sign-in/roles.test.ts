import type { IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DashboardUser } from '../../../src/config/kinds.js'
import type { Endpoint } from '../../../src/dashboard/define.js'
import { READ_TOOLS } from '../../../src/mcp/tools/read.js'
import { TRIAGE_TOOLS } from '../../../src/mcp/tools/triage.js'
import { hashToken } from '../../../src/model/people/api-token.js'
import { hashPassword } from '../../../src/model/people/derive-key.js'
import { includesRole, ROLES, type Role } from '../../../src/model/people/identity.js'
import { type Host, serveTracker, signIn } from '../../support/host.js'
import { ACTIONS, DOWNLOADS, FEEDS, liveStream, PAGES } from '../../support/routes.js'

const GET = [...PAGES, ...FEEDS, ...DOWNLOADS, liveStream].map((endpoint) => ['GET', endpoint] as const)
const POST = ACTIONS.map((endpoint) => ['POST', endpoint] as const)
const ENDPOINTS = [...GET, ...POST]

const tokenOf = (role: Role) => `fb_${role.padEnd(43, 'x')}`

/** Every scheme, with every role that it can have. */
const SIGN_INS: readonly (readonly [scheme: string, role: Role, headers: Record<string, string>])[] = [
  ['shared account', 'admin', signIn()],
  ...ROLES.map((role) => ['account', role, signIn(`anna the ${role}`, `password of ${role}`)] as const),
  ...ROLES.map((role) => ['token', role, { authorization: `Bearer ${tokenOf(role)}` }] as const),
  ...ROLES.map((role) => ['host', role, { 'x-user': `${role} of the host`, 'x-role': role }] as const),
]

let host: Host
let error_id: number

beforeAll(async () => {
  const users = ROLES.map(async (role): Promise<DashboardUser> => {
    return {
      name: `anna the ${role}`,
      role,
      password_hash: await hashPassword(`password of ${role}`, { N: 2 ** 14, r: 8, p: 1 }),
    }
  })
  host = await serveTracker({
    database: 'sqlite::memory:',
    dashboard_users: await Promise.all(users),
    api_tokens: ROLES.map((role) => ({ name: `token of ${role}`, role, token_hash: hashToken(tokenOf(role)) })),
    authenticate: ({ headers }: IncomingMessage) =>
      headers['x-user'] ? { name: String(headers['x-user']), role: headers['x-role'] as Role } : null,
    enable_diagnostic_dump: true,
  })
  const record = await host.tracker.Commands.LogError.call({ error_type: 'CheckoutError', message: 'm' })
  error_id = (record as { id: number }).id
})

afterAll(() => host.close())

function send(method: string, path: string, headers: Record<string, string>, form = '') {
  const body = method === 'POST' ? { body: new URLSearchParams(form) } : {}
  return fetch(`${host.origin}/error_dashboard${path}`, { method, headers, redirect: 'manual', ...body })
}

async function statusOf(method: string, path: string, headers: Record<string, string>, form = '') {
  const response = await send(method, path, headers, form)
  await response.body?.cancel()
  return response.status
}

/** Path of a record that does not exist, so that no action changes anything. */
const samplePath = ({ path }: Endpoint) => path.replaceAll(/:\w+(\{[^}]+\})?/g, '999')

const as = (role: Role) => signIn(`anna the ${role}`, `password of ${role}`)

describe('roles', () => {
  test.each(SIGN_INS)(
    'roles limit every endpoint for the sign-in %s with the role %s',
    async (scheme, role, headers) => {
      const wrong: string[] = []
      for (const [method, endpoint] of ENDPOINTS) {
        // The form is incomplete for most actions: the role is checked before the parameters.
        for (const suffix of method === 'GET' && scheme === 'account' ? ['', '.json', '.csv'] : ['']) {
          const status = await statusOf(method, `${samplePath(endpoint)}${suffix}`, {
            ...headers,
            accept: 'application/json',
          })
          const isRefused = status === 403
          if (isRefused === includesRole(role, endpoint.role) || status === 401 || status === 500)
            wrong.push(`${status} ${method} ${endpoint.path}${suffix}, which requires ${endpoint.role}`)
        }
      }
      expect(wrong).toEqual([])
    },
  )

  test('roles of the endpoints are those of the documentation', () => {
    const paths = (role: Role) =>
      ENDPOINTS.filter(([, endpoint]) => endpoint.role === role).map(
        ([method, { path }]) => `${method} ${path.replaceAll(/\{[^}]*\}/g, '')}`,
      )
    expect(paths('admin').sort()).toEqual([
      'GET /errors/diagnostic_dumps',
      'GET /errors/diagnostic_dumps/:dump_id',
      'GET /errors/diagnostic_dumps/:dump_id/files/:kind',
      'GET /settings/access',
      'GET /settings/audit',
      'POST /errors/diagnostic_dumps',
      'POST /errors/diagnostic_dumps/:dump_id/delete',
      'POST /notifications/test',
      'POST /settings/access',
      'POST /settings/access/:token_id/revoke',
    ])
    expect(paths('viewer').filter((path) => path.startsWith('POST'))).toEqual(['POST /preferences'])
    expect(paths('responder').filter((path) => path.startsWith('GET'))).toEqual([])
    expect(paths('responder').length).toBeGreaterThanOrEqual(14)
  })

  test('roles of the tools for agents allow reading, and triage on demand', () => {
    expect(new Set(READ_TOOLS.map(({ role }) => role))).toEqual(new Set(['viewer']))
    expect(new Set(TRIAGE_TOOLS.map(({ role }) => role))).toEqual(new Set(['responder']))
  })

  test('roles are named in the response, as a page and as JSON', async () => {
    const path = `/errors/${error_id}/resolve`
    const json = await send('POST', path, { ...as('viewer'), accept: 'application/json' })
    expect(json.status).toBe(403)
    expect(await json.json()).toEqual({
      error: 'This requires the role responder. You are signed in as anna the viewer with the role viewer.',
    })
    const html = await (await send('POST', path, { ...as('viewer'), accept: 'text/html' })).text()
    expect(html).toContain('This requires the role responder.')
    expect(html).toContain('Back to errors')
    const { error } = (await host.json(`/errors/${error_id}`)) as unknown as { error: { resolved: boolean } }
    expect(error.resolved).toBe(false)
  })

  test('roles of bulk actions depend on the action', async () => {
    const act = (role: Role, action: string) =>
      statusOf('POST', '/errors/batch_action', as(role), `error_ids[]=${error_id}&action_type=${action}`)
    expect(await act('viewer', 'resolve')).toBe(403)
    expect(await act('viewer', 'delete')).toBe(403)
    expect(await act('responder', 'delete')).toBe(403)
    expect(await act('responder', 'unmute')).toBe(302)
    expect((await send('GET', `/errors/${error_id}`, as('viewer'))).status).toBe(200)
  })

  test('roles decide which actions a page shows', async () => {
    const page = async (role: Role, path: string) => (await send('GET', path, as(role))).text()
    const detail = `/errors/${error_id}`
    const posts = (html: string) => [...html.matchAll(/action="[^"]*\/([a-z_]+)"/g)].map(([, name]) => name)
    expect(new Set(posts(await page('viewer', detail)))).toEqual(new Set(['preferences']))
    expect(posts(await page('responder', detail))).toEqual(expect.arrayContaining(['resolve', 'assign', 'add_comment']))
    expect(posts(await page('responder', detail))).not.toContain('batch_action')
    expect(posts(await page('admin', detail))).toContain('batch_action')
    expect(await page('viewer', detail)).not.toMatch(/data-key="[easmc]"/)
    expect(await page('viewer', detail)).toContain('data-key="l"')
    expect(await page('viewer', '/errors')).not.toMatch(/batch_action|saved_views|error_ids\[\]/)
    expect(await page('responder', '/errors')).toContain('value="resolve"')
    expect(await page('responder', '/errors')).not.toContain('value="delete"')
    expect(await page('admin', '/errors')).toContain('value="delete"')
    expect(await page('responder', '/overview')).not.toContain('/errors/diagnostic_dumps')
    expect(await page('admin', '/overview')).toContain('/errors/diagnostic_dumps')
  })
})
