// Runs in its own process, because @sentry/node changes the whole process.
import { receiveTask, sendResult } from '../harness/child.mjs'
import { startLoad } from './load.mjs'

const { framework, slices, requests } = await receiveTask()
const Sentry = await import('@sentry/node')
Sentry.init({
  dsn: 'https://public@127.0.0.1/1',
  transport: (options) => Sentry.createTransport(options, async () => ({ statusCode: 200 })),
})
const { HOSTS } = await import('./hosts.mjs')
const server = await HOSTS[framework](
  framework === 'fastify'
    ? { prepare: (app) => Sentry.setupFastifyErrorHandler(app) }
    : { finish: (app) => Sentry.setupExpressErrorHandler(app) },
)
const load = startLoad()
await load.micros(server, requests)
const micros = []
for (let slice = 0; slice < slices; slice++) micros.push(await load.micros(server, requests))
load.stop()
server.close()
server.closeAllConnections()
await Sentry.close(1000)
sendResult({ micros })
