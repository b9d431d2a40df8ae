import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { withFaultboard } from '../../src/adapters/node.js'
import { TrackerInstance } from '../../src/tracker.js'
import { describeAdapter } from '../contract/adapter.js'
import { PASSWORD, USER } from '../support/host.js'

/** A bare listener has no error handling: the host here answers in the process-wide handlers, as such hosts do. */
function listener(request: IncomingMessage, response: ServerResponse): unknown {
  const { pathname } = new URL(request.url ?? '/', 'http://host')
  if (pathname === '/ok') return response.end('ok')
  if (pathname === '/sync') {
    pending = response
    throw new Error('broken')
  }
  if (pathname === '/async') {
    pending = response
    return Promise.reject(new Error('broken'))
  }
  response.statusCode = 404
  return response.end('nothing here')
}

let pending: ServerResponse | undefined
let others: { event: 'uncaughtException' | 'unhandledRejection'; listeners: NodeJS.UncaughtExceptionListener[] }[] = []
const seen: string[] = []

function answerPending(event: string, error: Error) {
  seen.push(`${event}: ${error.message}`)
  if (!pending) return
  pending.statusCode = 503
  pending.end(`host says: ${error.message}`)
}

beforeEach(() => {
  // vitest listens too and would take the host's own errors for failures of the test.
  others = (['uncaughtException', 'unhandledRejection'] as const).map((event) => ({
    event,
    listeners: process.listeners(event as 'uncaughtException'),
  }))
  for (const { event } of others) {
    process.removeAllListeners(event)
    process.on(event, (error: Error) => answerPending(event, error))
  }
})

afterEach(() => {
  for (const { event, listeners } of others) {
    process.removeAllListeners(event)
    for (const one of listeners) process.on(event, one)
  }
})

describeAdapter({
  name: 'node:http',
  host: (tracker) => withFaultboard(listener, tracker),
  broken: { status: 503, body: 'host says: broken' },
})

test('what the listener throws or rejects reaches the process exactly as without Faultboard', async () => {
  seen.length = 0
  const tracker = new TrackerInstance(
    { database: 'sqlite::memory:', dashboard_username: USER, dashboard_password: PASSWORD },
    { env: {}, write: () => {} },
  )
  const server = createServer(withFaultboard(listener, tracker))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const origin = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  await fetch(`${origin}/sync`)
  await fetch(`${origin}/async`)
  expect(seen).toEqual(['uncaughtException: broken', 'unhandledRejection: broken'])
  await tracker.flush()
  // Both come from one function of the host, so they are one error that was seen twice.
  expect(await tracker.Queries.ErrorsList.call()).toMatchObject([{ severity: 'high', occurrence_count: 2 }])
  server.closeAllConnections()
  server.close()
  await tracker.shutdown()
})
