import { createServer, type RequestListener } from 'node:http'
import { gzipSync } from 'node:zlib'
import Router from '@koa/router'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { expect, onTestFinished, test } from 'vitest'
import { type SentryIntakeOptions, sentryIntake } from '../../../src/reporting/sentry/intake.js'
import { listening } from '../../support/host.js'
import { freshTracker } from '../../support/tracker.js'
import { envelopeOf, KEY, ON_SQLITE } from './intake-host.js'

type Intake = ReturnType<typeof sentryIntake>
type Send = (path: string, init: RequestInit) => Promise<Response>

const FRAMEWORKS: Record<string, (intake: Intake) => Promise<Send>> = {
  'node:http': (intake) => served((request, response) => void intake.node(request, response)),
  'Express behind a parser that takes every body': (intake) =>
    served(
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
  Koa: (intake) => served(new Koa().use(new Router().all('/sentry/{*path}', intake.koa).routes()).callback()),
  Hono: async (intake) => {
    const app = new Hono().all('/sentry/*', intake.hono)
    return async (path, init) => app.request(path, init)
  },
}

test.each(Object.entries(FRAMEWORKS))('%s takes envelopes, plain and compressed', async (_, mount) => {
  const { tracker } = await freshTracker(ON_SQLITE)
  const options: SentryIntakeOptions = { keys: [KEY], tracker }
  const send = await mount(sentryIntake(options))
  const envelope = envelopeOf([{ type: 'event' }, { message: 'it failed' }])
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

async function served(listener: RequestListener): Promise<Send> {
  const server = createServer(listener)
  const origin = await listening(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (path, init) => fetch(`${origin}${path}`, init)
}
