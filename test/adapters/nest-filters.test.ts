import { createServer } from 'node:http'
import {
  type ArgumentsHost,
  type CallHandler,
  Catch,
  type ExecutionContext,
  Injectable,
  Module,
  ParseIntPipe,
  Query,
  Scope,
  Sse,
  UseFilters,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common'
import { APP_FILTER, APP_GUARD, ExternalContextCreator } from '@nestjs/core'
import { concat, Observable, of, throwError, timer } from 'rxjs'
import { map, mergeMap } from 'rxjs/operators'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { faultboard } from '../../src/adapters/nest.js'
import { TrackerInstance } from '../../src/tracker.js'
import { visit } from '../contract/visit.js'
import { PASSWORD, signIn, startListening, USER } from '../support/host.js'
import { eventually } from '../support/tracker.js'
import { createApp, createController, HostFilter, type Platform, readyListener } from './nest-host.js'

/** Filter that responds with its name. */
function namedFilter(name: string, ...types: (typeof Error)[]) {
  class Named {
    catch(error: Error, host: ArgumentsHost): void {
      host.switchToHttp().getResponse().status(418).send(`${name}: ${error.message}`)
    }
  }
  Catch(...types)(Named)
  return Named
}

const throwing = (message: string) => () => {
  throw new Error(message)
}

/** Module that throws in each kind of enhancer, with filters at every level. */
function createModule() {
  const Routes = createController({
    '/guard': () => 'never',
    '/interceptor': () => 'never',
    '/after': () => 'never',
    '/pipe': () => 'never',
    '/method': throwing('method'),
    '/controller': throwing('controller'),
    '/type': () => {
      throw new TypeError('type')
    },
  })
  const decorate = (name: string, ...decorators: MethodDecorator[]) => {
    const descriptor = Object.getOwnPropertyDescriptor(Routes.prototype, name) as PropertyDescriptor
    for (const apply of decorators) apply(Routes.prototype, name, descriptor)
  }
  decorate('guard', UseGuards({ canActivate: throwing('guard') }))
  decorate('interceptor', UseInterceptors({ intercept: throwing('interceptor') }))
  const after = (_: ExecutionContext, next: CallHandler) => next.handle().pipe(map(throwing('after')))
  decorate('after', UseInterceptors({ intercept: after }))
  decorate('method', UseFilters(namedFilter('method filter')))
  Query('n', { transform: throwing('pipe') })(Routes.prototype, 'pipe', 0)
  UseFilters(namedFilter('controller filter', TypeError as typeof Error))(Routes)

  const Scoped = createController({ '/scoped': () => 'never' })
  const Fails = class {
    constructor() {
      throw new Error('scoped')
    }
  }
  Injectable({ scope: Scope.REQUEST })(Fails)
  Reflect.defineMetadata('design:paramtypes', [Fails], Scoped)

  const Numbers = createController({ '/number': () => 'never' })
  Query('n', ParseIntPipe)(Numbers.prototype, 'number', 0)

  const Events = createController({
    '/events': () => concat(of({ data: 'one' }), timer(20).pipe(mergeMap(() => throwError(() => new Error('late'))))),
    '/early': () => throwError(() => new Error('early')),
  })
  for (const name of ['events', 'early']) {
    const descriptor = Object.getOwnPropertyDescriptor(Events.prototype, name) as PropertyDescriptor
    Sse(name)(Events.prototype, name, descriptor)
  }

  class HostModule {}
  Module({
    controllers: [Routes, Scoped, Numbers, Events],
    providers: [
      Fails,
      { provide: APP_FILTER, useClass: namedFilter('APP_FILTER', RangeError as typeof Error) },
      { provide: APP_GUARD, useValue: { canActivate: isNotRange } },
    ],
  })(HostModule)
  return HostModule
}

function isNotRange(context: ExecutionContext): boolean {
  if (context.switchToHttp().getRequest()?.query.range !== undefined) throw new RangeError('range')
  return true
}

function createTracker(): TrackerInstance {
  const tracker = new TrackerInstance(
    {
      database: 'sqlite::memory:',
      max_event_loop_lag_ms: null,
      dashboard_username: USER,
      dashboard_password: PASSWORD,
    },
    { env: {}, write: () => {} },
  )
  onTestFinished(() => tracker.shutdown())
  return tracker
}

async function serve(platform: Platform, tracker: TrackerInstance | null, prefix = '') {
  const app = await createApp(platform, createModule())
  if (tracker) faultboard(app, tracker)
  if (prefix) app.setGlobalPrefix(prefix)
  await app.init()
  const server = createServer(await readyListener(platform, app))
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await app.close()
  })
  return { app, origin: await startListening(server) }
}

async function recordedErrors(tracker: TrackerInstance) {
  await tracker.flush()
  const errors = await tracker.Queries.ErrorsList.call()
  return Promise.all(errors.map(({ id }) => tracker.Queries.FindError.call({ error_id: id })))
}

