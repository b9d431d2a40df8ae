import { createServer } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import Router from '@koa/router'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import Fastify, { type FastifyPluginCallback } from 'fastify'
import { defineHandler, H3, type H3Plugin } from 'h3'
import { Hono, type MiddlewareHandler } from 'hono'
import Koa from 'koa'
import { expect, expectTypeOf, test } from 'vitest'
import * as forExpress from '../../src/adapters/express.js'
import { faultboard } from '../../src/adapters/fastify.js'
import { withFaultboard as withFetch } from '../../src/adapters/fetch.js'
import * as forH3 from '../../src/adapters/h3.js'
import * as forHono from '../../src/adapters/hono.js'
import * as forKoa from '../../src/adapters/koa.js'
import { withFaultboard } from '../../src/adapters/node.js'
import { testTracker } from './served.js'

// The type checker is the test here. The assertions verify that the exports exist.

test('Express accepts both middlewares in an application and a router', () => {
  const tracker = testTracker()
  expectTypeOf(forExpress.dashboard).returns.toExtend<RequestHandler>()
  expectTypeOf(forExpress.capture).returns.toExtend<ErrorRequestHandler>()
  const router = express.Router().use(forExpress.dashboard(tracker)).use(forExpress.capture(tracker))
  expect(express().use(router).use(forExpress.dashboard(tracker), forExpress.capture(tracker))).toBeTypeOf('function')
})

test('Fastify accepts the plugin with and without a prefix and over HTTP/2', async () => {
  const tracker = testTracker()
  expectTypeOf(faultboard).toExtend<FastifyPluginCallback<{ tracker: typeof tracker }>>()
  const app = Fastify().register(faultboard, { tracker, prefix: '/admin' })
  const second = Fastify({ http2: true })
  second.register(faultboard, { tracker })
  await app.ready()
  await second.ready()
  expect(app.hasPlugin('faultboard')).toBe(true)
})

test('Koa accepts the middleware with any state and context type', () => {
  const tracker = testTracker()
  const app = new Koa<{ user: { id: number } }, { locale: string }>()
  app.use(forKoa.faultboard(tracker)).use((ctx) => {
    expectTypeOf(ctx.state.user.id).toEqualTypeOf<number>()
    expectTypeOf(ctx.locale).toEqualTypeOf<string>()
  })
  new Router().all('/error_dashboard', forKoa.faultboard(tracker))
  expect(app.middleware).toHaveLength(2)
})

test('Hono accepts the middleware and keeps the types of its environment', () => {
  const tracker = testTracker()
  expectTypeOf(forHono.faultboard).returns.toExtend<MiddlewareHandler>()
  const app = new Hono<{ Bindings: HttpBindings; Variables: { name: string } }>()
    .use(forHono.faultboard(tracker))
    .use('/inner/*', forHono.faultboard(tracker))
    .get('/', forHono.faultboard(tracker), (c) => {
      expectTypeOf(c.get('name')).toEqualTypeOf<string>()
      return c.text('')
    })
  expect(app.routes).toHaveLength(4)
})

test('h3 accepts the plugin by registration and configuration', () => {
  const tracker = testTracker()
  expectTypeOf(forH3.faultboard).returns.toExtend<H3Plugin>()
  const app = new H3({ plugins: [forH3.faultboard(tracker)] }).register(forH3.faultboard(tracker))
  expect(
    app.get(
      '/',
      defineHandler(() => ''),
    ),
  ).toBe(app)
})

test('node:http accepts the listener', () => {
  const listener = withFaultboard((_request, response) => response.end(), testTracker())
  expectTypeOf(createServer).toBeCallableWith(listener)
  expect(listener).toBeTypeOf('function')
})

test('a server with Fetch handlers accepts the handler and keeps its arguments', () => {
  const tracker = testTracker()
  const remote_address = (_request: Request, { incoming }: HttpBindings) => incoming.socket.remoteAddress
  const handler = withFetch(async (_request: Request, _env: HttpBindings) => new Response(), {
    tracker,
    remote_address,
  })
  expectTypeOf(handler).parameters.toEqualTypeOf<[Request, HttpBindings]>()
  expectTypeOf(handler).returns.toEqualTypeOf<Promise<Response>>()
  expect(handler).toBeTypeOf('function')
})
