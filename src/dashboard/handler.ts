import { TrieRouter } from 'hono/router/trie-router'
import * as v from 'valibot'
import { runAs } from '../audit/audit-log.js'
import type { Context } from '../context.js'
import { cachedChannelProblems } from '../health/channels.js'
import { unknownEnvironmentText } from '../model/environment.js'
import { TrackerError } from '../model/errors.js'
import { nextTurn } from '../model/event-loop-turns.js'
import { inputNames } from '../model/input/describe-input.js'
import { id, parseInput } from '../model/input/input.js'
import type { ChangeOrigin } from '../model/people/audit.js'
import { clientNetwork } from '../model/requests/client-address.js'
import { QueryError, withViewerName } from '../model/search-query.js'
import { cleanText } from '../model/text.js'
import { withTimeout } from '../model/with-timeout.js'
import { listEnvironments } from '../triage/list/filter-choices.js'
import { allows, requireRole } from './access.js'
import { serveAsset } from './assets.js'
import type { ActionResult, Endpoint, Page, Routes, Visit } from './define.js'
import { type Exchange, openExchange } from './exchange.js'
import { behindProxies } from './http/behind-proxies.js'
import { compressResponse } from './http/compress.js'
import { clearFlashCookie, flashCookie } from './http/flash.js'
import { readForm, toFields } from './http/form.js'
import { isCrossOriginRequest } from './http/origin.js'
import { isPlainPath } from './http/plain-path.js'
import { createProxyWarning } from './http/proxy-warning.js'
import { RateLimiter, type Verdict } from './http/rate-limit.js'
import {
  attachmentResponse,
  csvResponse,
  htmlResponse,
  jsonResponse,
  redirect,
  streamedHtmlResponse,
  withCookies,
  withSecurityHeaders,
} from './http/responses.js'
import { href } from './links/href.js'
import { pathOfShortName, SHORT_LINK_PATH } from './links/short-link.js'
import { LiveUpdates, liveStream } from './live.js'
import type { Mount } from './mount.js'
import { createMountPathRecorder } from './mount-path.js'
import { preferenceCookie, visitCookie } from './preferences.js'
import { renderInOrder } from './render-queue.js'
import { SignInLimitedError } from './sign-in/limiter.js'
import { createSignIn, type Session, type SignIn } from './sign-in/sign-in.js'
import { ErrorContent, errorDocument, pageDocument, pageLayout } from './ui/layout/document.js'
import { UnknownEnvironment } from './ui/unknown-environment.js'
import { viewConfiguration } from './view-options.js'

export type Handler = (request: Request, mount: Mount) => Promise<Response>

/** Timeout for the switchers. The page renders without them rather than waiting. */
const LAYOUT_TIMEOUT_MS = 500

/** Faster pages are sent as a whole, with a length and the status of a failure. */
const LAYOUT_DELAY_MS = 40

/** Form fields that contain the name of the actor. */
const NAME_FIELDS = ['author_name', 'resolved_by_name', 'muted_by_name'] as const

/** Width of the columns that store actors. */
const MAX_ACTOR_LENGTH = 255

/** Database restarts and locks take seconds. */
const RETRY_AFTER_SECONDS = '5'

