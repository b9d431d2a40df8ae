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
import { listening, PASSWORD, signIn, USER } from '../support/host.js'
import { eventually } from '../support/tracker.js'
import { controllerOf, create, HostFilter, listenerOf, type Platform } from './nest-host.js'

/** A filter that tells its name in its answer. */
function namedFilter(name: string, ...types: (typeof Error)[]) {
  class Named {
    catch(error: Error, host: ArgumentsHost): void {
      host.switchToHttp().getResponse().status(418).send(`${name}: ${error.message}`)
    }
  }
  Catch(...types)(Named)
  return Named
}

const fail = (message: string) => () => {
  throw new Error(message)
}

/** A host that fails in each of the places Nest has, with filters at every level. */
function module() {
  const Places = controllerOf({
    '/guard': () => 'never',
    '/interceptor': () => 'never',
    '/after': () => 'never',
    '/pipe': () => 'never',
    '/method': fail('method'),
    '/controller': fail('controller'),
    '/type': () => {
      throw new TypeError('type')
    },
  })
  const on = (name: string, ...decorators: MethodDecorator[]) => {
    const descriptor = Object.getOwnPropertyDescriptor(Places.prototype, name) as PropertyDescriptor
    for (const decorate of decorators) decorate(Places.prototype, name, descriptor)
  }
  on('guard', UseGuards({ canActivate: fail('guard') }))
  on('interceptor', UseInterceptors({ intercept: fail('interceptor') }))
  const after = (_: ExecutionContext, next: CallHandler) => next.handle().pipe(map(fail('after')))
  on('after', UseInterceptors({ intercept: after }))
  on('method', UseFilters(namedFilter('method filter')))
  Query('n', { transform: fail('pipe') })(Places.prototype, 'pipe', 0)
  UseFilters(namedFilter('controller filter', TypeError as typeof Error))(Places)

  const Scoped = controllerOf({ '/scoped': () => 'never' })
  const Fails = class {
    constructor() {
      throw new Error('scoped')
    }
  }
  Injectable({ scope: Scope.REQUEST })(Fails)
  Reflect.defineMetadata('design:paramtypes', [Fails], Scoped)

  const Numbers = controllerOf({ '/number': () => 'never' })
  Query('n', ParseIntPipe)(Numbers.prototype, 'number', 0)

  const Events = controllerOf({
    '/events': () => concat(of({ data: 'one' }), timer(20).pipe(mergeMap(() => throwError(() => new Error('late'))))),
    '/early': () => throwError(() => new Error('early')),
  })
  for (const name of ['events', 'early']) {
    const descriptor = Object.getOwnPropertyDescriptor(Events.prototype, name) as PropertyDescriptor
    Sse(name)(Events.prototype, name, descriptor)
  }

  class HostModule {}
  Module({
    controllers: [Places, Scoped, Numbers, Events],
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

function trackerOf(): TrackerInstance {
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
  const app = await create(platform, module())
  if (tracker) faultboard(app, tracker)
  if (prefix) app.setGlobalPrefix(prefix)
  await app.init()
  const server = createServer(await listenerOf(platform, app))
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await app.close()
  })
  return { app, origin: await listening(server) }
}

async function recorded(tracker: TrackerInstance) {
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
  ])('%s: recorded once, and answered by the filter that would have answered', async (path, message, status) => {
    const without = await visit((await serve(platform, null)).origin, path)
    expect(without.status).toBe(status)
    const tracker = trackerOf()
    expect(await visit((await serve(platform, tracker)).origin, path)).toEqual(without)
    expect(await recorded(tracker)).toMatchObject([{ message, occurrence_count: 1 }])
  })

  test('records the controller, the handler and the route with its prefix', async () => {
    const tracker = trackerOf()
    const { origin } = await serve(platform, tracker, 'api')
    expect((await visit(origin, '/api/controller')).status).toBe(500)
    const [error] = await recorded(tracker)
    expect(error).toMatchObject({
      request: { method: 'GET', route: '/api/controller' },
      context: { controller: 'HostController', handler: 'controller' },
    })
  })

  test('the dashboard stands at mount_path, whatever the global prefix is', async () => {
    const { origin } = await serve(platform, trackerOf(), 'api')
    const get = (path: string) => fetch(`${origin}${path}`, { headers: signIn(), redirect: 'manual' })
    expect((await get('/error_dashboard')).headers.get('location')).toBe('/error_dashboard/overview')
    expect((await get('/error_dashboard/overview')).status).toBe(200)
    expect((await get('/api/error_dashboard/overview')).status).toBe(404)
  })

  test('an unknown path and a refused parameter are counted as the client’s', async () => {
    const tracker = trackerOf()
    const { origin } = await serve(platform, tracker)
    expect((await fetch(`${origin}/nowhere`)).status).toBe(404)
    expect((await fetch(`${origin}/number?n=x`)).status).toBe(400)
    expect(await recorded(tracker)).toEqual([])
    expect((await tracker.stats()).dropped).toEqual({ client_error: 2 })
  })

  test('events that fail after they began are recorded, and the client is told the same', async () => {
    const without = await visit((await serve(platform, null)).origin, '/events')
    expect(without.body).toContain('data: one')
    const tracker = trackerOf()
    expect(await visit((await serve(platform, tracker)).origin, '/events')).toEqual(without)
    expect(await recorded(tracker)).toMatchObject([{ message: 'late', occurrence_count: 1 }])
  })

  test('events still end when their client leaves', async () => {
    let ended = false
    const endless = () =>
      new Observable((client) => {
        client.next({ data: 'one' })
        return () => {
          ended = true
        }
      })
    const Endless = controllerOf({ '/endless': endless })
    const descriptor = Object.getOwnPropertyDescriptor(Endless.prototype, 'endless') as PropertyDescriptor
    Sse('endless')(Endless.prototype, 'endless', descriptor)
    class HostModule {}
    Module({ controllers: [Endless] })(HostModule)
    const app = faultboard(await create(platform, HostModule), trackerOf())
    await app.listen(0, '127.0.0.1')
    onTestFinished(() => app.close())
    const leaving = new AbortController()
    const response = await fetch(`${await app.getUrl()}/endless`, { signal: leaving.signal })
    await response.body?.getReader().read()
    leaving.abort()
    await eventually(() => ended, 'the events have ended')
  })

  test('what runs outside of HTTP is recorded without a request', async () => {
    const tracker = trackerOf()
    const { app } = await serve(platform, tracker)
    const resolver = { orders: fail('in a resolver') }
    const run = app.get(ExternalContextCreator).create(resolver, resolver.orders, 'orders')
    const silent = vi.spyOn(console, 'error').mockImplementation(() => {})
    await expect(run(null, {}, {}, {})).rejects.toThrow('in a resolver')
    silent.mockRestore()
    const [error] = await recorded(tracker)
    expect(error).toMatchObject({ message: 'in a resolver', request_url: null, severity: 'low' })
  })

  test('an error of a resolver is low, because GraphQL responds with 200', async () => {
    const tracker = trackerOf()
    const { app } = await serve(platform, tracker)
    const resolver = { orders: fail('in a resolver') }
    const run = app.get(ExternalContextCreator).create(resolver, resolver.orders, 'orders')
    const silent = vi.spyOn(console, 'error').mockImplementation(() => {})
    const req = { method: 'POST', url: '/graphql', headers: { host: 'shop.example' } }
    await expect(run(undefined, { id: 7 }, { req }, {})).rejects.toThrow('in a resolver')
    silent.mockRestore()
    expect(await recorded(tracker)).toMatchObject([{ severity: 'low', request: { method: 'POST' } }])
  })

  test('two applications of one process have their own trackers', async () => {
    const [first, second] = [trackerOf(), trackerOf()]
    const one = await serve(platform, first)
    await serve(platform, second)
    await visit(one.origin, '/controller')
    expect(await recorded(first)).toHaveLength(1)
    expect(await recorded(second)).toEqual([])
  })
})

test('warns when it is called too late', async () => {
  const app = await create('express', module())
  app.useGlobalFilters(new HostFilter())
  await app.init()
  onTestFinished(() => app.close())
  const warnings: string[] = []
  vi.spyOn(process, 'emitWarning').mockImplementation((warning) => void warnings.push(String(warning)))
  onTestFinished(() => void vi.restoreAllMocks())
  expect(faultboard(app, trackerOf())).toBe(app)
  expect(warnings).toEqual([expect.stringContaining('after init or listen')])
})
