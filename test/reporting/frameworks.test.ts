import 'reflect-metadata'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { Readable } from 'node:stream'
import { serve as serveHono } from '@hono/node-server'
import Router from '@koa/router'
import { All, Controller, Module, Req, Res } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import express from 'express'
import fastify from 'fastify'
import { H3 } from 'h3'
import { toNodeHandler } from 'h3/node'
import { Hono } from 'hono'
import Koa from 'koa'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Mountable, reportingEndpoint } from '../../src/reporting/endpoint.js'
import { REPORT, reportingClient, serve, totalOccurrences, trackerFor } from './reporting-host.js'

const express4 = createRequire(import.meta.url)('express4') as typeof express
const koaBody = createRequire(import.meta.url)('koa-bodyparser') as () => Koa.Middleware

const PATH = '/client_errors'

/** Starts a host with the endpoint at PATH and returns its origin. */
type Host = (reporting: Mountable) => Promise<string>

const startExpress = (make: typeof express, parsers: boolean): Host => {
  return (reporting) => {
    const app = make()
    if (parsers) app.use(make.json())
    app.all(PATH, reporting.express)
    return serve(app)
  }
}

const startFastify: Host = async (reporting) => {
  const app = fastify()
  app.register(reporting.fastify, { prefix: PATH })
  app.post('/own', async (request) => request.body)
  onTestFinished(() => app.close())
  return app.listen({ port: 0, host: '127.0.0.1' })
}

const startKoa = (parsers: boolean): Host => {
  return (reporting) => {
    const app = new Koa()
    if (parsers) app.use(koaBody())
    app.use(new Router().all(PATH, reporting.koa).routes())
    return serve(app.callback())
  }
}

