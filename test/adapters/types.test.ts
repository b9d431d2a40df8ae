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
import * as forH3 from '../../src/adapters/h3.js'
import * as forHono from '../../src/adapters/hono.js'
import * as forKoa from '../../src/adapters/koa.js'
import { withFaultboard } from '../../src/adapters/node.js'
import { ownTracker } from './served.js'

/** That this file compiles is the proof; the tests only keep it from lying about what exists. */

test('Express takes both middlewares, in an application and in a router', () => {
  const tracker = ownTracker()
  expectTypeOf(forExpress.dashboard).returns.toExtend<RequestHandler>()
  expectTypeOf(forExpress.capture).returns.toExtend<ErrorRequestHandler>()
  const router = express.Router().use(forExpress.dashboard(tracker)).use(forExpress.capture(tracker))
  expect(express().use(router).use(forExpress.dashboard(tracker), forExpress.capture(tracker))).toBeTypeOf('function')
})

test('Fastify takes the plugin with and without options, over HTTP/2 too', async () => {
  const tracker = ownTracker()
  expectTypeOf(faultboard).toExtend<FastifyPluginCallback<{ tracker: typeof tracker }>>()
  const app = Fastify().register(faultboard, { tracker, prefix: '/admin' })
  const second = Fastify({ http2: true })
  second.register(faultboard, { tracker })
  await app.ready()
  await second.ready()
  expect(app.hasPlugin('faultboard')).toBe(true)
})

test('Koa takes the middleware, whatever its state and context are', () => {
  const tracker = ownTracker()
  const app = new Koa<{ user: { id: number } }, { locale: string }>()
  app.use(forKoa.faultboard(tracker)).use((ctx) => {
    expectTypeOf(ctx.state.user.id).toEqualTypeOf<number>()
    expectTypeOf(ctx.locale).toEqualTypeOf<string>()
  })
  new Router().all('/error_dashboard', forKoa.faultboard(tracker))
  expect(app.middleware).toHaveLength(2)
})

test('Hono takes the middleware, and the types of its environment stay', () => {
  const tracker = ownTracker()
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

test('h3 takes the plugin, registered or configured', () => {
  const tracker = ownTracker()
  expectTypeOf(forH3.faultboard).returns.toExtend<H3Plugin>()
  const app = new H3({ plugins: [forH3.faultboard(tracker)] }).register(forH3.faultboard(tracker))
  expect(
    app.get(
      '/',
      defineHandler(() => ''),
    ),
  ).toBe(app)
})

test('node:http takes the listener', () => {
  const listener = withFaultboard((_request, response) => response.end(), ownTracker())
  expectTypeOf(createServer).toBeCallableWith(listener)
  expect(listener).toBeTypeOf('function')
})