export interface Dashboard {
  handle: Handler
  /** Ends open streams and pending sign-ins. */
  close(): void
}

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
  const configuration = { ...viewConfiguration(context), navigation: routes.navigation }
  const warnAboutProxy = createProxyWarning(context)
  const { enable_rate_limiting, rate_limit_per_minute } = context.config
  const requests = new RateLimiter(rate_limit_per_minute, context.now)
  /**
   * Counts rejected requests separately. A signed-out page must not use up the limit of signed-in people at the same
   * address.
   */
  const rejected = new RateLimiter(rate_limit_per_minute, context.now)

  /** Limits requests that only `authenticate` of the host can accept. The sign-in limiter limits all other requests. */
  async function authenticate(request: Request, mount: Mount, network: string): Promise<Session> {
    if (!enable_rate_limiting || request.headers.has('authorization')) {
      return signIn.authenticate(request, mount, network)
    }
    // Counted before the callback runs, so that parallel requests cannot exceed the limit.
    const verdict = rejected.hit(network)
    if (!verdict.allowed) throw new RateLimited(verdict, TOO_MANY_REQUESTS)
    const session = await signIn.authenticate(request, mount, network)
    rejected.release(network)
    return session
  }

  return async (request, hostMount) => {
    // Yields, because requests that arrive together would otherwise start in the same event loop iteration.
    await nextTurn()
    const mount = behindProxies(hostMount, request, context.config)
    const network = clientNetwork(mount.remote_address)
    const exchange = openExchange(request, mount, context, configuration)
    try {
      const session = await authenticate(request, mount, network)
      exchange.visit.identity = session.identity
      exchange.visit.user = session.identity.name
      insertViewerName(exchange.visit)
      exchange.visit.navigation = routes.navigation.filter(({ role = 'viewer' }) => allows(exchange.visit, role))
      warnAboutProxy(hostMount, request.headers)
      const verdict = enable_rate_limiting ? requests.hit(network) : null
      if (verdict && !verdict.allowed) throw new RateLimited(verdict, TOO_MANY_REQUESTS)
      if (request.method === 'POST' && isCrossOriginRequest(request.headers, mount.encrypted)) {
        throw new TrackerError(
          'forbidden_origin',
          'This request was refused because it comes from another site. Open the dashboard and try again.',
        )
      }
      if (!isPlainPath(exchange.visit.path)) throw pageNotFound()
      const response = await respond(router, request, exchange)
      if (isHtml(response)) withCookies(response, [await session.deviceCookie(mount.base, mount.encrypted)])
      return await compressResponse(request, withHeaders(response, verdict))
    } catch (error) {
      const offer = signIn.offer(error, request, mount)
      if (offer?.redirect_url) return compressResponse(request, withHeaders(redirect(offer.redirect_url), null))
      exchange.visit.sign_in_links = offer?.links ?? []
      const response = withHeaders(await respondWithError(error, exchange, context), null)
      if (offer) withCookies(response, [offer.cookie]).headers.set('WWW-Authenticate', offer.challenge)
      return compressResponse(request, response)
    }
  }
}