const startHono = (parsers: boolean): Host => {
  return async (reporting) => {
    const app = new Hono()
    if (parsers) {
      app.use(async (c, next) => {
        if (c.req.method === 'POST') await c.req.text()
        await next()
      })
    }
    app.all(PATH, reporting.hono)
    return new Promise((resolve) => {
      const server = serveHono({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
        resolve(`http://127.0.0.1:${port}`),
      )
      onTestFinished(() => void server.close())
    })
  }
}

/** Mounts the endpoint in a controller. Decorators are called as functions, because the tests do not compile their syntax. */
const startNest = (platform: 'express' | 'fastify'): Host => {
  return async (reporting) => {
    class Errors {
      report(request: object, response: object) {
        return reporting.nest(request, response)
      }
    }
    Req()(Errors.prototype, 'report', 0)
    Res()(Errors.prototype, 'report', 1)
    All(PATH)(
      Errors.prototype,
      'report',
      Object.getOwnPropertyDescriptor(Errors.prototype, 'report') as PropertyDescriptor,
    )
    Controller()(Errors)
    class App {}
    Module({ controllers: [Errors] })(App)
    const adapter = platform === 'express' ? new ExpressAdapter() : new FastifyAdapter()
    const app = await NestFactory.create(App, adapter as ExpressAdapter, { logger: false })
    await app.listen(0, '127.0.0.1')
    onTestFinished(() => app.close())
    return app.getUrl()
  }
}

/** Calls a route handler like Next.js, with only a standard Request. */
const startNext: Host = (reporting) =>
  serve(async (incoming, outgoing) => {
    const { method = '', headers } = incoming
    const handler = { POST: reporting.POST, OPTIONS: reporting.OPTIONS }[method]
    const init = { method, headers: headers as Record<string, string>, duplex: 'half' }
    const body = method === 'POST' ? { body: Readable.toWeb(incoming) } : {}
    const response = await handler?.(
      new Request(`http://${headers.host}${incoming.url}`, { ...init, ...body } as RequestInit),
    )
    outgoing.writeHead(response?.status ?? 405, Object.fromEntries(response?.headers ?? []))
    outgoing.end(await response?.text())
  })

const startH3: Host = (reporting) => {
  const app = new H3()
  app.all(PATH, (event) => reporting.handle(event.req, { remote_address: event.req.ip ?? null }))
  return serve(toNodeHandler(app) as never)
}

const HOSTS: readonly [string, Host][] = [
  ['Express 5', startExpress(express, false)],
  ['Express 5 with a body parser', startExpress(express, true)],
  ['Express 4 with a body parser', startExpress(express4, true)],
  ['Fastify', startFastify],
  ['Koa', startKoa(false)],
  ['Koa with a body parser', startKoa(true)],
  ['Hono', startHono(false)],
  ['Hono with a middleware that reads the body', startHono(true)],
  ['Nest on Express', startNest('express')],
  ['Nest on Fastify', startNest('fastify')],
  ['a route handler of Next.js', startNext],
  ['h3', startH3],
  [
    'node:http',
    (reporting) => {
      const server = createServer((request, response) =>
        request.url === PATH ? reporting.node(request, response) : response.end('host'),
      )
      return serve(server.listeners('request')[0] as never)
    },
  ],
]

describe.each(HOSTS)('Reporting endpoint in %s', (_name, host) => {
  test('accepts errors, reports problems, limits the rate and responds to a preflight', async () => {
    // One request, ten errors and one invalid request.
    const { tracker } = trackerFor({ client_max_requests_per_minute: { per_address: 12 } })
    const options = { tracker, allowed_origins: ['https://shop.example'] }
    const url = `${await host(reportingEndpoint(options))}${PATH}`
    const { post, send } = reportingClient(url)
    expect(await post({ error: REPORT })).toMatchObject({ status: 201, body: { success: true } })
    expect(await post({ errors: Array(10).fill(REPORT) })).toMatchObject({ status: 201, body: { success: true } })
    expect(await post({ error: { ...REPORT, message: undefined } })).toMatchObject({
      status: 422,
      body: { error: 'error.message is required' },
    })
    const preflight = await send({
      method: 'OPTIONS',
      headers: { origin: 'https://shop.example', 'access-control-request-method': 'POST' },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe('https://shop.example')
    expect(await post({ errors: [REPORT, REPORT] })).toMatchObject({ status: 429 })
    expect(await totalOccurrences(tracker)).toBe(11)
  })
})

describe('Reporting endpoint in Fastify', () => {
  test('the endpoint uses its own limits and responses and does not change those of the host', async () => {
    const { tracker } = trackerFor({})
    const origin = await startFastify(reportingEndpoint({ tracker, max_bytes: 1000 }))
    const { post, send } = reportingClient(`${origin}${PATH}`)
    expect((await post('{"error":')).body).toEqual({ error: 'the body is not valid JSON' })
    expect((await post({ error: { ...REPORT, stack: 'x'.repeat(2000) } })).status).toBe(413)
    expect((await send({ method: 'POST', body: 'x', headers: { 'content-type': 'image/png' } })).status).toBe(415)
    expect((await reportingClient(`${origin}/own`).post({ own: 1 })).body).toEqual({ own: 1 })
  })
})

test('limits a body that the host has parsed by its content length', async () => {
  const { tracker } = trackerFor({})
  const { post } = reportingClient(
    `${await startExpress(express, true)(reportingEndpoint({ tracker, max_bytes: 1000 }))}${PATH}`,
  )
  expect((await post({ error: { ...REPORT, stack: 'x'.repeat(2000) } })).status).toBe(413)
  expect((await post({ error: REPORT })).status).toBe(201)
})

describe('Middleware of the host', () => {
  test('middleware of the host can reject clients before the endpoint and sets the user of the error', async () => {
    const { tracker } = trackerFor({})
    const app = express()
    app.use(PATH, (request, response, next) => {
      if (request.headers.authorization !== 'Bearer right') return void response.status(403).json({ error: 'host' })
      Object.assign(request, { user: { id: 7 } })
      next()
    })
    app.all(PATH, reportingEndpoint({ tracker }).express)
    const { post } = reportingClient(`${await serve(app)}${PATH}`)
    expect(await post({ error: REPORT })).toMatchObject({ status: 403, body: { error: 'host' } })
    expect((await post({ error: REPORT }, { authorization: 'Bearer right' })).status).toBe(201)
    const [error] = await tracker.Queries.ErrorsList.call()
    expect((await tracker.Queries.FindError.call({ error_id: error?.id ?? 0 })).occurrence?.user_id).toBe('7')
  })
})
