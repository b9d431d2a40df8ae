// Host with three rate limiters, with or without the tracker. Prints its ports and stops when its standard input ends.
import { channel } from 'node:diagnostics_channel'
import { createServer } from 'node:http'
import fastifyRateLimit from '@fastify/rate-limit'
import express from 'express'
import rateLimit from 'express-rate-limit'
import fastify from 'fastify'
import { Redis } from 'ioredis'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import { capture } from '../../../dist/adapters/express.js'
import { createTracker } from '../../../dist/index.js'
import { withRequestGuard as countedLimiter } from '../../../dist/subscribers/express-rate-limit.js'
import { withRequestGuard as countedOptions } from '../../../dist/subscribers/fastify-rate-limit.js'
import { instrumentLimiter } from '../../../dist/subscribers/rate-limiter-flexible.js'

const { settings, redis, prefix } = JSON.parse(process.env.HOST_OPTIONS)
const tracker = settings ? createTracker(settings) : null
const guard = (limiter, options) => (tracker ? countedLimiter(limiter, options, tracker) : limiter)
const window = { windowMs: 600_000, standardHeaders: 'draft-8', legacyHeaders: true }

const app = express()
app.set('trust proxy', 'loopback')
app.use('/plain', guard(rateLimit({ ...window, limit: 2 }), { rule: 'plain' }))
app.get('/plain/:id', (_request, response) => response.send('ok'))
app.get(
  '/own/:id',
  guard(
    rateLimit({
      ...window,
      limit: 1,
      requestPropertyName: 'limited',
      handler: (_request, response) => response.status(418).json({ own: true }),
    }),
    { rule: 'own handler', property: 'limited' },
  ),
  (_request, response) => response.send('ok'),
)
// Passes all requests to a handler that fails.
app.get(
  '/watched',
  guard(rateLimit({ ...window, limit: 1, handler: (_request, _response, next) => next() }), {
    rule: 'watched',
    kind: 'track',
  }),
  () => {
    throw new Error('failed in spite of it')
  },
)
const limiters = {
  memory: new RateLimiterMemory({ points: 2, duration: 600, keyPrefix: prefix }),
  ...(redis && {
    redis: new RateLimiterRedis({
      storeClient: new Redis(redis, { maxRetriesPerRequest: 1, enableOfflineQueue: true }),
      points: 2,
      duration: 600,
      keyPrefix: prefix,
    }),
    broken: new RateLimiterRedis({
      storeClient: new Redis({ port: 1, lazyConnect: true, retryStrategy: null, maxRetriesPerRequest: 0 }).on(
        'error',
        () => {},
      ),
      points: 2,
      duration: 600,
    }),
  }),
}
if (tracker) for (const [name, limiter] of Object.entries(limiters)) instrumentLimiter(limiter, { rule: name }, tracker)
app.get('/flexible/:name', async (request, response) => {
  try {
    const { remainingPoints } = await limiters[request.params.name].consume(request.ip)
    response.json({ remainingPoints })
  } catch (refusal) {
    if (refusal instanceof Error) response.status(503).json({ error: refusal.name })
    else response.status(429).json({ consumed: refusal.consumedPoints })
  }
})
app.get('/block/:name', async (request, response) => {
  const { consumedPoints } = await limiters[request.params.name].block('192.0.2.99', 60)
  response.json({ consumedPoints })
})
app.get('/by-hand/:kind', (request, response) => {
  tracker?.requestGuard.record({ kind: request.params.kind, rule: 'by hand', request })
  channel('faultboard:request-guard').publish({ kind: request.params.kind, rule: 'by channel' })
  response.send('ok')
})
if (tracker) app.use(capture(tracker))
app.use((_error, _request, response, _next) => response.status(500).json({ failed: true }))

const fast = fastify()
const hooks = []
const note = (name) => () => hooks.push(name)
const options = {
  max: 2,
  ban: 1,
  timeWindow: 600_000,
  onExceeding: note('exceeding'),
  onExceeded: note('exceeded'),
  onBanReach: note('ban'),
}
await fast.register(fastifyRateLimit, tracker ? countedOptions(options, { rule: 'fastify' }, tracker) : options)
fast.get('/fast/:id', async () => ({ ok: true }))
fast.get('/hooks', { config: { rateLimit: false } }, async () => hooks)

const servers = [createServer(app).listen(0, '127.0.0.1')]
await fast.listen({ port: 0, host: '127.0.0.1' })
console.log(JSON.stringify({ express: servers[0].address().port, fastify: fast.server.address().port }))

process.stdin.resume().once('end', async () => {
  await tracker?.shutdown()
  // Open connections would keep the host running.
  process.exit()
})
