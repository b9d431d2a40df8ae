// Host that leaks, blocks and fails on request. Prints its port and stops when its standard input ends.
import { createServer } from 'node:http'
import * as inspector from 'node:inspector'
import { withFaultboard } from '../../../dist/adapters/node.js'
import { createTracker } from '../../../dist/index.js'

const tracker = createTracker(JSON.parse(process.env.HOST_SETTINGS))
const retained = []
let workTimer = null

const ACTIONS = {
  '/leak': () => void retained.push(Array.from({ length: 100_000 }, (_, i) => ({ i }))),
  '/timers': () => void retained.push(Array.from({ length: 50 }, () => setInterval(() => {}, 1e6))),
  '/block': () => {
    for (const end = performance.now() + 200; performance.now() < end; );
  },
  '/work': () => {
    workTimer = setInterval(() => compileWork()(), 1)
  },
  '/rest': () => clearInterval(workTimer),
  '/pool': () => {
    const pool = { totalCount: 9, idleCount: 4, waitingCount: 3, options: { max: 10, password: process.env.MY_THING } }
    retained.push(pool)
    tracker.registerPool('orders', pool)
  },
  '/fail': () => tracker.Commands.LogError.call({ exception: new Error('it failed') }),
  '/state': () => ({ inspector_url: inspector.url() ?? null, report: reportSettings() }),
}

let compilations = 0

/**
 * Returns a function that keeps the thread busy but responsive. Each one has its own source text, so that V8 compiles it
 * anew: V8 can omit the name of a function that was optimized before the profile started.
 */
function compileWork() {
  compilations++
  return new Function(`return function hardWork() {
    for (const end = performance.now() + 20; performance.now() < end; ); // ${compilations}
  }`)()
}

function reportSettings() {
  const { excludeNetwork, excludeEnv } = process.report
  return { excludeNetwork, excludeEnv: excludeEnv ?? null }
}

if (process.env.FAIL_AT_START) await ACTIONS['/fail']()

const server = createServer(
  withFaultboard(async (request, response) => {
    const result = await ACTIONS[request.url]?.()
    response.end(JSON.stringify(result ?? null))
  }, tracker),
)
// Longer than any test is busy, so that a reused connection is not closed.
server.keepAliveTimeout = 120_000
server.listen(0, '127.0.0.1', () => console.log(server.address().port))

process.stdin.resume().on('end', async () => {
  for (const timer of retained.flat()) if (timer instanceof Object && 'hasRef' in timer) clearInterval(timer)
  await tracker.shutdown()
  server.close()
  server.closeAllConnections()
})