describe.each(['express', 'fastify'] satisfies Platform[])('NestJS 11 on %s', (platform) => {
  test.each([
    ['/guard', 'guard', 500],
    ['/interceptor', 'interceptor', 500],
    ['/after', 'after', 500],
    ['/pipe', 'pipe', 500],
    ['/method', 'method', 418],
    ['/controller', 'controller', 500],
    ['/type', 'type', 418],
    ['/controller?range', 'range', 418],
    ['/scoped', 'scoped', 500],
    ['/early', 'early', 500],
  ])('records an error of %s once and leaves the response to the same filter', async (path, message, status) => {
    const baseline = await visit((await serve(platform, null)).origin, path)
    expect(baseline.status).toBe(status)
    const tracker = createTracker()
    expect(await visit((await serve(platform, tracker)).origin, path)).toEqual(baseline)
    expect(await recordedErrors(tracker)).toMatchObject([{ message, occurrence_count: 1 }])
  })

  test('records the controller, the handler and the route with its prefix', async () => {
    const tracker = createTracker()
    const { origin } = await serve(platform, tracker, 'api')
    expect((await visit(origin, '/api/controller')).status).toBe(500)
    const [error] = await recordedErrors(tracker)
    expect(error).toMatchObject({
      request: { method: 'GET', route: '/api/controller' },
      context: { controller: 'HostController', handler: 'controller' },
    })
  })

  test('serves the dashboard at mount_path regardless of the global prefix', async () => {
    const { origin } = await serve(platform, createTracker(), 'api')
    const get = (path: string) => fetch(`${origin}${path}`, { headers: signIn(), redirect: 'manual' })
    expect((await get('/error_dashboard')).headers.get('location')).toBe('/error_dashboard/overview')
    expect((await get('/error_dashboard/overview')).status).toBe(200)
    expect((await get('/api/error_dashboard/overview')).status).toBe(404)
  })

  test('counts an unknown path and an invalid parameter as client errors', async () => {
    const tracker = createTracker()
    const { origin } = await serve(platform, tracker)
    expect((await fetch(`${origin}/nowhere`)).status).toBe(404)
    expect((await fetch(`${origin}/number?n=x`)).status).toBe(400)
    expect(await recordedErrors(tracker)).toEqual([])
    expect((await tracker.stats()).dropped).toEqual({ client_error: 2 })
  })

  test('records an error of a started event stream without changing the response', async () => {
    const baseline = await visit((await serve(platform, null)).origin, '/events')
    expect(baseline.body).toContain('data: one')
    const tracker = createTracker()
    expect(await visit((await serve(platform, tracker)).origin, '/events')).toEqual(baseline)
    expect(await recordedErrors(tracker)).toMatchObject([{ message: 'late', occurrence_count: 1 }])
  })

  test('ends an event stream when its client disconnects', async () => {
    let isEnded = false
    const endless = () =>
      new Observable((client) => {
        client.next({ data: 'one' })
        return () => {
          isEnded = true
        }
      })
    const Endless = createController({ '/endless': endless })
    const descriptor = Object.getOwnPropertyDescriptor(Endless.prototype, 'endless') as PropertyDescriptor
    Sse('endless')(Endless.prototype, 'endless', descriptor)
    class HostModule {}
    Module({ controllers: [Endless] })(HostModule)
    const app = faultboard(await createApp(platform, HostModule), createTracker())
    await app.listen(0, '127.0.0.1')
    onTestFinished(() => app.close())
    const abortController = new AbortController()
    const response = await fetch(`${await app.getUrl()}/endless`, { signal: abortController.signal })
    await response.body?.getReader().read()
    abortController.abort()
    await eventually(() => isEnded, 'the event stream has ended')
  })

  test('records errors outside of HTTP without a request', async () => {
    const tracker = createTracker()
    const { app } = await serve(platform, tracker)
    const resolver = { orders: throwing('in a resolver') }
    const run = app.get(ExternalContextCreator).create(resolver, resolver.orders, 'orders')
    const consoleError = vi.spyOn(console, 'error').mockImplementation(() => {})
    await expect(run(null, {}, {}, {})).rejects.toThrow('in a resolver')
    consoleError.mockRestore()
    const [error] = await recordedErrors(tracker)
    expect(error).toMatchObject({ message: 'in a resolver', request_url: null, severity: 'low' })
  })

  test('grades a resolver error as low, because GraphQL responds with 200', async () => {
    const tracker = createTracker()
    const { app } = await serve(platform, tracker)
    const resolver = { orders: throwing('in a resolver') }
    const run = app.get(ExternalContextCreator).create(resolver, resolver.orders, 'orders')
    const consoleError = vi.spyOn(console, 'error').mockImplementation(() => {})
    const req = { method: 'POST', url: '/graphql', headers: { host: 'shop.example' } }
    await expect(run(undefined, { id: 7 }, { req }, {})).rejects.toThrow('in a resolver')
    consoleError.mockRestore()
    expect(await recordedErrors(tracker)).toMatchObject([{ severity: 'low', request: { method: 'POST' } }])
  })

  test('keeps the trackers of two applications in one process separate', async () => {
    const [first, second] = [createTracker(), createTracker()]
    const { origin } = await serve(platform, first)
    await serve(platform, second)
    await visit(origin, '/controller')
    expect(await recordedErrors(first)).toHaveLength(1)
    expect(await recordedErrors(second)).toEqual([])
  })
})

test('warns if faultboard() is called after init', async () => {
  const app = await createApp('express', createModule())
  app.useGlobalFilters(new HostFilter())
  await app.init()
  onTestFinished(() => app.close())
  const warnings: string[] = []
  vi.spyOn(process, 'emitWarning').mockImplementation((warning) => void warnings.push(String(warning)))
  onTestFinished(() => void vi.restoreAllMocks())
  expect(faultboard(app, createTracker())).toBe(app)
  expect(warnings).toEqual([expect.stringContaining('after init or listen')])
})
