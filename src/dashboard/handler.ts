import { TrieRouter } from 'hono/router/trie-router'
import * as v from 'valibot'
import type { Context } from '../context.js'
import { TrackerError } from '../model/errors.js'
import { id, parseInput } from '../model/input.js'
import { clientNetwork } from '../model/requests/client-address.js'
import { cleanText } from '../model/text.js'
import { withTimeout } from '../model/with-timeout.js'
import { attachment, csv, html, json, redirect, withCookies, withSecurityHeaders } from './answers.js'
import { serveAsset } from './assets.js'
import { behindProxies } from './behind-proxies.js'
import { compressed } from './compress.js'
import type { Endpoint, Page } from './define.js'
import { type Exchange, openExchange } from './exchange.js'
import { fields, readForm } from './form.js'
import { href } from './href.js'
import { LiveUpdates } from './live.js'
import type { Mount } from './mount.js'
import { mountMemory } from './mount-memory.js'
import { noticeCleared, noticeHeader } from './notice.js'
import { isForeignOrigin } from './origin.js'
import { isPlainPath } from './plain-path.js'
import { preferenceHeader, visitHeader } from './preferences.js'
import { RateLimiter, type Verdict } from './rate-limit.js'
import { type Routes, STREAM } from './routes.js'
import { CHALLENGE } from './sign-in/basic.js'
import { SignInLimited } from './sign-in/limiter.js'
import { createSignIn, type SignIn } from './sign-in/sign-in.js'
import { errorDocument, pageDocument } from './ui/layout/document.js'
import { createProxyWarning } from './untrusted-proxy.js'
import { viewConfiguration } from './view-options.js'

export type Handler = (request: Request, mount: Mount) => Promise<Response>

/** A frame without the other applications is better than one that is waited for. */
const FRAME_PATIENCE_MS = 500

/** Width of the columns that store who changed something. */
const MAX_ACTOR_LENGTH = 255

/** A restart of the database or the end of a lock takes seconds. */
const RETRY_AFTER_SECONDS = '5'

/** The dashboard as one function from request to response, until it is closed. */
export interface Dashboard {
  handle: Handler
  /** Ends the streams that are open. */
  close(): void
}

/** Everything that goes wrong in a request ends in the one catch. */
export function createDashboard(context: Context, routes: Routes): Dashboard {
  const live = new LiveUpdates(context)
  const signIn = createSignIn(context)
  return {
    handle: createHandler(context, routes, live, signIn),
    close() {
      live.close()
      signIn.close()
    },
  }
}

function createHandler(context: Context, routes: Routes, live: LiveUpdates, signIn: SignIn): Handler {
  const router = buildRouter(context, routes, live)
  const configuration = { ...viewConfiguration(context.config), navigation: routes.navigation }
  const warnOfProxy = createProxyWarning(context)
  const requests = new RateLimiter(context.config.rate_limit_per_minute, context.now)

  return async (request, hosts) => {
    const mount = behindProxies(hosts, request, context.config)
    const network = clientNetwork(mount.remote_address)
    const exchange = openExchange(request, mount, context, configuration)
    try {
      const session = await signIn.authenticate(request.headers, network)
      exchange.visit.user = session.user
      warnOfProxy(hosts, request.headers)
      const verdict = context.config.enable_rate_limiting ? requests.hit(network) : null
      if (verdict && !verdict.allowed) throw new RateLimited(verdict, TOO_MANY_REQUESTS)
      if (request.method === 'POST' && isForeignOrigin(request.headers, mount.encrypted)) {
        throw new TrackerError(
          'forbidden_origin',
          'This request comes from another site and was refused. Open the dashboard itself and try again there.',
        )
      }
      if (!isPlainPath(exchange.visit.path)) throw noSuchPage()
      const response = await respond(router, request, exchange)
      if (isHtml(response)) withCookies(response, [await session.deviceCookie(mount.base, mount.encrypted)])
      return await compressed(request, withHeaders(response, verdict))
    } catch (error) {
      return compressed(request, withHeaders(await answerError(error, exchange, context), null))
    }
  }
}

