import { Hono } from 'hono'
import * as v from 'valibot'
import type { Context } from '../context.js'
import { TrackerError } from '../model/errors.js'
import { id, parseInput } from '../model/input.js'
import { serveAsset } from './assets.js'
import { CHALLENGE, signedInUser } from './auth.js'
import { behindProxies } from './behind-proxies.js'
import { errorDocument, pageDocument } from './components/document.js'
import type { Action, Page, Rendered, Visit } from './define.js'
import { fields, readForm } from './form.js'
import { noticeCleared, noticeFrom, noticeHeader } from './notice.js'
import { isForeignOrigin } from './origin.js'
import { RateLimiter, type Verdict } from './rate-limit.js'
import { ACTIONS, PAGES } from './routes.js'
import { SECURITY_HEADERS } from './security-headers.js'

/** Where the dashboard stands, as the adapter knows it. */
export interface Mount {
  /** Path in front of every link, such as `/error_dashboard`. */
  base: string
  /** Path below the mount, as the client sent it. */
  path: string
  /** The client, as far as the host's framework knows. */
  remote_address: string | null
  /** Who is at the other end of the connection, where that may be another: a proxy the framework was told about. */
  peer_address?: string | null
}

export type Handler = (request: Request, mount: Mount) => Promise<Response>

const FAILED_SIGN_INS_PER_MINUTE = 20

/** The dashboard as one function from request to response. Everything that goes wrong ends in its one catch. */
export function createHandler(context: Context): Handler {
  const router = buildRouter(context)
  const failedSignIns = new RateLimiter(FAILED_SIGN_INS_PER_MINUTE, context.now)
  const requests = new RateLimiter(context.config.rate_limit_per_minute, context.now)

  return async (request, hosts) => {
    const mount = behindProxies(hosts, request.headers, context.config)
    const address = mount.remote_address ?? 'unknown'
    const exchange = openExchange(request, mount, context)
    try {
      exchange.visit.user = authenticate(request, context, address, failedSignIns)
      const verdict = context.config.enable_rate_limiting ? requests.hit(address) : null
      if (verdict && !verdict.allowed) throw new RateLimited(verdict)
      if (request.method === 'POST' && isForeignOrigin(request.headers)) {
        throw new TrackerError(
          'forbidden_origin',
          'This request comes from another site and was refused. Open the dashboard itself and try again there.',
        )
      }
      if (!isPlain(exchange.visit.path)) throw noSuchPage()
      const response = await router.fetch(new Request(`http://faultboard${exchange.visit.path}`, request), { exchange })
      return withHeaders(response, verdict)
    } catch (error) {
      return withHeaders(answerError(error, exchange, context), null)
    }
  }
}

interface Exchange {
  visit: Visit
  wants_json: boolean
  /** What the client added to the path to be answered in JSON. */
  suffix: '.json' | ''
}

class RateLimited extends TrackerError {
  readonly verdict: Verdict

  constructor(verdict: Verdict) {
    super('rate_limited', `Too many requests from this address. Try again in ${verdict.reset} seconds.`)
    this.verdict = verdict
  }
}

function openExchange(request: Request, mount: Mount, { config, now }: Context): Exchange {
  const { searchParams } = new URL(request.url)
  const suffix = /[^/]\.json$/.test(mount.path) ? '.json' : ''
  const path = suffix ? mount.path.slice(0, -suffix.length) : mount.path.replace(/(?<=[^/])\/$/, '')
  return {
    suffix,
    wants_json: suffix !== '' || prefersJson(request.headers.get('accept')),
    visit: {
      base: mount.base,
      path: path === '' ? '/' : path,
      query: searchParams,
      user: '',
      notice: noticeFrom(request.headers.get('cookie')),
      now: now(),
      time_zone: config.time_zone,
      application_name: config.application_name ?? '',
    },
  }
}

/**
 * Whether the path can be matched as it was sent. Our addresses need no encoding, and whatever a URL parser would decode
 * or resolve (`%2e`, `..`, `//`) could lead past a guard that the host put before one of them.
 */
function isPlain(path: string): boolean {
  return path === '/' || /^(?:\/(?!\.{1,2}(?:\/|$))[\w.-]+)+$/.test(path)
}

function prefersJson(accept: string | null): boolean {
  if (!accept) return false
  const json = accept.indexOf('application/json')
  const html = accept.indexOf('text/html')
  return json >= 0 && (html < 0 || json < html)
}

function authenticate(request: Request, { config }: Context, address: string, failed: RateLimiter): string {
  const header = request.headers.get('authorization')
  const verdict = failed.peek(address)
  if (header !== null && !verdict.allowed) throw new RateLimited(verdict)
  const user = signedInUser(header, {
    username: config.dashboard_username ?? '',
    password: config.dashboard_password ?? '',
  })
  if (user !== null) return user
  if (header !== null) failed.hit(address)
  throw new TrackerError('unauthenticated', 'Sign in with the user name and password of this dashboard.')
}

