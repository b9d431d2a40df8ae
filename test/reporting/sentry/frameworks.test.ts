import 'reflect-metadata'
import { createServer, type RequestListener } from 'node:http'
import { gzipSync } from 'node:zlib'
import Router from '@koa/router'
import { type INestApplication, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import express from 'express'
import Fastify from 'fastify'
import { H3 } from 'h3'
import { toNodeHandler } from 'h3/node'
import { Hono } from 'hono'
import Koa from 'koa'
import { expect, onTestFinished, test } from 'vitest'
import { type SentryIntakeOptions, sentryIntake } from '../../../src/reporting/sentry/intake.js'
import { startListening } from '../../support/host.js'
import { freshTracker } from '../../support/tracker.js'
import { createEnvelope, KEY, ON_SQLITE } from './intake-host.js'

type Intake = ReturnType<typeof sentryIntake>
type Send = (path: string, init: RequestInit) => Promise<Response>

const FRAMEWORKS: Record<string, (intake: Intake) => Promise<Send>> = {
  'node:http': (intake) => serveHost((request, response) => void intake.node(request, response)),
  'Express with a parser for every content type': (intake) =>
    serveHost(
      express()
        .use(express.raw({ type: () => true }), express.json())
        .use('/sentry', intake.express),
    ),
  Fastify: async (intake) => {
    const app = Fastify()
    app.register(intake.fastify, { prefix: '/sentry' })
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    onTestFinished(() => app.close())
    return (path, init) => fetch(`${origin}${path}`, init)
  },
  Koa: (intake) => serveHost(new Koa().use(new Router().all('/sentry/{*path}', intake.koa).routes()).callback()),
  Hono: async (intake) => {
    const app = new Hono().all('/sentry/*', intake.hono)
    return async (path, init) => app.request(path, init)
  },
  'Nest on Express': async (intake) => {
    const app = await NestFactory.create(emptyModule(), new ExpressAdapter(), { logger: false })
    app.use('/sentry', intake.express)
    return startNest(app)
  },
  'Nest on Fastify': async (intake) => {
    const adapter = new FastifyAdapter()
    const app = await NestFactory.create<NestFastifyApplication>(emptyModule(), adapter, { logger: false })
    await app.register(intake.fastify as never, { prefix: '/sentry' })
    return startNest(app)
  },
  h3: (intake) => {
    const app = new H3()
    app.all('/sentry/**', (event) => intake.handle(event.req, { remote_address: event.req.ip ?? null }))
    return serveHost(toNodeHandler(app) as RequestListener)
  },
}

test.each(Object.entries(FRAMEWORKS))('%s accepts plain and compressed envelopes', async (_, mount) => {
  const { tracker } = await freshTracker(ON_SQLITE)
  const options: SentryIntakeOptions = { keys: [KEY], tracker }
  const send = await mount(sentryIntake(options))
  const envelope = createEnvelope([{ type: 'event' }, { message: 'it failed' }])
  const post = (body: BodyInit, headers: Record<string, string>) =>
    send(`/sentry/api/1/envelope/?sentry_key=${KEY}`, { method: 'POST', body, headers })
  const plain = await post(envelope, { 'content-type': 'application/x-sentry-envelope' })
  expect([plain.status, await plain.json()]).toEqual([200, { id: expect.stringMatching(/^[0-9a-f]{32}$/) }])
  const type = { 'content-type': 'text/plain;charset=UTF-8' }
  expect((await post(Uint8Array.from(gzipSync(envelope)), { ...type, 'content-encoding': 'gzip' })).status).toBe(200)
  expect((await post(envelope.slice(0, -3), type)).status).toBe(400)
  const [error] = await tracker.Queries.ErrorsList.call()
  expect(error?.occurrence_count).toBe(2)
})

function emptyModule() {
  class App {}
  Module({})(App)
  return App
}

async function startNest(app: INestApplication): Promise<Send> {
  await app.listen(0, '127.0.0.1')
  onTestFinished(() => app.close())
  const origin = await app.getUrl()
  return (path, init) => fetch(`${origin}${path}`, init)
}

async function serveHost(listener: RequestListener): Promise<Send> {
  const server = createServer(listener)
  const origin = await startListening(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (path, init) => fetch(`${origin}${path}`, init)
}