const TOO_MANY_REQUESTS = 'Too many requests from this address.'
const TOO_MANY_SIGN_INS = 'Too many failed sign-ins.'

class RateLimited extends TrackerError {
  readonly verdict: Verdict

  constructor(verdict: Verdict, cause: string) {
    super('rate_limited', `${cause} Try again in ${verdict.reset} seconds.`)
    this.verdict = verdict
  }
}

function isHtml({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/html') ?? false
}

/** The values in a path by name, such as `error_id`. */
type Address = Record<string, string>
type Answer = (exchange: Exchange, address: Address, request: Request) => Response | Promise<Response>

/** Calls the endpoint of the path. HEAD is a GET whose response has no body. */
async function respond(router: TrieRouter<Answer>, request: Request, exchange: Exchange): Promise<Response> {
  const isHead = request.method === 'HEAD'
  // The type covers other routers too. This one returns each endpoint with its values by name.
  const [found] = router.match(isHead ? 'GET' : request.method, exchange.visit.path) as [[Answer, Address][]]
  const [answer, address] = found[0] ?? [notFound, {}]
  const response = await answer(exchange, address, request)
  return isHead ? new Response(null, response) : response
}

function notFound(): never {
  throw noSuchPage()
}

function buildRouter(context: Context, routes: Routes, live: LiveUpdates): TrieRouter<Answer> {
  const router = new TrieRouter<Answer>()
  const remember = mountMemory(context)
  router.add('GET', '/assets/:name', (_exchange, { name = '' }) => serveAsset(name))
  router.add('GET', '/', ({ visit }) => redirect(href(visit, '/overview')))
  router.add('GET', STREAM.path, ({ mount }, _address, request) => live.answer(request, mount.closing))
  for (const page of routes.pages) {
    router.add('GET', page.path, async (exchange, address) => {
      const response = await answerPage(page, context, exchange, address)
      // Programs may come by another way than people.
      if (!exchange.wants_json) remember(exchange.visit.base)
      return response
    })
  }
  for (const feed of routes.feeds) {
    router.add('GET', feed.path, async (exchange, address) => {
      requireSwitches(feed, context)
      exchange.wants_json = true
      const parameters = parse(feed.parameters, fields(exchange.visit.query), address)
      return json(await feed.load(context, parameters, exchange.visit))
    })
  }
  for (const download of routes.downloads) {
    router.add('GET', download.path, async ({ visit }, address) => {
      requireSwitches(download, context)
      return attachment(await download.load(context, parse(download.parameters, fields(visit.query), address)))
    })
  }
  for (const action of routes.actions) {
    router.add('POST', action.path, async ({ visit: { base, user } }, address, request) => {
      requireSwitches(action, context)
      const parameters = parse(action.parameters, await readForm(request), address)
      const actor = cleanText(user.trim(), MAX_ACTOR_LENGTH)
      const { to, notice, made, remember = {} } = await action.run(context, parameters, actor)
      const response = redirect(`${base}${to}`, [
        ...(notice === null ? [] : [noticeHeader(notice, base)]),
        ...Object.entries(remember).map(([name, value]) => preferenceHeader(name, value, base)),
      ])
      if (made) response.headers.set('Content-Location', `${base}${made}`)
      return response
    })
  }
  return router
}

async function answerPage(page: Page, context: Context, exchange: Exchange, address: Address): Promise<Response> {
  requireSwitches(page, context)
  const { visit, suffix, cookies } = exchange
  const parameters = parse(page.parameters, fields(visit.query), address)
  await requireApplication(parameters, exchange)
  if (suffix === '.csv') {
    if (!page.csv) throw noSuchPage()
    await context.ready()
    return csv(page.csv(context, parameters), visit.path.slice(1).replaceAll('/', '-'))
  }
  const data = await page.load(context, parameters, visit)
  if (exchange.wants_json) {
    const links = page.links?.(data, { ...visit, path: `${visit.path}${suffix}` })
    return json(page.json(data), 200, links ? { Link: links } : {})
  }
  const shown = page.furnish ? Object.assign({}, data, await page.furnish(context, data, parameters, visit)) : data
  await fillFrame(exchange)
  if (page.healthState) visit.tracker = { ...visit.tracker, state: page.healthState(data) }
  // Rendering takes its time as well: what waits in the host comes first.
  await new Promise((resume) => setImmediate(resume))
  const document = pageDocument(page.title(data, visit), page.view(shown, visit, parameters), visit)
  return withCookies(await html(document), [
    visit.notice === null ? null : noticeCleared(visit.base),
    visitHeader(cookies, visit.now, visit.base),
  ])
}

/** What the frame around a page shows; a page that can do without the database must not fail for its frame. */
async function fillFrame({ visit, listApplications }: Exchange): Promise<void> {
  if (visit.user === '') return
  visit.applications = await withTimeout(listApplications(), FRAME_PATIENCE_MS).catch(() => [])
}

function noSuchPage(): TrackerError {
  return new TrackerError('not_found', 'There is no such page.')
}

function parse(schema: v.GenericSchema, given: object, address: Address): unknown {
  // In an address, an id that no record can have is that of an unknown record; in a form it is a mistake.
  const unknown = Object.keys(address).find((name) => name.endsWith('_id') && !v.is(id(), address[name]))
  if (unknown) throw new TrackerError('not_found', `There is no ${unknown.slice(0, -'_id'.length)} with this id.`)
  return parseInput(schema, { ...given, ...address })
}

/** A list of an application that is not there must not look like one in which nothing was recorded. */
async function requireApplication(parameters: unknown, { listApplications }: Exchange): Promise<void> {
  const { application_id } = parameters as { application_id?: number }
  if (application_id === undefined) return
  const applications = await listApplications()
  if (applications.some((one) => one.id === application_id)) return
  throw new TrackerError('not_found', `There is no application with the id ${application_id}.`)
}

function requireSwitches({ needs = [] }: Endpoint, { config }: Context): void {
  const off = [needs].flat().filter((name) => !config[name])
  if (off.length === 0) return
  throw new TrackerError(
    'switched_off',
    `This page is switched off. Set ${off.join(' and ')} to true in the configuration to turn it on.`,
  )
}

async function answerError(error: unknown, exchange: Exchange, context: Context): Promise<Response> {
  const { visit, wants_json } = exchange
  if (!(error instanceof TrackerError || error instanceof SignInLimited)) {
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
      : 'Something went wrong in the dashboard. The log of the application has the details.'
  const headers: Record<string, string> = status === 401 ? { 'WWW-Authenticate': CHALLENGE } : {}
  if (known instanceof RateLimited) {
    headers['Retry-After'] = String(known.verdict.reset)
    Object.assign(headers, rateHeaders(known.verdict))
  }
  if (status === 503) headers['Retry-After'] = RETRY_AFTER_SECONDS
  // Spec: the body of a 429 is JSON for every client.
  if (wants_json || status === 429) return json({ error: sentence }, status, headers)
  if (known?.code !== 'database_unavailable') await fillFrame(exchange)
  return html(errorDocument(status, sentence, visit), status, headers)
}

function knownError(error: unknown, { database }: Context): TrackerError | null {
  if (error instanceof TrackerError) return error
  if (error instanceof SignInLimited) return new RateLimited(error.verdict, TOO_MANY_SIGN_INS)
  if (!database.isUnreachable(error)) return null
  return new TrackerError(
    'database_unavailable',
    'The database is unreachable or locked. New errors are kept and written once it is available again.',
  )
}

function rateHeaders({ limit, remaining, reset }: Verdict): Record<string, string> {
  return {
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(remaining),
    'RateLimit-Reset': String(reset),
  }
}

function withHeaders(response: Response, verdict: Verdict | null): Response {
  if (verdict) for (const [name, value] of Object.entries(rateHeaders(verdict))) response.headers.set(name, value)
  return withSecurityHeaders(response)
}