type Environment = { Bindings: { exchange: Exchange } }

function buildRouter(context: Context): Hono<Environment> {
  const router = new Hono<Environment>()
  router.get('/assets/:name', (c) => serveAsset(c.req.param('name')))
  router.get('/', (c) => redirect(`${c.env.exchange.visit.base}/overview`, null))
  for (const page of PAGES) {
    router.get(page.path, async (c) => {
      requireSwitch(page, context)
      const { exchange } = c.env
      const parameters = parse(page.parameters, fields(exchange.visit.query), c.req.param())
      const data = await page.load(context, parameters)
      const links = page.links?.(data, { ...exchange.visit, path: `${exchange.visit.path}${exchange.suffix}` })
      return exchange.wants_json
        ? json(page.json(data), 200, links ? { Link: links } : {})
        : html(
            pageDocument(page.title(data), page.view(data, exchange.visit, parameters), exchange.visit),
            200,
            exchange.visit.notice ? { 'Set-Cookie': noticeCleared(exchange.visit.base) } : {},
          )
    })
  }
  for (const action of ACTIONS) {
    router.post(action.path, async (c) => {
      requireSwitch(action, context)
      const { visit } = c.env.exchange
      const parameters = parse(action.parameters, await readForm(c.req.raw), c.req.param())
      const { to, notice } = await action.run(context, parameters, visit.user)
      return redirect(`${visit.base}${to}`, noticeHeader(notice, visit.base))
    })
  }
  router.notFound(() => {
    throw noSuchPage()
  })
  router.onError((error) => {
    throw error
  })
  return router
}

function noSuchPage(): TrackerError {
  return new TrackerError('not_found', 'There is no such page.')
}

function parse(schema: v.GenericSchema, given: object, address: Record<string, string>): unknown {
  // In an address, an id that no record can have is that of an unknown record; in a form it is a mistake.
  if (address.error_id !== undefined && !v.is(id(), address.error_id)) {
    throw new TrackerError('not_found', 'There is no error with this id.')
  }
  return parseInput(schema, { ...given, ...address })
}

function requireSwitch({ needs }: Page | Action, { config }: Context): void {
  if (needs && !config[needs]) {
    throw new TrackerError(
      'switched_off',
      `This page is switched off. Set ${needs} to true in the configuration to turn it on.`,
    )
  }
}

function answerError(error: unknown, { visit, wants_json }: Exchange, context: Context): Response {
  if (!(error instanceof TrackerError)) {
    context.counters.add('dashboard_failed')
    context.log.warn(
      `The dashboard failed to answer ${visit.path}: ${error instanceof Error ? error.stack : String(error)}`,
    )
  }
  const known = knownError(error, context)
  const status = known?.status ?? 500
  const sentence =
    known && known.code !== 'configuration_invalid'
      ? known.message
      : 'Something went wrong inside the dashboard. The log of the application says what.'
  const headers: Record<string, string> = status === 401 ? { 'WWW-Authenticate': CHALLENGE } : {}
  if (known instanceof RateLimited) {
    headers['Retry-After'] = String(known.verdict.reset)
    Object.assign(headers, rateHeaders(known.verdict))
  }
  // Spec: the body of a 429 is JSON for every client.
  if (wants_json || status === 429) return json({ error: sentence }, status, headers)
  return html(errorDocument(status, sentence, visit), status, headers)
}

function knownError(error: unknown, { database }: Context): TrackerError | null {
  if (error instanceof TrackerError) return error
  if (!isOfDriver(error) || database.dialect.faultOf(error) !== 'unavailable') return null
  return new TrackerError(
    'database_unavailable',
    'The database cannot be reached just now. Errors are kept meanwhile and written when it is back.',
  )
}

/** A dialect takes every fault it does not know for one that passes; a bug of ours must not look like one. */
function isOfDriver(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) return false
  // What the file system refuses has a code as well, and beside it the path.
  return 'code' in error && typeof error.code === 'string' && !('path' in error)
}

function rateHeaders({ limit, remaining, reset }: Verdict): Record<string, string> {
  return {
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(remaining),
    'RateLimit-Reset': String(reset),
  }
}

function withHeaders(response: Response, verdict: Verdict | null): Response {
  for (const [name, value] of Object.entries(SECURITY_HEADERS))
    if (!response.headers.has(name)) response.headers.set(name, value)
  if (verdict) for (const [name, value] of Object.entries(rateHeaders(verdict))) response.headers.set(name, value)
  return response
}

function json(body: unknown, status: number, headers: Record<string, string>): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers },
  })
}

function html(document: Rendered, status: number, headers: Record<string, string>): Response {
  return new Response(String(document), { status, headers: { 'Content-Type': 'text/html; charset=utf-8', ...headers } })
}

function redirect(to: string, cookie: string | null): Response {
  return new Response(null, {
    status: 302,
    headers: cookie ? { Location: to, 'Set-Cookie': cookie } : { Location: to },
  })
}
