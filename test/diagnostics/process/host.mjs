// A host that leaks, blocks and fails when it is asked to. It tells its port, and ends when its standard input does.
import { createServer } from 'node:http'
import * as inspector from 'node:inspector'
import { withFaultboard } from '../../../dist/adapters/node.js'
import { createTracker } from '../../../dist/index.js'

const tracker = createTracker(JSON.parse(process.env.ORDERS))
const kept = []
let at_work = null

const DEEDS = {
  '/leak': () => void kept.push(Array.from({ length: 400_000 }, (_, i) => ({ i }))),
  '/timers': () => void kept.push(Array.from({ length: 50 }, () => setInterval(() => {}, 1e6))),
  '/block': () => {
    for (const end = performance.now() + 400; performance.now() < end; );
  },
  '/work': () => {
    at_work = setInterval(() => compiledWork()(), 1)
  },
  '/rest': () => clearInterval(at_work),
  '/pool': () => {
    const pool = { totalCount: 9, idleCount: 4, waitingCount: 3, options: { max: 10, password: process.env.MY_THING } }
    kept.push(pool)
    tracker.registerPool('orders', pool)
  },
  '/fail': () => tracker.Commands.LogError.call({ exception: new Error('it failed') }),
  '/state': () => ({ inspector_url: inspector.url() ?? null, report: reportSettings() }),
}

/**
 * Keeps the thread busy, which still responds. Compiled again for each call, because V8 can leave out the name of a
 * function in a profile if it was optimized before the profile began.
 */
const compiledWork = new Function(`return function hardWork() {
  for (const end = performance.now() + 20; performance.now() < end; );
}`)

function reportSettings() {
  const { excludeNetwork, excludeEnv } = process.report
  return { excludeNetwork, excludeEnv: excludeEnv ?? null }
}

if (process.env.FAILS_AT_ONCE) await DEEDS['/fail']()

const server = createServer(
  withFaultboard(async (request, response) => {
    const result = await DEEDS[request.url]?.()
    response.end(JSON.stringify(result ?? null))
  }, tracker),
)
server.listen(0, '127.0.0.1', () => console.log(server.address().port))

process.stdin.resume().on('end', async () => {
  for (const timer of kept.flat()) if (timer instanceof Object && 'hasRef' in timer) clearInterval(timer)
  await tracker.shutdown()
  server.close()
  server.closeAllConnections()
})