/** Replaces `me` in the query with the viewer's name, so that links find the same errors for every user. */
function insertViewerName({ query, user }: Visit): void {
  const text = query.get('query')
  if (text) query.set('query', withViewerName(text, user))
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

/** Path parameters by name, such as `error_id`. */
type PathParameters = Record<string, string>
type RouteHandler = (
  exchange: Exchange,
  pathParameters: PathParameters,
  request: Request,
) => Response | Promise<Response>

/** Calls the route handler. HEAD is a GET without a response body. */
async function respond(router: TrieRouter<RouteHandler>, request: Request, exchange: Exchange): Promise<Response> {
  const isHead = request.method === 'HEAD'
  // The type covers all Hono routers, but TrieRouter returns handlers with named parameters.
  const [found] = router.match(isHead ? 'GET' : request.method, exchange.visit.path) as [
    [RouteHandler, PathParameters][],
  ]
  const [handle, pathParameters] = found[0] ?? [notFound, {}]
  const response = await handle(exchange, pathParameters, request)
  return isHead ? new Response(null, response) : response
}

function notFound(): never {
  throw pageNotFound()
}

function buildRouter(context: Context, routes: Routes, live: LiveUpdates): TrieRouter<RouteHandler> {
  const router = new TrieRouter<RouteHandler>()
  const recordMountPath = createMountPathRecorder(context)
  router.add('GET', '/assets/:name', (_exchange, { name = '' }) => serveAsset(name))
  router.add('GET', '/', ({ visit }) => redirect(href(visit, '/overview')))
  router.add('GET', SHORT_LINK_PATH, ({ visit, suffix }, { name = '' }) =>
    redirect(href(visit, `${pathOfShortName(name)}${suffix}`)),
  )
  /** Adds an endpoint. Checks every request here, before its parameters are read. */
  const add = (method: 'GET' | 'POST', endpoint: Endpoint, handle: RouteHandler) =>
    router.add(method, endpoint.path, (exchange, pathParameters, request) => {
      requireRole(exchange.visit, endpoint.role)
      return handle(exchange, pathParameters, request)
    })
  add('GET', liveStream, ({ mount: { closing }, visit }, _address, request) =>
    live.respond(request, { closing, isRevocable: visit.identity?.kind !== 'password' }),
  )
  for (const page of routes.pages) {
    add('GET', page, async (exchange, pathParameters) => {
      const response = await respondWithPage(page, context, exchange, pathParameters).catch((error) =>
        respondWithRejection(error, page, context, exchange),
      )
      // JSON clients may use an internal address.
      if (!exchange.wantsJson) recordMountPath(exchange.visit.base)
      return response
    })
  }
  for (const feed of routes.feeds) {
    add('GET', feed, async (exchange, pathParameters) => {
      requireSwitches(feed, context)
      exchange.wantsJson = true
      const parameters = parse(feed.parameters, toFields(exchange.visit.query), pathParameters)
      return jsonResponse(await feed.load(context, parameters, exchange.visit))
    })
  }
  for (const download of routes.downloads) {
    add('GET', download, async ({ visit }, pathParameters) => {
      requireSwitches(download, context)
      return attachmentResponse(
        await download.load(context, parse(download.parameters, toFields(visit.query), pathParameters)),
      )
    })
  }
  for (const action of routes.actions) {
    add('POST', action, async (exchange, pathParameters, request) => {
      const { visit, mount } = exchange
      const { base, user, identity } = visit
      requireSwitches(action, context)
      const actor = cleanText(user.trim(), MAX_ACTOR_LENGTH)
      const fields = await readForm(request)
      // Only people with a shared account enter their own names.
      if (!identity?.is_shared) for (const name of NAME_FIELDS) fields[name] = actor
      const parameters = parse(action.parameters, fields, pathParameters)
      visit.ignoresEnvironment = !acceptsEnvironment(action)
      requireRole(visit, action.roleFor?.(parameters) ?? action.role)
      const origin: ChangeOrigin = {
        kind: identity?.kind ?? 'password',
        actor,
        address: mount.remote_address,
        entered_name: enteredName(fields),
      }
      const result = await runAs(context, origin, (ownContext) => action.run(ownContext, parameters, actor))
      const name = identity?.is_shared ? origin.entered_name : null
      if (name && name !== visit.actor_name) result.preferences = { ...result.preferences, name }
      const response = await respondWithResult(result, exchange, context)
      if (result.created) response.headers.set('Content-Location', `${base}${result.created}`)
      return response
    })
  }
  return router
}

/**
 * Returns JSON for API tokens and a redirect for browsers. A page without a redirect returns JSON to every client that
 * accepts it.
 */
async function respondWithResult(
  { json, to, notice, page, preferences = {} }: ActionResult,
  exchange: Exchange,
  context: Context,
): Promise<Response> {
  const { visit, wantsJson } = exchange
  if (wantsJson && (page || visit.identity?.kind === 'token')) return jsonResponse(await json())
  if (page) {
    await loadLayoutData(exchange, context)
    // Shows the time after the action, which ran after the start of the request.
    const shown = { ...visit, now: context.now() }
    return htmlResponse(pageDocument(page.title, page.view(shown), shown))
  }
  return redirect(`${visit.base}${to}`, [
    ...(notice === null ? [] : [flashCookie(notice, visit.base)]),
    ...Object.entries(preferences).map(([name, value]) => preferenceCookie(name, value, visit.base)),
  ])
}

/** Name that the person entered in a form of a shared account. */
function enteredName(fields: Record<string, string | string[]>): string | null {
  const name = NAME_FIELDS.map((field) => fields[field]).find((value) => typeof value === 'string')
  return typeof name === 'string' ? name.trim() : null
}

async function respondWithPage(
  page: Page,
  context: Context,
  exchange: Exchange,
  pathParameters: PathParameters,
): Promise<Response> {
  requireSwitches(page, context)
  const { visit, suffix } = exchange
  const parameters = parse(page.parameters, toFields(visit.query), pathParameters)
  visit.ignoresEnvironment = !acceptsEnvironment(page)
  await requireApplication(parameters, exchange)
  if (suffix === '.csv' && !page.csv) throw pageNotFound()
  const problem = page.acceptsAnyEnvironment ? null : await environmentProblem(parameters, exchange, context)
  if (problem) return respondWithUnknownEnvironment(problem, exchange, context)
  if (suffix === '.csv' && page.csv) {
    await context.ready()
    return csvResponse(page.csv(context, parameters), visit.path.slice(1).replaceAll('/', '-'))
  }
  const loading = page.load(context, parameters, visit, exchange.wantsJson)
  const isStreamable = page.streamedTitle !== undefined && !exchange.wantsJson
  if (isStreamable && (await isSlow(loading))) return streamPage(page, loading, parameters, context, exchange)
  const data = await loading
  if (exchange.wantsJson) {
    const links = page.links?.(data, { ...visit, path: `${visit.path}${suffix}` })
    const sent = page.loadForJson ? Object.assign({}, data, await page.loadForJson(context, data, parameters)) : data
    return jsonResponse(page.json(sent), 200, links ? { Link: links } : {})
  }
  const [more] = await Promise.all([
    page.loadForHtml?.(context, data, parameters, visit),
    loadLayoutData(exchange, context),
  ])
  const shown = more ? Object.assign({}, data, more) : data
  if (page.healthState) visit.tracker = { ...visit.tracker, state: page.healthState(data) }
  const response = await renderInOrder(() =>
    htmlResponse(
      pageDocument(
        page.title(data, visit, parameters),
        page.view(shown, visit, parameters),
        visit,
        page.applicationName?.(data),
        visit.notice === null ? null : page.noticeAction?.(data, visit),
      ),
    ),
  )
  return withPageCookies(response, exchange)
}

/** Shows the problem of a parameter next to its field, if the page supports it. */
async function respondWithRejection(
  error: unknown,
  page: Page,
  context: Context,
  exchange: Exchange,
): Promise<Response> {
  const { visit, wantsJson, suffix } = exchange
  const isShown = error instanceof TrackerError && error.code === 'invalid_input' && !wantsJson && suffix === ''
  const content = isShown ? await page.rejected?.(error, context, visit) : null
  if (!content) throw error
  await loadLayoutData(exchange, context)
  return htmlResponse(pageDocument('Invalid query', content, { ...visit, notice: null }), 422)
}

/** Checks whether the layout of a page should be sent before its data is loaded. */
async function isSlow(loading: Promise<unknown>): Promise<boolean> {
  const settled = loading.then(
    () => false,
    () => false,
  )
  return withTimeout(settled, LAYOUT_DELAY_MS).catch(() => true)
}

/** Sends the layout before the content. A later failure replaces the content only, because the status has been sent. */
async function streamPage(
  page: Page,
  loading: Promise<unknown>,
  parameters: unknown,
  context: Context,
  exchange: Exchange,
): Promise<Response> {
  const { visit } = exchange
  const render = (data: unknown) => renderInOrder(async () => String(await page.view(data, visit, parameters)))
  const content = loading.then(render).catch(async (error) => {
    const { status, message } = describeFailure(error, visit, context)
    return String(await ErrorContent({ status, message, visit }))
  })
  await loadLayoutData(exchange, context)
  const layout = await pageLayout(page.streamedTitle ?? '', visit)
  return withPageCookies(streamedHtmlResponse(layout, content), exchange)
}

function withPageCookies(response: Response, { visit, cookies }: Exchange): Response {
  return withCookies(response, [
    visit.notice === null ? null : clearFlashCookie(visit.base),
    visitCookie(cookies, visit.now, visit.base),
  ])
}

/** Loads the switchers and channel health. Never fails, so that pages without database access still render. */
async function loadLayoutData(
  { visit, listApplications, listEnvironments }: Exchange,
  context: Context,
): Promise<void> {
  if (visit.user === '') return
  const [applications, environments, problems] = await Promise.all([
    withTimeout(listApplications(), LAYOUT_TIMEOUT_MS).catch(() => []),
    withTimeout(listEnvironments(), LAYOUT_TIMEOUT_MS).catch(() => []),
    withTimeout(cachedChannelProblems(context), LAYOUT_TIMEOUT_MS).catch(() => []),
  ])
  Object.assign(visit, { applications, environments })
  if (problems.length > 0 && visit.tracker.state === 'ok') visit.tracker = { ...visit.tracker, state: 'degraded' }
}

function pageNotFound(): TrackerError {
  return new TrackerError('not_found', 'There is no page at this address.')
}

function parse(schema: v.GenericSchema, parameters: object, pathParameters: PathParameters): unknown {
  // An invalid id in a path is an unknown record; in a form it is invalid input.
  const unknown = Object.keys(pathParameters).find((name) => name.endsWith('_id') && !v.is(id(), pathParameters[name]))
  if (unknown) throw new TrackerError('not_found', `No ${unknown.slice(0, -'_id'.length)} with this id.`)
  return parseInput(schema, { ...parameters, ...pathParameters })
}

/** Returns 404 for an unknown application instead of an empty list. */
async function requireApplication(parameters: unknown, { listApplications }: Exchange): Promise<void> {
  const { application_id } = parameters as { application_id?: number }
  if (application_id === undefined) return
  const applications = await listApplications()
  if (applications.some((application) => application.id === application_id)) return
  throw new TrackerError('not_found', `No application with id ${application_id}.`)
}

function acceptsEnvironment({ parameters }: Endpoint): boolean {
  return inputNames(parameters).includes('environment')
}

/**
 * Returns a message if the page has an environment filter and no error has the selected environment. The environment of
 * this process is always known, so that scripts can poll before the first error.
 */
async function environmentProblem(parameters: unknown, exchange: Exchange, context: Context): Promise<string | null> {
  const { environment, application_id = null } = parameters as { environment?: string; application_id?: number }
  if (environment === undefined || environment === context.config.environment) return null
  await context.ready()
  if ((await exchange.listEnvironments()).includes(environment)) return null
  // The cached list may lack a new environment.
  const names = await listEnvironments(context, application_id)
  exchange.listEnvironments = async () => names
  return unknownEnvironmentText(environment, names)
}

async function respondWithUnknownEnvironment(problem: string, exchange: Exchange, context: Context): Promise<Response> {
  const { visit, wantsJson, suffix } = exchange
  if (wantsJson || suffix !== '') throw new TrackerError('not_found', problem)
  await loadLayoutData(exchange, context)
  const content = pageDocument('Unknown environment', UnknownEnvironment({ visit }), visit)
  return withPageCookies(await htmlResponse(content, 404), exchange)
}

function requireSwitches({ needs = [] }: Endpoint, { config }: Context): void {
  const disabledOptions = [needs].flat().filter((name) => !config[name as keyof typeof config])
  if (disabledOptions.length === 0) return
  throw new TrackerError(
    'switched_off',
    `This page is disabled. Set ${disabledOptions.join(' and ')} to true to enable it.`,
  )
}

async function respondWithError(error: unknown, exchange: Exchange, context: Context): Promise<Response> {
  const { visit, wantsJson } = exchange
  const { known, status, message } = describeFailure(error, visit, context)
  const headers: Record<string, string> = {}
  if (known instanceof RateLimited) {
    headers['Retry-After'] = String(known.verdict.reset)
    Object.assign(headers, rateHeaders(known.verdict))
  }
  if (status === 503) headers['Retry-After'] = RETRY_AFTER_SECONDS
  // Spec: the body of a 429 is JSON for every client.
  if (wantsJson || status === 429) {
    const position = known instanceof QueryError ? { position: known.position } : {}
    return jsonResponse({ error: message, ...position }, status, headers)
  }
  if (known?.code !== 'database_unavailable') await loadLayoutData(exchange, context)
  return htmlResponse(errorDocument(status, message, visit), status, headers)
}

/** Logs an unexpected error. Returns the status and message to show. */
function describeFailure(error: unknown, visit: Visit, context: Context) {
  if (!(error instanceof TrackerError || error instanceof SignInLimitedError)) {
    context.counters.add('dashboard_failed')
    context.log.warn(`Dashboard request failed: ${visit.path}: ${error instanceof Error ? error.stack : String(error)}`)
  }
  const known = knownError(error, context)
  const message =
    known && known.code !== 'configuration_invalid' ? known.message : 'Something went wrong. Check the application log.'
  return { known, status: known?.status ?? 500, message }
}

function knownError(error: unknown, { database }: Context): TrackerError | null {
  if (error instanceof TrackerError) return error
  if (error instanceof SignInLimitedError) return new RateLimited(error.verdict, TOO_MANY_SIGN_INS)
  if (!database.isUnreachable(error)) return null
  return new TrackerError(
    'database_unavailable',
    'The database is unreachable or locked. New errors are buffered and saved once it is available.',
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
