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

/** What Nest would print goes to the console, where the contract compares it. */
const LOGGER: LoggerService = { log() {}, warn() {}, error: (...words: unknown[]) => console.error(...words) }

/** The decorators of Nest as functions, since nothing here compiles the syntax. */
function route(target: object, name: string, path: string): void {
  const descriptor = Object.getOwnPropertyDescriptor(target, name)
  if (descriptor) Get(path)(target, name, descriptor)
}

/** A class of controllers with these methods below GET. */
export function controllerOf(routes: Record<string, (...args: never[]) => unknown>, prefix = '') {
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

export async function create(platform: Platform, module: new () => object): Promise<INestApplication> {
  const options = { logger: LOGGER, abortOnError: false }
  return platform === 'express'
    ? NestFactory.create<NestExpressApplication>(module, new ExpressAdapter(), options)
    : NestFactory.create<NestFastifyApplication>(module, new FastifyAdapter(), options)
}

/** The host of the contract. */
export async function contractHost(platform: Platform, tracker: TrackerInstance | null, variant: Variant) {
  const app = await create(platform, contractModule(platform))
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
  app.useGlobalGuards(new SignsIn())
  if (variant === 'failing_handler') app.useGlobalFilters(new BrokenFilter())
  else if (variant !== 'default_handler') app.useGlobalFilters(new HostFilter())
  await app.init()
  return { listener: await listenerOf(platform, app), close: () => app.close() }
}

export async function listenerOf(platform: Platform, app: INestApplication) {
  const instance = app.getHttpAdapter().getInstance()
  if (platform === 'express') return instance
  await instance.ready()
  return instance.routing
}

function contractModule(platform: Platform) {
  const Routes = controllerOf({ ...ROUTES, '/stream': () => new StreamableFile(failingStream()) })
  const Passing = controllerOf({
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
      const broken = () => {
        throw new Error('broken')
      }
      consumer.apply(broken).forRoutes('middleware')
    }
  }
  Module({ controllers: [Routes, Passing] })(HostModule)
  return HostModule
}

class SignsIn implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    context.switchToHttp().getRequest().user = { id: 7 }
    return true
  }
}

/** Answers everything in its own way, as hosts with an error format of theirs do. */
export class HostFilter {
  catch(error: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse()
    const text = `host says: ${(error as Error | null)?.message ?? String(error)}`
    if (response.headersSent) return
    // A middleware of Nest on Fastify has the bare response.
    if (!response.status) response.writeHead(503).end(text)
    else response.status(503).send(text)
  }
}
Catch()(HostFilter)

class BrokenFilter {
  catch(): void {
    throw new Error('the handler is broken')
  }
}
Catch()(BrokenFilter)
