import { expect, test } from 'vitest'
import { signIn } from '../support/host.js'
import type { ContractHosts } from './contract-host.js'
import type { AdapterHarness } from './harness.js'
import { rawExchange } from './raw-exchange.js'

/** Appears on every page below that shows recorded data. */
export const RECORDED_TYPE = 'OnlyForOperators'

/** Spellings that a parser, router or proxy may treat as a dashboard page. */
export function variantPaths(mount: string): string[] {
  const encodedMount = mount.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`)
  return [
    ...[mount, `${mount}/`, `${mount}/errors`, `${mount}/errors/`, `${mount}/errors.json`, `${mount}/errors.csv`],
    ...[`${mount}//errors`, `${mount}/./errors`, `${mount}/../${mount}/errors`, `${mount}/errors/../errors`],
    ...[
      `/${mount}/errors`,
      `//${mount}/errors`,
      `/.${mount}/errors`,
      `/x/..${mount}/errors`,
      `/x/%2e%2e${mount}/errors`,
    ],
    ...[`${mount}/%65rrors`, `${mount}%2ferrors`, `${mount}%2Ferrors`, `${mount}/%2ferrors`, `${mount}/errors%2f1`],
    ...[`${encodedMount}/errors`, `${mount.toUpperCase()}/errors`, `${mount}/ERRORS`, `${mount}/Errors/1`],
    ...[`${mount}/errors%00`, `${mount}/errors%00.css`, `${mount}%00/errors`, `${mount}/errors\u0000`],
    ...[`${mount};/errors`, `${mount};a=b/errors`, `${mount}/errors;.css`, `${mount}/errors;jsessionid=1`],
    ...[`${mount}\\errors`, `\\${mount.slice(1)}\\errors`, `${mount}/..\\errors`, `${mount}/%5cerrors`],
    ...[`${mount}/errors?a=/assets/dashboard.css`, `${mount}/errors#/assets/x`, `${mount}/assets/../errors`],
    ...[`${mount}/assets/%2e%2e/errors`, `${mount}/assets/..%2ferrors`, `${mount}/assets/errors`],
    ...[`${mount}/errors.json.css`, `${mount}/errors/.json`, `${mount}/errors..json`, `${mount}/errors.JSON`],
    ...[
      `${mount}/errors/1`,
      `${mount}/errors/01`,
      `${mount}/errors/1.json`,
      `${mount}/errors/%31`,
      `${mount}/errors/1/`,
    ],
    ...[
      `${mount}/errors\t`,
      `${mount}/errors%20`,
      `${mount}/errors%0d%0a`,
      `${mount}/errors%c0%ae`,
      `${mount}/%u0065rrors`,
    ],
    ...[
      `http://evil.example${mount}/errors`,
      `http://127.0.0.1${mount}/errors`,
      `${mount}/health`,
      `${mount}/openapi.json`,
    ],
  ]
}

const [, VALID_CREDENTIALS = ''] = signIn().authorization.split(' ')
const WRONG_CREDENTIALS = Buffer.from('admin:wrong').toString('base64')

/** Values without valid credentials, or with credentials in an invalid position. */
export const REFUSED_HEADERS = [
  [],
  ['Authorization:'],
  ['Authorization: Basic'],
  [`Authorization: Basic ${WRONG_CREDENTIALS}`],
  [`Authorization: Basic ${WRONG_CREDENTIALS}`, `Authorization: Basic ${WRONG_CREDENTIALS}`],
  [`Authorization: ${VALID_CREDENTIALS}`],
  [`Authorization: Basic${VALID_CREDENTIALS}`],
  [`Authorization: Basic:${VALID_CREDENTIALS}`],
  [`Authorization: Basic=${VALID_CREDENTIALS}`],
  [`Authorization: "Basic ${VALID_CREDENTIALS}"`],
  [`Authorization: Basic "${VALID_CREDENTIALS}"`],
  [`Authorization: Basic ${VALID_CREDENTIALS.slice(0, 4)} ${VALID_CREDENTIALS.slice(4)}`],
  [`Authorization: Basic ${VALID_CREDENTIALS}, Basic ${WRONG_CREDENTIALS}`],
  [`Authorization: Basic ${VALID_CREDENTIALS}\u00e9`],
  [`Authorization: B\u00e4sic ${VALID_CREDENTIALS}`],
  [`Authorization: Bearer ${VALID_CREDENTIALS}`],
  [`Authorization: Digest username="admin", response="${VALID_CREDENTIALS}"`],
  [`Authorization: Negotiate ${VALID_CREDENTIALS}`],
  ['Authorization: Basic Og=='],
  [`Authorization: Basic ${Buffer.from('admin').toString('base64')}`],
  [`Authorization: Basic ${Buffer.from('admin:').toString('base64')}`],
  [`Authorization: Basic ${Buffer.from('\u0000admin:x').toString('base64')}`],
  [`Authorization: Basic ${'A'.repeat(8000)}`],
  [`Authorization: Basic ${'A'.repeat(100_000)}`],
  [`Proxy-Authorization: Basic ${VALID_CREDENTIALS}`],
  [`X-Authorization: Basic ${VALID_CREDENTIALS}`],
  [`X-Original-Authorization: Basic ${VALID_CREDENTIALS}`],
  [`Cookie: authorization=Basic ${VALID_CREDENTIALS}`],
  ['X-Remote-User: admin', 'Remote-User: admin', 'X-Forwarded-User: admin'],
  ['X-Forwarded-For: 127.0.0.1', 'X-Real-IP: 127.0.0.1', 'Forwarded: for=127.0.0.1'],
  ['X-HTTP-Method-Override: OPTIONS', 'X-Original-URL: /', 'X-Rewrite-URL: /'],
]

