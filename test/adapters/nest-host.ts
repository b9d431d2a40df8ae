import 'reflect-metadata'
import {
  type ArgumentsHost,
  type CanActivate,
  Catch,
  Controller,
  type ExecutionContext,
  Get,
  type INestApplication,
  type LoggerService,
  type MiddlewareConsumer,
  Module,
  Next,
  Res,
  StreamableFile,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import { faultboard } from '../../src/adapters/nest.js'
import type { TrackerInstance } from '../../src/tracker.js'
import { compress, failingStream, HOST_HEADERS, ROUTES, type Variant } from '../contract/adapter.js'

export type Platform = 'express' | 'fastify'

/** Writes errors of Nest to the console, where the contract compares them. */
const LOGGER: LoggerService = { log() {}, warn() {}, error: (...args: unknown[]) => console.error(...args) }

/** Applies `@Get` as a function, because the tests are not compiled with decorators. */
function route(target: object, name: string, path: string): void {
  const descriptor = Object.getOwnPropertyDescriptor(target, name)
  if (descriptor) Get(path)(target, name, descriptor)
}

/** Creates a controller class with these GET routes. */
export function createController(routes: Record<string, (...args: never[]) => unknown>, prefix = '') {
  class HostController {}
  for (const [path, run] of Object.entries(routes)) {
    const name = path.replace(/\W/g, '')
    Object.defineProperty(HostController.prototype, name, {
      value: { [name]: (...args: never[]) => run(...args) }[name],
      writable: true,
      configurable: true,
    })
    route(HostController.prototype, name, path)
  }
  Controller(prefix)(HostController)
  return HostController
}

export async function createApp(platform: Platform, module: new () => object): Promise<INestApplication> {
  const options = { logger: LOGGER, abortOnError: false }
  return platform === 'express'
    ? NestFactory.create<NestExpressApplication>(module, new ExpressAdapter(), options)
    : NestFactory.create<NestFastifyApplication>(module, new FastifyAdapter(), options)
}

/** Host for the adapter contract. */
export async function createContractHost(platform: Platform, tracker: TrackerInstance | null, variant: Variant) {
  const app = await createApp(platform, contractModule(platform))
  if (platform === 'express') app.getHttpAdapter().getInstance().set('env', 'production')
  if (variant === 'headers') {
    app.use((_request: unknown, response: { setHeader(name: string, value: string): void }, next: () => void) => {
      for (const [name, value] of Object.entries(HOST_HEADERS)) response.setHeader(name, value)
      next()
    })
  }
  if (variant === 'wrapped') {
    app.use((_request: unknown, response: never, next: () => void) => {
      compress(response)
      next()
    })
  }
  if (variant === 'parser') (app as NestExpressApplication).useBodyParser('urlencoded', { extended: true })
  if (tracker) faultboard(app, tracker)
  app.useGlobalGuards(new UserGuard())
  if (variant === 'failing_handler') app.useGlobalFilters(new BrokenFilter())
  else if (variant !== 'default_handler') app.useGlobalFilters(new HostFilter())
  await app.init()
  return { listener: await readyListener(platform, app), close: () => app.close() }
}

export async function readyListener(platform: Platform, app: INestApplication) {
  const instance = app.getHttpAdapter().getInstance()
  if (platform === 'express') return instance
  await instance.ready()
  return instance.routing
}

function contractModule(platform: Platform) {
  const Routes = createController({ ...ROUTES, '/stream': () => new StreamableFile(failingStream()) })
  const Passing = createController({
    '/passed': (response: { send(error: Error): void }, next: (error: Error) => void) => {
      if (platform === 'express') next(new Error('broken'))
      else response.send(new Error('broken'))
    },
    '/middleware': () => 'never',
  })
  Res()(Passing.prototype, 'passed', 0)
  Next()(Passing.prototype, 'passed', 1)
  class HostModule {
    configure(consumer: MiddlewareConsumer): void {
      const throwError = () => {
        throw new Error('broken')
      }
      consumer.apply(throwError).forRoutes('middleware')
    }
  }
  Module({ controllers: [Routes, Passing] })(HostModule)
  return HostModule
}

class UserGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    context.switchToHttp().getRequest().user = { id: 7 }
    return true
  }
}

/** Responds to every error in a custom format. */
export class HostFilter {
  catch(error: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse()
    const text = `host error: ${(error as Error | null)?.message ?? String(error)}`
    if (response.headersSent) return
    // Nest middleware on Fastify has the raw response.
    if (!response.status) response.writeHead(503).end(text)
    else response.status(503).send(text)
  }
}
Catch()(HostFilter)

class BrokenFilter {
  catch(): void {
    throw new Error('the error handler failed')
  }
}
Catch()(BrokenFilter)
