import type { RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import { describe, test } from 'vitest'
import { capture, dashboard } from '../../src/adapters/express.js'
import { faultboard as fastifyPlugin } from '../../src/adapters/fastify.js'
import { faultboard as koaMiddleware } from '../../src/adapters/koa.js'
import { type AdapterHarness, adapterContract, testRoutes } from '../../src/testing/adapter.js'

/** Their types would conflict with those of the newest versions. The APIs in use are the same. */
const require = createRequire(import.meta.url)
const createExpress = require('express416') as typeof import('express')
const createFastify = require('fastify4') as typeof import('fastify').default
const Koa = require('koa2') as typeof import('koa')

const HARNESSES: Record<string, AdapterHarness> = {
  'Express 4.16': {
    host(tracker) {
      const app = createExpress()
      app.use(dashboard(tracker))
      for (const [path, run] of Object.entries(testRoutes(tracker))) {
        // Express 4 does not handle rejections.
        app.get(path, (_request, response, next) => {
          new Promise((resolve) => resolve(run())).then((text) => response.send(text), next)
        })
      }
      app.use(capture(tracker))
      app.use((_error: unknown, _request: unknown, response: { sendStatus(status: number): void }, _next: unknown) =>
        response.sendStatus(500),
      )
      return app as unknown as RequestListener
    },
  },
  'Fastify 4': {
    async host(tracker) {
      const app = createFastify()
      app.register(fastifyPlugin, { tracker })
      app.after(() => {
        for (const [path, run] of Object.entries(testRoutes(tracker))) app.get(path, async () => run())
      })
      await app.ready()
      return { listener: (request, response) => app.routing(request, response), close: () => app.close() }
    },
  },
  'Koa 2': {
    host(tracker) {
      const app = new Koa()
      app.silent = true
      app.use(koaMiddleware(tracker))
      const routes = testRoutes(tracker)
      app.use(async (ctx) => {
        ctx.body = await routes[ctx.path]?.()
      })
      return app.callback()
    },
  },
}

describe.each(Object.entries(HARNESSES))('the %s adapter', (_name, harness) => {
  for (const { title, run } of adapterContract(harness)) test(title, run)
})