/** Every spelling that RFC 9110 and RFC 7617 allow. */
export const ACCEPTED_HEADERS = [
  [`Authorization: Basic ${VALID_CREDENTIALS}`],
  [`authorization: basic ${VALID_CREDENTIALS}`],
  [`AUTHORIZATION: BASIC ${VALID_CREDENTIALS}`],
  [`Authorization: Basic   ${VALID_CREDENTIALS}`],
  [`Authorization:Basic ${VALID_CREDENTIALS}`],
  [`Authorization: \t Basic ${VALID_CREDENTIALS} \t `],
]

/** Fails when anything of the dashboard is served for any spelling of the path, invalid credentials or an unusual method. */
export async function expectGuarded(origin: string, mount: string): Promise<void> {
  await expectPathsGuarded(origin, mount)
  const requests: RefusedRequest[] = REFUSED_HEADERS.map((headers) => [`GET ${mount}/errors`, headers])
  for (const method of ['HEAD', 'POST', 'OPTIONS', 'PUT', 'DELETE', 'get', 'TRACE', 'X'])
    requests.push([`${method} ${mount}/errors`, ['Content-Length: 0']])
  // Few paths, because the dashboard stops checking a wrong password after 20 repeats.
  for (const path of ['', '/', '/errors.json', '/errors/1', '/assets/../errors', '/health'])
    requests.push([`GET ${mount}${path}`, [`Authorization: Basic ${WRONG_CREDENTIALS}`]])
  await expectRefused(origin, mount, requests)
}

/** Fails when anything of the dashboard is served without credentials for any spelling of the path. */
export async function expectPathsGuarded(origin: string, mount: string): Promise<void> {
  await expectRefused(
    origin,
    mount,
    variantPaths(mount).map((path) => [`GET ${path}`, []]),
  )
}

type RefusedRequest = readonly [requestLine: string, headers: readonly string[]]

async function expectRefused(origin: string, mount: string, requests: readonly RefusedRequest[]): Promise<void> {
  const served: string[] = []
  for (const [requestLine, headers] of requests) {
    const { status, text } = await rawExchange(origin, requestLine, headers)
    const isDashboard = text.includes(RECORDED_TYPE) || text.includes(`href="${mount}/settings"`)
    const isRedirect = status === 302 && text.includes(`${mount}/overview`)
    if (isDashboard || isRedirect) served.push(`${status} ${requestLine} ${headers.join(' ').slice(0, 100)}`)
  }
  expect(served).toEqual([])
}

async function expectSignedIn(origin: string, mount: string): Promise<void> {
  for (const headers of ACCEPTED_HEADERS) {
    const { status, text } = await rawExchange(origin, `GET ${mount}/errors`, headers)
    expect([headers, status]).toEqual([headers, 200])
    expect(text).toContain(RECORDED_TYPE)
  }
}

/** Verifies that no spelling of the path or credentials bypasses authentication. */
export function describeAuthentication(harness: AdapterHarness, { start }: ContractHosts): void {
  test('requires credentials for every spelling of a dashboard path', { timeout: 120_000 }, async () => {
    const { tracker, origin } = await start()
    await tracker.Commands.LogError.call({ error_type: RECORDED_TYPE, message: 'm' })
    await expectGuarded(origin, '/error_dashboard')
  })

  test('accepts every valid spelling of the credentials', { timeout: 60_000 }, async () => {
    const { tracker, origin } = await start()
    await tracker.Commands.LogError.call({ error_type: RECORDED_TYPE, message: 'm' })
    await expectSignedIn(origin, '/error_dashboard')
  })

  test('passes the request of the framework to authenticate', async () => {
    const readHeader =
      harness.readHeader ?? ((request: { headers: Record<string, unknown> }, name) => request.headers[name])
    const { origin } = await start({
      authenticate: (request) =>
        readHeader(request as never, 'x-session') === 's1' ? { name: 'Anna', role: 'admin' } : null,
    })
    const open = (headers: Record<string, string>) => fetch(`${origin}/error_dashboard/settings`, { headers })
    expect((await open({})).status).toBe(401)
    expect((await open({ 'x-session': 's2' })).status).toBe(401)
    const response = await open({ 'x-session': 's1' })
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('Anna')
    expect((await open(signIn())).status).toBe(200)
  })

  if (!harness.unsupportedVariants?.prefix)
    test('requires credentials below a prefix of the host', { timeout: 120_000 }, async () => {
      const { tracker, origin } = await start({}, 'prefix')
      await tracker.Commands.LogError.call({ error_type: RECORDED_TYPE, message: 'm' })
      await expectPathsGuarded(origin, '/admin/error_dashboard')
    })
}
