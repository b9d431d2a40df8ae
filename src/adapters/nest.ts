import type { ServerResponse } from 'node:http'
import { markStart } from '../capture/facts/request-facts.js'
import { Tracker } from '../index.js'
import type { TrackerInstance } from '../tracker.js'
import { findMount, type HostRequest, serveDashboard } from './bridge.js'
import { dashboard } from './express.js'
import { type FilterContext, type Report, watchFilters } from './nest-filters.js'
import { recordNestError } from './nest-request.js'
import { type ResponseController, watchFileStreams, watchServerSentEvents } from './nest-streams.js'
import { startDashboard } from './start-dashboard.js'

/** Subset of `INestApplication` that the adapter uses. */
export interface NestApplication {
  use(...middlewares: never[]): unknown
  getHttpAdapter(): unknown
}

/** Internal objects that turn a thrown value into a response. No public API covers all of them. */
interface NestInternals {
  isInitialized?: boolean
  routesResolver?: {
    routerExceptionsFilter?: FilterContext
    routerExplorer?: { executionContextCreator?: { responseController?: ResponseController } }
  }
  middlewareModule?: { routerExceptionFilter?: FilterContext; register?(...args: unknown[]): Promise<unknown> }
  container?: { getInternalCoreModuleRef?(): { providers?: Map<unknown, { instance?: unknown }> } }
}

/**
 * Serves the dashboard at `mount_path` (default /error_dashboard, regardless of the global prefix). Records
 * everything that controllers, guards, pipes, interceptors, middleware and filters throw. Does not change filters,
 * responses or logs of the host. Call it once, before `listen` or `init`; middleware added before it also guards the
 * dashboard.
 * @example
 * const app = faultboard(await NestFactory.create(AppModule))
 * await app.listen(3000)
 */
export function faultboard<App extends NestApplication>(app: App, tracker: TrackerInstance = Tracker): App {
  startDashboard(tracker, '@nestjs/core')
  const internals = app as NestInternals
  const adapter = app.getHttpAdapter()
  if (internals.isInitialized) warn('faultboard(app) was called after init or listen. No errors are recorded.')
  const fastify = (adapter as { getInstance?(): Partial<FastifyHooks> }).getInstance?.()
  if (fastify?.addHook) mountOnFastify(fastify as FastifyHooks, tracker)
  else (app.use as (middleware: unknown) => unknown)(dashboard(tracker))
  const report: Report = (error, args, origin) => recordNestError(tracker, error, args, origin)
  watchHttp(internals, adapter, report)
  watchResolvers(internals, report)
  return app
}

/** Subset of Fastify that the adapter uses. */
interface FastifyHooks {
  server: object
  addHook(name: 'onRequest', hook: (request: FastifyRequest, reply: FastifyReply, done: () => void) => void): void
}

interface FastifyRequest {
  raw: HostRequest
  ip: string
}

interface FastifyReply {
  raw: ServerResponse
  hijack(): unknown
}

/** On Fastify, a hook is cheaper than middleware and sees the same request as the filters. */
function mountOnFastify(fastify: FastifyHooks, tracker: TrackerInstance): void {
  const { mount_path } = startDashboard(tracker, null, (server) => (server === fastify.server ? '' : null))
  fastify.addHook('onRequest', (request, reply, done) => {
    const mount = findMount(request.raw, mount_path)
    if (!mount) {
      markStart(request.raw)
      return done()
    }
    reply.hijack()
    const clientMount = { ...mount, remote_address: request.ip, host_request: request }
    void serveDashboard(tracker, clientMount, request.raw, reply.raw)
  })
}

function watchHttp({ routesResolver, middlewareModule }: NestInternals, adapter: unknown, report: Report): void {
  const routeFilters = routesResolver?.routerExceptionsFilter
  const register = middlewareModule?.register
  if (!routeFilters || !register) {
    warn('This version of NestJS is not supported: the dashboard works, but no errors are recorded.')
    return
  }
  watchFilters(routeFilters, report)
  // `register` creates the filter context of middleware before Nest uses it.
  middlewareModule.register = async function (...args) {
    const registered = await register.apply(this, args)
    if (middlewareModule.routerExceptionFilter) watchFilters(middlewareModule.routerExceptionFilter, report)
    return registered
  }
  watchFileStreams(adapter, report)
  watchServerSentEvents(routesResolver.routerExplorer?.executionContextCreator?.responseController, report)
}

/** GraphQL and other code that calls host methods through Nest's external context creator. */
function watchResolvers({ container }: NestInternals, report: Report): void {
  const providers = container?.getInternalCoreModuleRef?.().providers ?? new Map()
  for (const [token, { instance }] of providers) {
    if ((token as { name?: string }).name !== 'ExternalContextCreator') continue
    const filters = (instance as { filtersContextCreator?: FilterContext } | undefined)?.filtersContextCreator
    if (filters) watchFilters(filters, report)
  }
}

function warn(message: string): void {
  process.emitWarning(message, { type: 'FaultboardWarning' })
}
